#!/bin/sh
# A name given twice has no meaning: the event is refused, and so is the config.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
config '"chain":[{"plugin":"yes"}]'
for input in '{"command":"ls","command":"rm -rf /w"}' '{"a":{"b":[{"c":1,"c":1}]}}' \
	'{"command":"ls","\u0063ommand":"rm"}'; do
	hook claude-code '{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":'"$input"'}'
	ok "arguments $input" denies claude-code '*duplicate*'
done
hook claude-code '{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Read","tool_name":"Bash","tool_input":{}}'
ok 'the tool named twice' denies claude-code '*duplicate*'
hook claude-code '{"hook_event_name":"PostToolUse","hook_event_name":"PreToolUse","session_id":"s","tool_name":"Read","tool_input":{}}'
ok 'the event named twice' denies claude-code '*duplicate*'
config '"deny":["Bash"],"deny":[]'
hook claude-code "$pre"
ok 'config: a list given twice' denies claude-code "*$cfg:1:*deny*"
config '"chain":[{"plugin":"no","plugin":"yes"}]'
hook claude-code "$pre"
ok 'config: a plugin named twice' denies claude-code "*$cfg:1:*plugin*"
finish
