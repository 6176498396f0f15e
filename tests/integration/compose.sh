#!/bin/sh
# Rewrites compose in the order of the chain, wherever and however slow they are.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
n='{"plugin":"yes","name":"n"}' m='{"plugin":"yes","name":"m"}'
a='{"plugin":"append","name":"A","options":{"value":201}}'
b='{"plugin":"append","name":"B","options":{"value":2}}'
no='{"plugin":"no"}'
runs_with() {
	[ "$status" -eq 0 ] && has "$out" "\"updatedInput\":{\"command\":\"$1\"}"
}
for chain in "$n,$b" "$b,$n" "$n,$b,$m"; do
	config "\"chain\":[$chain]" silent
	hook claude-code "$pre"
	ok "the same rewrite from $chain" runs_with 'ls|2'
done
config "\"chain\":[$a,$b]" silent
hook claude-code "$pre"
ok 'B sees what slow A made' runs_with 'ls|1|2'
config "\"chain\":[$b,$a]" silent
hook claude-code "$pre"
ok 'and the other way round' runs_with 'ls|2|1'
config "\"chain\":[$n,$no]" silent
hook claude-code "$pre"
ok 'a later deny beats an earlier allow' denies claude-code 'no means no'
config "\"chain\":[$a,$no]" silent
hook claude-code "$pre"
ok 'a deny drops the rewrite' denies claude-code 'no means no'
# a rule that has spoken is asked again about what would run
config '"chain":[{"plugin":"limit","options":{"pointer":"/command","max_length":3}},'"$b]" silent
hook claude-code "$pre"
ok 'a rewrite cannot slip past an earlier rule' denies claude-code '/command*'
finish
