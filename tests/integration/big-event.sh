#!/bin/sh
# Large events are read to their end; what is too large is refused by name of the limit.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
# event NAME FIELD SIZE: one with so many bytes in a string
event() {
	printf '{"hook_event_name":"%s","session_id":"s","tool_name":"Write","tool_use_id":"t1","tool_input":{"file_path":"/w/f","%s":"' "$1" "$2"
	head -c "$3" /dev/zero | tr '\0' x
	printf '"},"tool_response":{}}'
}

# feed: runs the hook on $work/in; $wrote says how the writer ended
feed() {
	{ cat "$work/in"; echo $? >"$work/wrote"; } |
		"$helpers/watch" "$work/report" 20 "$pawl" hook claude-code --config "$cfg" \
			>"$work/out" 2>"$work/err"
	status=$? out=$(cat "$work/out") err=$(cat "$work/err")
	wrote=$(cat "$work/wrote")
}

config '"chain":[]' silent
event PostToolUse content 8388608 >"$work/in"
feed
ok '8 MiB after a tool: nothing said' abstains
ok 'and the writer is not cut off' [ "$wrote" = 0 ]
config '"chain":[{"plugin":"yes"},{"plugin":"limit","options":{"pointer":"/content","max_length":6000000}}]'
event PreToolUse content 5242880 >"$work/in"
feed
ok '5 MiB before a tool is allowed' abstains
ok 'recorded' logged '"type":"call.allowed"'
config '"limits":{"bytes":1048576},"chain":[]'
feed
ok 'over the configured limit: refused by its name' denies claude-code '*limits.bytes*'
ok 'the writer is not cut off' [ "$wrote" = 0 ]
config '"chain":[]' silent
event PreToolUse content 70000000 >"$work/in"
feed
ok 'over what can be held: refused by its name' denies claude-code '*limits.bytes*'
ok 'the writer is not cut off either' [ "$wrote" = 0 ]
rm "$work/in"
finish
