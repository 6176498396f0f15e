#!/bin/sh
# What is not to be recorded is in no file of the store.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
write=$helpers/audit-write
audit() { "$top/libexec/pawl/pawl-audit" --db "$db" "$@"; }
verified() { audit verify >"$work/verify" 2>&1; [ $? -eq "$1" ]; }
# nowhere TEXT: in no file of the store
nowhere() { ! grep -rqF --include='audit*' --include='session*' --include='*.bin' -e "$1" "$work"; }
# put INPUT OPTIONS [CALLS]: the input of a call that ends well
put() { AUDIT_WRITE_STOP=1 AUDIT_WRITE_INPUT=$1 "$write" "$work" "${3:-1}" s ",\"sync\":\"off\"$2" >/dev/null; }
line() { grep -h '"call.allowed"' "$log"; }

# ---- secrets
canary='{"user":"ann","password":"CANARY-1","nested":{"api_key":"CANARY-2","list":[{"Authorization":"CANARY-3"}]},"pass\u0077ord2":"CANARY-4","token":12345678912345,"text":"{\"db\":{\"client_secret\":\"CANARY-5\"}}","cmd":"curl -H \"Authorization: Bearer CANARY6abcdefgh\" x","key":"AKIAABCDEFGHIJKLMNOP","big":1915883588174806058,"exp":1e400,"Set-Cookie":{"a":["CANARY-7"]}}'
put "$canary" ''
ok 'no secret is in any file' nowhere CANARY
ok 'nor a number under a secret name' nowhere 12345678912345
ok 'nor a key of a known shape' nowhere AKIAABCDEFGHIJKLMNOP
ok 'the rest is byte for byte' sh -c 'grep -h call.allowed "$0" | grep -qF "\"big\":1915883588174806058,\"exp\":1e400"' "$log"
ok 'and a mark stands in their place' sh -c 'grep -h call.allowed "$0" | grep -qF "\"user\":\"ann\",\"password\":\"[redacted]\""' "$log"
ok 'the store verifies' verified 0

forget
put "$canary" ',"redact":{"with":"hmac"}'
ok 'hashed: no secret is in any file' nowhere CANARY
ok 'but a hash with a key of the store' sh -c 'grep -h call.allowed "$0" | grep -qE "\"password\":\"hmac-sha256:[0-9a-f]{8}:[0-9a-f]{64}\""' "$log"
ok 'which is the owner'"'"'s' [ "$(find "$work/audit_hmac.key" -perm 600)" ]
hash=$(printf CANARY-1 | audit hash)
ok 'a value can be looked up' sh -c 'grep -qF "$1" "$0"' "$log" "$hash"
plain=$(printf CANARY-1 | sha256sum | cut -d' ' -f1)
ok 'not by who has no key' nowhere "$plain"
forget
put "$canary" ',"redact":{"with":"drop"}'
ok 'dropped: no secret is in any file' nowhere CANARY

forget
put '{"a":{"b":["x",{"c":"CANARY-1"}]},"ssn":"CANARY-2","note":"card 4111-1111-1111-1111 CANARY","w/x":"CANARY-3"}' \
	',"redact":{"pointers":["/a/b/*/c","/w~1x"],"keys":["SSN"],"patterns":["[0-9]{4}(-[0-9]{4}){3} CANARY"]}'
ok 'pointers, names and patterns of the owner' nowhere CANARY
ok 'and nothing else' sh -c 'grep -h call.allowed "$0" | grep -qF "{\"a\":{\"b\":[\"x\",{\"c\":\"[redacted]\"}]},\"ssn\":\"[redacted]\",\"note\":\"card [redacted]\",\"w/x\":\"[redacted]\"}"' "$log"
forget
put '{"password":"kept"}' ',"redact":{"defaults":false}'
ok 'defaults can be turned off' sh -c 'grep -qF "\"password\":\"kept\"" "$0"' "$log"
put_fails() { ! AUDIT_WRITE_INPUT='{}' "$write" "$work" 1 s ",$1" >/dev/null 2>"$work/err" && grep -q "$2" "$work/err"; }
ok 'a pattern that is none is refused' put_fails '"redact":{"patterns":["("]}' 'redact.patterns'
ok 'an unknown key is refused' put_fails '"redact":{"kes":[]}' 'unknown key "kes"'
ok 'a level that is none is refused' put_fails '"capture":[{"level":"al"}]' 'level'
ok 'a rule that says nothing is refused' put_fails '"capture":[{"tool":"x"}]' 'says no level'

# ---- how much
for level in none metadata request full; do
	forget
	put '{"q":"INPUT-1"}' ",\"capture\":[{\"tool\":\"Other\",\"level\":\"full\"},{\"tool\":\"Ba*\",\"level\":\"$level\"},{\"level\":\"full\"}]"
	case $level in
	full) ok "$level: input and result" sh -c 'grep -q INPUT-1 "$0" && grep -q stdout "$0"' "$log" ;;
	request) ok "$level: the input" sh -c 'grep -q INPUT-1 "$0" && ! grep -q stdout "$0" && grep -q result_digest "$0"' "$log" ;;
	metadata) ok "$level: digests" sh -c '! grep -q INPUT-1 "$0" && ! grep -q stdout "$0" && grep -q input_digest "$0"' "$log" ;;
	none) ok "$level: what was called" sh -c '! grep -q INPUT-1 "$0" && ! grep -q digest "$0" && grep -q "\"tool\":\"Bash\"" "$0"' "$log" ;;
	esac
	ok "$level: counted" [ "$(audit sessions --json | sed 's/.*"calls":\([0-9]*\).*"ok":\([0-9]*\).*/\1\2/')" = 11 ]
	ok "$level: verifies" verified 0
done

# ---- aside
forget
aside=',"capture":[{"level":"full","bodies":"aside"}]'
put '{"q":"BODY-1"}' "$aside" 3
ok 'aside: not in the log' sh -c '! grep -q BODY-1 "$0"' "$log"
ok 'but beside it' grep -q BODY-1 "$work/audit_bodies-1.jsonl"
ok 'the index has it' sh -c '"$1/libexec/pawl/pawl-audit" --db "$0" show s-0 --json | grep -q BODY-1' "$db" "$top"
ok 'rebuild reads both' sh -c '"$1/libexec/pawl/pawl-audit" --db "$0" rebuild --quiet && "$1/libexec/pawl/pawl-audit" --db "$0" show s-0 --json | grep -q BODY-1' "$db" "$top"
rm -f "$work"/audit.db.replaced*
ok 'verifies' verified 0
audit rotate
put '{"q":"BODY-2"}' "$aside,\"max_value\":1024"
ok 'a file a segment' [ "$(ls "$work" | grep -c '^audit_bodies')" -eq 2 ]
ok 'verifies over both' verified 0
cp "$work/audit_bodies-1.jsonl" "$work/kept"
sed -i '1s/BODY-1/BODY-X/' "$work/audit_bodies-1.jsonl"
ok 'a changed body is found' verified 1
sed '1s/./ /g' "$work/kept" >"$work/audit_bodies-1.jsonl"
ok 'one that was erased behind the store'"'"'s back, too' verified 1
cp "$work/kept" "$work/audit_bodies-1.jsonl"
ok 'erase wants to know which' sh -c '! "$1/libexec/pawl/pawl-audit" --db "$0" erase 2>/dev/null' "$db" "$top"
audit erase --call s-1 >"$work/said"
ok 'erase says how many' grep -q '^the bodies of 2 records were erased' "$work/said"
ok 'the others stay' grep -q BODY-1 "$work/audit_bodies-1.jsonl"
ok 'and verify is content' verified 0
audit erase --session s --quiet
ok 'erase by session' [ $? -eq 0 ]
ok 'erased: in no file of the store' nowhere BODY-
ok 'verify is content still' verified 0
ok 'and rebuild' sh -c '"$1/libexec/pawl/pawl-audit" --db "$0" rebuild --quiet' "$db" "$top"
ok 'as well' verified 0
finish
