#!/bin/sh
# What goes wrong while others are told changes no answer.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
# observed PLUGIN: the audit, then it; a zoo plugin has no observing hook, so it is the loading
config '"chain":[{"plugin":"yes"}]'
mkdir "$work/read-only"
printf '{"plugin_dir":"%s/plugins","state_dir":"%s/state","chain":[{"plugin":"yes"}],"observe":[{"plugin":"constructor-crash"}]}' "$work" "$work" >"$cfg"
hook claude-code "$pre"
ok 'an observer that crashes: no objection stands' abstains
run "$pre$nl$pre$nl" "$pawl" eval --config "$cfg"
ok 'eval too' [ "$(grep -c '"decision":"allow"' "$work/out")" = 2 ]
hook claude-code "$post"
ok 'after a tool: exit 0' abstains
printf '{"plugin_dir":"%s/plugins","chain":[{"plugin":"yes"}],"observe":[{"plugin":"audit","options":{"path":"/proc/nowhere/audit.db"}}]}' "$work" >"$cfg"
hook claude-code "$pre"
ok 'an audit that cannot write: no objection stands' abstains
hook claude-code "$post"
ok 'after a tool: exit 0' abstains
printf '{"plugin_dir":"%s/plugins","audit":{"on_error":"fail"},"chain":[{"plugin":"yes"}],"observe":[{"plugin":"audit","options":{"path":"/proc/nowhere/audit.db"}}]}' "$work" >"$cfg"
hook claude-code "$pre"
ok 'where the record counts, the call is refused' denies claude-code '*audit*'
finish
