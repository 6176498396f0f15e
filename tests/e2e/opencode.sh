#!/bin/sh
# OpenCode with pawl's plugin: what is decided is what happens.
# shellcheck source=tests/e2e/lib.sh
. "${abs_top_srcdir:-..}/tests/e2e/lib.sh"
limit=240 # it looks for its plugins' packages first, and waits for a network that is not there
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
	asks cap_echo '{"n":"12345678901234567890","s":"given"}'
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
ok 'its result lands in the audit under the same id' joined 2

chain '{"plugin": "rewrite", "match": {"class": "shell"},
	"options": {"pointer": "/command", "set": "echo rewritten > effect"}},
	{"plugin": "rewrite", "name": "other", "match": {"tool": "mcp:cap/echo"},
	"options": {"pointer": "/s", "set": "rewritten"}}'
both
ok 'a rewritten command runs' wrote effect rewritten
ok 'a rewritten argument reaches the MCP tool' called '"s":"rewritten"'
ok 'the others are as they were' called '"n":"12345678901234567890"'
ok 'what ran is joined with what was decided' joined 2

refusals

# pawl itself does not answer
chain ''
settings '["/bin/sh", "-c", "kill -9 $$"]'
both
blocks 'a pawl that crashes' 'was ended by SIGKILL'
chain ''
settings '["/bin/sleep", "600"]' 2000
both
blocks 'a pawl that hangs' 'does not answer'
chain ''
settings '["/bin/true"]'
both
blocks 'a pawl that says nothing' 'gave no answer'
chain ''
settings "[\"$work/no-pawl\", \"hook\", \"pawl\"]"
both
blocks 'a pawl that is not there' 'does not answer'
finish
