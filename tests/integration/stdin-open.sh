#!/bin/sh
# The answer comes when the event is complete, whether the client closes its end or not.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
config '"chain":[{"plugin":"no"}]'
mkfifo "$work/pipe"
# held open for writing until the end of this script
exec 9<>"$work/pipe"

open_hook() {
	printf '%s' "$1" >&9
	"$helpers/watch" "$work/report" 20 "$pawl" hook claude-code --config "$cfg" \
		<"$work/pipe" >"$work/out" 2>"$work/err" 9>&-
	status=$? out=$(cat "$work/out") err=$(cat "$work/err")
}

open_hook "$pre"
ok 'answered while stdin is open' denies claude-code 'no means no'
open_hook "$pre$nl"
ok 'a newline behind it' denies claude-code 'no means no'
open_hook '"text"'
ok 'a value that is no event is complete too' denies claude-code '*'
open_hook '{"hook_event_name":"PreToolUse","tool_name":'
ok 'half an event is refused when no more comes' denies claude-code '*did not arrive*'
open_hook "$post"
ok 'an event that only informs ends too' abstains
finish
