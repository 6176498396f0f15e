#!/bin/sh
# approvals.sh - the commands of docs/approvals.md do what the page says.
set -u
src=${abs_top_srcdir:-.}
build=${abs_top_builddir:-.}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
page=$src/docs/approvals.md
mkdir "$tmp/bin" "$tmp/work" && ln -s "$build/pawl" "$tmp/bin/pawl"
# plugins lie where others may write in some checkouts: a folder of our own
mkdir "$tmp/plugins" && cp "$build"/lib/pawl/plugins/*.so "$tmp/plugins"
awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside { print }' "$page" |
	sed "s|\"state_dir\"|\"plugin_dir\": \"$tmp/plugins\", &|" >"$tmp/commands"
(cd "$tmp/work" && PATH=$tmp/bin:$PATH sh -e "$tmp/commands") >"$tmp/out" 2>"$tmp/err"
status=$?
n=0
# says NAME PATTERN
says() {
	n=$((n + 1))
	if grep -q "$2" "$tmp/out"; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		sed 's/^/# /' "$tmp/out" "$tmp/err"
	fi
}
n=1
[ $status -eq 0 ] && echo "ok 1 - the page runs" || { echo "not ok 1 - the page runs"; sed 's/^/# /' "$tmp/err"; }
says "the call is held" '^not allowed: exit status 2'
says "it is shown with what policy changed" '^  + /to  "ada"'
says "it is approved" '^approved ap-'
says "it runs as shown" '"updatedInput":{"to": "ada", "amount": 100}'
says "once" '^once: exit status 2'
says "the story has it" 'approval.consumed'
says "a batch is paused" '"held":true'
says "and resumed" '"tool_use_id":"b1","decision":"allow"'
says "the log is intact" '^INTACT'
says "a changed record is found" '^record 9 was changed: its hash is not that of its text'
says "changed is exit 1" '^changed: exit status 1'
says "a cut log is found by its anchor" '^the log ends with record 4, and the anchor'
says "shorter is exit 2" '^shorter: exit status 2'
says "the log as it was is whole" '^whole again'
echo "1..$n"
