#!/bin/sh
# Codex with pawl as its hook: what is decided is what happens.
# shellcheck source=tests/e2e/lib.sh
. "${abs_top_srcdir:-..}/tests/e2e/lib.sh"
begin @openai/codex 0.171.0

mkdir -p "$work/home/.codex"
cat >"$work/home/.codex/config.toml" <<END
model = "m"
model_provider = "fake"
check_for_update_on_startup = false
approval_policy = "never"
sandbox_mode = "danger-full-access"
[analytics]
enabled = false
[model_providers.fake]
name = "fake"
base_url = "http://127.0.0.1:$port/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
[mcp_servers.cap]
command = "$(command -v node)"
args = ["$here/mcp.js", "$work/calls"]
default_tools_approval_mode = "approve"
END
# somebody else's, as people write it
printf '{"hooks":\t{ "SessionStart": [{"hooks": [ {"type":"command", "command":"true"} ]}]\n} }\n' \
	>"$work/home/.codex/hooks.json"
# shellcheck disable=SC2016
client='FAKE_KEY=k exec "$1/.bin/codex" exec --skip-git-repo-check --json "$3"'

both() {
	asks exec_command '{"cmd":"echo ran > effect; echo written down"}'
	asks mcp__cap/echo '{"n":12345678901234567890,"m":1e+400,"s":"given"}'
	run
}

# Codex skips a hook that nobody looked at; then its user says yes to it.
trust() {
	by_user "$pawl" doctor codex
	ok 'pawl doctor says that it is not trusted' said 'installed but not trusted'
	chain '{"plugin": "no"}'
	both
	ok 'and so it is skipped' wrote effect ran
	by_user node "$here/codex-trust.js" "$work/app" "$modules/.bin/codex" app-server ||
		stop_here 'Codex does not let its hooks be trusted here'
	grep -q '^\[hooks.state' "$work/home/.codex/config.toml" ||
		stop_here 'Codex says that it trusts the hooks, and its config.toml does not'
	chain ''
}

# same_ids: and they are the client's own
same_ids() {
	[ "$(indexed 'SELECT call_id FROM tool_calls ORDER BY call_id')" = \
		"call_0
call_1" ] && grep -q '"callId":"call_1"' "$work/calls"
}

works_alone
installs codex .codex/hooks.json trust

chain ''
both
ok 'an allowed call runs' wrote effect ran
ok 'the model sees its result' told 'written down'
ok 'big numbers reach an MCP tool as they are' called '"n":12345678901234567890' '"m":1e+400'
ok 'PostToolUse lands in the audit under the same id' joined 2
ok 'it is the id that the MCP server gets, too' same_ids
ok 'no call of its transcript went unasked' covered 'rollout-*.jsonl'

chain '{"plugin": "rewrite", "match": {"class": "shell"},
	"options": {"pointer": "/command", "set": "echo rewritten > effect"}},
	{"plugin": "rewrite", "name": "other", "match": {"tool": "mcp:cap/echo"},
	"options": {"pointer": "/s", "set": "rewritten"}}'
both
ok 'a rewritten command runs' wrote effect rewritten
ok 'a rewritten argument reaches the MCP tool' called '"s":"rewritten"'
ok 'the others keep their bytes' called '"n":12345678901234567890' '"m":1e+400'

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
