#!/bin/sh
# What a client is answered, byte for byte: CLIENT/EVENT-DECISION.in is an event, .out
# the exit status, stdout and stderr of `pawl hook CLIENT`. It is called with CLIENT, or with
# a file named CLIENT.golden; with no name it goes through all of them.
# NAME-nohook is asked with a chain that has no hook for models, NAME-noconfig without config.
# `golden.sh --update [CLIENT]` writes the .out files anew; read the diff.
set -u
cases=$abs_top_srcdir/tests/golden
pawl=$abs_top_builddir/pawl
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
export HOME="$tmp"
sed "s|@dir@|$abs_top_builddir/tests/golden|; s|^{|{\"state_dir\": \"$tmp/state\",|" \
	"$cases/pawl.json" >"$tmp/pawl.json"

# A chain without any hook for models, and no config at all.
cat >"$tmp/nohook.json" <<END
{"state_dir": "$tmp/state", "plugin_dir": "$abs_top_builddir/lib/pawl/plugins",
 "chain": [{"plugin": "hosts", "options": {"allow": ["example.com"]}}]}
END
config_of() {
	case $1 in
	*-nohook) echo "$tmp/nohook.json" ;;
	*-noconfig) echo /nonexistent/pawl.json ;;
	*) echo "$tmp/pawl.json" ;;
	esac
}

# Copilot's own form of events does not name them: the settings do.
event_option() {
	case $1 in
	copilot/[a-z]*) name=${1#copilot/}; echo "--event ${name%%-*}" ;;
	esac
}

ask() {
	# shellcheck disable=SC2046
	"$pawl" --config "$(config_of "$1")" hook "${1%%/*}" $(event_option "$1") \
		<"$cases/$1.in" >"$tmp/stdout" 2>"$tmp/stderr"
	echo "exit $?"
	echo "--- stdout"
	sed 's/"ns":[0-9]*/"ns":0/g' "$tmp/stdout"
	echo "--- stderr"
	cat "$tmp/stderr"
}

update=
if [ "${1:-}" = --update ]; then
	update=$1
	shift
fi
cd "$cases" || exit 1
case ${1:-} in
'') set -- */*.in ;;
*) set -- "$(basename "$1" .golden)"/*.in ;;
esac
[ "$update" ] || echo "1..$#"
n=0
for file in "$@"; do
	name=${file%.in}
	n=$((n + 1))
	ask "$name" >"$tmp/out"
	if [ "$update" ]; then
		cmp -s "$tmp/out" "$name.out" || cp "$tmp/out" "$name.out"
	elif diff -u "$name.out" "$tmp/out" >"$tmp/diff" 2>&1; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		sed 's/^/# /' "$tmp/diff"
	fi
done
