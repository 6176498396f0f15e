#!/bin/sh
# story.sh - the demonstration tells what it promises: each decision, in each client's words.
set -u
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
n=0

# has NAME PATTERN: whether the story has a line with PATTERN, blanks and breaks aside
has() {
	n=$((n + 1))
	if grep -qF -- "$2" "$tmp/flat"; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		sed 's/^/# /' "$tmp/story"
	fi
}

# a busy machine, or a build with sanitizers, may take longer than a client would wait
cp -r "$abs_top_srcdir/tests/demo" "$tmp/copy" && chmod -R u+w "$tmp/copy" || exit 1
sed 's/^  "state_dir".*/&\n  "deadline": "60s",/' "$abs_top_srcdir/tests/demo/pawl.json" \
	>"$tmp/copy/pawl.json"
sh "$tmp/copy/demo.sh" "$abs_top_builddir/pawl" "$tmp/demo" >"$tmp/story" 2>&1
status=$?
tr -d ' \n' <"$tmp/story" >"$tmp/flat"
[ $status -eq 0 ] && echo "ok 1 - every answer is the expected one" ||
	echo "not ok 1 - every answer is the expected one"
n=1
has "allowed: nothing is said" 'pawlanswers(nothing)whichmeansexit0.'
has "denied with a reason" "BLOCKED:'paste.example.net'isnotallowed;allowed:"
has "rewritten" '"updatedInput":{"command":"maketest","description":"Runthetests","timeout":60000}'
has "held for approval" '"permissionDecision":"ask"'
has "substituted, as this client can" 'thetooldidnotrun;policyno-mass-mailgivesthisresult'
has "substituted, as a result" '"is_error":false,"content":"Queuedfortheweeklyletter."'
has "Codex cannot ask" 'Codexcannotaskonehere'
has "Gemini has its own form" '{"decision":"deny","reason":"BLOCKED:'
has "audit rows" 'policy.modified'
has "session summary" '"calls":6,"allowed":2,"denied":2,"substituted":1,"approvals":1'
echo "1..$n"
