#!/bin/sh
# A rewrite changes what it names; every other byte of the arguments stays.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
# what the tool is to run with, as Claude Code is told
expect() {
	ok "$1" [ "$status:$out" = "0:{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"allow\",\"updatedInput\":$2}}" ]
}
event() {
	printf '{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"get","tool_use_id":"t1","tool_input":%s}' "$1"
}
config '"chain":[{"plugin":"rewrite","options":{"pointer":"/k","set":"new"}}]'
hook claude-code "$(event '{"id":1915883588174806058,"x":1e400,"y":0.1000,"z":-0,"k":"old","u":"\u00e9\/"}')"
expect 'numbers are forwarded as they were written' \
	'{"id":1915883588174806058,"x":1e400,"y":0.1000,"z":-0,"k":"new","u":"\u00e9\/"}'
ok 'both kept in the audit' logged '"k":"new".*"k":"old"'
config '"chain":[{"plugin":"rewrite","options":{"pointer":"/command","set":"sleep 1"}}]'
hook claude-code "$(event '{"command":"sleep 9","timeout":600000,"run_in_background":true}')"
expect 'the other members are still there' \
	'{"command":"sleep 1","timeout":600000,"run_in_background":true}'
hook codex "$(event '{"command":"sleep 9","timeout":600000,"run_in_background":true}')"
expect 'codex: all of the arguments too' \
	'{"command":"sleep 1","timeout":600000,"run_in_background":true}'
hook gemini '{"hook_event_name":"BeforeTool","session_id":"s","tool_name":"run_shell_command","tool_input":{"command":"sleep 9","n":1915883588174806058}}'
ok 'gemini: in its own words' [ "$status:$out" = '0:{"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"command":"sleep 1","n":1915883588174806058}}}' ]
finish
