#!/bin/sh
# Calls that are asked about together: a call that needs a person holds its mates, refusals are
# answered at once, and resume gives each held call its one answer without asking a plugin.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
# event POSITION SIZE TOOL [MORE]
event() {
	printf '{"hook_event_name":"PreToolUse","session_id":"s","turn":1,"position":%s,"batch_size":%s,"tool_name":"%s","tool_use_id":"t%s","tool_input":{"n":%s}%s}\n' \
		"$1" "$2" "$3" "$1" "$1" "${4:-}"
}
queued() {
	config '"approval":{"ask":"queue","allow_self":true},"require_approval":["refund"],"deny":["drop"],
		"chain":[{"plugin":"limit","options":{"pointer":"/n","max":100}}]'"${1:-}"
}
evaluate() {
	run "$1" "$pawl" eval --config "$cfg"
}
# answer N: line N of the last output
answer() {
	sed -n "$1p" "$work/out"
}
approvals() {
	run '' "$pawl" --config "$cfg" approvals "$@"
}
resume() {
	run '' "$pawl" --config "$cfg" resume "$@"
}
exits() {
	[ "$status" -eq "$1" ]
}
batch_of() {
	printf '%s' "$1" | sed -n 's/.*"batch_id":"\([^"]*\)".*/\1/p'
}
id_of() {
	printf '%s' "$1" | sed -n 's/.*"approval":{"id":"\([^"]*\)".*/\1/p'
}
digest_of() {
	approvals show "$1" --json
	printf '%s' "$out" | sed -n 's/.*"digest":"\([^"]*\)".*/\1/p' | cut -c1-8
}

queued
batch=$(event 0 4 read && event 1 4 refund && event 2 4 drop && event 3 4 ask ',"target":"client"')
evaluate "$batch$nl"
first=$(answer 1) second=$(answer 2)
id=$(id_of "$second") b=$(batch_of "$second")
ok 'one answer a call, in order' [ "$(sed 's/.*"tool_use_id":"\(t.\)".*/\1/' "$work/out" | tr '\n' ' ')" = 't0 t1 t2 t3 ' ]
ok 'what may run is held by its mate' has "$first" '*"decision":"require_approval"*"id":null,"batch_id":"'"$b"'"*"held":true*'
ok 'the gated one waits' has "$second" '*"decision":"require_approval"*"approval":{"id":"ap-*'
ok 'a refusal is answered at once' has "$(answer 3)" '*"decision":"deny"*"refused_by":"static"*'
ok 'a call of the client never waits' has "$(answer 4)" '*"decision":"allow"*'
resume "$b"
ok 'before it is decided nothing is resumed' exits 1
ok 'and it says what waits' has "$err" "*$id still waits*"
resume ba-0000000000000000
ok 'a batch that is none' exits 3
approvals approve "$id" --digest "$(digest_of "$id")"
ok 'approved' exits 0
# a plugin that would be asked again would refuse now
queued ',"resolve":"strictest"'
printf '{"plugin_dir":"%s/plugins","state_dir":"%s/state","observe":[{"plugin":"audit","options":{"path":"%s"}}],"deny":["read","refund"],"approval":{"ask":"queue"}}\n' \
	"$work" "$work" "$db" >"$cfg"
resume "$b"
ok 'resumed' exits 0
ok 'each held call has its one answer, in order' [ "$(sed 's/.*"tool_use_id":"\(t.\)","decision":"\([a-z]*\)".*/\1 \2/' "$work/out" | tr '\n' ' ')" = 't0 allow t1 allow ' ]
ok 'with its arguments' has "$out" '*"tool_input":{"n":1}*'
ok 'that the policy is another now is on record' grep -q '"type":"approval.consumed"' "$log"
resume "$b"
ok 'once' exits 1
ok 'and says so' has "$err" '*resumed already*'
approvals list --json
ok 'the approval is used up' has "$out" '*"id":"'"$id"'","status":"consumed"*'

forget
queued
batch=$(event 0 3 refund && event 1 3 read && event 2 3 refund)
evaluate "$batch$nl"
one=$(id_of "$(answer 1)") two=$(id_of "$(answer 3)") b=$(batch_of "$(answer 1)")
approvals approve --batch "$b" --digest "$(digest_of "$one")"
ok 'a batch is not approved by one digest of two' exits 1
approvals list --batch "$b"
whole=$(printf '%s' "$out" | sed -n 's/^digest of batch.*: \(........\).*/\1/p')
approvals approve --batch "$b" --digest "$whole"
ok 'but by its own' exits 0
resume "$b"
ok 'all of it runs' [ "$(grep -c '"decision":"allow"' "$work/out")" = 3 ]

forget
queued
batch=$(event 0 2 refund && event 1 2 read)
evaluate "$batch$nl"
b=$(batch_of "$(answer 1)")
approvals deny --batch "$b" --reason 'no \"refunds\" today'
ok 'denied as a batch' exits 0
resume "$b"
ok 'the denied call gets the reason' has "$(answer 1)" '*"decision":"deny"*a person denied it: no*refunds*today*"refused_by":"human"*"is_error":true*'
ok 'its mate runs, as it was judged' has "$(answer 2)" '*"t1","decision":"allow"*'
rows "SELECT outcome || ' ' || success FROM tool_calls" >"$work/rows"
ok 'which the index has as rejected' grep -q '^rejected 0' "$work/rows"

forget
queued
evaluate "$(event 0 3 read && event 1 3 read && event 2 3 read)$nl"
ok 'a batch that nobody has to approve is not held' [ "$(grep -c '"decision":"allow"' "$work/out")" = 3 ]
evaluate "$(event 0 3 read && event 1 3 refund)$nl"
ok 'a batch that ends early is answered' [ "$(wc -l <"$work/out")" -eq 2 ]
evaluate "$(event 0 1 refund)$nl"
ok 'a call alone can be resumed too' [ -n "$(batch_of "$(answer 1)")" ]
{ event 0 2 read && event 1 2 refund; } >"$work/two"
{
	head -n 1 "$work/two"
	until [ -e "$work/go" ]; do :; done
	tail -n 1 "$work/two"
} | { "$pawl" eval --config "$cfg"; } >"$work/out" 2>"$work/err" &
touch "$work/go"
wait
ok 'lines that come one after the other are one batch' [ "$(grep -c '"decision":"require_approval"' "$work/out")" = 2 ]

forget
config '"approval":{"ask":"queue"},"require_approval":["refund"],"chain":[{"plugin":"sigsegv","match":{"tool":"bad"}}]'
evaluate "$(event 0 3 refund && event 1 3 bad && event 2 3 read)$nl$(event 0 1 read)$nl"
ok 'a plugin that dies in a batch: every call has one answer' [ "$(wc -l <"$work/out")" -eq 4 ]
ok 'the call it died in is refused' has "$(answer 2)" '*"decision":"deny"*policy error (sigsegv)*'
ok 'its mates are judged' [ "$(head -n 3 "$work/out" | grep -c '"decision":"require_approval"')" = 2 ]
ok 'and so is the next one' has "$(answer 4)" '*"decision":"allow"*'
approvals list --pending --json
ok 'a person is asked about the one that needs it' has "$out" '*"tool_name":"refund"*'
ok 'once' [ "$(wc -l <"$work/out")" -eq 1 ]
forget
evaluate "$(event 0 5 bad && event 1 5 read && event 2 5 bad && event 3 5 bad && event 4 5 bad)$nl"
ok 'it may die in several calls of one batch' [ "$(grep -c '"decision":"deny".*(sigsegv)' "$work/out")" = 4 ]
ok 'and the other may run' has "$(answer 2)" '*"decision":"allow"*'
# where two of them die nobody can say any more which call it was that killed which
forget
config '"chain":[{"plugin":"sigsegv","match":{"tool":"bad"}},{"plugin":"sigabrt","match":{"tool":"worse"}}]'
evaluate "$(event 0 3 bad && event 1 3 worse && event 2 3 read)$nl$(event 0 1 read)$nl"
ok 'of two plugins that die: every call has one answer' [ "$(wc -l <"$work/out")" -eq 4 ]
ok 'and none of the batch may run' [ "$(head -n 3 "$work/out" | grep -c '"decision":"deny"')" = 3 ]
ok 'the next one may' has "$(answer 4)" '*"decision":"allow"*'
finish
