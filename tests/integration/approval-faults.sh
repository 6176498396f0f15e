#!/bin/sh
# One system call of holding, deciding or using an approval fails, or kills the process: never
# an allow that nobody gave, never two executions of one yes.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
if ! command -v strace >/dev/null 2>&1 || ! strace -o /dev/null true 2>/dev/null; then
	echo "1..0 # SKIP strace is not here or may not trace"
	exit 0
fi
[ -z "$sanitized" ] || { echo "1..0 # SKIP sanitizers trace themselves"; exit 0; }
begin
config '"approval":{"ask":"queue"},"require_approval":["Bash"]' silent
printf '{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Read","tool_use_id":"t","tool_input":{}}' |
	strace -f -qq -o "$work/opened" -e trace=openat "$pawl" hook claude-code --config "$cfg" \
		>"$work/out" 2>"$work/err"
ok 'a call that needs no person runs' [ $? -eq 0 ]
ok 'and loads neither queue nor database' \
	[ "$(grep -c -e 'approvals\.so' -e sqlite "$work/opened")" = 0 ]

config '"deadline":"60s","approval":{"ask":"queue","wait":"0","allow_self":true},"require_approval":["Bash"]'
event() {
	printf '{"hook_event_name":"PreToolUse","session_id":"%s","tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"ls"}}' "$1"
}
# ask SESSION [TRACER...]: 0 it may run
ask() {
	event "$1" >"$work/event"
	shift
	"$@" "$pawl" hook claude-code --config "$cfg" <"$work/event" >"$work/out" 2>"$work/err"
}
approvals() {
	"$@" "$pawl" --config "$cfg" approvals "$verb" "$id" $more >"$work/out" 2>"$work/err"
}
# waiting SESSION: id and digest of its call
waiting() {
	"$pawl" --config "$cfg" --json approvals list >"$work/list" 2>"$work/err"
	line=$(grep "\"session_id\":\"$1\"" "$work/list" | tail -n 1)
	id=$(printf '%s' "$line" | sed -n 's/.*"id":"\([^"]*\)".*/\1/p')
	digest=$(printf '%s' "$line" | sed -n 's/.*"digest":"\([^"]*\)".*/\1/p')
	state=$(printf '%s' "$line" | sed -n 's/.*"status":"\([^"]*\)".*/\1/p')
}
# sweep NAME HOW: one after the other, of each kind of call
sweep() {
	wrong_hold='' wrong_use='' wrong_vote='' used=0 n=0
	for call in openat flock pwrite64 fdatasync; do
		# the first files opened are the programs' and the config's
		case $call in
		openat) places='8 16 24 32' ;;
		pwrite64) places='1 4 8 12 16' ;;
		*) places='1 2 3' ;;
		esac
		for when in $places; do
			n=$((n + 1)) s=$1-$call-$when
			tracer="strace -f -qq -o /dev/null -e trace=$call -e inject=$call:$2:when=$when"
			# shellcheck disable=SC2086
			ask "$s" $tracer && wrong_hold="$wrong_hold $s"
			ask "$s" && wrong_hold="$wrong_hold $s"
			waiting "$s"
			verb=approve more="--digest $digest"
			# shellcheck disable=SC2086
			approvals $tracer && said=0 || said=1
			waiting "$s"
			# what was acknowledged is there; what was not may be
			[ $said -eq 0 ] && [ "$state" != approved ] && wrong_vote="$wrong_vote $s"
			[ "$state" = approved ] || approvals env || wrong_vote="$wrong_vote $s"
			runs=0
			# shellcheck disable=SC2086
			ask "$s" $tracer && runs=$((runs + 1))
			ask "$s" && runs=$((runs + 1))
			ask "$s" && runs=$((runs + 1))
			[ $runs -le 1 ] || wrong_use="$wrong_use $s"
			used=$((used + runs))
		done
	done
	ok "$1: no call runs that nobody approved" [ -z "$wrong_hold" ]
	ok "$1: what was said to be decided is" [ -z "$wrong_vote" ]
	ok "$1: no yes is used twice" [ -z "$wrong_use" ]
	ok "$1: and most are used once" [ "$used" -ge $((n / 2)) ]
	status="$wrong_hold $wrong_vote $wrong_use"
}
sweep EIO error=EIO
sweep ENOSPC error=ENOSPC
sweep KILL signal=KILL
finish
