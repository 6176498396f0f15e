# lib.sh - chains that a healthy run denies, rewrites or asks about, each for one reason that
# can get lost: held against a fault at every STRIDE-th place. Sourced after the integration
# tests' lib.sh.
#
#	faults NAME FAULTS STRIDE [WHOLE]	a TAP line for each client
#
# Every STRIDE-th place is tried, a little different for each client; where make check-faults
# has set FAULTS_ALL, every one (every WHOLE-th).
sweep=$top/tests/faults/sweep
spread=0

# prepare: a pawl of our own, whose worker can be told which allocation fails
prepare() {
	mkdir -p "$work/state" "$work/kept" "$work/libexec/pawl" "$work/locks" &&
		ln -s "$top/lib" "$work/lib" &&
		cp "$top/pawl" "$work/pawl" &&
		cp "$top/libexec/pawl/pawl-worker" "$work/libexec/pawl/real" &&
		cp "$top/tests/faults/worker" "$work/libexec/pawl/pawl-worker" &&
		cp "$top/tests/faults/malloc.so" "$work/malloc.so"
}

# chain NAME: writes the config; $healthy is in the answer of a run in which nothing fails
chain() {
	rm -rf "$work/conf.d" "$work"/kept/* "$work"/locks/*
	members='"deadline":"20s",'
	entries='{"plugin":"yes"}'
	kept=$work/state record=
	case $1 in
	drop-in)
		healthy='no means no'
		mkdir "$work/conf.d"
		echo '{"chain":[{"plugin":"no"}]}' >"$work/conf.d/10.json"
		;;
	halted)
		healthy='halted after an error of plugin yes'
		kept=$work/kept && mkdir -m 700 "$kept/halt" && echo yes >"$kept/halt/s"
		;;
	locked)
		healthy='is locked'
		entries="$entries,{\"plugin\":\"lockdown\",\"options\":{\"dir\":\"$work/locks\",\"keys\":[\"session_id\"]}}"
		: >"$work/locks/s"
		;;
	fact)
		healthy='fact /is/tier'
		echo '{"tier":"free"}' >"$work/fact.json"
		members="$members\"context\":{\"is\":{\"file\":\"$work/fact.json\"}},"
		entries="$entries,{\"plugin\":\"require-context\",\"options\":{\"pointer\":\"/is/tier\",\"not_in\":[\"free\"]}}"
		;;
	rewritten)
		healthy='"command":"ls'
		entries="$entries,{\"plugin\":\"append\"}"
		;;
	asked)
		healthy='person'
		entries="$entries,{\"plugin\":\"person\"}"
		;;
	listed)
		healthy='is on the deny list'
		members="$members\"deny\":[\"Bash\",\"execute_command\"],"
		;;
	apart)
		healthy='no means no'
		apart='"isolation":"process","sandbox":"best-effort"'
		entries="{\"plugin\":\"yes\",$apart},{\"plugin\":\"yes\",\"name\":\"second\",$apart},{\"plugin\":\"no\",$apart}"
		;;
	recorded)
		record='"type":"call.allowed"'
		healthy='"command":"ls'
		members="$members\"audit\":{\"on_error\":\"fail\"},"
		members="$members\"observe\":[{\"plugin\":\"audit\",\"options\":{\"path\":\"$work/state/audit.db\"}}],"
		entries="$entries,{\"plugin\":\"append\"}"
		;;
	esac
	printf '{"plugin_dir":"%s/plugins","state_dir":"%s",%s"chain":[%s]}\n' \
		"$work" "$kept" "$members" "$entries" >"$cfg"
}

# swept CLIENT STATUS TEXT EVENT FAULTS STRIDE WHOLE: runs it; the last line says how it went
swept() {
	client=$1
	spread=$((1 - spread))
	step=$(($6 > 1 ? $6 + spread : 1))
	[ -z "${FAULTS_ALL:-}" ] || step=${7:-1}
	printf %s "$4" | "$sweep" "$5" "$step" "$work" "$2" "$3" "$record" \
		"$work/pawl" hook "$client" --config "$cfg" >"$work/out" 2>&1
	status=$?
	out=$(cat "$work/out") err=
	: >"$work/report"
	has "$(grep '^# healthy' "$work/out")" "$healthy" || return 1
	set -- $(tail -n 1 "$work/out")
	echo "# $client: ${1:-?} runs, ${3:-?} as if nothing had failed, ${2:-?} wrong"
	[ "$status" -eq 0 ] && [ "${1:-0}" -gt 0 ] && [ "${2:-1}" -eq 0 ]
}

# Claude Code takes exit 2 for a refusal; for Cline only what is on stdout counts.
cline='{"clineVersion":"3.40.0","hookName":"PreToolUse","taskId":"s","preToolUse":{"toolName":"execute_command","parameters":{"command":"ls"}}}'
faults() {
	chain "$1"
	ok "$1: claude-code, $2" swept claude-code 2 '"permissionDecision":"deny"' "$pre" "$2" "$3" "${4:-}"
	ok "$1: cline, $2" swept cline 0 '{"cancel":true,' "$cline" "$2" "$3" "${4:-}"
}
