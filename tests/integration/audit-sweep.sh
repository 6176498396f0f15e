#!/bin/sh
# Each system call of one record fails once, and the process is killed at each: what was
# acknowledged is there, nothing is there twice, and the next record finds a sound store.
# Once the record fills the index as well, and once it leaves that to the next one.
# PAWL_SWEEP=all takes every fault at every call.  Else the faults take turns, and of the
# calls that SQLite makes by the dozen one in five is taken.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
command -v strace >/dev/null 2>&1 || { echo '1..0 # SKIP strace is not installed'; exit 0; }
[ -z "$sanitized" ] || { echo '1..0 # SKIP a sanitizer and strace do not go together'; exit 0; }
begin
write=$helpers/audit-write
strace -o "$work/trace" "$write" "$work/dry" 0 >/dev/null 2>&1 && [ -s "$work/trace" ] ||
	{ echo '1..0 # SKIP strace may not trace here'; exit 0; }
export AUDIT_WRITE_ACK=1 AUDIT_WRITE_POST=1
calls='openat|newfstatat|fstat|flock|pread64|pwrite64|read|write|fdatasync|fsync|ftruncate|fallocate|getdents64|fcntl|lseek|close|unlink|access|faccessat|faccessat2|mkdir|mkdirat|readlink|fchmod|getrandom|memfd_create|mmap'

# prepare DIR WAY: a store that has a record already, so that each way through is gone.
prepare() {
	rm -rf "$1"
	mkdir "$1"
	AUDIT_WRITE_ACK='' "$write" "$1" 1 before >/dev/null 2>&1
	[ "$2" = later ] || rm "$1/audit_index.bin"
}

# Names and numbers of the calls after the store was first looked at: "later openat 31".
places() {
	prepare "$work/dry" "$1"
	strace -f -o "$work/trace" "$write" "$work/dry" 1 now >/dev/null 2>&1
	sed -n 's/^[0-9]* *\([a-z0-9_]*\)(.*/\1 &/p' "$work/trace" |
		awk -v way="$1" -v store="$work/dry" -v calls="^($calls)\$" '
			{ n[$1]++ }
			index($0, "\"" store "\"") { on = 1 }
			on && $1 ~ calls { print way, $1, n[$1] }'
}
places now >"$work/places"
ok 'there are calls to fail' [ "$(wc -l <"$work/places")" -gt 100 ]
ok 'some are those of the index' grep -q libsqlite3 "$work/trace"
places later >>"$work/places"
ok 'a record can leave it alone' [ -z "$(grep libsqlite3 "$work/trace")" ]

# sound DIR TOLD: after one more record
sound() {
	"$write" "$1" 1 after >"$work/after" 2>&1
	"$top/libexec/pawl/pawl-audit" --db "$1/audit.db" verify >"$work/verify" 2>&1
	code=$?
	[ "$code" -eq 0 ] || [ "$code" -eq 3 ] || return 1
	there=$(cat "$1"/audit_log* | grep -c '"session":"now"')
	[ "$there" -ge "$2" ] && [ "$there" -le 1 ] || return 1
	[ "$(cat "$work/after")" = a ]
}

n=0
turn=0
runs=0
prepare "$work/ready-now" now
prepare "$work/ready-later" later
: >"$work/bad"
while read -r way call number; do
	turn=$((turn + 1))
	case ${PAWL_SWEEP:-}$way-$call in
	later-* | now-pread64 | now-pwrite64 | now-fcntl | now-newfstatat | now-close) [ $((turn % 5)) -eq 0 ] || continue ;;
	esac
	n=$((n + 1))
	case ${PAWL_SWEEP:-$((n % 4))} in
	all) faults='error=EIO error=ENOSPC error=EINTR signal=KILL' ;;
	0) faults=error=EIO ;;
	1) faults=error=ENOSPC ;;
	2) faults=error=EINTR ;;
	3) faults=signal=KILL ;;
	esac
	for fault in $faults; do
		rm -rf "$work/s"
		cp -a "$work/ready-$way" "$work/s"
		runs=$((runs + 1))
		strace -f -o /dev/null -e trace="$call" -e "inject=$call:$fault:when=$number" \
			"$write" "$work/s" 1 now >"$work/told" 2>"$work/err"
		sound "$work/s" "$(wc -c <"$work/told")" || {
			echo "$way $call $number $fault: told $(wc -c <"$work/told"), there ${there:-?}, $(cat "$work/after") verify $code"
			sed 's/^/   /' "$work/verify" "$work/err"
		} >>"$work/bad"
	done
done <"$work/places"
ok "$n calls fail once each, in $runs runs" [ ! -s "$work/bad" ]
sed 's/^/# /' "$work/bad"
finish
