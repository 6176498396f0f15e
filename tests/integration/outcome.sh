#!/bin/sh
# Each call that was allowed ends as what it became, or as unknown.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
config '"chain":[{"plugin":"yes"}]'
# call ID, then its post event's NAME and MEMBERS ("" none)
call() {
	hook claude-code '{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"T","tool_input":{},"tool_use_id":"'"$1"'"}'
	[ -z "$2" ] || hook claude-code '{"hook_event_name":"'"$2"'","session_id":"s","tool_name":"T","tool_input":{},"tool_use_id":"'"$1"'",'"$3"'}'
}
outcome() {
	[ "$(rows "SELECT outcome FROM tool_calls WHERE call_id = '$1'")" = "$2" ]
}
call well PostToolUse '"tool_response":{"stdout":"x"}'
call mcp PostToolUse '"tool_response":{"content":[{"type":"text","text":"no"}],"isError":true}'
call failure PostToolUseFailure '"error":"no"'
call lost '' ''
hook gemini '{"hook_event_name":"AfterTool","session_id":"g","tool_name":"t","tool_input":{},"tool_response":{"error":"no"}}'
hook claude-code '{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":"p"}'
hook gemini '{"hook_event_name":"BeforeModel","session_id":"g","llm_request":{"model":"m","messages":[]}}'
hook gemini '{"hook_event_name":"SessionEnd","session_id":"g"}'
hook claude-code '{"hook_event_name":"Stop","session_id":"s"}'
ok 'a result' outcome well ok
ok 'isError in an MCP result is a tool error' outcome mcp tool_error
ok 'so is a failure event' outcome failure tool_error
ok "so is Gemini's error" [ "$(rows "SELECT outcome FROM tool_calls WHERE session_id = 'g'")" = tool_error ]
ok 'a call nobody heard of again is unknown' outcome lost unknown
ok 'prompts and model calls are no executions' \
	[ "$(rows "SELECT count(*) FROM tool_calls WHERE tool_name = ''")" = 0 ]
ok 'but events' [ "$(rows "SELECT count(*) FROM events WHERE type = 'call.allowed'
 AND tool_name IS NULL")" = 2 ]
ok 'nothing but ok counts as a success' \
	[ "$(rows "SELECT count(*) FROM tool_calls WHERE success = 1 AND outcome <> 'ok'")" = 0 ]
ok 'the stop left a summary' [ -s "$work/session_summaries.jsonl" ]
config '"chain":[{"plugin":"no"}]'
call denied '' ''
ok 'a denied call has no row of an execution' \
	[ "$(rows "SELECT count(*) FROM tool_calls WHERE call_id = 'denied'")" = 0 ]
config '"chain":[{"plugin":"instead"}]'
call cached '' ''
ok 'a substituted one has, marked' \
	[ "$(rows "SELECT success, substituted FROM tool_calls WHERE call_id = 'cached'")" = '1|1' ]
finish
