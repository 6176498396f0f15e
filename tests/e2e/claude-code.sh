#!/bin/sh
# Claude Code with pawl as its hook: what is decided is what happens.
# shellcheck source=tests/e2e/lib.sh
. "${abs_top_srcdir:-..}/tests/e2e/lib.sh"
begin @anthropic-ai/claude-code 2.1.332

mkdir -p "$work/home/.claude"
# somebody else's, as people write it
printf '{"permissions":\t{ "deny": [] },\n  "hooks": {"SessionStart": [{"hooks": [ {"type":"command","command":"true"} ]}]}\n}\n' \
	>"$work/home/.claude/settings.json"
cat >"$work/mcp.json" <<END
{"mcpServers": {"cap": {"command": "$(command -v node)", "args": ["$here/mcp.js", "$work/calls"]}}}
END
# shellcheck disable=SC2016
client='export ANTHROPIC_BASE_URL="http://127.0.0.1:$2" ANTHROPIC_API_KEY=k \
	CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 \
	MCP_PROTOCOL_NEGOTIATION=legacy; exec "$1/.bin/claude" -p "$3" --output-format stream-json \
	--verbose --mcp-config "'$work'/mcp.json" --allowedTools Bash mcp__cap__echo'

both() {
	asks Bash '{"command":"echo ran > effect; echo written down","description":"d"}'
	asks mcp__cap__echo '{"n":"12345678901234567890","big":12345678901234567890,"s":"given"}'
	run
}

works_alone
installs claude-code .claude/settings.json

chain ''
both
ok 'an allowed call runs' wrote effect ran
ok 'the model sees its result' told 'written down'
ok 'an MCP tool gets its arguments' called '"n":"12345678901234567890"' '"s":"given"'
ok 'a big number as it does without pawl' as_without
ok 'PostToolUse lands in the audit under the same id' joined 2
ok 'no call of its transcript went unasked' covered '????????-????-*.jsonl'

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
ok 'another does' said '"done"'
prompt=
uninstalls
finish
