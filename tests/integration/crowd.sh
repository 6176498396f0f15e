#!/bin/sh
# Two hundred hooks at once: each is answered, each is recorded.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
config '"deadline":"60s","chain":[{"plugin":"yes"},{"plugin":"limit","options":{"pointer":"/n","max":100}}]'
mkdir "$work/answers"
for i in $(seq 200); do
	printf '{"hook_event_name":"PreToolUse","session_id":"s%s","tool_name":"T","tool_input":{"n":%s},"tool_use_id":"t%s"}' \
		$((i % 7)) "$i" "$i" |
		{
			"$pawl" hook claude-code --config "$cfg" >"$work/answers/$i" 2>/dev/null
			echo $? >"$work/answers/$i.status"
		} &
done
wait
ok 'half of them may run' [ "$(cat "$work"/answers/*.status | grep -c '^0$')" = 100 ]
ok 'and half may not' [ "$(cat "$work"/answers/*.status | grep -c '^2$')" = 100 ]
ok 'each refusal is one whole answer' \
	[ "$(cat "$work"/answers/* | grep -c '^{"hookSpecificOutput.*"BLOCKED: /n is .*"}}$')" = 100 ]
run '' "$pawl" audit status --config "$cfg"
ok 'the audit is well' [ "$status" -eq 0 ]
"$pawl" audit list --json --config "$cfg" >"$work/list"
ok 'allowed calls recorded' [ "$(grep -c '"type":"call.allowed","session' "$work/list")" = 100 ]
ok 'denied calls recorded' [ "$(grep -c '"type":"policy.denied","session' "$work/list")" = 100 ]
ok 'in one chain of numbers' \
	[ "$(rows 'SELECT count(DISTINCT seq), max(seq) FROM events')" = '201|201' ]
finish
