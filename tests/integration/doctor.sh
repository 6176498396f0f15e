#!/bin/sh
# What keeps a hook from being asked is found, and that it blocks is shown by starting it.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
config '"chain":[]' silent
SHELL=/bin/sh
export SHELL

# doctor ARGUMENT...
doctor() {
	run '' "$pawl" doctor "$@"
}
# is_well / finds PATTERN: of the last run
is_well() {
	[ "$status" -eq 0 ] && has "$out" 'ok: *blocks*' && ! has "$out" 'wrong:'
}
# shellcheck disable=SC2317
finds() {
	[ "$status" -eq 1 ] && has "$out" "wrong: *$1*; "
}
# shellcheck disable=SC2317
silent_on() {
	! has "$out" "wrong: *$1*"
}
# claude HANDLER-MEMBERS [GROUP-MEMBERS]: settings with one hook; then the doctor
claude() {
	printf '{"hooks":{"PreToolUse":[{%s"hooks":[{"type":"command",%s}]}]}}\n' "${2:-}" "$1" >"$work/s.json"
	doctor claude-code --file "$work/s.json"
}

# What install writes is well, and is started as each client starts it.
for agent in claude-code gemini qwen cursor copilot windsurf goose cline; do
	doctor "$agent" --project "$work/$agent"
	ok "$agent: not installed" finds 'not installed'
	run '' "$pawl" --config "$cfg" install "$agent" --project "$work/$agent"
	doctor "$agent" --project "$work/$agent"
	ok "$agent: blocks" is_well
	ok "$agent: leaves nothing running" is_clean
	ok "$agent: says what reaches no hook" has "$out" "note: $agent: "
done
echo '{"name": "a"}' >"$work/kiro.json"
run '' "$pawl" --config "$cfg" install kiro --file "$work/kiro.json"
doctor kiro --file "$work/kiro.json"
ok "kiro: blocks" is_well

# OpenCode: the file is what came along, and what it starts blocks.
doctor opencode --project "$work/oc"
ok "opencode: not installed" finds 'not installed'
run '' "$pawl" --config "$cfg" install opencode --project "$work/oc"
doctor opencode --project "$work/oc"
ok "opencode: blocks" is_well
ok "opencode: what is not hooked is named" has "$out" 'note: *permission.ask is never called'
echo '// more' >>"$work/oc/.opencode/plugin/pawl.js"
doctor opencode --project "$work/oc"
ok "opencode: a changed file" finds 'is not the plugin that came with this pawl'
sed -i '$d; s|^const installed = .*|const installed = ["/bin/true"]|' "$work/oc/.opencode/plugin/pawl.js"
doctor opencode --project "$work/oc"
ok "opencode: does not block" finds 'does not block'
sed -i 's|^const installed = .*|const installed = []|' "$work/oc/.opencode/plugin/pawl.js"
doctor opencode --project "$work/oc"
ok "opencode: no command" finds 'no command is in it'

# Codex: what was not reviewed is skipped there.
run '' "$pawl" --config "$cfg" install codex --file "$work/codex/hooks.json"
doctor codex --file "$work/codex/hooks.json"
ok "codex: installed but not trusted" finds 'installed but not trusted'
ok "codex: it would block" has "$out" 'ok: codex: '
ok "codex: write_stdin is named" has "$out" 'note: *write_stdin'
# trust EVENT MEMBERS [MATCHER]: what Codex writes once a person has said yes to the hook
trust() {
	hash=$(printf '{"event_name":"%s","hooks":[{"async":false,"command":"%s --config %s hook codex","timeout":10,"type":"command"}]%s}' \
		"$1" "$pawl" "$cfg" "${2:+,\"matcher\":\"$2\"}" | sha256sum | cut -d' ' -f1)
	printf '[hooks.state."%s/codex/hooks.json:%s:0:0"]\ntrusted_hash = "sha256:%s"\n' "$work" "$1" "$hash"
}
trust stop >"$work/codex/config.toml"
doctor codex --file "$work/codex/hooks.json"
ok "codex: another was reviewed" finds 'PreToolUse: installed but not trusted'
ok "codex: that one is" has "$out" 'note: codex: Stop: it was reviewed'
trust pre_tool_use '*' >>"$work/codex/config.toml"
doctor codex --file "$work/codex/hooks.json"
ok "codex: prompts were not" finds 'UserPromptSubmit: installed but not trusted'
ok "codex: tools were" silent_on 'PreToolUse'
trust user_prompt_submit >>"$work/codex/config.toml"
doctor codex --file "$work/codex/hooks.json"
ok "codex: reviewed" is_well
cp "$work/codex/hooks.json" "$work/codex/kept"
sed -i 's/"timeout": 10/"timeout": 11/' "$work/codex/hooks.json"
doctor codex --file "$work/codex/hooks.json"
ok "codex: changed since" finds 'PreToolUse: changed since it was trusted'
mv "$work/codex/kept" "$work/codex/hooks.json"
cp "$work/codex/config.toml" "$work/trusted.toml"
printf '[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "/opt/other"\n' >>"$work/codex/config.toml"
doctor codex --file "$work/codex/hooks.json"
ok "codex: a race from config.toml" finds 'config.toml: PreToolUse: 1 other hook'
mkdir "$work/toml"
printf '[[hooks.PreToolUse]]\nmatcher = "bash"\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "%s --config %s hook codex"\n' \
	"$pawl" "$cfg" >"$work/toml/config.toml"
doctor codex --file "$work/toml/hooks.json"
ok "codex: installed in config.toml" silent_on 'not installed'
ok "codex: its matcher is looked at" finds 'config.toml: PreToolUse: the matcher "bash" matches no known tool'
ok "codex: it is started" has "$out" 'ok: codex: '
echo 'a = "' >"$work/toml/config.toml"
doctor codex --file "$work/toml/hooks.json"
ok "codex: config.toml cannot be read" finds 'config.toml: line 1: '
sed '/enabled/d' "$work/trusted.toml" >"$work/codex/config.toml"
sed -i '/pre_tool_use/a enabled = false' "$work/codex/config.toml"
doctor codex --file "$work/codex/hooks.json"
ok "codex: turned off by hand" finds 'PreToolUse: turned off'
cp "$work/trusted.toml" "$work/codex/config.toml"
printf '[features]\nhooks = false\n' >>"$work/codex/config.toml"
doctor codex --file "$work/codex/hooks.json"
ok "codex: turned off" finds 'hooks = false'

us='"command":"'$pawl'","args":["--config","'$cfg'","hook","claude-code"],"onFailure":"block"'
claude "$us"
ok "one hook by hand is well" is_well
claude "$us" '"matcher":"bash",'
ok "a matcher in the wrong case" finds 'matches no known tool'
ok "the right one is named" has "$out" 'write "Bash"'
claude "$us" '"matcher":"mcp__files",'
ok "a server is no tool" finds 'matches no known tool'
for matcher in '[' '(Bash' 'Bash|[a-z'; do
	claude "$us" "\"matcher\":\"$matcher\","
	ok "$matcher is no expression" finds 'is no regular expression'
done
claude "$us" '"matcher":"^(?!Bash$)",'
ok "what only JavaScript reads is left to it" has "$out" 'note: *cannot be told here*'
claude "$us" '"matcher":"mcp__files__.*",'
ok "a server's tools" is_well
claude "$us" '"matcher":"Bash|Edit",'
ok "some tools are a choice" is_well
ok "that is noted" has "$out" 'note: *leaves other tools unasked'
for matcher in '' '*' '.*'; do
	claude "$us" "\"matcher\":\"$matcher\","
	ok "matcher '$matcher'" is_well
done
claude "$us,\"timeout\":2"
ok "as patient as pawl" finds "waits 2000 ms, pawl's own deadline is 2000 ms"
claude "$us,\"timeout\":3"
ok "more patient than pawl" is_well
claude "$us,\"async\":true"
ok "async" finds 'async'
claude "$us,\"type2\":0" '"hooks2":[],'
ok "unknown members are no fault" is_well
claude "\"command\":\"$pawl --config $cfg hook claude-code\""
ok "fails open" finds onFailure
ok "and is started by a shell" has "$out" 'ok: *blocks'
claude '"command":"/gone/pawl hook claude-code","onFailure":"block"'
ok "the program is gone" finds '/gone/pawl cannot be executed'
claude "\"command\":\"$pawl --config $work/no.json hook claude-code\",\"onFailure\":\"block\""
ok "the config is gone" finds 'every call is refused*no.json'
claude "$us},{\"command\":\"/opt/other\""
ok "a race" finds '1 other hook'
claude "$us},{$us"
ok "twice" finds 'asked 2 times'
printf '{"disableAllHooks":true,"hooks":{"PreToolUse":[{"hooks":[{%s}]}]}}' "$us" >"$work/s.json"
doctor claude-code --file "$work/s.json"
ok "turned off" finds 'disableAllHooks'
printf '{"hooks":{"PostToolUse":[{"hooks":[{%s}]}]}}' "$us" >"$work/s.json"
doctor claude-code --file "$work/s.json"
ok "only after the tool" finds 'not asked on PreToolUse'
# A project has more than one file, and all are run.
p=$work/project/.claude
mkdir -p "$p"
printf '{"hooks":{"PreToolUse":[{"hooks":[{%s}]}]}}' "$us" >"$p/settings.json"
doctor claude-code --project "$work/project"
ok "a project is well" is_well
printf '{"hooks":{"PreToolUse":[{"hooks":[{"command":"/opt/other"}]}]}}' >"$p/settings.local.json"
doctor claude-code --project "$work/project"
ok "a race from another file" finds 'settings.local.json:1:*1 other hook'
echo '{"disableAllHooks":true}' >"$p/settings.local.json"
doctor claude-code --project "$work/project"
ok "turned off in another file" finds 'settings.local.json:1:*disableAllHooks'
mv "$p/settings.json" "$p/settings.local.json"
doctor claude-code --project "$work/project"
ok "installed in another file" is_well
run '' "$pawl" --config "$cfg" install copilot --project "$work/two"
echo '{"version":1,"hooks":{"preToolUse":[{"bash":"/opt/other"}]}}' >"$work/two/.github/hooks/other.json"
doctor copilot --project "$work/two"
ok "a race from a file of the same folder" finds 'other.json:1:*1 other hook'

printf '{"hooks":{}, "hooks":{}}' >"$work/s.json"
doctor claude-code --file "$work/s.json"
ok "cannot be read" finds 's.json:1:*duplicate'

# Milliseconds taken for seconds.
printf '{"hooks":{"BeforeTool":[{"hooks":[{"command":"%s --config %s hook gemini","timeout":10}]}]}}' "$pawl" "$cfg" >"$work/g.json"
doctor gemini --file "$work/g.json"
ok "10 is 10 ms there" finds 'waits 10 ms'
printf '{"hooks":{"preToolUse":[{"command":"%s --config %s hook cursor","failClosed":true}]}}' "$pawl" "$cfg" >"$work/c.json"
doctor cursor --file "$work/c.json"
ok "Cursor without a version" finds '"version" has to be 1'
h=$(printf '[{"command":"%s --config %s hook cursor","failClosed":true}]' "$pawl" "$cfg")
echo "{\"version\":1,\"hooks\":{\"preToolUse\":$h,\"beforeShellExecution\":$h}}" >"$work/c.json"
doctor cursor --file "$work/c.json"
ok "Cursor asks about a command twice" has "$out" 'note: cursor: beforeShellExecution: what preToolUse was asked*'
sed 's/seconds": 0/seconds": 60/' "$work/kiro.json" >"$work/cached.json"
doctor kiro --file "$work/cached.json"
ok "Kiro answers from memory" finds 'from memory'

# Commands that do not block, each in its own way: only started, it shows.
mkdir "$work/bin"
for body in 'exit 0' 'exit 2' 'echo no >&2; exit 2' 'echo "{}"; echo no >&2; exit 2' 'exit 1' 'exit 127' 'kill -9 $$' \
	"echo hello; exec '$pawl' --config '$cfg' \"\$@\""; do
	printf '#!/bin/sh\n%s\n' "$body" >"$work/bin/pawl"
	chmod +x "$work/bin/pawl"
	claude "\"command\":\"$work/bin/pawl\",\"args\":[\"hook\",\"claude-code\"],\"onFailure\":\"block\""
	ok "does not block: $(echo "$body" | cut -c1-20)" finds 'does not block'
done
printf '#!/bin/sh\nsleep 30\n' >"$work/bin/pawl"
claude "\"command\":\"$work/bin/pawl\",\"args\":[\"hook\",\"claude-code\"],\"onFailure\":\"block\",\"timeout\":3"
ok "is late" finds 'did not end'
ok "and has been ended" is_clean

run '' "$pawl" --json doctor claude-code --file "$work/s.json"
ok "--json" has "$out" '{"agent":"claude-code","ok":false,"findings":\[{"where":"*","what":"*","mend":"*"}*\],"shown":\[\],"notes":\[*\]}'
claude "$us"
run '' "$pawl" --json doctor claude-code --file "$work/s.json"
ok "--json, well" has "$out" '"ok":true,"findings":\[\],"shown":\[{"event":"PreToolUse",*"blocks":true,"exit":2,*'
run '' "$pawl" --quiet doctor claude-code --file "$work/s.json"
ok "--quiet" [ "$status" -eq 0 -a -z "$out" ]
for words in '' nix pawl 'codex --dry-run' 'codex --timeout 10s'; do
	# shellcheck disable=SC2086
	doctor $words
	ok "doctor $words: exit 2" [ "$status" -eq 2 -a -n "$err" ]
done
finish
