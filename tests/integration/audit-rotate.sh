#!/bin/sh
# The log's files follow one another: nothing is lost by closing, moving or removing them.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
config '"chain":[{"plugin":"yes"}]'
write=$helpers/audit-write

audit() { "$top/libexec/pawl/pawl-audit" --db "$db" "$@"; }
verified() { audit verify >"$work/verify"; [ $? -eq "$1" ]; }
files() { ls "$work" | grep -c '^audit_log-.*jsonl$'; }
rows() { audit list --limit 0 --json | wc -l; }
lines() { cat "$work"/audit_log* | wc -l; }

"$write" "$work" 20 s ',"rotate_bytes":4096' >/dev/null
ok 'files are closed when they are large' [ "$(files)" -gt 3 ]
ok 'the chain goes through them' verified 0
ok 'closed files are read-only' [ -z "$(find "$work" -name 'audit_log-*' ! -perm 440)" ]
ok 'the index has each line' [ "$(rows)" -eq "$(lines)" ]
n=$(lines)
ok 'export gives all of them' [ "$(audit export | wc -l)" -eq "$n" ]
ok 'names say what is in them' sh -c '
	cd "$0" && for f in audit_log-*.jsonl; do
		first=$(head -n 1 "$f" | sed "s/^{\"v\":1,\"seq\":\([0-9]*\),.*/\1/")
		last=$(tail -n 1 "$f" | sed "s/^{\"v\":1,\"seq\":\([0-9]*\),.*/\1/")
		[ "$f" = "audit_log-$first-$last.jsonl" ] || exit 1
	done' "$work"

n=$(files)
audit rotate
ok 'rotate closes the current file' [ "$(files)" -eq $((n + 1)) ]
ok 'and begins a new one' grep -q audit.rotated "$log"
audit rotate && audit rotate
ok 'still one chain' verified 0
rm "$work"/audit.db
ok 'a new index is made of all files' [ "$(rows)" -eq "$(lines)" ]

# a file in the middle goes missing, or is changed
middle=$(ls "$work"/audit_log-*-*.jsonl | sed -n 3p)
mv "$middle" "$work/kept"
ok 'a removed file is found' verified 1
mv "$work/kept" "$middle"
ok 'and put back is fine again' verified 0
chmod 640 "$middle" && sed -i '2s/allowed/allowes/' "$middle"
ok 'an edited closed file is found' verified 1

# age
forget
"$write" "$work" 1 s >/dev/null
"$write" "$work" 3 s ',"rotate_age":1000000' >/dev/null
ok 'files are closed when they are old' [ "$(files)" -ge 3 ]
ok 'and the chain goes on' verified 0

# retention
forget
"$write" "$work" 40 s ',"rotate_bytes":4096' >/dev/null
before=$(files)
"$write" "$work" 10 s ',"rotate_bytes":4096,"keep_bytes":12000' >/dev/null
ok 'the oldest files are removed' [ "$(files)" -lt "$before" ]
ok 'the removal is told, with the hash of what was removed' \
	sh -c 'cat "$0"/audit_log* | grep -q "\"type\":\"audit.pruned\".*\"why\":\"bytes\".*\"hash\""' "$work"
ok 'verify spans what was removed' verified 0
ok 'the index is that of what is left' [ "$(rows)" -eq "$(lines)" ]
oldest=$(ls "$work"/audit_log-*-*.jsonl | sort -t- -k2n | head -n 1)
mv "$oldest" "$work/kept"
ok 'what was removed without telling is found' verified 1
forget
"$write" "$work" 10 s ',"rotate_bytes":4096' >/dev/null
before=$(files)
find "$work" -name 'audit_log-*' -exec touch -d '2020-01-01' {} +
"$write" "$work" 6 s ',"rotate_bytes":4096,"keep_age":3600000000000' >/dev/null
ok 'files whose records are young stay, whatever their time says' \
	[ "$(files)" -gt "$before" ]

# somebody else's rotation
forget
"$write" "$work" 5 s >/dev/null
mv "$log" "$log.1"
"$write" "$work" 5 s >/dev/null
ok 'a log that was moved away goes on' verified 0
ok 'and both files count' [ "$(rows)" -eq "$(lines)" ]
cp "$log" "$log-20261130" && : >"$log"
"$write" "$work" 5 s >/dev/null
ok 'a log that was copied and emptied goes on' verified 0
ok 'all three files count' [ "$(rows)" -eq "$(lines)" ]
: >"$log"
"$write" "$work" 5 s >/dev/null
ok 'a log that was emptied is found' verified 1
ok 'and the log itself tells' grep -q '"audit.recovered".*"missing_from"' "$log"

# all at once
forget
mkdir -p "$work/stop"
for i in 1 2 3 4 5 6 7 8; do
	"$write" "$work" 15 "w$i" ',"rotate_bytes":8192,"sync":"off"' >"$work/told.$i" &
	pids="${pids:-} $!"
done
( while [ -d "$work/stop" ]; do
	audit rotate; audit export >/dev/null; audit verify >"$work/v" || { [ $? -eq 3 ] || cp "$work/v" "$work/wrong"; }
done ) &
loop=$!
# shellcheck disable=SC2086
wait $pids
rmdir "$work/stop"
wait "$loop"
ok 'writers, rotation, export and verify at once: all told' \
	[ "$(cat "$work"/told.* | paste -sd+ | bc)" -eq 240 ]
ok 'and one chain' verified 0
ok 'each record once' [ "$(audit list --limit 0 --json --type 'call.*' | wc -l)" -eq 240 ]
ok 'nothing was found in between' [ ! -e "$work/wrong" ]
[ -e "$work/wrong" ] && sed 's/^/# /' "$work/wrong"
finish
