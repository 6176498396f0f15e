#!/bin/sh
# A plugin that is late is a refusal when the deadline is over, not when it returns.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
config '"chain":[{"plugin":"yes"},{"plugin":"oversleep"}]'
hook claude-code "$pre"
ok 'refused by name' denies claude-code \
	'policy error (oversleep): deadline exceeded in plugin oversleep'
ok 'without waiting for it' is_clean
took=$(took)
ok 'after the two seconds it has when nothing else is said' [ "$took" -ge 1900 ]
ok 'recorded as late' logged '"policy.hook_error".*"error_class":"timeout"'
ok 'and as denied' logged '"policy.denied".*"refused_by":"timeout"'
config '"deadline":"400ms","chain":[{"plugin":"slow-allow","options":{"value":5000}},{"plugin":"yes"}]'
hook claude-code "$pre"
ok 'the whole call has a deadline' denies claude-code '*deadline exceeded in plugin slow-allow'
config '"chain":[{"plugin":"slow-allow","deadline":"200ms","options":{"value":5000}},{"plugin":"yes"}]'
hook gemini "$before"
ok 'an entry has its own' denies gemini '*deadline exceeded in plugin slow-allow'
config '"deadline":"10s","chain":[{"plugin":"slow-allow","options":{"value":300}},{"plugin":"yes"}]'
hook claude-code "$pre"
ok 'what is in time is in time' abstains
# a client that waits no longer than we do lets the call run
config '"chain":[{"plugin":"yes"}]' silent
run '' "$pawl" check --config "$cfg"
ok 'check: two seconds are under every patience' [ "$status:$err" = 0: ]
config '"deadline":"26s","chain":[{"plugin":"yes"}]' silent
run '' "$pawl" check --config "$cfg"
warns() {
	[ "$status" -eq 0 ] && has "$err" 'warning: deadline is 26 s' &&
		has "$err" "copilot waits 30 s" && ! has "$err" "claude-code"
}
ok 'check: names the client that waits no longer' warns
run '' "$pawl" check --json --config "$cfg"
ok 'check --json: as a warning' has "$out" '{"ok":true,"problems":\[],"warnings":\[*copilot waits 30 s*'
finish
