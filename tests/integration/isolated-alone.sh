#!/bin/sh
# What a plugin does in a process of its own harms nobody but itself: whatever it is, asked
# first and in shadow, it leaves every other's verdict as it was. Each plugin of the zoo.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
read_line='{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Read","tool_input":{},"tool_use_id":"t2"}'
refused='"tool_use_id":"t1","decision":"deny","reason":"no means no","rule":"no","plugin":"no","refused_by":"plugin"'

unharmed() {
	[ "$status" -eq 0 ] && [ -z "$err" ] && is_clean || return 1
	{ read -r one && read -r two && read -r three && ! read -r four; } <"$work/out" || return 1
	has "$one" "$refused" && has "$three" "$refused" &&
		has "$two" '"tool_use_id":"t2","decision":"allow","modified":false'
}

for so in "$work"/plugins/*.so; do
	name=$(basename "$so" .so)
	[ -e "$top/tests/zoo/$name.so" ] || continue
	config "\"deadline\":\"30s\",\"chain\":[
		{\"plugin\":\"$name\",\"name\":\"x\",\"mode\":\"shadow\",\"deadline\":\"500ms\",\"isolation\":\"process\",\"sandbox\":\"best-effort\"},
		{\"plugin\":\"yes\"},
		{\"plugin\":\"no\",\"match\":{\"tool\":\"Bash\"}}]" silent
	run "$pre$nl$read_line$nl$pre$nl" "$pawl" eval --config "$cfg"
	ok "$name: the others say what they say" unharmed
done

# enforced, it can refuse at most
for name in flood forge-message scribble-answer shut-down kill-asker kill-group close-all; do
	config "\"deadline\":\"30s\",\"resolve\":\"strictest\",\"chain\":[
		{\"plugin\":\"$name\",\"name\":\"x\",\"isolation\":\"process\",\"deadline\":\"5s\"},
		{\"plugin\":\"no\"}]" silent
	hook claude-code "$pre"
	ok "$name: a refusal stays one" denies claude-code '*'
done
finish
