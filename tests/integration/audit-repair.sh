#!/bin/sh
# The database can always be made anew; repair sets aside and edits nothing.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
write=$helpers/audit-write
audit() { "$top/libexec/pawl/pawl-audit" --db "$db" "$@"; }
verified() { audit verify >"$work/verify" 2>&1; [ $? -eq "$1" ]; }
fill() { "$write" "$work" "$1" s ',"sync":"off"' >/dev/null 2>&1; }
table() { audit list --limit 0 --json >"$1"; audit sessions --json >>"$1"; }

fill 10
table "$work/before"
audit rebuild >"$work/said"
ok 'rebuild keeps the database before' [ "$(ls "$work" | grep -c '^audit.db.replaced-[0-9]*$')" -eq 1 ]
ok 'and says where' grep -q 'audit.db.replaced-' "$work/said"
table "$work/after"
ok 'and makes the same rows' cmp -s "$work/before" "$work/after"
ok 'which verify' verified 0
audit rotate; fill 3; table "$work/before"; audit rebuild >/dev/null; table "$work/after"
ok 'of several files, too' cmp -s "$work/before" "$work/after"

ok 'a sound store needs no repair' [ "$(audit repair)" = 'there was nothing to repair' ]
ok 'and is left alone' verified 0
cp "$log" "$work/kept"
printf '{"v":1,"seq":99,' >>"$log"
ok 'a torn end is said' [ "$(audit repair | grep -c 'torn end of 16 bytes')" -eq 1 ]
ok 'and kept' [ "$(cat "$work"/torn/*)" = '{"v":1,"seq":99,' ]
ok 'the log before it is as it was' cmp -s -n "$(wc -c <"$work/kept")" "$work/kept" "$log"
ok 'and verifies' verified 0

printf 'garbage' | dd of="$db" conv=notrunc 2>/dev/null
ok 'a broken database is found' verified 1
audit repair >"$work/said"
ok 'it is set aside' grep -q 'audit.db.replaced-' "$work/said"
ok 'and made anew' verified 0
rm -f "$db"
sqlite3 "$db" 'CREATE TABLE mine(x)' 2>/dev/null || printf x >"$db"
audit repair >/dev/null
ok 'somebody else'"'"'s database is set aside' verified 0

mkdir "$work/saved" && cp "$log" "$work/saved"
yes 'this is not a record' | head -c 100000 >"$log"
ok 'a log that is none takes no record' sh -c '! "$0" "$1" 1 s >/dev/null 2>&1' "$write" "$work"
audit repair >"$work/said"
ok 'it is set aside whole' [ "$(cat "$work"/quarantine/* | wc -c)" -eq 100000 ]
fill 2
ok 'and records are taken again' grep -q '"call.completed"' "$log"
ok 'what was in its place is a gap, as the log tells' verified 3
ok 'that says where it lies' grep -q 'set aside by repair: quarantine/' "$work/verify"
echo more >>"$(ls "$work"/quarantine/*)"
ok 'unless that was changed since' verified 1
finish
