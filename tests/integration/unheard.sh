#!/bin/sh
# A prompt that is refused where the client goes on all the same: neither the word nor the
# record claims that it was stopped. And what the client is told is what is recorded.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
cp "$top/tests/golden/golden.so" "$work/plugins" # which hears of prompts, too

copilot='{"sessionId":"s","cwd":"/w","prompt":"WORD"}'
kiro='{"hook_event_name":"userPromptSubmit","cwd":"/w","prompt":"WORD"}'
goose='{"event":"UserPromptSubmit","session_id":"s","working_dir":"/w","message":"WORD"}'
claude='{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"/w","prompt":"WORD"}'

# says_so: a refusal for whoever reads it, which does not say that it blocks
says_so() {
	[ "$status" -eq 2 ] && has "$err" 'not enforced' && ! has "$err" BLOCKED && is_clean
}
# is_remarked: the record says it too, twice: as a remark and in the decision itself
is_remarked() {
	logged '"type":"policy.hook_warning".*"error_class":"not-enforced"' &&
		logged '"type":"policy.denied".*"reason":"not enforced'
}

# about WORD EVENT: the event, asking the plugin for it
about() {
	echo "$2" | sed "s/WORD/golden:$1/"
}

config '"chain":[{"plugin":"golden"}]'
for plugin in deny crash; do
	for agent in copilot kiro goose; do
		forget
		eval "event=\$$agent"
		hook "$agent" "$(about $plugin "$event")" --event "$(case $agent in
			copilot) echo userPromptSubmitted ;;
			kiro) echo userPromptSubmit ;;
			goose) echo UserPromptSubmit ;;
		esac)"
		ok "$agent, $plugin: says that it is not enforced" says_so
		ok "$agent, $plugin: so does the record" is_remarked
	done
	forget
	hook claude-code "$(about $plugin "$claude")"
	ok "claude-code, $plugin: blocks" has "$out" '{"decision":"block","reason":"BLOCKED: '
	ok "claude-code, $plugin: no such remark" [ "$(grep -c not.enforced "$log")" = 0 ]
done

# A client that cannot ask is refused, and the record knows, whoever writes it when.
for on_error in drop warn fail; do
	forget
	config "\"audit\":{\"on_error\":\"$on_error\"},\"chain\":[{\"plugin\":\"person\"}]"
	hook codex "$pre"
	ok "codex, audit.on_error $on_error: refused" denies claude-code '*cannot ask one here: go on without it*'
	ok "codex, audit.on_error $on_error: recorded as refused" logged '"type":"policy.denied".*cannot ask one here'
	ok "codex, audit.on_error $on_error: not as asked for" [ "$(grep -c approval.requested "$log")" = 0 ]
done
finish
