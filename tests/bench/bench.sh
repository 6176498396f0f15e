#!/bin/sh
# bench.sh - make bench: everything measured side by side, printed as ratios.
set -e
top=$abs_top_builddir
dir=$(mktemp -d "$top/bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
cat > "$dir/pawl.json" <<END
{"state_dir": "$dir/state", "context": {"tier": "premium"},
 "chain": [
  {"plugin": "limit", "name": "a", "options": {"pointer": "/command", "max_length": 1000}},
  {"plugin": "match-context", "name": "b", "match": {"tool": "*"},
   "options": {"arg": "/description", "context": "/tier"}},
  {"plugin": "hosts", "name": "c", "options": {"pointer": "/url", "allow": ["api.example.com"]}},
  {"plugin": "require-context", "name": "d", "options": {"pointer": "/tier", "in": ["premium"]}},
  {"plugin": "window", "name": "e", "options": {"from": "00:00", "to": "23:59", "when": "outside"}}
 ]}
END
tool='"tool_name":"Bash","tool_input":{"command":"make test","description":"premium","url":"https://api.example.com/v1","timeout":120000,"run_in_background":false}'
head='"session_id":"6f1c2d3e-8a4b-4c5d-9e6f-0123456789ab","transcript_path":"/home/dev/.claude/projects/-home-dev-app/6f1c2d3e.jsonl","cwd":"/home/dev/app","permission_mode":"default","hook_event_name":"PreToolUse"'
pad=$(printf '%01500d' 0)
printf '{%s,%s,"tool_use_id":"toolu_1","x_padding":"%s"}\n' "$head" "$tool" "$pad" > "$dir/event.json"
cp "$dir/pawl.json" "$dir/deny.json"
sed -i 's/"in": \["premium"\]/"in": ["free"]/' "$dir/deny.json"
sed 's/^ "chain"/ "observe": [{"plugin": "audit", "options": {"path": "audit\/audit.db"}}],\n &/' \
	"$dir/pawl.json" > "$dir/audit.json"
mkdir "$dir/audit"

echo "== JSON"
"$top/tests/bench/bench-json"
echo
echo "== chain"
"$top/tests/bench/bench-chain" "$top/tests/bench/plugins"
echo
echo "== loading"
"$top/tests/bench/bench-load" "$top/lib/pawl/plugins"
echo
echo "== hook, 2 KB event, 5 plugins of 5 files"
# the program itself: a manager's stand-in in front of it takes ten times as long
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null || true)
"$top/tests/bench/bench-hook" "$dir/event.json" \
	"minimal C program=$top/tests/bench/minimal" \
	"pawl hook, allow=$top/pawl hook claude-code --config $dir/pawl.json" \
	"pawl hook, deny=$top/pawl hook claude-code --config $dir/deny.json" \
	"pawl hook, allow, audit on=$top/pawl hook claude-code --config $dir/audit.json" \
	${python:+"python3 hook=$python -S $abs_top_srcdir/tests/bench/hook.py"}
echo
echo "== hook: what standing between a plugin and the client costs (goal: 1.6 in CPU)"
"$top/tests/bench/bench-hook" "$dir/event.json" \
	"the same chain without a worker=$top/tests/bench/bench-inline $dir/pawl.json" \
	"pawl hook, allow=$top/pawl hook claude-code --config $dir/pawl.json"
echo
echo "== plugins in processes of their own (goal in brackets)"
"$top/tests/bench/bench-isolate" "$top/tests/bench/plugins" "$top/libexec/pawl/pawl-worker" \
	"$dir/event.json" "$dir/state"
isolated() { # the first N of the ten
	printf '{"plugin_dir":"%s","state_dir":"%s/state","chain":[' "$top/tests/bench/plugins" "$dir"
	i=0
	while [ $i -lt "$1" ]; do
		[ $i -eq 0 ] || printf ,
		printf '{"plugin":"allow%d"%s}' $i "$2"
		i=$((i + 1))
	done
	printf ']}\n'
}
isolated 10 '' >"$dir/shared10.json"
isolated 1 ',"isolation":"process"' >"$dir/isolated1.json"
isolated 10 ',"isolation":"process"' >"$dir/isolated10.json"
echo "hooks; goal: 10 within 3 times the wall time of 1"
"$top/tests/bench/bench-hook" "$dir/event.json" \
	"pawl hook, 1 isolated plugin=$top/pawl hook claude-code --config $dir/isolated1.json" \
	"pawl hook, 10 isolated plugins=$top/pawl hook claude-code --config $dir/isolated10.json" \
	"pawl hook, 10 shared plugins=$top/pawl hook claude-code --config $dir/shared10.json"
echo
# The bare front: the front and a worker that reads an event which only informs, in the neutral
# dialect, so that nothing is decided and nothing written but a constant. Then what each client's
# own event adds to it, with no objection, and with a rewrite: a plugin to load, JSON to write.
echo "== each client's dialect over the bare front"
printf '{"state_dir": "%s/state"}\n' "$dir" > "$dir/bare.json"
printf '{"state_dir": "%s/state", "chain": [{"plugin": "rewrite", "options": %s}]}\n' \
	"$dir" '{"pointer": "/x", "set": true}' > "$dir/rewrite.json"
set -- "bare front@$abs_top_srcdir/tests/golden/pawl/Notification.in=$top/pawl hook pawl --event Notification --config $dir/bare.json" \
	"minimal C program=$top/tests/bench/minimal"
for what in bare rewrite; do
	for case in pawl/PreToolUse claude-code/PreToolUse codex/PreToolUse gemini/BeforeTool \
		qwen/PreToolUse cursor/preToolUse copilot/preToolUse windsurf/pre_run_command \
		kiro/preToolUse goose/PreToolUse cline/PreToolUse; do
		agent=${case%/*} event=$abs_top_srcdir/tests/golden/$case-allow.in
		hook="$top/pawl hook $agent --event ${case#*/} --config $dir/$what.json"
		case $what in rewrite) agent="$agent, rewrite" ;; esac
		set -- "$@" "$agent@$event=$hook"
	done
done
"$top/tests/bench/bench-hook" "$dir/event.json" "$@"
echo
echo "== eval, 500 B events, 5 plugins, audit off, one core"
i=0
pad=$(printf '%0100d' 0)
line=$(printf '{%s,%s,"tool_use_id":"toolu_1","p":"%s"}' "$head" "$tool" "$pad" | cut -c1-1000)
while [ $i -lt 13 ]; do
	[ $i -eq 0 ] && printf '%s\n' "$line" > "$dir/lines" || {
		cat "$dir/lines" "$dir/lines" > "$dir/more"; mv "$dir/more" "$dir/lines"; }
	i=$((i + 1))
done
i=0; : > "$dir/all"; while [ $i -lt 40 ]; do cat "$dir/lines" >> "$dir/all"; i=$((i + 1)); done
n=$(wc -l < "$dir/all")
bytes=$(($(wc -c < "$dir/lines") / 4096))
"$top/tests/bench/bench-rate" "$n" "$bytes" "$top/pawl" eval --config "$dir/pawl.json" "$dir/all"
echo
echo "== sandbox of a plugin's own process"
"$top/tests/bench/bench-sandbox"
echo
echo "== audit store"
"$top/tests/bench/bench-audit" "$dir/store"
