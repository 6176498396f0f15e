#!/bin/sh
# "isolation": "process": the plugin runs by itself, fenced in, and means the same.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
own='"isolation":"process","deadline":"20s"'
stop='{"hook_event_name":"Stop","session_id":"s"}'

# entries ENTRY...: a config with them as its chain
entries() {
	config "\"deadline\":\"30s\",\"chain\":[$*]" silent
}
lines() {
	run "$1" "$pawl" eval --config "$cfg"
}
line() { # of the last eval
	sed -n "$1p" "$work/out"
}
says() {
	has "$(line "$1")" "$2"
}

# ---- where it runs
entries "{\"plugin\":\"inside\",$own}"
hook claude-code "$pre"
fenced=1
if denies claude-code '*cannot be fenced in*'; then
	fenced=
	skip 'the fence' 'this kernel has none'
	own="$own,\"sandbox\":\"best-effort\""
	entries "{\"plugin\":\"inside\",$own}"
	hook claude-code "$pre"
fi
# its socket, and the plugin's own file
ok 'two descriptors, a new environment, /, 077, no core' \
	denies claude-code 'open 2 environment 2 root 1 umask 77 core 0 *'
if [ -n "$fenced" ]; then
	ok 'reads nothing, has no network' denies claude-code '* passwd 0 path 0 net 0 unix 0 *'
	echo hello >"$work/shown"
	entries "{\"plugin\":\"inside\",$own,\"options\":{\"path\":\"shown\"}}"
	hook claude-code "$pre"
	ok 'reads what its options name' denies claude-code '* passwd 0 path 1 net 0 unix 0 *'
	entries "{\"plugin\":\"inside\",$own,\"needs\":[\"net\"]}"
	hook claude-code "$pre"
	ok 'network where it is granted' denies claude-code '* passwd 0 path 0 net 1 unix 0 *'
fi

# ---- it is told like any other, with the same self
entries "{\"plugin\":\"inside\",$own}"
lines "$post$nl$pre$nl$stop$nl$post$nl$pre$nl"
ok 'told what ran, what was decided, the end' says 5 'post 2 decided 1 stop 1'
config "\"chain\":[{\"plugin\":\"no\",\"match\":{\"tool\":\"None\"}}],\"observe\":[{\"plugin\":\"inside\",$own}],\"deadline\":\"30s\"" silent
lines "$pre$nl$post$nl"
ok 'an observer, too' says 2 '{"observed":true}'
ok 'nothing left' is_clean
config "\"audit\":{\"on_error\":\"fail\"},\"chain\":[],\"observe\":[{\"plugin\":\"inside\",$own}],\"deadline\":\"30s\"" silent
hook claude-code "$pre"
ok 'an observer by itself that is well lets calls pass' abstains
config "\"audit\":{\"on_error\":\"fail\"},\"chain\":[],\"observe\":[{\"plugin\":\"missing\",$own}],\"deadline\":\"30s\"" silent
hook claude-code "$pre"
ok 'one that cannot be loaded does not' denies claude-code '*audit could not record*'

# ---- what it answers
exact='{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"n":1e400,"command":"ls","big":1915883588174806058},"tool_use_id":"t1"}'
entries "{\"plugin\":\"yes\",\"name\":\"before\",$own},{\"plugin\":\"append\",\"name\":\"one\",$own,\"options\":{\"value\":1}},{\"plugin\":\"append\",\"name\":\"two\",$own,\"options\":{\"value\":2}},{\"plugin\":\"yes\",$own}"
lines "$exact$nl"
ok 'rewrites compose, byte for byte' says 1 '"tool_input":{"n":1e400,"command":"ls|1|2","big":1915883588174806058}'
ok 'who spoke before is asked again' says 1 '"plugin":"before","verdict":"allow","ns":[0-9]*,"round":1'
entries "{\"plugin\":\"instead\",$own}"
lines "$pre$nl"
ok 'a result in its place' says 1 '"decision":"substitute"'
entries "{\"plugin\":\"person\",$own}"
lines "$pre$nl"
ok 'an approval' says 1 '"decision":"require_approval","reason":"a person should look"'
entries "{\"plugin\":\"missing\",$own,\"match\":{\"tool\":\"Other\"}},{\"plugin\":\"yes\"}"
hook claude-code "$pre"
ok 'a match that does not speak starts nothing' abstains

# ---- several, started together
entries "{\"plugin\":\"inside\",$own,\"match\":{\"tool\":\"Bash\"}},{\"plugin\":\"yes\",$own},{\"plugin\":\"yes\",\"name\":\"last\",$own}"
hook claude-code "$pre"
ok 'one that was forked starts with as little' \
	denies claude-code 'open 2 environment 2 root 1 umask 77 core 0 *'
dies="$own,\"mode\":\"shadow\""
for at in first middle last; do
	case $at in
	first) set -- "{\"plugin\":\"sigsegv\",$dies}" "{\"plugin\":\"yes\",$own}" "{\"plugin\":\"no\",$own}" ;;
	middle) set -- "{\"plugin\":\"yes\",$own}" "{\"plugin\":\"sigsegv\",$dies}" "{\"plugin\":\"no\",$own}" ;;
	last) set -- "{\"plugin\":\"yes\",$own}" "{\"plugin\":\"no\",$own,\"mode\":\"shadow\"}" "{\"plugin\":\"constructor-crash\",$own}" ;;
	esac
	entries "$1,$2,$3"
	lines "$pre$nl"
	case $at in
	last) ok 'the one that was executed crashes: its own error, and no other' says 1 '"decision":"deny","reason":"policy error (constructor-crash): the plugin crashed while it was being loaded (signal 11)"' ;;
	*) ok "the $at crashes: the others answer" says 1 '"decision":"deny","reason":"no means no"' ;;
	esac
	forget
done

# ---- what it does wrong
entries "{\"plugin\":\"sigsegv\",$own,\"match\":{\"tool\":\"Bash\"}},{\"plugin\":\"inside\",$own,\"match\":{\"tool\":\"Read\"}}"
readline='{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Read","tool_input":{},"tool_use_id":"t2"}'
lines "$readline$nl$pre$nl$readline$nl"
ok 'a crash is its own' says 2 'policy error (sigsegv): the plugin crashed (signal 11)'
ok 'the process beside it lives on' says 3 'decided 1 stop 0'
lines "$pre$nl$pre$nl$pre$nl$pre$nl$pre$nl$pre$nl"
ok 'asked anew after a crash' says 2 '"error":"crash"'
ok 'too many of them, and it is in quarantine' says 6 '"error":"quarantine"'
ok 'which says so' says 6 'is in quarantine'
hook claude-code "$pre"
ok 'a hook, too' denies claude-code '*is in quarantine*'
run '' "$pawl" check --config "$cfg"
ok 'check says so' has "$err" "$cfg:*\"sigsegv\": *"
ok 'and is not well' [ "$status" -eq 1 ]
forget
entries "{\"plugin\":\"sigsegv\",$own,\"on_error\":\"halt\",\"match\":{\"tool\":\"Bash\"}},{\"plugin\":\"yes\"}"
lines "$readline$nl$pre$nl$readline$nl"
ok 'halt: this and every later call' [ "$(grep -c '"decision":"deny"' "$work/out")" = 2 ]
forget
entries "{\"plugin\":\"oversleep\",\"isolation\":\"process\",\"sandbox\":\"best-effort\",\"deadline\":\"300ms\",\"match\":{\"tool\":\"Bash\"}},{\"plugin\":\"yes\"}"
lines "$pre$nl$readline$nl"
ok 'late: refused' says 1 'deadline exceeded in plugin oversleep'
ok 'late: the next is not' says 2 '"decision":"allow"'
config "\"deadline\":\"2s\",\"chain\":[{\"plugin\":\"oversleep\",\"isolation\":\"process\",\"sandbox\":\"best-effort\"}]" silent
hook claude-code "$pre"
ok "the call's own deadline" denies claude-code 'policy error (oversleep): deadline exceeded in plugin oversleep*'

# ---- a kernel that cannot fence it in
if "$helpers/without" landlock /bin/true 2>/dev/null; then
	entries '{"plugin":"yes","isolation":"process"}'
	run "$pre" "$helpers/without" landlock "$pawl" hook claude-code --config "$cfg"
	ok 'no Landlock: refused' \
		denies claude-code 'policy error (yes): the plugin cannot be fenced in here, `pawl check` says why'
	run '' "$helpers/without" landlock "$pawl" check --config "$cfg"
	ok 'no Landlock: check says what is missing' has "$err" 'Landlock'
	own='"isolation":"process","sandbox":"best-effort","deadline":"20s"'
	config "\"deadline\":\"30s\",\"chain\":[{\"plugin\":\"yes\",$own}]"
	run "$pre" "$helpers/without" landlock "$pawl" hook claude-code --config "$cfg"
	ok 'no Landlock, best-effort: asked' abstains
	ok 'no Landlock, best-effort: and recorded' \
		logged '"call.allowed".*"plugin":"yes".*"notes":{"sandbox":"best-effort: .*Landlock'
	config "\"deadline\":\"30s\",\"chain\":[{\"plugin\":\"sigsegv\",$own}]"
	run "$pre" "$helpers/without" landlock "$pawl" hook claude-code --config "$cfg"
	ok 'no Landlock, best-effort: its fault is recorded with it' \
		logged '"policy.hook_error".*"plugin":"sigsegv".*"notes":{"sandbox":"best-effort: .*Landlock'
else
	skip 'a kernel without Landlock' 'system calls cannot be filtered here'
fi

# ---- what people are told
entries "{\"plugin\":\"window\",$own,$nl \"options\":{\"from\":\"02:00\",$nl  \"until\":\"04:00\"}}"
run '' "$pawl" check --config "$cfg"
ok 'check: the place of a wrong option' has "$err" "$cfg:3:11: plugin \"window\" has no option \"until\""
entries "{\"plugin\":\"constructor-crash\",$own}"
run '' "$pawl" check --config "$cfg"
ok 'check: one that crashes while it is loaded' has "$err" "the plugin crashed while it was being loaded (signal 11)"
entries "{\"plugin\":\"yes\",$own}"
run '' "$pawl" check --config "$cfg"
ok 'check: one that is well' [ "$status" -eq 0 ]
run "$pre" "$pawl" explain claude-code --config "$cfg"
ok 'explain' has "$out" 'yes *allow*decision: allow'
entries "{\"plugin\":\"window\",$own}"
run '' "$pawl" plugins window --config "$cfg"
isolated_says=$out
entries '{"plugin":"window"}'
run '' "$pawl" plugins window --config "$cfg"
ok 'plugins: the same whoever loads it' [ "${out:-nothing}" = "$isolated_says" ]
entries "{\"plugin\":\"constructor-crash\",$own}"
run '' "$pawl" plugins constructor-crash --config "$cfg"
ok 'plugins: one that crashes' has "$err" 'the plugin crashed while it was being loaded (signal 11)'
entries "{\"plugin\":\"missing\",$own}"
run '' "$pawl" plugins missing --config "$cfg"
ok 'plugins: one that is not there' has "$err" 'no plugin "missing" in'
ok 'nothing left behind' is_clean
finish
