#!/bin/sh
# Gemini CLI with pawl as its hook: what is decided is what happens.
# shellcheck source=tests/e2e/lib.sh
. "${abs_top_srcdir:-..}/tests/e2e/lib.sh"
begin @google/gemini-cli 0.61.0

mkdir -p "$work/home/.gemini"
cat >"$work/home/.gemini/settings.json" <<END
{"security": {"auth": {"selectedType": "gemini-api-key"}},
 "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
 // no statistics
 "privacy": {"usageStatisticsEnabled": false},
 "mcpServers": {"cap": {"command": "$(command -v node)",
  "args": ["$here/mcp.js", "$work/calls"], "trust": true}}}
END
# shellcheck disable=SC2016
client='GEMINI_API_KEY=k GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:$2" \
	GEMINI_CLI_TRUST_WORKSPACE=true GEMINI_TELEMETRY_ENABLED=false exec "$1/.bin/gemini" \
	-m gemini-2.5-flash --approval-mode yolo --output-format stream-json -p "$3"'

both() {
	asks run_shell_command '{"command":"echo ran > effect; echo written down"}'
	asks mcp_cap_echo '{"n":"12345678901234567890","big":12345678901234567890,"s":"given"}'
	run
}

# only EVENT: as pawl installed it, but for this event alone
only() {
	cp "$work/installed" "$settings"
	node -e 'const fs = require("fs"), [file, event] = process.argv.slice(1);
		const all = JSON.parse(fs.readFileSync(file, "utf8").replace(/^ *\/\/.*$/m, ""));
		all.hooks = { [event]: all.hooks[event] };
		fs.writeFileSync(file, JSON.stringify(all));' "$settings" "$1"
}

works_alone
installs gemini .gemini/settings.json
cp "$settings" "$work/installed"

chain ''
both
ok 'an allowed call runs' wrote effect ran
ok 'the model sees its result' told 'written down'
ok 'an MCP tool gets its arguments' called '"n":"12345678901234567890"' '"s":"given"'
ok 'a big number as it does without pawl' as_without
ok 'AfterTool lands in the audit under the id of BeforeTool' joined 2

chain '{"plugin": "rewrite", "match": {"class": "shell"},
	"options": {"pointer": "/command", "set": "echo rewritten > effect"}},
	{"plugin": "rewrite", "name": "other", "match": {"tool": "mcp:cap/echo"},
	"options": {"pointer": "/s", "set": "rewritten"}}'
both
ok 'a rewritten command runs' wrote effect rewritten
ok 'a rewritten argument reaches the MCP tool' called '"s":"rewritten"'
ok 'what ran is joined with what was decided' joined 2
ok 'the others are as they were' called '"n":"12345678901234567890"'
ok 'and the big number, too' as_without

refusals

# the model itself: golden.so does what the prompt says
chain '{"plugin": "golden"}'
only BeforeModel
prompt='say golden:deny'
run
ok 'a denied request reaches no model' asked_nothing
prompt='say golden:substitute'
run
ok 'a request that is answered in its place reaches no model' asked_nothing
ok 'its answer is the one given' said 'the result in its place'

only AfterModel
prompt='say golden:deny'
both
ok 'a denied answer calls no tool' nothing_left
chain '{"plugin": "golden"}'
prompt='say golden:substitute'
both
ok 'an answer that is replaced calls no tool' nothing_left
ok 'the other one is there' said 'the result in its place'

cp "$work/installed" "$settings"
chain '{"plugin": "golden"}'
prompt='say golden:deny'
run
ok 'a denied prompt reaches no model' asked_nothing
prompt=
uninstalls
finish
