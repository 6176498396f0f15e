#!/bin/sh
# Qwen Code with pawl as its hook: what is decided is what happens.
# shellcheck source=tests/e2e/lib.sh
. "${abs_top_srcdir:-..}/tests/e2e/lib.sh"
begin @qwen-code/qwen-code 0.15.10

mkdir -p "$work/home/.qwen"
cat >"$work/home/.qwen/settings.json" <<END
{"security": {"auth": {"selectedType": "openai"}},
 // no statistics
 "general": {"disableAutoUpdate": true},
 "privacy": {"usageStatisticsEnabled": false},
 "mcpServers": {"cap": {"command": "$(command -v node)",
  "args": ["$here/mcp.js", "$work/calls"], "trust": true}}}
END
# shellcheck disable=SC2016
client='OPENAI_API_KEY=k OPENAI_BASE_URL="http://127.0.0.1:$2/v1" OPENAI_MODEL=m \
	exec "$1/.bin/qwen" --approval-mode yolo --output-format stream-json -p "$3"'

both() {
	asks run_shell_command '{"command":"echo ran > effect; echo written down","is_background":false}'
	asks mcp__cap__echo '{"n":"12345678901234567890","big":12345678901234567890,"s":"given"}'
	run
}

works_alone
installs qwen .qwen/settings.json

chain ''
both
ok 'an allowed call runs' wrote effect ran
ok 'the model sees its result' told 'written down'
ok 'an MCP tool gets its arguments' called '"n":"12345678901234567890"' '"s":"given"'
ok 'a big number as it does without pawl' as_without
ok 'PostToolUse lands in the audit under the same id' joined 2

# It ignores what a hook changes, so that pawl refuses instead and says what to ask for.
chain '{"plugin": "rewrite", "match": {"class": "shell"},
	"options": {"pointer": "/command", "set": "echo rewritten > effect"}},
	{"plugin": "rewrite", "name": "other", "match": {"tool": "mcp:cap/echo"},
	"options": {"pointer": "/s", "set": "rewritten"}}'
both
blocks 'a call that would be rewritten' 'try again with exactly'
ok 'the arguments to ask for are there, byte for byte' told 'rewritten'

refusals

# a prompt: golden.so does what it says
chain '{"plugin": "golden"}'
for word in deny crash rewrite ask substitute; do
	prompt="say golden:$word"
	run
	ok "a prompt that gets $word reaches no model" asked_nothing
done
prompt='say golden:allow'
run
ok 'another does' said done
prompt=
uninstalls
finish
