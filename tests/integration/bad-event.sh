#!/bin/sh
# What is no event is refused before a tool, and ignored after one.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
config '"chain":[{"plugin":"yes"}]'
surrogate='{"hook_event_name":"PreToolUse","tool_name":"B","tool_input":{"a":"\ud800"},"session_id":"s"}'
for text in '' ' ' null '[]' '"x"' 7 '{' '{}' '{} {}' "$pre$pre" "$pre x" "{'a':1}" "$surrogate" \
	'{"hook_event_name":"PreToolUse","tool_name":"B","tool_input":{"a":NaN}}'; do
	for agent in claude-code codex gemini; do
		hook $agent "$text"
		ok "$agent: refused: $text" denies $agent '*'
		ok "$agent: in words" [ "${#err}" -gt 12 ]
	done
	hook pawl "$text"
	ok "pawl: refused: $text" has "$status$out" '2{*"decision":"deny"*'
	hook claude-code "$text" --event PostToolUse
	ok "after a tool it is dropped: $text" abstains
	hook claude-code "$text" --event PreToolUse
	ok "before a tool it is refused: $text" denies claude-code '*'
done
hook claude-code ''
ok 'nothing at all is called so' denies claude-code 'empty event*'
head -c 268435456 /dev/zero | tr '\0' ' ' | "$helpers/watch" "$work/report" 20 \
	"$pawl" hook claude-code --config "$cfg" >"$work/out" 2>"$work/err"
status=$? out=$(cat "$work/out") err=$(cat "$work/err")
ok 'a flood of spaces is refused' denies claude-code '*'
[ -z "$sanitized" ] &&
	ok 'in bounded memory' [ "$(sed -n 's/^kb //p' "$work/report")" -lt 32768 ]
finish
