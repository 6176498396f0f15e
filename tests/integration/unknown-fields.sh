#!/bin/sh
# Fields and values of later clients are carried, and the decision is made on what is known.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
event='{"hook_event_name":"PreToolUse","permission_mode":"brandnew","tool_name":"Bash","tool_input":{"command":"ls","x":[null]},"session_id":"s","cwd":"/w","tool_use_id":"t1","x_future":{"a":[1]}}'
for agent in claude-code codex; do
	config '"chain":[{"plugin":"yes"}]'
	hook $agent "$event"
	ok "$agent: allowed as ever" abstains
	config '"chain":[{"plugin":"no"}]'
	hook $agent "$event"
	ok "$agent: refused as ever" denies $agent 'no means no'
done
hook claude-code '{"hook_event_name":"BrandNewEvent","tool_name":"Bash","tool_input":{},"session_id":"s"}'
ok 'an event nobody knows is refused' denies claude-code '*'
hook gemini '{"hook_event_name":"BrandNewEvent","tool_name":"Bash","tool_input":{},"session_id":"s"}'
ok 'gemini: the same' denies gemini '*'
hook claude-code '{"tool_name":"Bash","tool_input":{},"session_id":"s"}'
ok 'an event without a name is refused' denies claude-code '*'
hook claude-code '{"hook_event_name":7,"tool_name":"Bash","tool_input":{},"session_id":"s"}'
ok 'a name that is no text is refused' denies claude-code '*'
for event in '{"hook_event_name":"PreToolUse","session_id":"s","tool_input":{}}' \
	'{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"","tool_input":{}}' \
	'{"hook_event_name":"PreToolUse","session_id":"s","tool_name":null,"tool_input":{}}' \
	'{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":[1]}' \
	'{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash"}'; do
	hook claude-code "$event"
	ok "refused: $event" denies claude-code '*'
done
finish
