#!/bin/sh
# A trusted fact cannot change under a running session.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
config '"context":{"tier":{"file":"tier.txt"},"user":{"os":"uid"}},"chain":[{"plugin":"require-context","options":{"pointer":"/tier","in":["gold"]}}]'
echo gold >"$work/tier.txt"
hook claude-code "$pre"
ok 'as it was at first' abstains
echo silver >"$work/tier.txt"
hook claude-code "$pre"
ok 'changed: refused' denies claude-code '*context*tier*pawl reset*'
hook claude-code '{"hook_event_name":"PreToolUse","session_id":"new","tool_name":"Bash","tool_input":{}}'
ok 'a new session sees what is there now' has "$status$err" '2*tier*'
echo gold >"$work/tier.txt"
hook claude-code "$pre"
ok 'changed back: well again' abstains
echo silver >"$work/tier.txt"
run '' "$pawl" reset s --config "$cfg"
echo gold2 >"$work/tier.txt"
hook claude-code "$pre"
ok 'after a reset the new fact holds' denies claude-code '*gold*'
rm "$work/tier.txt"
hook claude-code "$pre"
ok 'gone: refused' denies claude-code '*context*tier.txt*'
echo gold >"$work/tier.txt"
chmod 666 "$work/tier.txt"
hook claude-code '{"hook_event_name":"PreToolUse","session_id":"third","tool_name":"Bash","tool_input":{}}'
ok 'writable by everyone: refused' denies claude-code '*tier.txt*'
hook claude-code "$post"
ok 'after a tool nothing is said' abstains
finish
