# lib.sh - what the scripts of this folder share: a client from npm, in a network of its own
# that has nothing but loopback, in front of a model that says what the script tells it to.
# Sourced; POSIX sh. A script calls `begin PACKAGE VERSION`, writes the client's settings,
# defines `client` and `both`, then:
#
#	works_alone			skips all where the client does not work without pawl
#	installs AGENT FILE		pawl install and pawl doctor; FILE is below the home
#	chain '{"plugin":"no"}'		writes the config
#	asks NAME ARGUMENTS		appends a turn: the model wants this tool
#	run				the client, until the model is done
#	refusals			the tests that are the same for all
#	uninstalls			pawl uninstall
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
limit=${PAWL_E2E_TIMEOUT:-180} # s, for one run of a client
tests=0

skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

# alone COMMAND...: without a network, and nothing that it starts outlives it. The user
# database has one user, whose home is the test's: pawl asks it and not the environment.
alone() {
	timeout -k 2 "$limit" unshare $user --net --pid --mount-proc --fork --kill-child -- \
		sh -c 'ip link set lo up || ifconfig lo up || exit
			[ -z "$0" ] || mount --bind "$0" /etc/passwd || exit
			exec "$@"' "${passwd:-}" "$@"
}

# by_user COMMAND...: as the person types it who uses the client
by_user() {
	(cd "$work/app" && alone env -i HOME="$work/home" PATH="$PATH" SHELL=/bin/sh "$@") \
		>"$work/out" 2>&1
	status=$?
	return "$status"
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

# from_npm PACKAGE VERSION: once a build folder, what is there is used; one at a time
from_npm() {
	version=$(node -p 'require(process.argv[1]).version' "$modules/$1/package.json" 2>/dev/null)
	[ "$version" = "$2" ] && return
	command -v npm >/dev/null || skip_all 'there is no npm'
	mkdir -p "$top/e2e"
	flock -w 600 "$top/e2e" timeout 600 npm install --prefix "$top/e2e" --no-audit --no-fund \
		--fetch-timeout 60000 --loglevel error "$1@$2" >"$top/e2e/$(basename "$0").log" 2>&1 ||
		skip_all "npm does not install $1@$2"
}

# The clients want node 20 or later; where it is older (Debian 12), npm has another.
need_node() {
	command -v node >/dev/null || skip_all 'there is no node'
	[ "$(node -p 'process.versions.node.split(".")[0]')" -ge "$1" ] && return
	machine=$(node -p 'process.platform + "-" + process.arch')
	from_npm "node-$machine" 22.23.5
	PATH=$modules/node-$machine/bin:$PATH
	[ "$(node -p 'process.versions.node.split(".")[0]')" -ge "$1" ] ||
		skip_all "node is $(node --version), the client wants $1"
}

# Files of the real root belong to nobody in a user namespace, and pawl trusts none of them.
need_trust() {
	chain ''
	echo '{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}' |
		alone "$pawl" hook claude-code --config "$work/pawl.json" >/dev/null 2>&1 ||
		skip_all 'pawl does not trust its own files in a namespace of this user'
}

begin() {
	need_node "${3:-20}"
	need_namespace
	from_npm "$1" "$2"
	echo "# $1 $2, node $(node --version)"
	work=$(mktemp -d "$top/tests/e2e/$(basename "$0" .sh).XXXXXX") || exit 1
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM
	mkdir "$work/plugins" "$work/home" "$work/tmp" "$work/app" &&
		cp "$top"/lib/pawl/plugins/*.so "$top"/tests/zoo/*.so "$top/tests/golden/golden.so" \
			"$work/plugins" || exit 1
	passwd=$work/passwd
	echo "user:x:0:0::$work/home:/bin/sh" >"$passwd"
	alone true || skip_all 'the user database cannot be replaced here'
	need_trust
}

# works_alone: a client that does not do what its model says when nobody is asked is no
# test of ours; and what it takes on this machine is the measure for how long to wait
works_alone() {
	chain ''
	both
	wrote effect ran || {
		show | cut -c1-300 | sed 's/^/# /'
		skip_all "the client does not work here, without pawl (status $status, $took s)"
	}
	# JavaScript rounds it before anybody is asked; that is then all that can arrive
	big=$(grep -o '"big":[^,}]*' "$work/calls" | head -n 1)
	[ $((took * 8)) -le "$limit" ] || limit=$((took * 8))
}

# installs AGENT FILE: what there is of FILE is kept
installs() {
	agent=$1 settings=$work/home/$2
	cp "$settings" "$work/settings"
	ok 'pawl install writes its hooks' by_user "$pawl" --config "$work/pawl.json" install \
		"$agent" --timeout 60s
	ok 'they are in the settings' grep -qF "$pawl" "$settings"
	"${3:-:}"
	ok 'pawl doctor shows that they block, and finds nothing wrong' by_user "$pawl" doctor \
		"$agent"
	by_user "$pawl" doctor "$agent"
	sed -n 's/^ok: /# /p' "$work/out"
}

# uninstalls: the settings are as they were, and pawl has nothing to say any more
uninstalls() {
	ok 'pawl uninstall takes them out' by_user "$pawl" uninstall "$agent"
	ok 'what is left is what was there, byte for byte' cmp "$settings" "$work/settings"
	chain '{"plugin": "no"}'
	both
	ok 'and the client runs what pawl would refuse' wrote effect ran
}

# chain ENTRIES: a config with this chain and the audit; what earlier runs left is forgotten
chain() {
	rm -rf "$work"/audit* "$work/state" "$work/app" "$work/turns" "$work/told" "$work/calls"
	mkdir "$work/app"
	: >"$work/turns"
	: >"$work/told"
	cat >"$work/pawl.json" <<-END
	{"plugin_dir": "$work/plugins", "state_dir": "$work/state", "deadline": "20s",
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

# as_without: a big number reached the MCP tool as it does without pawl
as_without() {
	[ -n "$big" ] && called "$big"
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

# told_or_unasked TEXT: the same, or the prompt was refused already
told_or_unasked() {
	asked_nothing || told "$1"
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

# indexed SQL: from the audit's index, filled first: records leave that to whoever reads
indexed() {
	alone env -i HOME="$work/home" "$pawl" --config "$work/pawl.json" audit status >/dev/null 2>&1
	"$rows" "$work/audit.db" "$1"
}

# joined N: so many calls were decided, ran, and were told of; each is one in the audit, and
# the log's line before the tool has the same id as the one after
joined() {
	[ "$(indexed "SELECT count(*), count(DISTINCT b.call_id) FROM tool_calls t
	 JOIN events b ON b.seq = t.decision_seq AND b.type = 'call.allowed'
	 JOIN events a ON a.seq = t.post_seq AND a.type = 'call.completed'
	 WHERE t.outcome = 'ok' AND a.call_id = b.call_id AND a.call_id = t.call_id")" = "$1|$1" ] &&
		[ "$(indexed 'SELECT count(*) FROM tool_calls')" = "$1" ]
}

# covered GLOB: each call of the client's own transcript, which is somewhere in its home, was
# decided
covered() {
	by_user "$pawl" --config "$work/pawl.json" audit coverage \
		"$(find "$work/home" -name "$1" -exec ls -t {} + | head -n 1)" &&
		said '2 calls, 0 of them without a decision'
}

# no_rows: what was refused has no execution
no_rows() {
	[ "$(indexed 'SELECT count(*) FROM tool_calls')" = 0 ]
}

# refusals: what no client may let through, each in a run of its own; `both` makes two calls
refusals() {
	chain '{"plugin": "no"}'
	both
	blocks 'a denied call' 'no means no'
	ok 'a denied call: the audit has no execution' no_rows

	chain '{"plugin": "person"}'
	both
	blocks 'a call that needs approval' 'a person should look'

	chain '{"plugin": "instead"}'
	both
	blocks 'a substituted call' 'cached'

	chain '{"plugin": "sigsegv"}'
	both
	blocks 'a plugin that crashes' 'the plugin crashed (signal 11)'

	chain '{"plugin": "endless-loop", "deadline": "1s"}'
	both
	blocks 'a plugin that hangs' 'deadline exceeded in plugin endless-loop'

	# what it would have said to a prompt is not known either
	chain '{"plugin": "missing"}'
	both
	ok 'a plugin that is not there: nothing runs' nothing_left
	ok 'a plugin that is not there: who asks is told why' told_or_unasked \
		'the plugin cannot be loaded'
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

# stop_here WHY: the tests that are left cannot be made, for a reason that is not pawl's
stop_here() {
	echo "ok $((tests + 1)) - the rest # SKIP $1"
	echo "1..$((tests + 1))"
	exit 0
}

finish() {
	echo "1..$tests"
}
