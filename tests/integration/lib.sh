# lib.sh - what the scripts of this folder share: a folder of their own, a config, TAP.
# Sourced; POSIX sh. A script calls `begin`, then tests, then `finish`.
#
#	config '"chain":[...]'		writes $cfg
#	run INPUT pawl hook ...		$status, $out, $err; $work/report of `watch`
#	ok "name" CONDITION...		a TAP line
LC_ALL=C
export LC_ALL
umask 022
top=${abs_top_builddir:-$(pwd)}
src=${abs_top_srcdir:-..}
pawl=$top/pawl
helpers=$top/tests/integration
tests=0
nl='
'
grep -q 'define PAWL_SANITIZED' "$top/config.h" && sanitized=1 || sanitized=

# A PreToolUse as Claude Code writes it, and the same of Gemini.
pre='{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/w","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t1"}'
post='{"hook_event_name":"PostToolUse","session_id":"s","cwd":"/w","tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":{"stdout":"x"},"tool_use_id":"t1"}'
before='{"hook_event_name":"BeforeTool","session_id":"s","cwd":"/w","tool_name":"run_shell_command","tool_input":{"command":"ls"}}'

# begin: $work, with every plugin of the tree and the zoo in $work/plugins
begin() {
	work=$(mktemp -d "$helpers/$(basename "$0" .sh).XXXXXX") || exit 1
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM
	mkdir "$work/plugins" &&
		{ ln "$top"/lib/pawl/plugins/*.so "$top"/tests/zoo/*.so "$work/plugins" 2>/dev/null ||
			cp -f "$top"/lib/pawl/plugins/*.so "$top"/tests/zoo/*.so "$work/plugins"; } ||
		exit 1
	cfg=$work/pawl.json
	db=$work/audit.db
	log=$work/audit_log.jsonl
}

# config MEMBERS [NAME]: a config with these and the usual ones; no audit with NAME "silent"
config() {
	observe="\"observe\":[{\"plugin\":\"audit\",\"options\":{\"path\":\"$db\"}}],"
	[ "${2:-}" = silent ] && observe=
	printf '{"plugin_dir":"%s/plugins","state_dir":"%s/state",%s%s}\n' \
		"$work" "$work" "$observe" "$1" >"$cfg"
}

# forget: the audit and the state of earlier runs
forget() {
	rm -rf "$work"/audit* "$work"/db.lock "$work"/drops.bin "$work"/session* "$work/state"
}

# run INPUT COMMAND...: INPUT is the text on stdin; 20 s at most
run() {
	input=$1
	shift
	printf '%s' "$input" | "$helpers/watch" "$work/report" 20 "$@" >"$work/out" 2>"$work/err"
	status=$?
	out=$(cat "$work/out")
	err=$(cat "$work/err")
}

# hook AGENT EVENT [ARG...]
hook() {
	agent=$1 event=$2
	shift 2
	run "$event" "$pawl" hook "$agent" --config "$cfg" "$@"
}

# how long the last run took
took() {
	sed -n 's/^ms //p' "$work/report"
}

# is_clean: the last run ended by itself and left nothing running
is_clean() {
	! grep -q '^l' "$work/report"
}

# has TEXT PATTERN: a shell pattern somewhere in the text
has() {
	# shellcheck disable=SC2254
	case $1 in *$2*) return 0 ;; esac
	return 1
}

# is_line TEXT: one line, not empty
is_line() {
	[ -n "$1" ] && ! has "$1" "$nl"
}

# denies AGENT REASON: the last run refused in that client's words; REASON is a pattern
# (of JSON text) for all of the reason
denies() {
	[ "$status" -eq 2 ] && [ -n "$err" ] && is_line "$out" && is_clean || return 1
	case $1 in
	gemini) shape='{"decision":"deny","reason":"BLOCKED: '$2'"}' ;;
	pawl) shape='{"tool_use_id":"t1","decision":"deny","reason":"'$2'",*"refused_by":*"is_error":true*}' ;;
	*) shape='{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"BLOCKED: '$2'"}}' ;;
	esac
	# shellcheck disable=SC2254
	case $out in $shape) return 0 ;; esac
	return 1
}

# abstains: the last run had no objection and said nothing
abstains() {
	[ "$status" -eq 0 ] && [ -z "$out" ] && is_clean
}

# logged PATTERN: a line of the audit's log matches (a basic regular expression)
logged() {
	grep -q "$1" "$log" 2>/dev/null
}

# rows SQL: from the audit's index, filled first: records leave that to whoever reads
rows() {
	"$pawl" --config "$cfg" audit status >/dev/null 2>&1
	"$helpers/rows" "$db" "$1"
}

# ok NAME COMMAND...: the command says whether it is well
ok() {
	name=$1
	shift
	tests=$((tests + 1))
	if "$@"; then
		echo "ok $tests - $name"
	else
		echo "not ok $tests - $name"
		show | sed 's/^/# /' | cut -c1-600
	fi
}

# show: the last run, for whoever has to find out
show() {
	echo "status ${status:-}"
	echo "stdout ${out:-}"
	echo "stderr ${err:-}"
	cat "$work/report" 2>/dev/null
	tail -n 3 "$log" 2>/dev/null
}

skip() {
	tests=$((tests + 1))
	echo "ok $tests - $1 # SKIP $2"
}

finish() {
	echo "1..$tests"
}
