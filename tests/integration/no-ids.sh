#!/bin/sh
# Clients whose events carry no call id: what ran is joined with what was decided.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
config '"chain":[{"plugin":"yes"}]'
# joined N|M|K: so many decisions, that many with a result, and different ids
joined() {
	[ "$(rows "SELECT count(*), count(t.post_seq), count(DISTINCT d.call_id) FROM decisions d
	 LEFT JOIN tool_calls t USING(session_id, call_id, occurrence) WHERE d.call_made")" = "$1" ]
}
unseen() {
	rows "SELECT count(*) FROM tool_calls WHERE authorized_by = 'unseen'"
}
# Of each client: two equal calls and another, and the results of two of them.
while read -r agent first second; do
	forget
	# shellcheck disable=SC2059
	for command in 'ls -l' 'ls -l' 'ls /'; do
		hook "$agent" "$(printf "$first" "$command")"
	done
	# shellcheck disable=SC2059
	for command in 'ls -l' 'ls /'; do
		hook "$agent" "$(printf "$second" "$command")"
	done
	ok "$agent: each result finds its call" joined '3|2|2'
	ok "$agent: the oldest of two equal ones" [ "$(rows "SELECT occurrence FROM tool_calls
	 WHERE args LIKE '%ls -l%'")" = 1 ]
	ok "$agent: none is unseen" [ "$(unseen)" = 0 ]
	ok "$agent: the log's lines say it, too" [ "$(rows "SELECT count(*) FROM events e
	 JOIN tool_calls t ON e.seq IN (t.decision_seq, t.post_seq)
	 WHERE e.call_id = t.call_id")" = 4 ]
done <<'LIST'
gemini {"hook_event_name":"BeforeTool","session_id":"s","tool_name":"run_shell_command","tool_input":{"command":"%s"}} {"hook_event_name":"AfterTool","session_id":"s","tool_name":"run_shell_command","tool_input":{"command":"%s"},"tool_response":{"llmContent":"x"}}
copilot {"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"%s"}} {"hook_event_name":"PostToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"%s"},"tool_result":{"resultType":"success"}}
windsurf {"agent_action_name":"pre_run_command","trajectory_id":"s","tool_info":{"command_line":"%s","cwd":"/w"}} {"agent_action_name":"post_run_command","trajectory_id":"s","tool_info":{"command_line":"%s","cwd":"/w"}}
kiro {"hook_event_name":"preToolUse","cwd":"/w","tool_name":"execute_bash","tool_input":{"command":"%s"}} {"hook_event_name":"postToolUse","cwd":"/w","tool_name":"execute_bash","tool_input":{"command":"%s"},"tool_response":{"success":true}}
cline {"hookName":"PreToolUse","taskId":"s","preToolUse":{"toolName":"execute_command","parameters":{"command":"%s"}}} {"hookName":"PostToolUse","taskId":"s","postToolUse":{"toolName":"execute_command","parameters":{"command":"%s"},"result":"x","success":true}}
LIST

# A rewrite: the client tells the arguments that ran, under its own name for them alone.
forget
config '"chain":[{"plugin":"rewrite","match":{"class":"read"},
 "options":{"pointer":"/file_path","set":"/tmp/x"}}]'
hook gemini '{"hook_event_name":"BeforeTool","session_id":"s","tool_name":"read_file","tool_input":{"absolute_path":"/etc/x","n":1e400}}'
ok 'the client is told its own name' has "$out" '"tool_input":{"absolute_path":"/tmp/x","n":1e400}'
hook gemini '{"hook_event_name":"AfterTool","session_id":"s","tool_name":"read_file","tool_input":{"n":null,"absolute_path":"/tmp/x"},"tool_response":{"llmContent":"x"}}'
ok 'its result finds the call' joined '1|1|1'
ok 'and what was given first' [ "$(rows "SELECT mutated, authorized_by FROM tool_calls")" = '1|policy' ]

# One that was refused and ran all the same; one that nobody was asked about.
forget
config '"chain":[{"plugin":"no"}]'
hook gemini "$before"
hook gemini '{"hook_event_name":"AfterTool","session_id":"s","tool_name":"run_shell_command","tool_input":{"command":"ls"},"tool_response":{"llmContent":"x"}}'
hook gemini '{"hook_event_name":"AfterTool","session_id":"s","tool_name":"run_shell_command","tool_input":{"command":"id"},"tool_response":{"llmContent":"x"}}'
ok 'a refused call that ran is marked' [ "$(rows "SELECT authorized_by FROM tool_calls
 WHERE args LIKE '%ls%'")" = denied ]
ok 'so is one that nobody was asked about' [ "$(unseen)" = 1 ]
finish
