#!/bin/sh
# Settings of somebody else's are changed in one place, and come back as they were.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin

# install ARGUMENT...
install() {
	run '' "$pawl" install "$@"
}
uninstall() {
	run '' "$pawl" uninstall "$@"
}
# counts N TEXT FILE: so many lines with the text
counts() {
	[ "$(grep -c -F -- "$2" "$3")" -eq "$1" ]
}
# shellcheck disable=SC2317
not() {
	! "$@"
}

# A timeout in each client's unit, a command that can be found, and back to nothing.
while read -r agent file timeout; do
	dir="$work/a b/$agent"
	mkdir -p "$dir"
	install "$agent" --project "$dir" --timeout 10s
	ok "$agent: installs" [ "$status" -eq 0 -a -f "$dir/$file" ]
	[ "$timeout" = - ] || ok "$agent: $timeout" grep -q -F "$timeout}
$timeout," "$dir/$file"
	cp "$dir/$file" "$work/first"
	install "$agent" --project "$dir" --timeout 10s
	ok "$agent: the second time changes nothing" cmp -s "$dir/$file" "$work/first"
	uninstall "$agent" --project "$dir"
	ok "$agent: is gone" [ "$status" -eq 0 -a -z "$(find "$dir" -type f)" ]
done <<LIST
claude-code .claude/settings.json "timeout": 10
codex .codex/hooks.json "timeout": 10
gemini .gemini/settings.json "timeout": 10000
qwen .qwen/settings.json "timeout": 10000
cursor .cursor/hooks.json "timeout": 10
copilot .github/hooks/pawl.json "timeoutSec": 10
windsurf .windsurf/hooks.json -
goose .agents/plugins/pawl/hooks/hooks.json "timeout": 10
cline .clinerules/hooks/PreToolUse -
LIST

echo '{"name": "a"}' >"$work/agent.json"
install kiro --file "$work/agent.json" --timeout 1500ms
ok "kiro: milliseconds" grep -q '"timeout_ms": 1500, "cache_ttl_seconds": 0' "$work/agent.json"
uninstall kiro --file "$work/agent.json"
ok "kiro: as it was" [ "$(cat "$work/agent.json")" = '{"name": "a"}' ]
install kiro
ok "kiro: wants a file" [ "$status" -eq 1 ]
install gemini --file "$work/round.json" --timeout 1ms
install codex --file "$work/round.json" --timeout 1500ms
ok "seconds are rounded up" grep -q '"timeout": 2}' "$work/round.json"

# OpenCode has no command hooks: it gets a file of code with the command in it.
oc="$work/a b/oc"
install opencode --project "$oc" --dry-run
ok "opencode: --dry-run shows it" has "$out" '+++ *+const installed = *'
ok "opencode: and writes nothing" [ ! -e "$oc" ]
run '' "$pawl" --config "$work/my pawl.json" install opencode --project "$oc"
ok "opencode: installs" [ "$status" -eq 0 ]
ok "opencode: what is to be started" counts 1 "const installed = [\"$pawl\", \"hook\", \"pawl\", \"--config\", \"$work/my pawl.json\"]" "$oc/.opencode/plugin/pawl.js"
cp "$oc/.opencode/plugin/pawl.js" "$work/first"
run '' "$pawl" --config "$work/my pawl.json" install opencode --project "$oc"
ok "opencode: the second time changes nothing" has "$out" 'nothing to change'
uninstall opencode --project "$oc"
ok "opencode: is gone" [ "$status" -eq 0 -a -z "$(find "$oc" -type f)" ]
echo 'export const X = 1' >"$oc/.opencode/plugin/pawl.js"
install opencode --project "$oc"
ok "opencode: another's file is refused" [ "$status" -eq 1 ]
uninstall opencode --project "$oc"
ok "opencode: and left alone" [ "$(cat "$oc/.opencode/plugin/pawl.js")" = 'export const X = 1' ]

# Each client's own switch against failure, on what can be refused alone.
for agent in claude-code cursor goose; do
	install "$agent" --file "$work/$agent.json"
done
ok "Claude Code: onFailure" counts 3 '"onFailure": "block"' "$work/claude-code.json"
ok "Claude Code: no shell" counts 7 '"args": ["hook", "claude-code"]' "$work/claude-code.json"
ok "Cursor: failClosed" counts 4 '"failClosed": true' "$work/cursor.json"
ok "Cursor: version" counts 1 '"version": 1' "$work/cursor.json"
ok "Goose: on_failure" counts 1 '"on_failure": "block"' "$work/goose.json"

# Cursor tells of a command on two events: pawl is asked on the one that has an id.
cat >"$work/twice.json" <<'END'
{"version": 1, "hooks": {"beforeShellExecution": [{"command": "/x/pawl hook cursor"}, {"command": "/x/theirs"}],
 "beforeMCPExecution": [{"command": "/x/pawl hook cursor"}]}}
END
cp "$work/twice.json" "$work/now"
install cursor --file "$work/now"
ok "Cursor: a command is asked about once" not grep -q '/x/pawl\|beforeMCPExecution' "$work/now"
ok "Cursor: on the event before every tool" counts 1 '"preToolUse": [' "$work/now"
ok "Cursor: another's hook there stays" counts 1 '"beforeShellExecution": [{"command": "/x/theirs"}]' "$work/now"
uninstall cursor --file "$work/twice.json"
ok "Cursor: uninstall takes those out, too" [ "$(cat "$work/twice.json")" = '{"version": 1, "hooks": {"beforeShellExecution": [{"command": "/x/theirs"}]}}' ]

# What is not ours stays, byte for byte.
mkdir -p "$work/kept"
printf '{\n\t// mine\n\t"x": 1e400,  "\303\251":\t[1 ,2 ],\n\t"hooks": { /* two */ "PreToolUse": [\n\t\t{"matcher": "Bash", "hooks": [{"type":"command","command":"/opt/other"}]},\n\t],\n\t"Stop": [{"hooks": [ {"command": "pawl hook codex"} ]}]},\n}' >"$work/kept/tall"
printf '{"a":"\\u00e9","n":12345678901234567890,"hooks":{"PreToolUse":[{"hooks":[{"command":"/opt/pawl-like hook claude-code"}]}]}}' >"$work/kept/flat"
printf '\357\273\277{ // a comment\n}\r\n\n' >"$work/kept/bom"
printf '{"permissions": {"deny": []}}\n' >"$work/kept/plain"
printf '{\n  "model": "x"\n}\n' >"$work/kept/usual"
for file in "$work"/kept/*; do
	cp "$file" "$work/now"
	chmod 640 "$work/now"
	install claude-code --file "$work/now"
	ok "$(basename "$file"): installs" [ "$status" -eq 0 ]
	ok "$(basename "$file"): has it" counts 1 'PostToolUseFailure' "$work/now"
	ok "$(basename "$file"): the mode is kept" [ "$(stat -c %a "$work/now")" = 640 ]
	cp "$work/now" "$work/once"
	install claude-code --file "$work/now"
	ok "$(basename "$file"): once" cmp -s "$work/now" "$work/once"
	uninstall claude-code --file "$work/now"
	ok "$(basename "$file"): comes back" cmp -s "$work/now" "$file"
done
# The same of every client, with what was empty and is so again.
round() {
	install "$1" --file "$work/now"
	cmp -s "$work/now" "$work/was" && return 1
	uninstall "$1" --file "$work/now"
	cmp -s "$work/now" "$work/was"
}
while read -r agent event head; do
	while IFS= read -r text; do
		printf '%b' "$text" | sed "s/HEAD/$head/; s/EVENT/$event/" >"$work/was"
		cp "$work/was" "$work/now"
		ok "$agent: $text comes back" round "$agent"
	done <<'TEXTS'
{HEAD"hooks": {}}
{HEAD"hooks": {"EVENT": []}, "x": 1}
{\r\n  HEAD"hooks": { "EVENT": [ ] }\r\n}\r\n
{\n\t// one\n\tHEAD"hooks": {\n\t\t"EVENT": [\n\t\t\t{"command": "/x"}, /* two */\n\t\t],\n\t},\n}\n
{HEAD"hooks": {"EVENT": [1, "x", {"hooks": 5}, {"hooks": []}], "Other": [{"command": "/x"}]}}
TEXTS
done <<'AGENTS'
claude-code PreToolUse
codex PreToolUse
gemini BeforeTool
qwen PreToolUse
cursor preToolUse "version": 1,
copilot preToolUse "version": 1,
windsurf pre_run_command
kiro preToolUse
goose PreToolUse
AGENTS
for text in '{}' '{}\n' '{ }' '{\n}\n'; do
	printf "$text" >"$work/was"
	cp "$work/was" "$work/now"
	ok "$text comes back" round kiro
done

cp "$work/kept/tall" "$work/now"
install claude-code --file "$work/now"
grep -v pawl "$work/kept/tall" | while IFS= read -r line; do
	grep -q -F -x -- "${line%\]*}" "$work/now" || grep -q -F -- "$line" "$work/now" || echo "$line"
done >"$work/lost"
ok "every other line is there" [ ! -s "$work/lost" ]

# An entry of ours is brought up to date where it stands.
cat >"$work/old.json" <<'END'
{"hooks": {"PreToolUse": [{"matcher": "Bash|Write", "hooks": [
  {"type": "command", "command": "'/old place/pawl' hook claude-code", "timeout": 600}, {"type": "command", "command": "x"}]}]}}
END
install claude-code --file "$work/old.json"
ok "no second one" counts 1 '"matcher": "Bash|Write"' "$work/old.json"
ok "the old is gone" not grep -q 'old place' "$work/old.json"
ok "its neighbour is not" grep -q '"command": "x"' "$work/old.json"

# --dry-run writes nothing, makes nothing.
cp "$work/kept/usual" "$work/now"
install claude-code --file "$work/now" --dry-run
ok "--dry-run shows a diff" has "$out" '+++ *+    "PreToolUse": *'
ok "--dry-run changes nothing" cmp -s "$work/now" "$work/kept/usual"
install codex --project "$work/dry" --dry-run
ok "--dry-run makes no folder" [ "$status" -eq 0 -a -n "$out" -a ! -e "$work/dry" ]

# A path with spaces is one word to the shell that the client uses.
spaced="$work/a b/it's"
mkdir -p "$spaced/libexec"
cp "$pawl" "$spaced/pawl"
ln -s "$top/libexec/pawl" "$spaced/libexec/pawl"
run '' "$spaced/pawl" install codex --file "$work/spaced.json" --config "$work/my pawl.json"
command=$(sed -n 's/.*"PreToolUse".*"command": "\(.*\)", "timeout".*/\1/p' "$work/spaced.json" | sed 's/\\\\/\\/g')
eval "set -- $command"
ok "quoted" [ "$1" = "$spaced/pawl" -a "$2" = --config -a "$3" = "$work/my pawl.json" -a "$4 $5 $#" = "hook codex 5" ]
run '' "$spaced/pawl" uninstall codex --file "$work/spaced.json"
ok "and found again" [ "$status" -eq 0 -a ! -e "$work/spaced.json" ]

# What cannot be read strictly is left alone.
bad() {
	printf '%s' "$2" >"$work/bad.json"
	cp "$work/bad.json" "$work/was.json"
	install claude-code --file "$work/bad.json"
	ok "$1: refused" [ "$status" -eq 1 ]
	ok "$1: says where" has "$err" "bad.json:$3: "
	ok "$1: as it was" cmp -s "$work/bad.json" "$work/was.json"
}
bad "a member twice" '{"a":1,"a":2}' 1:8
bad "no end" '{"a":1' 1:7
bad "an array" '[]' 1:1
bad "hooks are no object" '{"hooks":[]}' 1:10
bad "an event is no array" "{
 \"hooks\":{\"Stop\":{}}}" 2:18
mkdir "$work/folder.json"
install claude-code --file "$work/folder.json"
ok "a folder is refused" [ "$status" -eq 1 -a -d "$work/folder.json" ]
cl="$work/a b/cl"
install cline --project "$cl" --dry-run
ok "cline: --dry-run shows each script" has "$out" "--- /dev/null*+++ $cl/.clinerules/hooks/PreToolUse*+exec *hook cline*"
ok "cline: and writes nothing" [ ! -e "$cl" ]
install cline --project "$cl"
chmod -x "$cl/.clinerules/hooks/PreToolUse"
install cline --project "$cl" --dry-run
ok "cline: --dry-run says that one is not executable" [ "$out" = "$cl/.clinerules/hooks/PreToolUse: would be made executable" ]
uninstall cline --project "$cl" --dry-run
ok "cline: --dry-run shows what goes" has "$out" "--- $cl/.clinerules/hooks/PreToolUse*-#!/bin/sh*"
ok "cline: and nothing goes" [ -e "$cl/.clinerules/hooks/PreToolUse" ]
go="$work/a b/go"
install goose --project "$go" --dry-run
ok "goose: --dry-run shows both files" has "$out" "*+++ *hooks.json*+++ $go/.agents/plugins/pawl/plugin.json*"
ok "goose: and writes nothing" [ ! -e "$go" ]
install goose --project "$go"
uninstall goose --project "$go" --dry-run
ok "goose: --dry-run shows that both go" has "$out" "*+++ *hooks.json*--- $go/.agents/plugins/pawl/plugin.json*"
ok "goose: and nothing goes" [ -e "$go/.agents/plugins/pawl/plugin.json" ]

mkdir -p "$work/theirs/.clinerules/hooks"
echo 'exit 0' >"$work/theirs/.clinerules/hooks/PreToolUse"
install cline --project "$work/theirs"
ok "another's script is refused" [ "$status" -eq 1 -a "$(cat "$work/theirs/.clinerules/hooks/PreToolUse")" = 'exit 0' ]

# Links are followed, not replaced.
cp "$work/kept/usual" "$work/real.json"
ln -s real.json "$work/link.json"
install claude-code --file "$work/link.json"
ok "a link stays a link" [ -L "$work/link.json" ]
ok "its target is written" grep -q pawl "$work/real.json"

echo '{"disableAllHooks": true}' >"$work/off.json"
install claude-code --file "$work/off.json"
ok "hooks that are turned off are a word and exit 1" [ "$status" -eq 1 -a -n "$err" ]

for words in '' 'nix' 'pawl' 'codex gemini' 'codex --user --project' 'codex --timeout 10' \
	'codex --timeout 0' 'codex --frobnicate' 'codex --file'; do
	# shellcheck disable=SC2086
	install $words
	ok "install $words: exit 2" [ "$status" -eq 2 -a -n "$err" ]
done
finish
