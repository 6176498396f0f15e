#!/bin/sh
# eval --jobs: several lines at a time, and nobody can tell but by the clock.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
line() {
	printf '{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"%s","tool_use_id":"t%s","tool_input":{"n":%s,"command":"a"}%s}\n' "$2" "$1" "$1" "${3:-}"
}
# lines N: of five tools, a batch now and then, and what is no event
lines() {
	awk -v n="$1" 'BEGIN {
		split("A,B,C,No,Person", tool, ",")
		for (i = 1; i <= n; i++) {
			if (i % 97 == 0) { print (i % 2 ? "" : "{"); continue }
			more = i % 50 < 3 ? sprintf(",\"turn\":%d,\"batch_size\":3,\"position\":%d",
				i / 50, i % 50) : ""
			printf "{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s%d\"," \
				"\"tool_name\":\"%s\",\"tool_use_id\":\"t%d\"," \
				"\"tool_input\":{\"n\":%d,\"command\":\"a\"}%s}\n", i % 3,
				tool[i % 7 < 5 ? i % 7 + 1 : 1], i, i, more
		}
	}'
}
# judged JOBS [FILE]: $work/out.JOBS, without how long each plugin took
judged() {
	"$helpers/watch" "$work/report" 100 "$pawl" eval --config "$cfg" --jobs "$1" "${2:-$work/lines}" \
		</dev/null >"$work/out" 2>"$work/err"
	status=$?
	sed 's/"ns":[0-9]*/"ns":0/g' "$work/out" >"$work/out.$1"
}
ids() {
	sed -n 's/^{"tool_use_id":"\([^"]*\)".*/\1/p' "$work/out" | tr '\n' ' '
}
every_line() {
	[ "$(ids)" = "$(seq "$1" | sed 's/^/t/' | tr '\n' ' ')" ]
}
same() {
	[ -s "$work/out.1" ] && cmp "$work/out.1" "$work/out.8" >&2
}
refused() {
	grep -q "^{\"tool_use_id\":\"t$1\",\"decision\":\"deny\",.*$2" "$work/out"
}
denied() {
	grep -c '"decision":"deny"' "$work/out"
}

tsan=$(sed -n 's/^#define PAWL_TSAN_LOG "\(.*\)"$/\1/p' "$top/config.h")

# ---- what comes out ----
lines "$([ -n "$tsan" ] && echo 700 || echo 6000)" >"$work/lines"
rewriters='{"plugin":"append"},{"plugin":"no","match":{"tool":"No"}},{"name":"again","plugin":"append"},{"plugin":"person","match":{"tool":"Person"}},{"plugin":"yes"},{"name":"third","plugin":"append"},{"plugin":"error-text","match":{"tool":"C"}}'
config "\"deadline\":\"120s\",\"chain\":[$rewriters]" silent
judged 1
one=$status
judged 8
ok 'a chain of rewriters: the same answers from eight jobs as from one' same
ok 'and the same status, as some lines were no event' [ "$one:$status" = 1:1 ]
ok 'edits compose in the order of the chain' \
	grep -q '"t14",.*"command":"a|0|0|0".*"plugin":"append".*"plugin":"again".*"plugin":"third"' "$work/out.8"
judged 16
ok 'sixteen' cmp "$work/out.1" "$work/out.16"
head -n 600 "$work/lines" >"$work/some"
config "\"deadline\":\"120s\",\"chain\":[$rewriters]"
judged 8 "$work/some"
in_order() {
	sed -n 's/.*"type":"\(call\|policy.denied\|approval\)[^"]*".*"call":"t\([0-9]*\)".*/\2/p' "$log" >"$work/order"
	[ "$(sort -u "$work/order" | wc -l)" -gt 500 ] && sort -n -c "$work/order"
}
ok 'the records lie in the order of the lines' in_order

# ---- what takes the worker down ----
# one that writes to every descriptor races with whoever opens one: not for ThreadSanitizer
forger=forge-whole-frame
[ -z "$tsan" ] || forger=error-text
config '"deadline":"120s","chain":[{"plugin":"append"},{"plugin":"sigsegv","match":{"tool":"Crash"}},{"plugin":"exit-0","match":{"tool":"Exit"}},{"plugin":"'$forger'","match":{"tool":"Forge"}}]'
forget
for i in $(seq 200); do
	case $i in 60 | 61 | 199) tool=Crash ;; 120) tool=Exit ;; 160) tool=Forge ;; *) tool=A ;; esac
	line "$i" "$tool"
done >"$work/lines"
judged 8
ok 'crashes among 200 lines: each is answered once, in order' every_line 200
ok 'five are refused' [ "$(denied)" = 5 ]
for i in 60 61 199; do
	ok "line $i: the plugin that crashed is named" refused $i 'policy error (sigsegv): the plugin crashed'
done
ok 'the one that ended the process' refused 120 'policy error (exit-0)'
ok 'the one that forged an answer' refused 160 '"refused_by":"error"'
all_recorded() {
	grep -e '"type":"call.allowed"' -e '"type":"policy.denied"' "$log" |
		grep -o '"call":"t[0-9]*"' | sort -u >"$work/ids"
	[ "$(wc -l <"$work/ids")" = 200 ]
}
ok 'every line is recorded' all_recorded
ok 'nothing is left behind' is_clean
config '"deadline":"120s","chain":[{"plugin":"yes"},{"plugin":"endless-loop","deadline":"1s","match":{"tool":"Hang"}}]' silent
for i in $(seq 40); do
	case $i in 20) tool=Hang ;; *) tool=A ;; esac
	line "$i" "$tool"
done >"$work/lines"
judged 8
ok 'one that hangs: each is answered once, in order' every_line 40
ok 'only that line is refused, and its plugin is named' \
	refused 20 'deadline exceeded in plugin endless-loop'
ok 'no other' [ "$(denied)" = 1 ]
config '"deadline":"120s","chain":[{"plugin":"error-text","on_error":"halt","match":{"tool":"Stop"}}]' silent
for i in $(seq 100); do
	case $i in 50) tool=Stop ;; *) tool=A ;; esac
	line "$i" "$tool"
done >"$work/lines"
judged 4
halts() {
	every_line 100 && refused 50 'error-text' && refused 60 'halted' && refused 100 'halted' &&
		! refused 49 ''
}
ok 'a halt is seen by the other jobs, but for lines that were begun already' halts
rm -rf "$work/state"

# ---- who may be called when ----
for i in $(seq 400); do line "$i" A; done >"$work/lines"
both='{"name":"one","plugin":"one-at-a-time"},{"plugin":"yes"},{"name":"two","plugin":"one-at-a-time"}'
config "\"deadline\":\"120s\",\"audit\":{\"on_error\":\"fail\"},\"chain\":[$both]"
judged 8
ok 'SERIAL: never two calls in one file, of whichever entry' [ "$(ids | wc -w):$(denied)" = 400:0 ]
for i in $(seq 400); do
	[ $((i % 2)) = 0 ] && line "$i" A || line "$i" B
done >"$work/lines"
config '"deadline":"120s","chain":[{"name":"one","plugin":"one-an-instance","match":{"tool":"A"}},{"name":"two","plugin":"one-an-instance","match":{"tool":"B"}}]' silent
judged 8
ok 'INSTANCE: two instances at the same time, never two calls in one' \
	[ "$(ids | wc -w):$(denied)" = 400:0 ]
config '"deadline":"120s","chain":[{"plugin":"all-at-once"}]' silent
judged 8
ok 'PARALLEL: two calls in one instance at the same time' [ "$(ids | wc -w):$(denied)" = 400:0 ]
ok 'and nothing is left behind' is_clean
if [ -z "$sanitized" ]; then
	config '"deadline":"120s","chain":[{"plugin":"append","isolation":"process","sandbox":"best-effort"},{"plugin":"yes"},{"name":"shut","plugin":"sigsegv","isolation":"process","sandbox":"best-effort","match":{"tool":"Crash"}}]' silent
	for i in $(seq 60); do
		case $i in 30) tool=Crash ;; *) tool=A ;; esac
		line "$i" "$tool"
	done >"$work/lines"
	judged 1
	rm -rf "$work/state"
	judged 8
	ok 'plugins in processes of their own: the same answers' same
	ok 'a crash of one costs its line' [ "$(ids | wc -w):$(denied)" = 60:1 ]
	ok 'and no process stays' is_clean
fi

# ---- the option ----
for jobs in 0 17 x 2x -1 ''; do
	run '' "$pawl" eval --config "$cfg" --jobs "$jobs"
	ok "--jobs '$jobs' is a usage error" [ "$status" -eq 2 ]
done
config '"chain":[{"plugin":"yes"}]' silent
run "$(line 1 A)" "$pawl" eval --jobs=2 --config "$cfg" -
ok 'one line, two jobs, from stdin' [ "$status" -eq 0 ]
if [ -n "$tsan" ]; then
	no_races() {
		! grep -A 30 'WARNING: ThreadSanitizer' "$tsan".[0-9]* >&2
	}
	ok 'ThreadSanitizer has nothing to say' no_races
fi
finish
