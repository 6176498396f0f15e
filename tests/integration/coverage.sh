#!/bin/sh
# A client's own transcript against the audit: a call that nobody was asked about is named.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
config '"chain":[{"plugin":"yes"}]'
# asked CLIENT SESSION TOOL CALL [MEMBERS]
asked() {
	hook "$1" '{"hook_event_name":"PreToolUse","session_id":"'"$2"'","tool_name":"'"$3"'","tool_input":{"command":"ls"},"tool_use_id":"'"$4"'"'"${5:-}"'}'
}
coverage() {
	run '' "$pawl" --config "$cfg" "$@" audit coverage "$work/transcript"
}
asked claude-code s1 Bash toolu_1
asked claude-code s1 Bash toolu_2 ',"agent_id":"a-7","agent_type":"Explore"'
asked claude-code other Read toolu_3
cat >"$work/transcript" <<'END'
{"type":"queue-operation","operation":"enqueue","sessionId":"s1","content":"say hi"}
{"type":"user","sessionId":"s1","message":{"role":"user","content":"say hi"}}
{"type":"assistant","sessionId":"s1","message":{"role":"assistant","content":[{"type":"text","text":"tool_use"},{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}]}}
{"type":"assistant","sessionId":"s1","isSidechain":true,"agentId":"a-7","message":{"role":"assistant","content":[{"type":"tool_use","id":"toolu_2","name":"Bash","input":{}}]}}

{"type":"assistant","sessionId":"s1","message":{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}]}}
{"type":"user","sessionId":"s1","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_9","content":"x"}]}}
END
coverage
ok 'Claude Code: all were asked about' [ "$status" = 0 ]
ok 'they are counted' has "$out" '2 calls, 0 of them without a decision'
ok 'the sub-agent is in the audit' grep -q '"call":"toolu_2".*"agent":"a-7","agent_type":"Explore"' "$log"
echo '{"type":"assistant","sessionId":"s1","message":{"role":"assistant","content":[{"type":"tool_use","id":"toolu_3","name":"Read","input":{}}]}}' >>"$work/transcript"
coverage
ok "one that another session's id is like is missing" [ "$status" = 1 ]
ok 'with its line' has "$out" "transcript:8: Read (toolu_3): nobody was asked"
coverage --json
ok 'as JSON' [ "$status" = 1 -a "$out" = '{"line":8,"tool":"Read","call":"toolu_3"}' ]

asked codex c1 Bash call_0
cat >"$work/transcript" <<'END'
{"type":"session_meta","payload":{"id":"c1","cwd":"/w"}}
{"type":"response_item","payload":{"type":"function_call","id":"fc_0","name":"exec_command","arguments":"{}","call_id":"call_0"}}
{"type":"event_msg","payload":{"type":"item_completed","item":{"id":"call_0"}}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"call_0","output":"x"}}
END
coverage
ok 'Codex: all were asked about' [ "$status" = 0 ]
echo '{"type":"response_item","payload":{"type":"function_call","name":"write_stdin","arguments":"{}","call_id":"call_1"}}' >>"$work/transcript"
coverage
ok 'what was typed into an open shell is not' has "$out" 'write_stdin (call_1): nobody was asked'
ok 'and is a fault' [ "$status" = 1 ]

sed -i '5d' "$work/transcript"
echo '{"type":"response_item","payl' >>"$work/transcript"
coverage
ok 'a line that cannot be read is a fault, too' [ "$status" = 1 ]
ok 'and is told' has "$err" '1 lines cannot be read'
echo '{"a":1}' >"$work/transcript"
coverage
ok 'another file is no transcript' has "$err" 'no transcript'
ok 'and no good answer' [ "$status" = 1 ]
rm "$work/transcript"
coverage
ok 'neither is none' [ "$status" = 1 ]
finish
