#!/bin/sh
# `pawl status` says what is halted, in quarantine or broken, and how that is lifted.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
event() {
	printf '{"hook_event_name":"PreToolUse","session_id":"%s","tool_name":"Bash","tool_use_id":"t1","tool_input":{}}' "$1"
}
status() {
	run '' "$pawl" status --config "$cfg" "$@"
}
is_well() {
	[ "$status" -eq 0 ] && [ -z "$err" ]
}
# fault NAME PLUGIN N: N faults of that entry, as they are kept
fault() {
	mkdir -p "$work/state/fault"
	file=$(printf '%x:%x:%x:%x.%x' $(stat -c '%d %i %s' "$work/plugins/$2.so") \
		"$(stat -c %Y "$work/plugins/$2.so")" "$(stat -c %.9Y "$work/plugins/$2.so" |
			sed 's/.*\.0*\(.\)/\1/')")
	for second in $(seq "$3"); do
		printf '\nboot %d %s crash\n' "$second" "$file"
	done >"$work/state/fault/$1"
	chmod 600 "$work/state/fault/$1"
}

mkdir "$work/conf.d"
echo '{"deny":["drop_table"]}' >"$work/conf.d/10-lists.json"
config '"on_error":"halt","chain":[{"plugin":"yes","name":"first"},{"plugin":"yes","name":"second"},{"plugin":"error-text","match":{"tool":"Bash"}}]'
status
ok 'nothing is wrong' is_well
ok 'it names the files' has "$out" "$cfg$nl*$work/conf.d/10-lists.json"
ok 'it says who it is trusted as' has "$out" "trust  *: it "
ok 'it counts entries' has "$out" '3 in chain, 1 observing'
ok 'it says what the kernel can do' has "$out" 'sandbox *Landlock'
ok 'it says that the audit is well' has "$out" "audit  *$db: well"
status --json
ok 'in JSON too' has "$out" \
	'{"config":\["'"$cfg"'","*10-lists.json"\],"trust":"*","chain":3,"observe":1,"isolated":0,"sandbox":{"whole":*},"unfenced":\[\],"halted":\[\],"quarantined":\[\],"audit":{"path":"'"$db"'","ok":true},"ok":true}'
status --quiet
ok 'nothing with --quiet' [ "$status$out$err" = 0 ]

hook claude-code "$(event one/two)"
status
ok 'a halted session is told' [ "$status" -eq 1 ]
ok 'and what lifts it' has "$out" 'halted *session one/two, after an error of error-text; `pawl reset one/two` lifts it'
status --json
ok 'in JSON' has "$out" '"halted":\[{"session":"one/two","plugin":"error-text","file":"*"}\],*"ok":false}'
run '' "$pawl" reset one/two --config "$cfg"
status
ok 'until then' is_well
hook claude-code "$(event "$(printf '%0300d' 7)")"
status
ok 'a session with a long name has a file' has "$out" "halted *long name*error-text; removing $work/state/halt/*~* lifts it"
rm -r "$work/state"

fault first yes 4
status
ok 'four faults are none' is_well
fault first yes 5
status
ok 'a quarantine is told' [ "$status" -eq 1 ]
ok 'with why and what lifts it' has "$out" 'quarantine  first: in quarantine: it failed 5 times, *last with crash; `pawl reset --plugin first`*'
ok 'it is that entry alone' [ "$(grep -c ^quarantine "$work/out")" = 1 ]
status --json
ok 'in JSON' has "$out" '"quarantined":\[{"plugin":"first","why":"in quarantine: *"}\],*"ok":false}'
run '' "$pawl" check --config "$cfg"
ok 'check names it, and where it stands' has "$err" "$cfg:1:*: plugin \"first\": in quarantine: it failed 5 times*"
ok 'and fails' [ "$status" -eq 1 ]
run '' "$pawl" reset --plugin first --config "$cfg"
ok 'reset lifts it' [ "$status" -eq 0 ]
status
ok 'then all is well' is_well
run '' "$pawl" check --config "$cfg"
ok 'for check too' [ "$status" -eq 0 ]
run '' "$pawl" reset --plugin nobody --config "$cfg"
ok 'an entry that is not there is an error' has "$status$err" '1*no entry is called "nobody"'
run '' "$pawl" reset --plugin --config "$cfg"
ok 'and so is none' [ "$status" -eq 2 ]

rm -rf "$work"/audit* && mkdir "$db"
status
ok 'a broken audit is told' has "$status$out" '1*audit  *not well; `pawl audit status` says why'
rmdir "$db"
config '"chain":[]' silent
status
ok 'no audit is no fault, and said' has "$status$out" '0*nothing is recorded'
echo '{' >"$cfg"
status
ok 'a broken config is told' has "$status$err" "1$cfg:2:1: *"
status --json
ok 'in JSON' has "$out" '{"error":"*","ok":false}'
finish
