#!/bin/sh
# Every system call of holding, approving and using a call fails once, and each process is
# killed at each: what was acknowledged is there, nothing is there twice, and one yes lets a
# call run once at most.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
if [ -n "$sanitized" ]; then
	echo "1..0 # SKIP a sanitizer's own system calls are among them"
	exit 0
fi
mkdir "$work/state"
# sets MEMBERS: approvals wait and stand as long as this takes
sets() {
	config '"deadline":"60s","require_approval":["Bash"],'"$1"'
		"approval":{"ask":"queue","wait":"0","timeout":"0","redeem":"240h","allow_self":true}' silent
}
# swept STRIDE: every one where make check-faults has set FAULTS_ALL
swept() {
	[ -z "${FAULTS_ALL:-}" ] || set -- 1
	"$top/tests/faults/approval" "${FAULTS:-EIO,ENOSPC,EINTR,KILL}" "$1" "$work" "$cfg" "$pre" "$pawl" \
		>"$work/out" 2>"$work/err"
	status=$? err=$(cat "$work/err") out=$(head -c 4000 "$work/out")
	[ $status -ne 77 ] || return 77
	# shellcheck disable=SC2046
	set -- $(tail -n 1 "$work/out")
	echo "# ${1:-?} failures, ${2:-?} wrong, ${3:-?} times the yes was gone and the call refused"
	[ "$status" -eq 0 ] && [ "${1:-0}" -gt 20 ] && [ "${2:-1}" -eq 0 ]
}
sets ''
if swept 1000 || [ $? -ne 77 ]; then :; else
	skip 'system calls that fail' "$(tail -n 1 "$work/out")"
	finish
	exit 0
fi
ok 'hold, approve, use' swept "${STRIDE:-71}"
sets '"audit":{"on_error":"fail"},"observe":[{"plugin":"audit","options":{"path":"'"$work"'/state/audit.db"}}],'
ok 'and with a record that must be there' swept "${STRIDE:-211}"
finish
