#!/bin/sh
# A hostile plugin in a process of its own can read, write, reach, signal and start nothing;
# an honest one can work there; a kernel that cannot fence it in is a refusal.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
fence='"isolation":"process",'
# Their deadlines are not what is tried.
ask() {
	config "\"deadline\":\"60s\",\"chain\":[$1]"
	hook claude-code "$pre"
}
without() {
	config "\"deadline\":\"60s\",\"chain\":[$2]"
	run "$pre" "$helpers/without" "$1" "$pawl" hook claude-code --config "$cfg"
}
forgets() {
	rm -rf "$work/state" "$work"/audit*
}

config '"chain":[]'
run '' "$pawl" --json status --config "$cfg"
if ! has "$out" '"sandbox":{"whole":true,'; then
	echo '1..0 # SKIP this kernel has no Landlock or no seccomp'
	exit 0
fi

# ---- hostile
all='read list write net unix signal spawn leash'
ask '{"plugin":"hostile"}'
ok 'in the shared worker all of it works' \
	denies claude-code "constructor: $all, open: $all, hook: $all"
ask "{\"plugin\":\"hostile\",$fence\"options\":{}}"
ok 'fenced in, nothing does' \
	denies claude-code 'constructor: nothing, open: nothing, hook: nothing'
ask "{\"plugin\":\"hostile\",$fence\"needs\":[\"net\"]}"
ok 'with "net", internet sockets do' \
	denies claude-code 'constructor: net, open: net, hook: net'
config "\"deadline\":\"60s\",\"chain\":[{\"plugin\":\"hostile\",$fence\"options\":{}}]"
run "$pre$nl$pre$nl" "$pawl" eval --config "$cfg"
ok 'nor does it later, in a process that stays' \
	[ "$(grep -c 'constructor: nothing, open: nothing, hook: nothing' "$work/out")" = 2 ]
forgets
ask "{\"plugin\":\"hostile-trace\",$fence\"options\":{}},{\"plugin\":\"yes\"}"
if [ -z "$sanitized" ]; then
	ok 'tracing its worker ends it' denies claude-code \
		'policy error (hostile-trace): the plugin crashed (signal 31)'
	ok 'as the sandbox, for the records' \
		logged '"policy.hook_error".*"plugin":"hostile-trace","error_class":"sandbox"'
else
	skip 'tracing its worker ends it' 'a sanitizer traces itself'
fi

# ---- honest
ask "{\"plugin\":\"limit\",$fence\"options\":{\"pointer\":\"/command\",\"max_length\":1}}"
ok 'limit works in there' denies claude-code '*/command*'
ask "{\"plugin\":\"rewrite\",$fence\"options\":{\"pointer\":\"/command\",\"set\":\"pwd\"}}"
ok 'rewrite does' has "$status$out" '0*"updatedInput":{"command":"pwd"}*'
ask "{\"plugin\":\"window\",$fence\"options\":{\"from\":\"00:00\",\"to\":\"23:59\",\"timezone\":\"Europe/Berlin\",\"when\":\"inside\"}}"
if [ -e /usr/share/zoneinfo/Europe/Berlin ]; then
	ok 'window does, with the zones of the system' has "$status$out$err" '[02]*'
	ok 'and finds its zone' [ -z "$(printf '%s' "$err" | grep 'policy error')" ]
else
	skip 'window does' 'no time zones are installed'
fi
mkdir "$work/locks" "$work/other"
lock="{\"plugin\":\"lockdown\",$fence\"options\":{\"dir\":\"locks\",\"keys\":[\"session_id\"]}}"
ask "$lock"
ok 'lockdown reads the folder of its options' abstains
echo 'for a reason' >"$work/locks/s"
ask "$lock"
ok 'and the lock that lies there' denies claude-code '*for a reason*'

# ---- kernels that cannot
for part in landlock seccomp; do
	case $part in
	landlock) says='this kernel has no Landlock' ;;
	seccomp) says='this kernel has no seccomp filters' ;;
	esac
	entry='{"plugin":"yes","name":"fenced","isolation":"process"'
	forgets
	without $part "$entry}"
	ok "without $part it refuses" denies claude-code \
		'policy error (fenced): the plugin cannot be fenced in here, `pawl check` says why'
	ok 'as the sandbox, for the records' \
		logged '"policy.hook_error".*"plugin":"fenced","error_class":"sandbox"'
	run '' "$helpers/without" $part "$pawl" check --config "$cfg"
	ok 'check says why, and what would do' has "$status$err" \
		"1*$cfg:1:*\"fenced\": *$says*\"sandbox\": \"best-effort\"*"
	run '' "$helpers/without" $part "$pawl" status --config "$cfg"
	ok 'status says so' has "$status$out" "1*sandbox *no [Ls][ae]*fenced refuses: *"
	forgets
	without $part "$entry,\"sandbox\":\"best-effort\"}"
	ok "without $part, best-effort goes on" abstains
	ok 'and each record says what is missing' logged "best-effort: $says"
	run '' "$helpers/without" $part "$pawl" status --config "$cfg"
	ok 'status finds nothing wrong with that' [ "$status" -eq 0 ]
done
without landlock "{\"plugin\":\"hostile\",$fence\"sandbox\":\"best-effort\"}"
ok 'what the filter refuses is refused without Landlock' \
	denies claude-code 'constructor: read list, open: read list, hook: nothing'

# ---- too often
forgets
bad="{\"plugin\":\"kill-self\",$fence\"options\":{}}"
for n in 1 2 3 4 5; do
	ask "$bad"
	[ $n -lt 5 ] || ok 'it may fail five times' denies claude-code \
		'policy error (kill-self): the plugin crashed (signal 9)'
done
ask "$bad"
quarantine='policy error (kill-self): the plugin failed too often and is in quarantine, `pawl check` says why'
ok 'then it is in quarantine' denies claude-code "$quarantine"
ok 'for the records, too' \
	logged '"policy.hook_error".*"plugin":"kill-self","error_class":"quarantine"'
run '' "$pawl" check --config "$cfg"
ok 'check says so' has "$status$err" '1*"kill-self": in quarantine: it failed 5 times*'
run '' "$pawl" status --config "$cfg"
ok 'status says so' has "$status$out" '1*quarantine *kill-self: *`pawl reset --plugin kill-self`*'
run '' "$pawl" reset --plugin kill-self --config "$cfg"
ask "$bad"
ok 'reset lifts it' denies claude-code 'policy error (kill-self): the plugin crashed (signal 9)'
for n in 2 3 4 5; do
	ask "$bad"
done
ask "$bad"
ok 'it is there again' denies claude-code "$quarantine"
cp "$top/tests/zoo/kill-self.so" "$work/other/kill-self.so"
mv "$work/other/kill-self.so" "$work/plugins/kill-self.so"
ask "$bad"
ok 'another file lifts it' denies claude-code \
	'policy error (kill-self): the plugin crashed (signal 9)'
finish
