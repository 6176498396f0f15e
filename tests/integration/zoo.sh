# zoo.sh - asks one plugin of tests/zoo in the first, middle and last place of a chain of
# others that allow, through `pawl hook` and `pawl eval`, in the shared worker and in a
# process of its own, and holds the outcome against a row of a table. Sourced after lib.sh.
#
#	zoo NAME DECISION CLASS REASON [VALUE]
#	shared NAME ... / isolated NAME ...	only there, where the outcomes differ
#
# DECISION allow, deny, or either (a whole answer, whichever). CLASS is the class of the
# policy.hook_error record, "-" none, "*" not looked at. REASON is a pattern for all of the
# reason; "crash N" and the like below stand for the usual ones. VALUE is its option.
deadline=20s
rest=allow
places='first middle last'

# What `denies` wants to read
zoo_reason() {
	case $2 in
	crash) echo "policy error ($1): the plugin crashed (signal $3)" ;;
	exit) echo "policy error ($1): the plugin ended the process instead of answering (exit $3)" ;;
	failed) echo "policy error ($1): the plugin failed" ;;
	late) echo "policy error ($1): deadline exceeded in plugin $1" ;;
	load) echo "policy error ($1): the plugin cannot be loaded, \`pawl check\` says why" ;;
	*) echo "$2" ;;
	esac
}

zoo_config() {
	x="{\"plugin\":\"$1\",\"match\":{\"tool\":\"Bash\"},\"deadline\":\"$deadline\",$isolation\"options\":{$value}}"
	a='{"plugin":"yes","name":"a"}' b='{"plugin":"yes","name":"b"}'
	case $2 in
	first) chain="$x,$a,$b" ;;
	middle) chain="$a,$x,$b" ;;
	last) chain="$a,$b,$x" ;;
	esac
	config "\"deadline\":\"30s\",\"context\":{\"tenant\":\"acme\"},\"chain\":[$chain]"
}

# zoo_recorded NAME DECISION CLASS: what the audit has of it
zoo_recorded() {
	case $2 in
	allow) logged '"type":"call.allowed".*"call":"t1"' && ! logged '"type":"policy' ;;
	deny)
		[ "$3" = '*' ] && return 0
		logged '"type":"policy.denied".*"call":"t1"' && ! logged '"call.allowed".*"t1"' || return 1
		if [ "$3" = - ]; then
			! logged '"type":"policy.hook_error"'
		else
			logged "\"policy.hook_error\".*\"plugin\":\"$1\",\"error_class\":\"$3\""
		fi
		;;
	esac
}

zoo_hook_fits() {
	case $2 in
	allow) abstains ;;
	deny) denies claude-code "$4" ;;
	either) abstains || denies claude-code "$4" ;;
	esac && zoo_recorded "$1" "$2" "$3"
}

read_line='{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Read","tool_input":{},"tool_use_id":"t0"}'

# The calls before and after it are none of its business.
zoo_eval_fits() {
	[ "$status" -eq 0 ] && [ -z "$err" ] && is_clean || return 1
	{ read -r one && read -r two && read -r three && ! read -r four; } <"$work/out" || return 1
	has "$one" '"t0","decision":"allow"' && has "$three" "\"t0\",\"decision\":\"$rest\"" || return 1
	allows='{"tool_use_id":"t1","decision":"allow",'
	refuses='{"tool_use_id":"t1","decision":"deny","reason":"'$4'",'
	# shellcheck disable=SC2254
	case $2:$two in
	allow:"$allows"* | either:"$allows"* | deny:$refuses*'"is_error":true'* | either:$refuses*) ;;
	*) return 1 ;;
	esac
	zoo_recorded "$1" "$2" "$3"
}

isolation=
zoo() {
	shared "$@"
	isolated "$@"
}

# A fence the kernel may not have is not what these are about.
isolated() {
	isolation='"isolation":"process","sandbox":"best-effort",'
	where='isolated ' rest_shared=$rest
	rest=allow # the others live on
	zoo_places "$@"
	isolation='' rest=$rest_shared
}

shared() {
	where=
	zoo_places "$@"
}

zoo_places() {
	reason=$(zoo_reason "$1" "${4%% *}" "${4##* }")
	has "$4" ' ' && has 'crash exit' "${4%% *}" || reason=$(zoo_reason "$1" "$4" '')
	class=$3 value=${5:+\"value\":$5}
	# a sanitizer catches the signal, reports, and exits
	[ "$class" = crash ] && [ -n "$sanitized" ] && class='[a-z]*' reason="policy error ($1): *"
	for place in $places; do
		zoo_config "$1" "$place"
		forget
		hook claude-code "$pre"
		ok "$where$1${5:+ $5} $place: hook $2" zoo_hook_fits "$1" "$2" "$class" "$reason"
		forget
		run "$read_line$nl$pre$nl$read_line$nl" "$pawl" eval --config "$cfg"
		ok "$where$1${5:+ $5} $place: eval $2" zoo_eval_fits "$1" "$2" "$class" "$reason"
	done
}
