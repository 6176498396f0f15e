#!/bin/sh
# The store answers: lists by what records are about, follows, counts, exports.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
config '"chain":[{"plugin":"hosts","options":{"pointer":"/url","allow":["good.example"]}}]'
write=$helpers/audit-write
audit() { "$pawl" audit --config "$cfg" "$@"; }
call() { printf '{"hook_event_name":"%s","session_id":"%s","cwd":"/w","tool_name":"%s","tool_input":%s,"tool_use_id":"%s"%s}' "$@"; }
gate() { printf '%s' "$1" | "$pawl" hook claude-code --config "$cfg" >/dev/null 2>&1; }
count() { [ "$(audit --json list "$@" | wc -l)" -eq "$n" ]; }

gate "$(call PreToolUse s1 WebFetch '{"url":"https://good.example/a"}' t1 ',"agent_id":"a-7"')"
gate "$(call PostToolUse s1 WebFetch '{"url":"https://good.example/a"}' t1 ',"agent_id":"a-7","tool_response":{"text":"Hello, \"you\""}')"
gate "$(call PreToolUse s1 WebFetch '{"url":"https://evil.example/b"}' t2 '')"
gate "$(call PreToolUse s2 WebFetch '{"url":"https://good.example/c"}' t3 '')"

n=1; ok 'list by session' count --session s2
n=2; ok 'by agent' count --agent 'a-*'
n=1; ok 'by plugin' count --plugin hosts --decision deny
n=1; ok 'by decision' count --decision deny
n=1; ok 'by outcome' count --outcome ok
n=1; ok 'by text, without case' count --text 'EVIL.example'
n=0; ok 'by time: nothing before' count --before 2001-01-01
n=5; ok 'all of it after' count --since 2001-01-01
n=1; ok 'all together' count --session s1 --tool 'Web*' --type 'policy.*' --text evil --limit 5

audit tail >"$work/tail"
ok 'tail shows the last records' [ "$(wc -l <"$work/tail")" -eq 5 ]
audit tail --limit 1 --type 'policy.*' --json >"$work/tail"
ok 'as the log has them' sh -c '! grep -q . "$0"' "$work/tail"
audit --json tail --session s2 >"$work/tail"
ok 'of a session' grep -q '"session":"s2"' "$work/tail"
printf 'garbage' >"$work/audit.db.tmp" && cp "$work/audit.db" "$work/kept" && printf 'x' | dd of="$db" conv=notrunc 2>/dev/null
ok 'without a database, too' [ "$(audit tail | wc -l)" -eq 5 ]
cp "$work/kept" "$db"

mkfifo "$work/pipe"
audit tail -f --limit 1 --json >"$work/pipe" &
follow=$!
exec 3<"$work/pipe"
read -r line <&3
"$write" "$work" 1 f ',"sync":"off"' >/dev/null
read -r line <&3
ok 'tail -f waits for what comes' sh -c 'case $0 in *call.allowed*\"session\":\"f\"*) ;; *) exit 1;; esac' "$line"
read -r line <&3
audit rotate
read -r line <&3
ok 'and goes on in the next file' sh -c 'case $0 in *audit.rotated*) ;; *) exit 1;; esac' "$line"
exec 3<&-
wait "$follow" 2>/dev/null
ok 'and ends when nobody reads' true

audit stats >"$work/stats"
ok 'stats count by tool' grep -qE '^WebFetch +3 +1 ' "$work/stats"
ok 'and by who decided' grep -qE '^hosts +deny' "$work/stats"
ok 'as JSON, too' sh -c '"$1" --json audit --config "$0" stats | grep -q "\"what\":\"tools\",\"rows\":\[{"' "$cfg" "$pawl"

audit export --format csv >"$work/csv"
ok 'csv has a row a record' [ "$(grep -c '^[0-9]' "$work/csv")" -eq "$(($(audit export | wc -l) - 1))" ]
ok 'and quotes what needs it' grep -qF ',"{""text"":""Hello, \""you\""""}"' "$work/csv"
ok 'and a heading' sh -c 'head -n 1 "$0" | grep -q "^seq,time,type,session"' "$work/csv"
if command -v python3 >/dev/null 2>&1; then
	ok 'another reader reads the same' python3 - "$work/csv" <<-'END'
		import csv, json, sys
		rows = list(csv.DictReader(open(sys.argv[1], newline='')))
		done = [r for r in rows if r['type'] == 'call.completed' and r['session'] == 's1'][0]
		assert json.loads(done['result'])['text'] == 'Hello, "you"', done
	END
fi

n=$(audit --json list --type audit.exported --limit 0 | wc -l)
audit export --session 's"2' --since 2001-01-01 >/dev/null
tail -n 1 "$log" >"$work/told"
ok 'the log tells of an export' grep -q '"type":"audit.exported".*"data":{"format":"jsonl","uid":'"$(id -u)"',"session":"s\\"2","since":"2001-01-01T' "$work/told"
ok 'once' [ "$(audit --json list --type audit.exported --limit 0 | wc -l)" -eq $((n + 1)) ]
ok 'before it is written: who goes away has had some' sh -c '
	"$1" audit --config "$0" export >&- 2>/dev/null
	tail -n 1 "$2" | grep -q "audit.exported.*\"session\":null}"' "$cfg" "$pawl" "$log"
mv "$work/audit.lock" "$work/lock" && mkdir "$work/audit.lock"
n=$(cat "$work"/audit_log* | wc -l)
ok 'who may not write exports all the same' [ "$(audit export 2>"$work/said" | wc -l)" -eq "$n" ]
ok 'and is told that the log does not tell' grep -q 'does not tell of this export' "$work/said"
rmdir "$work/audit.lock" && mv "$work/lock" "$work/audit.lock"

ok 'show tells the story of a call' sh -c '
	"$1" audit --config "$0" show t1 >"$2" &&
	grep -q "intended *{\"url\"" "$2" && grep -q "decided *allow" "$2" &&
	grep -q "executed *ok" "$2" && grep -q "result *{\"text\"" "$2"' "$cfg" "$pawl" "$work/show"

# a call that nobody heard of again
n=0; ok 'an open call is not unknown at once' count --type call.unknown
AUDIT_WRITE_STOP=1 "$write" "$work" 0 other ',"unknown_after":1' >/dev/null
n=1; ok 'but by age' count --type call.unknown --session s2
ok 'its row says so' sh -c '"$1" --json audit --config "$0" show t3 | grep -q "\"outcome\":\"unknown\""' "$cfg" "$pawl"
AUDIT_WRITE_STOP=1 "$write" "$work" 0 other ',"unknown_after":1' >/dev/null
n=1; ok 'once' count --type call.unknown
gate "$(call PostToolUse s2 WebFetch '{"url":"https://good.example/c"}' t3 ',"tool_response":"late"')"
ok 'a late result puts it right' sh -c '"$1" --json audit --config "$0" show t3 | grep -q "\"outcome\":\"ok\""' "$cfg" "$pawl"
ok 'sessions count it once' sh -c '"$1" --json audit --config "$0" sessions | grep "\"s2\"" | grep -q "\"ok\":1,\"failed\":0,\"unknown\":0"' "$cfg" "$pawl"
ok 'and all of it verifies' audit verify --quiet
audit status --quiet
gate "$(call PreToolUse s3 WebFetch '{"url":"https://good.example/d"}' t4 '')"
audit verify >"$work/verify"
ok 'a record that the index leaves lying is no remark' sh -c '! grep -q behind "$0"' "$work/verify"
ok 'as JSON it is a number' sh -c '"$1" --json audit --config "$0" verify | grep -q "\"index_lag_bytes\":[1-9]"' "$cfg" "$pawl"
audit list --limit 1 >/dev/null
ok 'but who reads the index has it' sh -c '"$1" --json audit --config "$0" verify | grep -q "\"index_lag_bytes\":0"' "$cfg" "$pawl"
finish
