#!/bin/sh
# One entry of the chain covers the tools of every client, by class, and finds the argument
# under one name; a name that a client has bent, or that only looks like another, is what it is.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
config '"chain":[
 {"plugin":"limit","name":"shell","match":{"class":"shell"},"options":{"pointer":"/command","max_length":9}},
 {"plugin":"limit","name":"files","match":{"class":["read","write"]},"options":{"pointer":"/file_path","max_length":9}},
 {"plugin":"hosts","name":"pages","match":{"class":"fetch"},"options":{"pointer":"/url","allow":["ok.example"]}}]' silent

# event AGENT TOOL ARGUMENTS: as that client sends it
event() {
	case $1 in
	copilot) printf '{"sessionId":"s","toolName":"%s","toolArgs":%s}' "$2" "$3" ;;
	windsurf) printf '{"agent_action_name":"pre_%s","trajectory_id":"s","tool_info":%s}' "$2" "$3" ;;
	goose) printf '{"event":"PreToolUse","session_id":"s","tool_name":"%s","tool_input":%s}' "$2" "$3" ;;
	cline) printf '{"hookName":"PreToolUse","taskId":"s","preToolUse":{"toolName":"%s","parameters":%s}}' "$2" "$3" ;;
	gemini) printf '{"hook_event_name":"BeforeTool","session_id":"s","tool_name":"%s","tool_input":%s}' "$2" "$3" ;;
	cursor | kiro) printf '{"hook_event_name":"preToolUse","conversation_id":"s","tool_name":"%s","tool_input":%s}' "$2" "$3" ;;
	*) printf '{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"%s","tool_input":%s}' "$2" "$3" ;;
	esac
}
# refuses ENTRY / passes: the last run, of any client
# shellcheck disable=SC2317
refuses() {
	has "$err" "BLOCKED: $1" && { [ "$status" -eq 2 ] || [ "$agent" = cline ]; }
}
# shellcheck disable=SC2317
passes() {
	[ "$status" -eq 0 ] && [ -z "$err" ]
}

while read -r agent tool argument refused well; do
	hook "$agent" "$(event "$agent" "$tool" "{\"$argument\":\"$refused\"}")"
	case $argument in
	url) ok "$agent: $tool is held" refuses "'no.example'" ;;
	cmd | command*) ok "$agent: $tool is held" refuses "/command has 10 characters" ;;
	*) ok "$agent: $tool is held" refuses "/file_path has 10 characters" ;;
	esac
	hook "$agent" "$(event "$agent" "$tool" "{\"$argument\":\"$well\"}")"
	ok "$agent: $tool may run" passes
done <<LIST
claude-code Bash command 0123456789 ls
claude-code Read file_path 0123456789 /a
claude-code Edit file_path 0123456789 /a
claude-code NotebookEdit notebook_path 0123456789 /a
claude-code WebFetch url https://no.example/ https://ok.example/
codex Bash command 0123456789 ls
gemini run_shell_command command 0123456789 ls
gemini read_file absolute_path 0123456789 /a
gemini write_file file_path 0123456789 /a
gemini replace file_path 0123456789 /a
qwen run_shell_command command 0123456789 ls
qwen read_file absolute_path 0123456789 /a
qwen edit file_path 0123456789 /a
qwen web_fetch url https://no.example/ https://ok.example/
cursor Shell command 0123456789 ls
cursor Read target_file 0123456789 /a
cursor Write path 0123456789 /a
cursor WebFetch url https://no.example/ https://ok.example/
copilot bash command 0123456789 ls
copilot view path 0123456789 /a
copilot create path 0123456789 /a
copilot web_fetch url https://no.example/ https://ok.example/
windsurf run_command command_line 0123456789 ls
windsurf read_code file_path 0123456789 /a
windsurf write_code file_path 0123456789 /a
kiro execute_bash command 0123456789 ls
kiro fs_write path 0123456789 /a
kiro web_fetch url https://no.example/ https://ok.example/
goose developer__shell command 0123456789 ls
goose developer__write path 0123456789 /a
cline execute_command command 0123456789 ls
cline read_file path 0123456789 /a
cline write_to_file path 0123456789 /a
cline browser_action url https://no.example/ https://ok.example/
LIST
# Gemini's page lies somewhere in a prompt: a rule about pages cannot be read off it
agent=gemini
hook gemini "$(event gemini web_fetch '{"prompt":"what does https://ok.example/ say of no.example"}')"
ok 'gemini: a page that cannot be told is refused' refuses '/url is missing'

# What a model writes beside the client's own name is not what rules go by.
agent=copilot
hook copilot "$(event copilot create '{"path":"0123456789","file_path":"/a"}')"
ok 'two names for one file' refuses 'the arguments say file_path and path'
hook copilot "$(event copilot create '"{\"path\":\"/a\",\"path\":\"0123456789\"}"')"
ok 'one name twice, inside a string' refuses 'the arguments are text that cannot be read: *duplicate'
hook copilot "$(event copilot create '"{\"path\":\"0123456789\"}"')"
ok 'JSON inside a string' refuses '/file_path has 10'

# One name of many tools, and names that are others'.
config '"deny":["mcp:cap/do-it.now","Bash"],"chain":[]' silent
agent=codex
hook codex "$(event codex mcp__cap__do_it_now '{}')"
ok 'a name that Codex has bent is that tool' refuses "*deny list"
hook codex "$(event codex mcp__cap__do_it-now '{}')"
ok 'one that it would have bent further is not' passes
hook codex "$(event codex mcp__cap__do_it_later '{}')"
ok 'another is not' passes
for other in bash BASH 'Bash ' 'B\u0430sh' 'Bash\u200b' 'Bash\u0000' Bash2; do
	hook codex "$(event codex "$other" '{}')"
	ok "$other is not Bash" passes
done
hook codex "$(event codex '\u0042ash' '{}')"
ok 'Bash is Bash however it is written' refuses "*deny list"

# A sub-agent's call is a call, and the record says whose.
config '"chain":[{"plugin":"no"}]'
agent=claude-code
hook claude-code "$pre"
ok 'the main agent is refused' denies claude-code 'no means no'
hook claude-code '{"agent_id":"a-7","agent_type":"Explore",'"${pre#?}"
ok 'a sub-agent as well' denies claude-code 'no means no'
ok 'and recorded as one' logged '"type":"policy.denied".*"agent":"a-7","agent_type":"Explore"'
ok 'once' [ "$(grep -c '"agent":"a-7"' "$log")" = 1 ]
finish
