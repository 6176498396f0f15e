#!/bin/sh
# What was kept elsewhere shows that a log was cut off, rolled back or replaced.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
write=$helpers/audit-write
audit() { "$top/libexec/pawl/pawl-audit" --db "$db" "$@"; }
# verified CODE OPTION...
verified() {
	code=$1
	shift
	audit verify "$@" >"$work/verify" 2>&1
	[ $? -eq "$code" ]
}
says() { grep -q -- "$1" "$work/verify"; }
# what an attacker takes away too: everything but the log
only_log() { rm -rf "$work"/audit.db* "$work"/audit_head.bin "$work"/checkpoints "$work"/audit_seal.*; }
save() { rm -rf "$work/saved"; mkdir "$work/saved"; cp -a "$work"/audit* "$work"/checkpoints "$work/saved" 2>/dev/null; }
restore() { rm -rf "$work"/audit* "$work/checkpoints"; cp -a "$work/saved/." "$work"; }

"$write" "$work" 3 s ',"sync":"off"' >/dev/null
save
cp "$work/saved/audit_log.jsonl" "$work/old"
"$write" "$work" 3 s ',"sync":"off"' >/dev/null
audit anchor >"$work/anchor"
ok 'an anchor is made' [ $? -eq 0 ]
ok 'it is short text' [ "$(wc -l <"$work/anchor")" -eq 6 ]
ok 'the key is the owner'"'"'s alone' [ "$(find "$work/audit_seal.key" -perm 600)" ]
ok 'the store verifies against it' verified 0 --anchor "$work/anchor"
ok 'stdin too' sh -c '"$1"/libexec/pawl/pawl-audit --db "$2" verify --anchor - <"$3" >/dev/null' \
	x "$top" "$db" "$work/anchor"
"$write" "$work" 3 s ',"sync":"off"' >/dev/null
ok 'and when the log is longer' verified 0 --anchor "$work/anchor"
save

head -n 12 "$log" >"$work/cut" && cp "$work/cut" "$log"
ok 'cut off: the head and the checkpoint show it' verified 2 --log
only_log
ok 'cut off, and all beside it removed: nothing to see alone' verified 0
ok 'but the anchor shows it' verified 2 --anchor "$work/anchor"
ok 'and says where the log ends' says 'ends with record 12'
only_log
cp "$work/old" "$log"
ok 'rolled back' verified 2 --anchor "$work/anchor"
rm -f "$log"
ok 'removed' verified 2 --anchor "$work/anchor"
only_log
"$write" "$work" 2 s ',"sync":"off"' >/dev/null
ok 'replaced by a shorter one' verified 2 --anchor "$work/anchor"
"$write" "$work" 20 s ',"sync":"off"' >/dev/null
ok 'replaced by a longer one' verified 2 --anchor "$work/anchor"
ok 'and it is called so' says '^REPLACED'
ok 'and says which record' says 'first bad sequence number 13'
audit verify --json --anchor "$work/anchor" >"$work/verify"
ok 'in JSON too' says '"result":"replaced"'
cp "$log" "$work/forged.jsonl"
restore
cp "$work/forged.jsonl" "$log"
ok 'the log alone replaced: the store itself says so' verified 1
ok 'and the anchor what it is' verified 2 --anchor "$work/anchor"
restore
ok 'put back, all is fine' verified 0 --anchor "$work/anchor"

note=$(ls "$work"/checkpoints/*.note)
mv "$note" "$work/note"
ok 'a removed checkpoint is found: the log tells of it' verified 1
sed '2s/.*/12/' "$work/note" >"$note"
ok 'a changed checkpoint is found' verified 1
ok 'its signature is wrong' says 'the signature is wrong'
cp "$work/note" "$note"
mv "$work/audit_seal.key" "$work/audit_seal.pub" "$work/saved"
ok 'without the public key the signature is not checked' verified 0
ok 'and that is said' says 'not all signatures'
ok 'the public key may lie elsewhere' verified 0 --key "$work/saved/audit_seal.pub"
ok 'and then it is said no more' sh -c '! grep -q "not all signatures" "$0"' "$work/verify"
audit checkpoint
ok 'somebody else'"'"'s checkpoint is found' verified 1 --key "$work/saved/audit_seal.pub"
sed 's/^[0-9][0-9]*$/5/' "$work/anchor" >"$work/forged"
restore
ok 'a forged anchor is refused' verified 4 --anchor "$work/forged"
ok 'no anchor at all' verified 4 --anchor "$work/nowhere"
echo hello >"$work/junk"
ok 'what is no anchor' verified 4 --anchor "$work/junk"
ok 'what cannot be understood is no finding' verified 4 --no-such-option

# the observer's own
rm -rf "$work"/audit* "$work"/checkpoints "$work"/sessions.bin
"$write" "$work" 10 s ',"sync":"off","checkpoint":5,"key":"'"$work/elsewhere"'"' >/dev/null
ok 'checkpoints are made as records come' [ "$(find "$work/checkpoints" -name '*.note' | wc -l)" -ge 4 ]
ok 'with the key given' [ -s "$work/elsewhere" ] 
ok 'which is not in the store' [ ! -e "$work/audit_seal.key" ]
ok 'and verify' verified 0
audit rotate
ok 'a checkpoint after closing a file' audit checkpoint --key "$work/elsewhere"
ok 'verifies too' verified 0
finish
