#!/bin/sh
# A plugin built with the first header and nothing newer loads and decides for ever. What
# it does is in tests/abi/first/first.c; neither that nor the header beside it is changed.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
cc=${PAWL_TEST_CC:-cc}
command -v "${cc%% *}" >/dev/null 2>&1 || { echo "1..0 # SKIP no compiler"; exit 0; }
begin
# shellcheck disable=SC2086
$cc -std=c99 -O1 -fPIC -fvisibility=hidden -shared -Wl,-z,defs \
	-o "$work/plugins/org.example.first.so" "$src/tests/abi/first/first.c" || exit 1
options="\"options\":{\"string\":\"b\",\"path\":\"$work/told\"}"
config "\"context\":{\"tenant\":\"acme\"},
 \"chain\":[{\"plugin\":\"org.example.first\",\"name\":\"one\",\"may\":[\"grant\"],$options},
  {\"plugin\":\"org.example.first\",\"name\":\"two\",\"match\":{\"tool\":\"count-two\"},$options}]"
sed "s|\"observe\":\[|&{\"plugin\":\"org.example.first\",\"name\":\"watch\",$options},|" \
	"$cfg" >"$cfg.new" && mv "$cfg.new" "$cfg"

# event TOOL [INPUT [MORE]]
event() {
	printf '{"hook_event_name":"PreToolUse","session_id":"s1","run_id":"r1","agent_id":"a1",'
	printf '"agent_type":"kind","cwd":"/w","turn":3,"position":1,"batch_size":2,"meta":{},'
	printf '"now":"2023-11-14T22:13:20Z","tool_name":"%s","tool_input":%s,"tool_use_id":"t1"%s}\n' \
		"$1" "${2:-{\}}" "${3:-}"
}

# asks EVENT: one line to eval, its answer in $out
asks() {
	rm -f "$work/told"
	run "$1$nl" "$pawl" eval --config "$cfg"
}

# says PATTERN...: the answer has each
says() {
	[ "$status" -eq 0 ] && [ -z "$err" ] || return 1
	for pattern in "$@"; do
		has "$out" "$pattern" || return 1
	done
}

# told PATTERN: the observing hooks were
told() {
	grep -q "$1" "$work/told" 2>/dev/null
}

ok "check opens it" "$pawl" check --quiet --config "$cfg"
run '' "$pawl" plugins org.example.first --config "$cfg"
ok "its options are listed" \
	says 'string*list of strings*duration*path*JSON*number' 'pre_tool_use pre_model_call'
asks "$(event read '{"s":"a\u00e9","n":[null,true,1e1,1.5,9223372036854775808],"o":{"k":{}}}')"
ok "what can be read is read" says '"decision":"deny"' '"reason":"all is read"' '"rule":"read"'
asks "$(event edit '{"n": 1.0, "gone": 1, "kept": 1e400}')"
ok "edits are applied, the rest stays" \
	says '"decision":"allow"' '"tool_input":{"n": 1.50, "kept": 1e400}'
ok "an observer is told" told '^decided {"type":"call.allowed"'
asks "$(event replace '{"old":1}')"
ok "arguments are replaced" says '"decision":"allow"' '"tool_input":{"new":true}'
asks "$(event ask)"
ok "a person is asked" says '"decision":"require_approval"' 'a person should see it' \
	'"instructions":"look twice"' '"timeout_s":5'
asks "$(event stand-in)"
ok "a result stands in" says '"decision":"substitute"' '{"from":"first"}'
ok "an observer is told of it" told '^substituted {"from":"first"}'
asks "$(event grant)"
ok "what is granted, told and noted" \
	eval 'says "\"decision\":\"allow\"" && logged "\"first-note\":\"kept\"" && logged granted'
asks "$(event fail)"
ok "an error denies" says '"decision":"deny"' 'policy error (one)' '"refused_by":"error"'
ok "and says nothing of itself to the model" eval '! has "$out" "as it was told"'
asks "$(event other)$nl$(event other)$nl$(event count)$nl$(event count-two)"
ok "an instance counts its calls" eval 'has "$(sed -n 3p "$work/out")" "call 3 of this instance"'
ok "and not another's" eval 'has "$(sed -n 4p "$work/out")" "call 1 of this instance" &&
	has "$(sed -n 4p "$work/out")" "\"plugin\":\"two\""'
asks '{"hook_event_name":"PreModelCall","session_id":"s1","request":{"messages":[]}}'
ok "a model call is denied" says '"decision":"deny"' 'no model today'
asks '{"hook_event_name":"PostModelCall","session_id":"s1","message":{"role":"assistant"}}'
ok "a model's answer is denied" says '"decision":"deny"' 'not that answer'
asks "$(event other '{}' ',"tool_response":{"ok":1}' | sed s/PreToolUse/PostToolUse/)"
ok "an observer is told of a run" eval 'says "\"observed\":true" && told "^ran {\"ok\":1}"'
asks '{"hook_event_name":"Stop","session_id":"s1"}'
ok "and of the end" eval 'says "\"observed\":true" && told "^stopped s1"'
hook claude-code "$(event count | sed 's/"now":"[^"]*",//')"
ok "through a hook too" denies claude-code 'call 1 of this instance'
finish
