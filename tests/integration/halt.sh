#!/bin/sh
# A plugin whose error halts the session halts it, however it fails, until it is reset.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
event() {
	printf '{"hook_event_name":"PreToolUse","session_id":"%s","tool_name":"%s","tool_use_id":"t1","tool_input":{}}' "$1" "$2"
}
# halts PLUGIN REASON
halts() {
	config '"deadline":"30s","chain":[{"plugin":"'"$1"'","on_error":"halt","deadline":"5s","match":{"tool":"Bash"}},{"plugin":"yes"}]'
	hook claude-code "$(event one Read)"
	ok "$1: before, other tools run" abstains
	hook claude-code "$(event one Bash)"
	ok "$1: fails" denies claude-code "policy error ($1)*"
	hook claude-code "$(event one Read)"
	ok "$1: every later call is refused, and told what lifts it" \
		denies claude-code '*halted*'"$1"'*pawl reset one*'
	run "$(event one Read)$nl" "$pawl" eval --config "$cfg"
	ok "$1: in eval too" has "$out" '"decision":"deny"*pawl reset one*'
	hook claude-code "$(event two Read)"
	ok "$1: another session is not" abstains
	run '' "$pawl" reset one --config "$cfg"
	ok "$1: reset" [ "$status" -eq 0 ]
	hook claude-code "$(event one Read)"
	ok "$1: lifted" abstains
	rm -rf "$work/state"
}
halts error-text
halts sigsegv
halts exit-0
halts open-fails
halts constructor-crash
config '"chain":[{"plugin":"sigsegv","mode":"shadow","on_error":"halt"}]'
hook claude-code "$(event one Bash)"
ok 'in shadow nothing is halted' abstains
hook claude-code "$(event one Bash)"
ok 'nor later' abstains
run "$(event three Bash)$nl$(event three Read)$nl" "$pawl" eval --config "$cfg"
ok 'nor in eval' [ "$(grep -c '"decision":"allow"' "$work/out")" = 2 ]
config '"on_error":"halt","chain":[{"plugin":"sigsegv","match":{"tool":"Bash"}}]'
run "$(event four Bash)$nl$(event four Read)$nl" "$pawl" eval --config "$cfg"
ok 'a crash in eval halts from the next line on' \
	has "$out" '*policy error (sigsegv)*'"$nl"'*"deny"*pawl reset four*'
finish
