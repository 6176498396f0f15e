#!/bin/sh
# The static lists stand whatever plugins say; parts in conf.d are added.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
config '"deny":["drop_table","mcp:prod/*"],"require_approval":["refund"],"chain":[{"plugin":"yes"},{"plugin":"no","match":{"tool":"refund_all"}}]'
tool() {
	printf '{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"%s","tool_use_id":"t1","tool_input":{}%s}' "$1" "$2"
}
hook claude-code "$(tool drop_table)"
ok 'denied' denies claude-code '*drop_table is on the deny list'
ok 'recorded as static' logged '"policy.denied".*"refused_by":"static"'
hook claude-code "$(tool mcp__prod__x)"
ok 'a pattern' denies claude-code '*on the deny list*'
hook claude-code "$(tool refund)"
ok 'held for a person' has "$status$out" '0{*"permissionDecision":"ask"*on the approval list*'
hook pawl "$(tool refund)"
ok 'neutral: an approval' has "$out" '"decision":"require_approval"'
ok 'recorded' logged '"type":"approval.requested"'
hook pawl "$(tool refund ',"target":"client"')"
ok 'a client tool cannot be held' denies pawl 'approval is not supported for client tools'
ok 'and that is remarked' logged '"policy.hook_warning"'
mkdir "$work/conf.d"
echo '{"deny":["added"]}' >"$work/conf.d/10.json"
echo '{"chain":[{"plugin":"no","name":"late","match":{"tool":"later"}}]}' >"$work/conf.d/20.json"
hook claude-code "$(tool added)"
ok 'conf.d adds to the list' denies claude-code '*on the deny list'
hook claude-code "$(tool later)"
ok 'and to the chain' denies claude-code 'no means no'
hook claude-code "$(tool drop_table)"
ok 'what was there stays' denies claude-code '*on the deny list'
echo '{"deny":[' >"$work/conf.d/30.json"
hook claude-code "$(tool other)"
ok 'a broken part refuses everything, by its name' denies claude-code '*conf.d/30.json:*'
echo '{"deny":["refund"]}' >"$work/conf.d/30.json"
hook claude-code "$(tool other)"
ok 'the same pattern on both lists is refused' denies claude-code '*refund*'
finish
