#!/bin/sh
# A mistyped command must not open the gate.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
config '"chain":[]'
# wrong ARGUMENT...
wrong() {
	run "$pre" "$pawl" "$@"
	ok "pawl $*: exit 2" [ "$status" -eq 2 ]
	ok "pawl $*: a text" [ -n "$err" ]
	ok "pawl $*: nothing on stdout" [ -z "$out" ]
}
wrong
wrong hok claude-code
wrong hook
wrong hook cloud-code
wrong hook claude-code extra
wrong hook claude-code --evnt PostToolUse
wrong hook claude-code --event
wrong --config
wrong hook claude-code --config
wrong eval --wrong
wrong reset
wrong audit
wrong audit lst --config "$cfg"
wrong check extra words
for command in --help --version; do
	run '' "$pawl" $command
	ok "pawl $command" [ "$status" -eq 0 -a -n "$out" ]
done
finish
