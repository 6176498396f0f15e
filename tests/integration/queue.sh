#!/bin/sh
# approval.ask "queue": a call waits for a person, runs once and as it was shown, or does not.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
approvals() {
	run '' "$pawl" --config "$cfg" approvals "$@"
}
# member NAME: the first text of that name in the last run's JSON
member() {
	printf '%s\n' "$out" | sed -n 's/.*"'"$1"'":"\([^"]*\)".*/\1/p' | head -1
}
# queued MEMBERS [TOP]: a config with a gated tool and a rewrite
queued() {
	config '"approval":{"ask":"queue","allow_self":true'"$1"'},"require_approval":["Bash"],'"${2:-}"'
		"chain":[{"plugin":"rewrite","options":{"pointer":"/command","trim":true}}]'
}
# event ID [COMMAND] [SESSION]
event() {
	printf '{"hook_event_name":"PreToolUse","session_id":"%s","tool_name":"Bash","tool_use_id":"%s","tool_input":{"command":"%s"}}' \
		"${3:-s}" "$1" "${2:- ls }"
}
# last: id and digest of the newest that waits
last() {
	approvals list --pending --json
	out=$(tail -n 1 "$work/out")
	id=$(member id) digest=$(member digest)
	short=$(printf '%.8s' "$digest")
}
exits() {
	[ "$status" -eq "$1" ]
}

for agent in claude-code codex; do
	forget
	queued ',"wait":"0"'
	approvals list
	ok "$agent: an empty queue" exits 0
	hook $agent "$(event t1)"
	ok "$agent: nobody decided, so it is refused with the id" \
		denies $agent '*pending as ap-*, ask again once approved'
	last
	ok "$agent: it waits" [ -n "$id" ]
	ok "$agent: the arguments are those that would run" has "$out" '"tool_input":{"command":"ls"}*'
	ok "$agent: and those that were given are there" has "$out" '"tool_input_given":{"command":" ls "}*'
	hook $agent "$(event t2)"
	ok "$agent: the same call waits as the same" denies $agent "*pending as $id,*"
	approvals approve "$id" --digest "$short" --reason fine
	ok "$agent: approved" exits 0
	hook $agent "$(event t3 ' ls -l ')"
	ok "$agent: another call is not" denies $agent '*pending as ap-*'
	hook $agent "$(event t4 ' ls ' other)"
	ok "$agent: nor the same of another session" denies $agent '*pending as ap-*'
	hook $agent "$(event t5)"
	ok "$agent: asked again it runs" [ "$status" -eq 0 ]
	ok "$agent: with the rewrite" has "$out" '*"permissionDecision":"allow"*"updatedInput":{"command":"ls"}*'
	hook $agent "$(event t6)"
	ok "$agent: once" denies $agent '*pending as ap-*'
	approvals list --json
	ok "$agent: which the queue knows" has "$out" '*"id":"'"$id"'","status":"consumed"*"consumed_by":"t5"*'
	ok "$agent: and the audit" logged '"approval.consumed".*"call":"t5".*"approval":"'"$id"'"'
	ok "$agent: asked, voted, decided, used, allowed, in this order" [ "$(
		grep "\"approval\":\"$id\"" "$log" |
			sed -n 's/.*"type":"\([a-z.]*\)".*/\1/p' | grep -v denied | tr '\n' ' '
	)" = 'approval.requested approval.voted approval.decided approval.consumed call.allowed ' ]
done

forget
queued ',"wait":"0"'
hook claude-code "$(event t1)"
last
approvals deny "$id"
ok 'a denial needs a reason' exits 1
approvals deny "$id" --reason 'not on a Friday'
ok 'denied' exits 0
hook claude-code "$(event t2)"
ok 'the model is told why, at once' denies claude-code '*a person denied it: not on a Friday'
ok 'and that it was a person' logged '"policy.denied".*"refused_by":"human"'
approvals approve "$id" --digest "$short"
ok 'what is decided stays' exits 1
ok 'and by whom is said' has "$err" '*already denied*by uid *'

forget
queued ',"wait":"0"'
hook claude-code "$(event t1)"
last
for wrong in '' 'abc' "${short}0000000000000000" 'zzzzzzzz' "${digest}0" "' OR 1=1 --"; do
	approvals approve "$id" --digest "$wrong"
	ok "a digest \"$wrong\" approves nothing" exits 1
done
approvals approve "$id"
ok 'nor none' exits 1
approvals approve ap-0000000000000000 --digest "$short"
ok 'an id that is none' exits 3
approvals show ap-0000000000000000
ok 'nor can it be shown' exits 3
approvals wait ap-0000000000000000
ok 'nor waited for' exits 3
approvals approve
ok 'no id is a usage error' exits 2
approvals approve "$id" --pending --digest "$short"
ok 'an option that means nothing here too' exits 2
approvals wait "$id" --timeout 0s
ok 'it still waits' has "$err" '*still pending*'
approvals cancel "$id"
ok 'canceled' exits 0
approvals wait "$id"
ok 'which is no yes' exits 1
hook claude-code "$(event t2)"
ok 'after that the call is asked about anew' denies claude-code '*pending as ap-*'

forget
queued ',"wait":"0","timeout":"1s"'
hook claude-code "$(event t1)"
last
approvals wait "$id"
ok 'whom nobody answers is over' exits 1
ok 'and the reason is true' has "$out" '*expired: nobody decided within 1 s*'
ok 'which is on record' logged '"approval.expired"'

forget
queued ''  '"deadline":"60s",'
hook claude-code "$(event t1)" &
waiting=$!
tries=0
until "$pawl" --config "$cfg" --json approvals list --pending 2>"$work/err2" >"$work/list" &&
	[ -s "$work/list" ]; do
	tries=$((tries + 1))
	[ $tries -lt 2000 ] || break
done
id=$(sed -n 's/.*"id":"\([^"]*\)".*/\1/p' "$work/list")
short=$(sed -n 's/.*"digest":"\(........\).*/\1/p' "$work/list")
"$pawl" --config "$cfg" --quiet approvals approve "$id" --digest "$short" 2>"$work/err2"
wait $waiting
status=0
out=$(cat "$work/out")
ok 'a hook that waits goes on when somebody approves' \
	has "$out" '*"permissionDecision":"allow"*"updatedInput":{"command":"ls"}*'

forget
queued ',"wait":"0"'
hook claude-code "$(event t1 '\u001b[2Jrm\u202e\u200b -rf')"
last
approvals show "$id"
ok 'what would hide is shown as its number' has "$out" '*\\u001b\[2Jrm\\u202e\\u200b -rf*'
ok 'and no byte of it reaches the terminal' [ -z "$(LC_ALL=C tr -d '\012\040-\176' <"$work/out")" ]
ok 'the digest is there' has "$out" "*$digest*"
ok 'and the time left' has "$out" '* s to decide*'
hook claude-code "$(printf '{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_use_id":"t9","tool_input":{"command":"a\342\200\256\342\200\213\302\205b"}}')"
last
for json in '' --json; do
	approvals show "$id" $json
	ok "raw ones too $json" has "$out" '*a\\u202e\\u200b\\u0085b*'
done

forget
queued ',"wait":"0","on_change":"deny"'
hook claude-code "$(event t1)"
last
approvals approve "$id" --digest "$short"
queued ',"wait":"0","on_change":"deny"' '"deny":["Nothing"],'
hook claude-code "$(event t2)"
ok 'on_change deny: the yes is void under another policy' \
	denies claude-code "*approved as $id, but the policy that judged it has changed*"
forget
queued ',"wait":"0"'
hook claude-code "$(event t1)"
last
approvals approve "$id" --digest "$short"
queued ',"wait":"0"' '"deny":["Nothing"],'
hook claude-code "$(event t2)"
ok 'on_change run: it stands' [ "$status" -eq 0 ]
ok 'and that is on record' logged '"approval.consumed".*has changed since'

forget
queued ',"wait":"0"'
hook claude-code "$(event t1)"
printf 'not a database, and long enough to be read as one, if anybody did' >"$work/state/approvals.db"
hook claude-code "$(event t2)"
ok 'a queue that is broken refuses' denies claude-code '*cannot be put before one*approvals.db*'
rm -rf "$work/state"
echo file >"$work/state"
hook claude-code "$(event t3)"
ok 'one that cannot be made too' denies claude-code '*state*'
rm -f "$work/state"

# what people type is recorded as the audit's rules say
forget
printf '{"plugin_dir":"%s/plugins","state_dir":"%s/state","require_approval":["Bash"],
	"approval":{"ask":"queue","wait":"0","allow_self":true},"observe":[{"plugin":"audit","options":{
	"path":"%s","redact":{"patterns":["hunter[0-9]+"]},"capture":[{"tool":"Bash","level":"metadata"}]}}]}\n' \
	"$work" "$work" "$db" >"$cfg"
hook claude-code "$(event t1)"
last
approvals deny "$id" --reason 'not with hunter2 in it'
ok 'a reason with a secret in it is taken' exits 0
ok 'is on record' logged '"approval.voted".*"reason":"not with .* in it"'
ok 'without the secret' [ "$(cat "$work"/audit_log* | grep -c hunter2)" = 0 ]
sed 's/"metadata"/"none"/' "$cfg" >"$cfg.none" && mv "$cfg.none" "$cfg"
hook claude-code "$(event t2 other)"
last
approvals deny "$id" --reason 'a word of mine'
ok 'capture none: that it was decided is on record' [ "$(grep -c '"approval.decided"' "$log")" = 2 ]
ok 'and no word of it' [ "$(grep -c 'a word of mine' "$log")" = 0 ]

# nor are those rules to be read in a list of processes
hook claude-code "$(event t3 another)"
last
"$pawl" --config "$cfg" approvals wait "$id" >"$work/out" 2>"$work/err" &
waiting=$!
# words: of each process that has to do with this queue
words() {
	for process in /proc/[0-9]*/cmdline; do
		tr '\000' ' ' <"$process"
		echo
	done >"$work/all" 2>/dev/null
	grep -e "--store $work/state" "$work/all"
}
tries=0
until words >"$work/words" || [ $tries -ge 200 ]; do
	tries=$((tries + 1))
done
out=$(cat "$work/words")
ok 'the command waits' has "$out" '*--audit-options*wait*'
ok 'its words have none of the rules' [ "$(grep -c -e hunter -e redact "$work/words")" = 0 ]
"$pawl" --config "$cfg" --quiet approvals cancel "$id" 2>"$work/err"
wait $waiting 2>/dev/null

# a yes is used up before the audit has that; when it cannot have it the refusal says so
forget
mkdir "$work/audit"
printf '{"plugin_dir":"%s/plugins","state_dir":"%s/state","require_approval":["Bash"],"audit":{"on_error":"fail"},
	"approval":{"ask":"queue","wait":"0","allow_self":true},"observe":[{"plugin":"audit","options":{
	"path":"%s/audit/audit.db"}}]}\n' "$work" "$work" "$work" >"$cfg"
hook claude-code "$(event t1)"
last
approvals approve "$id" --digest "$short"
mv "$work/audit" "$work/audit.kept"
echo 'no folder' >"$work/audit"
hook claude-code "$(event t2)"
ok 'no record, no execution, and the person is told what became of the yes' \
	denies claude-code "the audit could not record this call; it did not run, and its approval $id is used up: ask again for a new one"
rm "$work/audit"
mv "$work/audit.kept" "$work/audit"
hook claude-code "$(event t3)"
ok 'which is so' denies claude-code '*pending as ap-*'
rm -rf "$work/audit"

# the agent's own process tree may not approve in a user install; root's is a system install,
# where uids are compared
forget
config '"approval":{"ask":"queue","wait":"0"},"require_approval":["Bash"]'
cat >"$work/agent.sh" <<AGENT
printf '%s' '$(event t1)' | '$pawl' --config '$cfg' hook claude-code >/dev/null 2>&1
list=\$('$pawl' --config '$cfg' --json approvals list)
id=\$(printf '%s' "\$list" | sed -n 's/.*"id":"\([^"]*\)".*/\1/p')
digest=\$(printf '%s' "\$list" | sed -n 's/.*"digest":"\([^"]*\)".*/\1/p')
'$pawl' --config '$cfg' approvals approve "\$id" --digest "\$digest"
AGENT
run '' sh "$work/agent.sh"
ok 'who asked may not approve' exits 1
ok 'and hears why' has "$err" '*may not approve it*'
finish
