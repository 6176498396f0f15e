#!/bin/sh
# OpenCode with pawl's plugin: what is decided is what happens.
# shellcheck source=tests/e2e/lib.sh
. "${abs_top_srcdir:-..}/tests/e2e/lib.sh"
limit=400 # it looks for its plugins' packages first, and waits for a network that is not there
begin opencode-ai 1.18.33
# the package's own program is put there by a script that npm does not run by itself
program=$modules/opencode-$(node -p 'process.platform + "-" + process.arch')/bin/opencode
[ -x "$program" ] || skip_all 'there is no OpenCode for this machine'

mkdir -p "$work/home/.config/opencode"
# settings [COMMAND [MS]]: with pawl's plugin, which asks COMMAND (a JSON list); without it
settings() {
	plugin=
	[ $# = 0 ] || plugin="[\"file://$top/host/clients/opencode/pawl.js\",
	  {\"command\": $1, \"timeout\": ${2:-60000}}]"
	cat >"$work/home/.config/opencode/opencode.json" <<-END
	{"model": "fake/m", "small_model": "fake/m", "autoupdate": false, "share": "disabled",
	 "permission": "allow",
	 "provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "name": "fake",
	  "options": {"baseURL": "http://127.0.0.1:$port/v1", "apiKey": "k"},
	  "models": {"m": {"name": "m", "tool_call": true}}}},
	 "mcp": {"cap": {"type": "local", "command": ["$(command -v node)", "$here/mcp.js",
	  "$work/calls"]}},
	 "plugin": [$plugin]}
	END
}
# shellcheck disable=SC2016
client='export OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1 \
	OPENCODE_DISABLE_LSP_DOWNLOAD=1; exec "'$program'" run --format json "$3"'

both() {
	asks bash '{"command":"echo ran > effect; echo written down","description":"d"}'
	asks cap_echo '{"n":"12345678901234567890","big":12345678901234567890,"s":"given"}'
	run
}

settings
works_alone
settings "[\"$pawl\", \"hook\", \"pawl\", \"--config\", \"$work/pawl.json\"]"

chain ''
both
ok 'an allowed call runs' wrote effect ran
ok 'the model sees its result' told 'written down'
ok 'an MCP tool gets its arguments' called '"n":"12345678901234567890"' '"s":"given"'
ok 'a big number as it does without pawl' as_without
ok 'its result lands in the audit under the same id' joined 2

chain '{"plugin": "rewrite", "match": {"class": "shell"},
	"options": {"pointer": "/command", "set": "echo rewritten > effect"}},
	{"plugin": "rewrite", "name": "other", "match": {"tool": "mcp:cap/echo"},
	"options": {"pointer": "/s", "set": "rewritten"}}'
both
ok 'a rewritten command runs' wrote effect rewritten
ok 'a rewritten argument reaches the MCP tool' called '"s":"rewritten"'
ok 'the others are as they were' called '"n":"12345678901234567890"'
ok 'and the big number, too' as_without
ok 'what ran is joined with what was decided' joined 2

# It takes a minute to start, so that what others ask in a run each is a call each here.
# tried N TEXT: the result of call N has it
tried() {
	sed -n "$1p" "$work/told" | grep -qF -- "$2"
}
every() {
	asks bash '{"command":"echo ran > effect","description":"d"}'
	asks cap_echo '{"n":"1"}'
	asks read "{\"filePath\":\"$work/pawl.json\"}"
	asks write "{\"filePath\":\"$work/app/written\",\"content\":\"x\"}"
	asks glob '{"pattern":"*"}'
	asks grep '{"pattern":"x"}'
	run
}
chain '{"plugin": "no", "match": {"tool": "bash"}},
	{"plugin": "person", "match": {"tool": "mcp:cap/echo"}},
	{"plugin": "instead", "match": {"tool": "read"}},
	{"plugin": "sigsegv", "match": {"tool": "write"}},
	{"plugin": "endless-loop", "match": {"tool": "glob"}, "deadline": "1s"},
	{"plugin": "missing", "match": {"tool": "grep"}}'
every
ok 'nothing runs of what is refused' nothing_ran
ok 'a denied call: the model is told why' tried 1 'no means no'
ok 'a call that needs approval: the model is told why' tried 2 'a person should look'
ok 'a substituted call: the model gets the result' tried 3 'cached'
ok 'a plugin that crashes: the model is told why' tried 4 'the plugin crashed (signal 11)'
ok 'a plugin that hangs: the model is told why' tried 5 'deadline exceeded in plugin endless-loop'
ok 'a plugin that is not there: the model is told why' tried 6 'the plugin cannot be loaded'

# pawl itself does not answer
cat >"$work/broken" <<'END'
event=$(cat)
case $event in
*'"tool_name":"bash"'*) kill -9 $$ ;;
*'"tool_name":"mcp_cap_echo"'*) sleep 600 ;;
*'"tool_name":"read"'*) exit 0 ;;
*'"tool_name":"write"'*) echo '{"decision":"allow","tool_use_id":"another","modified":false}' ;;
*'"tool_name":"glob"'*) echo '{"decision":"allow"' ;;
*) echo '{"decision":"allow"}'; exit 2 ;;
esac
END
chain ''
settings "[\"/bin/sh\", \"$work/broken\"]" 10000
every
ok 'nothing runs where pawl does not answer' nothing_ran
ok 'it crashes: the model is told' tried 1 'was ended by SIGKILL'
ok 'it hangs: the model is told' tried 2 'does not answer'
ok 'it says nothing: the model is told' tried 3 'gave no answer'
ok 'it answers another call: the model is told' tried 4 'pawl answered another call'
ok 'it says half of it: the model is told' tried 5 'gave no answer'
ok 'it says yes and ends badly: the model is told' tried 6 'ended with 2'
chain ''
settings "[\"$work/no-pawl\", \"hook\", \"pawl\"]"
both
blocks 'a pawl that is not there' 'does not answer'
finish
