#!/bin/sh
# Byte order marks before the event are skipped; inside it they are text.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
bom=$(printf '\357\273\277')
config '"chain":[{"plugin":"limit","options":{"pointer":"/n","max":5}}]' silent
event='{"hook_event_name":"PreToolUse","tool_name":"T","session_id":"s","tool_input":{"n":9}}'
hook claude-code "$bom$event"
ok 'one mark' denies claude-code '/n is 9*'
hook claude-code "$bom$bom$bom$event"
ok 'three marks' denies claude-code '/n is 9*'
hook claude-code "$bom"
ok 'nothing but a mark' denies claude-code '*'
hook claude-code "$event$bom"
ok 'a mark behind is no white space' denies claude-code '*cannot be read*'
config '"chain":[{"plugin":"rewrite","options":{"pointer":"/n","set":1}}]' silent
hook claude-code '{"hook_event_name":"PreToolUse","tool_name":"T","session_id":"s","tool_input":{"n":9,"t":"'"$bom"'x"}}'
ok 'a mark in a string stays' has "$out" "\"t\":\"${bom}x\""
finish
