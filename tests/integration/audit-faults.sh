#!/bin/sh
# Full, read-only, locked, broken: no answer changes, what is lost is counted and told.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
config '"chain":[{"plugin":"yes"}]'
write=$helpers/audit-write
audit() { "$top/libexec/pawl/pawl-audit" --db "$db" "$@"; }
verified() { audit verify >"$work/verify" 2>&1; [ $? -eq "$1" ]; }
status_is() { audit status --json >"$work/status"; grep -q "$1" "$work/status"; }
calls() { cat "$work"/audit_log* | grep -c '"type":"call\.'; }

# ---- the file grows no further
forget
AUDIT_WRITE_SIZE=60000 "$write" "$work" 40 s ',"sync":"off"' >/dev/null
AUDIT_WRITE_FSIZE=4194304 "$write" "$work" 1 s >"$work/told" 2>/dev/null
ok 'RLIMIT_FSIZE: nothing is told, nobody dies of it' [ "$(cat "$work/told")" = 0 ]
ok 'it is counted' status_is '"dropped":2,.*"no_space":2'
"$write" "$work" 1 s >/dev/null
ok 'the gap is told' grep -q '"audit.gap".*"no_space"' "$log"
ok 'and is a gap for verify' verified 3

# ---- a small file system that is full
if unshare -rm true 2>/dev/null; then
	mkdir "$work/small"
	unshare -rm sh -c '
		mount -t tmpfs -o size=160k tmpfs "$1/small" || exit 77
		"$2" "$1/small" 1 s >/dev/null 2>&1
		dd if=/dev/zero of="$1/small/fill" bs=4k >/dev/null 2>&1
		"$2" "$1/small" 3 s >"$1/told.full" 2>/dev/null
		rm "$1/small/fill"
		"$2" "$1/small" 1 s >"$1/told.after" 2>/dev/null
		"$3/libexec/pawl/pawl-audit" --db "$1/small/audit.db" verify >"$1/verify.small" 2>&1
		echo $? >"$1/code.small"
		cat "$1/small/audit_log.jsonl" >"$1/log.small"' x "$work" "$write" "$top"
	if [ -s "$work/code.small" ]; then
		ok 'full file system: records are refused' [ "$(cat "$work/told.full")" -lt 6 ]
		ok 'what was told is there' [ "$(grep -c '"call\.' "$work/log.small")" -ge $((2 + $(cat "$work/told.full") + $(cat "$work/told.after"))) ]
		ok 'with room it goes on' [ "$(cat "$work/told.after")" -eq 2 ]
		ok 'the gap is told' grep -q '"audit.gap".*"no_space"' "$work/log.small"
		ok 'and is a gap for verify' [ "$(cat "$work/code.small")" -eq 3 ]
	else
		skip 'full file system' 'no tmpfs may be mounted here'
	fi
else
	skip 'full file system' 'no user namespace to be had'
fi

# ---- a folder that cannot be written
if [ "$(id -u)" -ne 0 ] || command -v setpriv >/dev/null 2>&1; then
	forget
	"$write" "$work" 1 s >/dev/null
	mkdir "$work/ro" && cp -a "$work"/audit* "$work"/drops.bin "$work"/sessions.bin "$work"/db.lock "$work/ro"
	cat >"$work/try" <<-END
		"$pawl" hook claude-code --config "$work/ro.json" </dev/stdin >"\$1/out" 2>"\$1/err"
		echo \$? >"\$1/code"
	END
	sed "s#$db#$work/ro/audit.db#" "$cfg" >"$work/ro.json"
	chmod -R a-w "$work/ro" && chmod 555 "$work/ro"
	[ "$(id -u)" -eq 0 ] && mode=root || mode=user
	if [ "$mode" = user ]; then
		mkdir "$work/said"
		printf '%s' "$pre" | sh "$work/try" "$work/said"
		ok 'read-only folder: the answer stands' [ "$(cat "$work/said/code")" -eq 0 ]
		ok 'and it is said' grep -q 'record lost' "$work/said/err"
		ok 'reading still works' sh -c '"$0" --db "$1" list --json | grep -q call.completed' \
			"$top/libexec/pawl/pawl-audit" "$work/ro/audit.db"
		ok 'and verify' sh -c '"$0" --db "$1" verify --quiet' \
			"$top/libexec/pawl/pawl-audit" "$work/ro/audit.db"
	else
		skip 'read-only folder' 'root writes where nobody may'
	fi
	chmod -R u+w "$work/ro"
fi

# ---- the database
forget
"$write" "$work" 3 s >/dev/null
for harm in 'printf garbage | dd of="$db" conv=notrunc' ': >"$db"' 'rm -f "$db"' \
	'dd if=/dev/zero of="$db" bs=4096 seek=2 count=2 conv=notrunc' 'truncate -s 5000 "$db"' \
	'rm -f "$db" && mkdir "$db"' 'rm -rf "$db" && ln -s /dev/null "$db"' 'rm -f "$db"'; do
	eval "$harm" >/dev/null 2>&1
	before=$(calls)
	"$write" "$work" 1 s >/dev/null 2>&1
	ok "records come in after: $harm" [ "$(calls)" -eq $((before + 2)) ]
done
audit repair >/dev/null
ok 'the index is whole again' [ "$(audit list --limit 0 --json --type 'call.*' | wc -l)" -eq "$(calls)" ]
ok 'and verifies' verified 0

# ---- whoever opens and closes the database in the same process
AUDIT_WRITE_MEDDLE=1 "$write" "$work" 20 m ',"sync":"off"' >"$work/m1" &
first=$!
AUDIT_WRITE_MEDDLE=1 "$write" "$work" 20 n ',"sync":"off"' >"$work/m2"
wait "$first"
ok 'meddlers lose nothing' [ "$(cat "$work/m1" "$work/m2" | tr '\n' ' ')" = '40 40 ' ]
audit list --limit 1 >/dev/null
ok 'neither in the log' verified 0
ok 'nor in the index' [ "$(audit list --limit 0 --json --session m | wc -l)" -eq 40 ]

# ---- clocks
shim=$helpers/audit-clock.so
if [ -e "$shim" ] && [ -z "$sanitized" ]; then
	forget
	"$write" "$work" 1 a >/dev/null
	for days in -400 400 -20000 30000; do
		CLOCK_DAYS=$days LD_PRELOAD=$shim "$write" "$work" 2 "d$days" \
			',"rotate_age":3600000000000,"rotate_bytes":4096' >/dev/null
	done
	"$write" "$work" 1 z >/dev/null
	ok 'clocks: the numbers go on' verified 0
	ok 'the order is that of the numbers' [ "$(audit list --limit 1 --json | sed 's/.*"session_id":"\([^"]*\)".*/\1/')" = z ]
	ok 'and none is missing' [ "$(calls)" -eq 20 ]
else
	skip 'clocks' 'no shim here'
fi

# ---- a crowd
forget
mkdir "$work/busy"
(while [ -d "$work/busy" ]; do
	audit rotate; audit export >/dev/null
	audit verify >"$work/v" 2>&1 || { code=$?; [ "$code" -eq 3 ] || { echo "$code"; cat "$work/v"; } >>"$work/wrong"; }
done) &
loop=$!
i=0
pids=
while [ $i -lt 64 ]; do
	i=$((i + 1))
	"$write" "$work" 1 "c$i" ',"rotate_bytes":20000' >"$work/crowd.$i" 2>/dev/null &
	pids="$pids $!"
done
# shellcheck disable=SC2086
wait $pids
rmdir "$work/busy"
wait "$loop"
ok '64 writers, rotation, export, verify: none refused' [ "$(cat "$work"/crowd.* | sort | uniq -c | tr -d ' \n')" = 642 ]
ok 'each record once' [ "$(calls)" -eq 128 ]
ok 'one chain' verified 0
ok 'the index level' [ "$(audit list --limit 0 --json --type 'call.*' | wc -l)" -eq 128 ]
ok 'verify never saw anything else' [ ! -e "$work/wrong" ]
[ -e "$work/wrong" ] && sed 's/^/# /' "$work/wrong"
finish
