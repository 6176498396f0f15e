#!/bin/sh
# eval: every line is answered once, in order, whatever a plugin does to the worker.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
line() {
	printf '{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"%s","tool_use_id":"t%s","tool_input":{"n":%s}%s}\n' "$2" "$1" "$1" "$3"
}
ids() {
	sed -n 's/^{"tool_use_id":"\([^"]*\)".*/\1/p' "$work/out" | tr '\n' ' '
}
config '"chain":[{"plugin":"sigsegv","match":{"tool":"Crash"}},{"plugin":"exit-0","match":{"tool":"Exit"}},{"plugin":"no","match":{"tool":"No"}}]'
run "$(line 1 A; line 2 Crash; line 3 B; line 4 Crash; line 5 Crash; line 6 Exit; line 7 No; line 8 C)" \
	"$pawl" eval --config "$cfg"
ok 'each once, in order' [ "$(ids)" = 't1 t2 t3 t4 t5 t6 t7 t8 ' ]
ok 'exit 0' [ "$status" -eq 0 ]
for n in 1 3 8; do
	ok "line $n stays allowed" grep -q "^{\"tool_use_id\":\"t$n\",\"decision\":\"allow\"" "$work/out"
done
for n in 2 4 5 6; do
	ok "line $n is refused as an error" \
		grep -q "^{\"tool_use_id\":\"t$n\",\"decision\":\"deny\".*\"refused_by\":\"error\"" "$work/out"
done
ok 'every line is recorded' [ "$(grep -c -e 'call.allowed' -e 'policy.denied' "$log")" = 8 ]
i=0
while [ $i -lt 3000 ]; do
	i=$((i + 1))
	case $i in *00) tool=Fork ;; 1550) tool=Crash ;; 2999) tool=Exit ;; *) tool=A ;; esac
	line $i $tool ',"filler":"................................................................................................................................"'
done >"$work/many"
config '"chain":[{"plugin":"sigsegv","match":{"tool":"Crash"}},{"plugin":"exit-0","match":{"tool":"Exit"}}]' silent
"$pawl" eval --config "$cfg" "$work/many" >"$work/out"
ok '3000 lines over several blocks: all, in order' \
	[ "$(ids)" = "$(seq 3000 | sed 's/^/t/' | tr '\n' ' ')" ]
ok 'two of them refused' [ "$(grep -c '"decision":"deny"' "$work/out")" = 2 ]
config '"chain":[{"plugin":"fork-returns","match":{"tool":"Fork"}}]' silent
"$pawl" eval --config "$cfg" "$work/many" >"$work/out"
ok 'a plugin that comes back twice: still each once' \
	[ "$(ids)" = "$(seq 3000 | sed 's/^/t/' | tr '\n' ' ')" ]
config '"chain":[]' silent
run "$(line 1 A)$nl{$nl$nl$(line 2 A)$nl" "$pawl" eval --config "$cfg"
ok 'a line that is no event: exit 1' [ "$status" -eq 1 ]
ok 'refused in its place' has "$out" '*"t1","decision":"allow"*"decision":"deny"*"t2","decision":"allow"*'
run "$(line 1 A)" "$pawl" eval --config "$cfg" "$work/nowhere"
ok 'a file that is not there: exit 2' [ "$status" -eq 2 ]
config '"chain":[{"plugin":"window","options":{"from":"02:00","to":"04:00","timezone":"UTC"}}]' silent
run "$(line 1 A ',"now":"2026-01-02T03:00:00Z"'; line 2 A ',"now":"2026-01-02T05:00:00Z"')" \
	"$pawl" eval --config "$cfg"
ok 'now is what the event says' has "$out" '*"t1","decision":"deny"*"t2","decision":"allow"*'
config '"chain":[{"plugin":"require-context","options":{"pointer":"/tier","in":["gold"]}}]' silent
run "$(line 1 A ',"context":{"tier":"gold"}'; line 2 A ',"context":{"tier":"tin"}'; line 3 A)" \
	"$pawl" eval --config "$cfg"
ok 'context is, too, for its line' \
	has "$out" '*"t1","decision":"allow"*"t2","decision":"deny"*"t3","decision":"deny"*'
hook pawl "$(line 1 A ',"context":{"tier":"gold"}')"
ok 'but not for a hook' denies pawl '*tier*'
finish
