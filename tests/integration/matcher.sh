#!/bin/sh
# A pattern selects exactly the tools it names.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
tool() {
	printf '{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"%s","tool_input":{}}' "$1"
}
selects() {
	hook claude-code "$(tool "$1")"
	ok "$pattern selects $1" denies claude-code 'no means no'
}
leaves() {
	hook claude-code "$(tool "$1")"
	ok "$pattern leaves $1" abstains
}
use() {
	pattern=$1
	config '"chain":[{"plugin":"no","match":{"tool":"'"$1"'"}}]' silent
}
use 'mcp:cap/*'
selects mcp__cap__echo
selects mcp__plugin_work_cap__echo
leaves notmcp__cap__echo
leaves mcp__cap2__echo
leaves Bash
use 'Bash'
selects Bash
leaves BashOutput
leaves bash
use '*'
selects Bash
selects mcp__cap__echo
use 'create_*'
selects create_x
selects mcp__linear__create_issue
leaves recreate_x
config '"deny":["mcp:cap/*"]' silent
pattern='deny'
hook claude-code "$(tool mcp__cap__echo)"
ok 'the deny list speaks the same' denies claude-code '*is on the deny list*'
leaves mcp__cap2__echo
finish
