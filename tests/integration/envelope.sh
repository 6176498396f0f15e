#!/bin/sh
# Each client is answered in its own shape.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
config '"chain":[{"plugin":"yes"}]' silent
for agent in claude-code codex; do
	hook $agent "$pre"
	ok "$agent: no objection is said with nothing" abstains
done
hook gemini "$before"
ok 'gemini: no objection' abstains
config '"chain":[]' silent
hook claude-code "$pre"
ok 'an empty chain has no objection' abstains
config '"chain":[{"plugin":"no"}]' silent
for agent in claude-code codex pawl; do
	hook $agent "$pre"
	ok "$agent: deny" denies $agent 'no means no'
done
hook gemini "$before"
ok 'gemini: deny' denies gemini 'no means no'
config '"refusal":"no {tool} by {plugin}/{rule}: {reason}","chain":[{"plugin":"no"}]' silent
hook claude-code "$pre"
ok 'the refusal is what the config says' has "$out" '"no Bash by no/no: no means no"'
config '"chain":[{"plugin":"person"}]' silent
hook claude-code "$pre"
ok 'claude-code: asks' [ "$status:$out" = '0:{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"a person should look"}}' ]
hook claude-code '{"permission_mode":"bypassPermissions",'"${pre#?}"
ok 'claude-code: where nobody would be asked it refuses' denies claude-code 'a person should look*'
hook codex "$pre"
ok 'codex: cannot ask, refuses' denies codex 'a person should look*'
hook gemini "$before"
ok 'gemini: cannot ask, refuses' denies gemini 'a person should look*'
hook pawl "$pre"
ok 'pawl: an approval, and nothing runs yet' has "$status$out" '2{*"decision":"require_approval"*"approval":{*"instructions":"look at the command"*'
hook pawl '{"target":"client",'"${pre#?}"
ok 'pawl: a client tool cannot wait' denies pawl 'approval is not supported for client tools'
config '"chain":[{"plugin":"instead"}]'
for agent in claude-code codex; do
	hook $agent "$pre"
	ok "$agent: a result in the place of the tool" has "$status$out" '2{*"deny"*cached*'
done
hook gemini "$before"
ok 'gemini: the same' has "$status$out" '2{"decision":"deny"*cached*'
hook pawl "$pre"
ok 'pawl: the result' has "$status$out" '*"decision":"substitute"*"is_error":false,"content":{"content":"cached"}*'
ok 'recorded as such' logged '"type":"policy.substituted"'
finish
