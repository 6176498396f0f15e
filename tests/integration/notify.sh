#!/bin/sh
# Whoever is to know that a call waits is told, again after a failure, and none of that changes
# a decision.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
event() {
	printf '{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_use_id":"%s","tool_input":{"command":"%s"}}' "$1" "$2"
}
approvals() {
	run '' "$pawl" --config "$cfg" approvals "$@"
}
# ask EVENT: without `watch`, which ends what is left running: the notifier is to go on
ask() {
	printf '%s' "$1" | "$pawl" hook claude-code --config "$cfg" >"$work/out" 2>"$work/err"
	status=$?
	out=$(cat "$work/out")
	err=$(cat "$work/err")
	: >"$work/report"
}
# until_file FILE: as long as it takes, within reason
until_file() {
	tries=0
	until [ -s "$1" ]; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || return 1
		sleep 0.1
	done
}
cat >"$work/tell" <<'TELL'
#!/bin/sh
cat >>"$1"
printf '\n%s\n' "$PAWL_DELIVERY_ID" >>"$1"
TELL
cat >"$work/second" <<'SECOND'
#!/bin/sh
echo "$PAWL_DELIVERY_ID" >>"$1.tries"
[ "$(wc -l <"$1.tries")" -ge 2 ] && cp "$1.tries" "$1"
SECOND
chmod +x "$work/tell" "$work/second"
queued() {
	config '"approval":{"ask":"queue","wait":"0","notify":['"$1"']},"require_approval":["Bash"]'
}

queued '{"exec":["'"$work"'/tell","'"$work"'/told"]}'
ask "$(event t1 'rm secret-argument')"
ok 'the answer does not wait for it' denies claude-code '*pending as ap-*'
id=$(printf '%s' "$out" | sed -n 's/.*pending as \(ap-[a-z0-9]*\).*/\1/p')
ok 'a program is told' until_file "$work/told"
told=$(cat "$work/told")
ok 'of the id and the tool' has "$told" '*"id":"'"$id"'","tool_name":"Bash"*'
ok 'and not of the arguments' [ "$(grep -c secret-argument "$work/told")" = 0 ]
ok 'under a delivery id' grep -q '^msg_' "$work/told"
ask "$(event t2 'rm secret-argument')"
approvals deliver
ok 'the same call is told once' [ "$(grep -c '^msg_' "$work/told")" = 1 ]

forget
queued '{"exec":["'"$work"'/second","'"$work"'/again"]}'
ask "$(event t1 a)"
ok 'what fails is tried again' until_file "$work/again"
ok 'under the same id' [ "$(sort -u "$work/again" | wc -l)" -eq 1 ]

forget
queued '{"exec":["/nowhere/program"]},{"url":"http://127.0.0.1:9/none"}'
ask "$(event t1 a)"
ok 'targets that cannot be told change nothing' denies claude-code '*pending as ap-*'
id=$(printf '%s' "$out" | sed -n 's/.*pending as \(ap-[a-z0-9]*\).*/\1/p')
tries=0
until approvals list && has "$err" '*notices were not delivered*' || [ $tries -ge 300 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
ok 'and show' has "$err" '*notices were not delivered*'
approvals show "$id"
ok 'with the reason' has "$out" '*notice *nowhere*cannot be run*'
ok 'each of them' [ "$(grep -c '^notice ' "$work/out")" = 2 ]

for wrong in '{"exec":"x"}' '{"exec":["relative"]}' '{"url":"ftp://x"}' '{"url":"http://x","exec":["/x"]}' '{}' '1'; do
	queued "$wrong"
	run '' "$pawl" check --config "$cfg"
	ok "a target that is none is an error of the config: $wrong" [ "$status" -eq 1 ]
done
# whoever still tries is ours to end: nothing is left running behind a test
for pid in $(grep -l "$work" /proc/[0-9]*/cmdline 2>/dev/null | sed 's,/proc/\([0-9]*\)/.*,\1,'); do
	[ "$(cat "/proc/$pid/comm" 2>/dev/null)" = pawl-approvals ] && kill "$pid"
done
finish
