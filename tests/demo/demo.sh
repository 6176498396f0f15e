#!/bin/sh
# demo.sh - real events of three agent clients through one chain of rules, told step by step.
#
#	sh tests/demo/demo.sh PAWL FOLDER	FOLDER is made anew and keeps what was recorded
set -u
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P) || exit 1
[ $# -eq 2 ] || { echo "usage: demo.sh PAWL FOLDER" >&2; exit 2; }
pawl=$1
dir=$2
bold='' plain=''
[ ! -t 1 ] || [ "${TERM:-dumb}" = dumb ] || { bold=$(printf '\033[1m') plain=$(printf '\033[0m'); }

# ---- where it lies -----------------------------------------------------------------------

# loose FOLDER: whether somebody else may write it or a folder above, as with umask 002
loose() {
	at=$1
	until [ -n "$(find "$at" -maxdepth 0 -perm /022 ! -perm -1000)" ]; do
		[ "$at" != / ] || return 1
		at=$(dirname -- "$at")
	done
}

if [ -e "$dir" ] && ! [ -f "$dir/pawl.json" ]; then
	echo "demo.sh: $dir is there and was not made by this" >&2
	exit 1
fi
rm -rf "$dir"
mkdir -p "$dir" && dir=$(CDPATH='' cd -- "$dir" && pwd -P) || exit 1
cp "$here/pawl.json" "$dir" || exit 1
plugins=$(CDPATH='' cd -- "$(dirname -- "$pawl")/lib/pawl/plugins" && pwd -P) || exit 1
if loose "$dir" || loose "$plugins"; then
	# pawl trusts neither config nor plugins there: both go where nobody else writes
	echo "$at can be written by others, so what follows lies below /tmp."
	dir=$(mktemp -d /tmp/pawl-demo.XXXXXX) && mkdir "$dir/plugins" || exit 1
	cp "$plugins"/*.so "$dir/plugins" || exit 1
	sed 's/^{$/{\n  "plugin_dir": "plugins",/' "$here/pawl.json" >"$dir/pawl.json" || exit 1
fi
config=$dir/pawl.json

# ---- how a step is told ------------------------------------------------------------------

step=0
wrong=0

head() {
	printf '\n%s%s%s\n' "$bold" "$1" "$plain"
}

# row LABEL: what stdin says, beside the label, as one text broken where it may be
row() {
	awk -v label="$1" -v width=78 '
	function put(text) {
		sub(/ +$/, "", text)
		printf "   %-13s %s\n", label, text
		label = ""
	}
	{ all = all (NR > 1 ? " " : "") $0 }
	END {
		if (all == "")
			all = "(nothing)"
		while (length(all) > width) {
			for (at = width; at > 20 && index(" ,{", substr(all, at, 1)) == 0; at--)
				;
			if (at == 20)
				at = width
			put(substr(all, 1, at))
			all = substr(all, at + 1)
		}
		put(all)
	}'
}

# Of an event: the tool, and its arguments as they stand there.
wants() {
	sed 's/.*"tool_name":"\([^"]*\)","tool_input":\(.*\)/\1 \2/
		s/,"\(tool_use_id\|mcp_context\|tool_response\|error\)".*//; s/}}$/}/' "$1"
}

# ask AGENT EVENT EXIT TITLE: one event before its tool; what it means is read from stdin
ask() {
	step=$((step + 1))
	head "$step. $4"
	wants "$here/events/$2.json" | row "wants to run"
	"$pawl" --config "$config" hook "$1" <"$here/events/$2.json" \
		>"$dir/answer" 2>"$dir/stderr"
	status=$?
	row "pawl answers" <"$dir/answer"
	[ "$status" -eq "$3" ] || wrong=1
	{ printf 'exit %s. ' "$status"; cat; } | row "which means"
}

# tell AGENT EVENT: one event after the tool, or at the session's end; pawl only listens
tell() {
	"$pawl" --config "$config" hook "$1" <"$here/events/$2.json" >"$dir/answer" 2>&1
	status=$?
	sed 's/.*"hook_event_name":"\([^"]*\)".*/\1/' "$here/events/$2.json" |
		awk -v agent="$1" -v status=$status -v size="$(wc -c <"$dir/answer")" '
		{ printf "   %-12s %-20s exit %d, %d bytes of answer\n", agent, $0, status, size }'
	[ "$status" -eq 0 ] || wrong=1
}

# ---- the story -----------------------------------------------------------------------------

cat <<'END'

A client such as Claude Code starts `pawl hook AGENT` before each tool call, gives it the
event on stdin and does what it answers. The events below have the form that the clients
send; the rules are these:

END
grep -v '^//' "$here/pawl.json" | sed 's/^/   /'
"$pawl" --config "$config" check || exit 1

ask claude-code claude-code-fetch-docs 0 "Claude Code: allowed" <<'END'
No rule objects. pawl says nothing then, so the client's own permission prompts still apply:
pawl only ever takes away.
END
ask claude-code claude-code-fetch-paste 2 "Claude Code: denied, with a reason" <<'END'
The call does not run. "egress" knows the hosts that pages may come from; the model reads the
reason and what is allowed instead, so that it can go on differently.
END
ask claude-code claude-code-make 0 "Claude Code: rewritten" <<'END'
The command runs, with the arguments in updatedInput: "one-minute" made ten minutes one.
Every other byte of the arguments is as the model wrote it.
END
ask claude-code claude-code-refund 0 "Claude Code: held for approval" <<'END'
Money moves only when a person says yes: the client asks, and a plugin could deny, but not
wave it through.
END
ask claude-code claude-code-newsletter 2 "Claude Code: substituted" <<'END'
The tool does not run; the model gets a result from the policy in its place. This client's
hooks cannot hand over a result, so it comes as the text of a refusal.
END
ask claude-code claude-code-customers 2 "Claude Code: denied by a fact" <<'END'
"tenant" is a fact of the config. The model can write any argument it likes, but no fact.
END
ask codex codex-send 0 "Codex: rewritten" <<'END'
The same chain, the same rule "sender", in the answer that Codex understands.
END
ask codex codex-refund 2 "Codex: held for approval" <<'END'
Codex hooks have no way to ask a person. What cannot be asked is denied.
END
ask gemini gemini-list 0 "Gemini: allowed" <<'END'
Nothing to say here either.
END
ask gemini gemini-drop 2 "Gemini: denied by the list" <<'END'
Gemini writes the tool's name in its own way and has its own form of a refusal; the pattern
mcp:prod/drop_table covers all of them.
END

step=$((step + 1))
head "$step. A program of your own: substituted"
row "wants to run" <<END
$(wants "$here/events/pawl-newsletter.json")
END
"$pawl" --config "$config" eval "$here/events/pawl-newsletter.json" >"$dir/answer" || wrong=1
row "pawl answers" <"$dir/answer"
row "which means" <<'END'
`pawl eval` takes neutral events, one a line. Here the caller gets the result itself
(tool_result) and what each plugin said (trace).
END

head "After the tools have run, and when the sessions end, the clients tell pawl:"
tell claude-code claude-code-fetch-docs-done
tell claude-code claude-code-make-failed
tell codex codex-send-done
tell gemini gemini-list-done
tell claude-code claude-code-stop
tell codex codex-stop
tell gemini gemini-end

head "What was recorded: pawl audit list"
"$pawl" --config "$config" audit list || wrong=1
head "The sessions: pawl audit sessions"
"$pawl" --config "$config" audit sessions || wrong=1
head "The same, written at each session's end: session_summaries.jsonl"
sed 's/^/   /' "$dir/session_summaries.jsonl" || wrong=1
head "One call's way, for colleagues: pawl explain claude-code claude-code-make.json"
"$pawl" --config "$config" explain claude-code "$here/events/claude-code-make.json" |
	sed 's/^/   /'

cat <<END

All of it is in $dir. Go on from there:

   $pawl --config $config audit show toolu_03make
   $pawl --config $config plugins hosts
   $pawl --help
END
[ "$wrong" -eq 0 ] || { echo "demo.sh: something did not answer as it should" >&2; exit 1; }
