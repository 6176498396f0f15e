#!/bin/sh
# No event of any client is without its golden files: one that gates has each decision, one
# that informs is there, and so is what cannot be read at all.
set -u
cases=$abs_top_srcdir/tests/golden
decisions='allow deny deny-silent rewrite rewrite-ask ask substitute grant tell error crash noconfig'

# events AGENT: "NAME KIND" a line, off the table that the answers are made by
events() {
	"$abs_top_builddir/pawl" --json agents "$1" | tr '{' '\n' |
		sed -n 's/^"event":"\([^"]*\)","kind":"\([^"]*\)".*/\1 \2/p'
}

# lacks AGENT: what is not there
lacks() {
	grep -q "tests/golden/$1.golden " "$cases/Makefile.inc" || echo "$1.golden in Makefile.inc"
	for name in empty truncated; do
		[ -f "$cases/$1/$name.in" ] || echo "$1/$name.in"
	done
	events "$1" | while read -r event kind; do
		case $kind in
		pre_tool_use | pre_model_call | post_model_call)
			for decision in $decisions; do
				[ -f "$cases/$1/$event-$decision.in" ] || echo "$1/$event-$decision.in"
			done ;;
		*)
			set -- "$1" "$cases/$1/$event.in" "$cases/$1/$event-"*.in
			[ -f "$2" ] || [ -f "$3" ] || echo "$1/$event.in" ;;
		esac
	done
	for file in "$cases/$1"/*.in; do
		[ -f "${file%.in}.out" ] || echo "${file%.in}.out"
	done
}

agents=$("$abs_top_builddir/pawl" agents | sed '1d; s/ .*//')
n=0
for agent in $agents; do
	n=$((n + 1))
	missing=$(lacks "$agent")
	if [ -z "$missing" ] && [ "$(events "$agent" | wc -l)" -ge 5 ]; then
		echo "ok $n - $agent"
	else
		echo "not ok $n - $agent"
		echo "$missing" | sed 's/^/# /'
	fi
done
echo "1..$n"
