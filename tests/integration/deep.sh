#!/bin/sh
# Nesting past the limit is refused, on any stack.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
config '"chain":[{"plugin":"yes"}]' silent
{
	printf '{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_use_id":"t1","tool_input":{"a":'
	head -c 200000 /dev/zero | tr '\0' '['
	head -c 200000 /dev/zero | tr '\0' ']'
	printf '}}'
} >"$work/deep"
for stack in 8192 256; do
	[ $stack = 256 ] && [ -n "$sanitized" ] && continue
	for agent in claude-code gemini pawl; do
		(ulimit -s $stack && exec "$helpers/watch" "$work/report" 20 \
			"$pawl" hook $agent --config "$cfg" <"$work/deep") >"$work/out" 2>"$work/err"
		status=$? out=$(cat "$work/out") err=$(cat "$work/err")
		[ $agent = pawl ] && id=null || id=
		ok "$agent, stack of $stack KiB" has "$status $out" '2 {*deep*'
	done
	run "$(cat "$work/deep")$nl$pre$nl" sh -c 'ulimit -s '$stack'; exec "$@"' sh "$pawl" eval --config "$cfg"
	ok "eval, stack of $stack KiB: refused, and the next line answered" \
		has "$out" '*"decision":"deny"*"decision":"allow"*'
done
config '"limits":{"depth":8},"chain":[]' silent
hook claude-code '{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"B","tool_input":{"a":[[[[[[[[1]]]]]]]]}}'
ok 'the configured depth counts' denies claude-code '*deep*'
finish
