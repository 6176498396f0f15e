# lib.sh - what the scripts of this folder share: a client from npm, in a network of its own
# that has nothing but loopback, in front of a model that says what the script tells it to.
# Sourced; POSIX sh. A script calls `begin PACKAGE VERSION`, defines `client` and `both`, then
# tests.
#
#	chain '{"plugin":"no"}'		writes the config
#	asks NAME ARGUMENTS		appends a turn: the model wants this tool
#	run				the client, until the model is done
#	refusals			the tests that are the same for all
#	ok "name" CONDITION...		a TAP line
LC_ALL=C
export LC_ALL
umask 022
top=${abs_top_builddir:-$(pwd)}
src=${abs_top_srcdir:-..}
pawl=$top/pawl
here=$src/tests/e2e
modules=$top/e2e/node_modules
rows=$top/tests/integration/rows
port=8017
limit=${PAWL_E2E_TIMEOUT:-90}
tests=0

skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

# alone COMMAND...: without a network, and nothing that it starts outlives it
alone() {
	timeout -k 2 "$limit" unshare $user --net --pid --mount-proc --fork --kill-child -- \
		sh -c 'ip link set lo up || ifconfig lo up; exec "$@"' sh "$@"
}

need_namespace() {
	command -v unshare >/dev/null || skip_all 'there is no unshare'
	command -v timeout >/dev/null || skip_all 'there is no timeout'
	command -v ip >/dev/null || command -v ifconfig >/dev/null ||
		skip_all 'nothing to set loopback up with (iproute2)'
	user=
	[ "$(id -u)" = 0 ] || user=--map-root-user
	alone true 2>/dev/null || skip_all 'namespaces of our own are not allowed here'
}

need_node() {
	command -v node >/dev/null || skip_all 'there is no node'
	[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ] ||
		skip_all "node is $(node --version), the clients want 20"
}

# Once a build folder: what is there is used.
need_package() {
	version=$(node -p 'require(process.argv[1]).version' "$modules/$1/package.json" 2>/dev/null)
	[ "$version" = "$2" ] && return
	command -v npm >/dev/null || skip_all 'there is no npm'
	timeout 600 npm install --prefix "$top/e2e" --no-audit --no-fund --loglevel error \
		"$1@$2" >"$top/e2e-npm.log" 2>&1 || skip_all "npm does not install $1@$2"
}

# Files of the real root belong to nobody in a user namespace, and pawl trusts none of them.
need_trust() {
	chain ''
	echo '{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}' |
		alone "$pawl" hook claude-code --config "$work/pawl.json" >/dev/null 2>&1 ||
		skip_all 'pawl does not trust its own files in a namespace of this user'
}

begin() {
	need_node
	need_namespace
	need_package "$1" "$2"
	echo "# $1 $2, node $(node --version)"
	work=$(mktemp -d "$top/tests/e2e/$(basename "$0" .sh).XXXXXX") || exit 1
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM
	mkdir "$work/plugins" "$work/home" "$work/tmp" "$work/app" &&
		cp "$top"/lib/pawl/plugins/*.so "$top"/tests/zoo/*.so "$top/tests/golden/golden.so" \
			"$work/plugins" || exit 1
	need_trust
}

# chain ENTRIES: a config with this chain and the audit; what earlier runs left is forgotten
chain() {
	rm -rf "$work"/audit* "$work/state" "$work/app" "$work/turns" "$work/told" "$work/calls"
	mkdir "$work/app"
	: >"$work/turns"
	: >"$work/told"
	cat >"$work/pawl.json" <<-END
	{"plugin_dir": "$work/plugins", "state_dir": "$work/state", "deadline": "2s",
	 "approval": {"ask": "${ask:-client}"},
	 "chain": [$1],
	 "observe": [{"plugin": "audit", "options": {"path": "$work/audit.db"}}]}
	END
}

asks() {
	printf '%s %s\n' "$1" "$2" >>"$work/turns"
}

# run: $status and $took, the client's words in $work/out
run() {
	began=$(date +%s)
	(cd "$work/app" && alone env -i HOME="$work/home" TMPDIR="$work/tmp" PATH="$PATH" \
		SHELL=/bin/sh LC_ALL=C NO_PROXY='*' \
		node "$here/model.js" "$port" "$work/turns" "$work/told" \
		/bin/sh -c "$client" client "$modules" "$port" "${prompt:-say hi}") >"$work/out" 2>&1
	status=$?
	took=$(($(date +%s) - began))
}

# told TEXT: each result that the model got has it
told() {
	[ "$(grep -cF -- "$1" "$work/told")" = "$(grep -c . "$work/turns")" ]
}

# wrote FILE TEXT: a tool did that
wrote() {
	[ "$(cat "$work/app/$1" 2>/dev/null)" = "$2" ]
}

# called TEXT...: the line with which the MCP tool was called has each of them
called() {
	for text in "$@"; do
		grep -qF -- "$text" "$work/calls" 2>/dev/null || return 1
	done
}

# nothing_left: no tool left anything
nothing_left() {
	[ -z "$(ls "$work/app")" ] && [ ! -e "$work/calls" ]
}

# nothing_ran: the same, and the client went on to the end
nothing_ran() {
	nothing_left && [ "$status" = 0 ]
}

# asked_nothing: no request of any kind reached the model
asked_nothing() {
	! grep -q '^model: POST' "$work/out"
}

# said TEXT: the client's own output has it
said() {
	grep -qF -- "$1" "$work/out"
}

# blocks WHAT REASON: none of the calls ran, and the model was told why
blocks() {
	ok "$1: nothing runs" nothing_ran
	ok "$1: the model is told why" told "$2"
}

logged() {
	grep -q "$1" "$work/audit_log.jsonl"
}

# refusals: what no client may let through, each in a run of its own; `both` makes two calls
refusals() {
	chain '{"plugin": "no"}'
	both
	blocks 'a denied call' 'no means no'

	chain '{"plugin": "person"}'
	both
	blocks 'a call that needs approval' 'a person should look'

	chain '{"plugin": "instead"}'
	both
	blocks 'a substituted call' 'cached'

	chain '{"plugin": "sigsegv"}'
	both
	blocks 'a plugin that crashes' 'the plugin crashed (signal 11)'

	chain '{"plugin": "endless-loop", "deadline": "500ms"}'
	both
	blocks 'a plugin that hangs' 'deadline exceeded in plugin endless-loop'

	chain '{"plugin": "missing"}'
	both
	blocks 'a plugin that is not there' 'the plugin cannot be loaded'
}

ok() {
	name=$1
	shift
	tests=$((tests + 1))
	if "$@"; then
		echo "ok $tests - $name"
	else
		echo "not ok $tests - $name"
		show | cut -c1-1500 | sed 's/^/# /'
	fi
}

show() {
	echo "status ${status:-}, ${took:-} s"
	ls "$work/app"
	tail -n 12 "$work/out"
	cat "$work/told"
	tail -n 3 "$work/audit_log.jsonl" 2>/dev/null
}

finish() {
	echo "1..$tests"
}
