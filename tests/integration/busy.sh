#!/bin/sh
# A reader that holds the database loses nobody a record.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
config '"chain":[]'
pids=
hook claude-code '{"hook_event_name":"SessionStart","session_id":"s"}'
rows 'SELECT count(*) FROM events' >/dev/null
"$helpers/rows" "$db" 'SELECT id FROM events' 3 >"$work/held" &
reader=$!
while [ ! -s "$work/held" ] && kill -0 $reader 2>/dev/null; do sleep 0.1; done
for i in $(seq 64); do
	printf '{"hook_event_name":"PostToolUse","session_id":"s","tool_name":"T","tool_input":{},"tool_response":{},"tool_use_id":"t%s"}' "$i" |
		"$pawl" hook claude-code --config "$cfg" >>"$work/said" 2>&1 || echo "$?" >>"$work/said" &
	pids="$pids $!"
done
# shellcheck disable=SC2086
wait $pids
ok 'nothing said, all exit 0' [ ! -s "$work/said" ]
wait $reader
run '' "$pawl" audit status --config "$cfg"
ok 'nothing dropped' [ "$status" -eq 0 ]
run '' "$pawl" audit list --json --config "$cfg"
ok '64 rows' [ "$(rows "SELECT count(DISTINCT call_id) FROM tool_calls WHERE call_id GLOB 't*'")" = 64 ]
finish
