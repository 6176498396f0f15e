#!/bin/sh
# What runs in shadow is recorded and changes nothing.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
s() {
	config '"deadline":"30s","chain":[{"plugin":"'"$1"'","mode":"shadow","deadline":"'"$deadline"'"},{"plugin":"yes"}]'
}
for plugin in no append instead sigsegv exit-0 open-fails constructor-crash error-text oversleep; do
	forget
	deadline=10s
	[ $plugin = oversleep ] && deadline=300ms
	s $plugin
	hook claude-code "$pre"
	ok "$plugin: no objection" abstains
	ok "$plugin: it is not waited for" is_clean
	ok "$plugin: the call is recorded as allowed" logged '"type":"call.allowed"'
	ok "$plugin: what it said is too" logged '"type":"policy.shadow".*"plugin":"'$plugin'"'
	ok "$plugin: nothing denied" [ "$(grep -c policy.denied "$log")" = 0 ]
	run "$pre$nl$pre$nl" "$pawl" eval --config "$cfg"
	ok "$plugin: eval allows" \
		[ "$status:$(grep -c '"decision":"allow".*"tool_input":{"command":"ls"}' "$work/out")" = 0:2 ]
done
finish
