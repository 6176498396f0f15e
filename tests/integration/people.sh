#!/bin/sh
# Who may say yes, with users that are several: in a system install not the one who asked, in a
# user install nothing that the agent started, and of `need` people each once.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
group=64200
ada=64201 bob=64202 eve=64203
# as UID COMMAND...
as() {
	uid=$1
	shift
	setpriv --reuid "$uid" --regid $group --clear-groups "$@"
}
if [ "$(id -u)" -ne 0 ] && [ -z "${PAWL_PEOPLE:-}" ]; then
	# several users of one's own take newuidmap and a line in /etc/subuid
	if unshare -r --map-auto true 2>/dev/null; then
		PAWL_PEOPLE=1 exec unshare -r --map-auto sh "$0" "$@"
	fi
	echo '1..0 # SKIP not root, and no users may be mapped here (newuidmap, /etc/subuid)'
	exit 0
fi
begin
chmod 711 "$work"
if ! as $ada true 2>/dev/null || ! as $ada test -r "$work/plugins/rewrite.so" ||
	! as $ada "$pawl" --version >/dev/null 2>&1; then
	echo '1..0 # SKIP other users cannot be, or cannot get at the build'
	exit 0
fi
# office OWNER MEMBERS: everybody's queue, by OWNER's config
office() {
	rm -rf "$work/office" "$work/run"
	mkdir -m 755 "$work/office"
	mkdir -m 2770 "$work/run"
	cp -rp "$work/plugins" "$work/office/plugins"
	printf '{"plugin_dir":"%s/office/plugins","state_dir":"%s/run","require_approval":["Bash"],
		"approval":{"ask":"queue","wait":"0"%s},"observe":[{"plugin":"audit",
		"options":{"path":"%s/run/audit.db"}}]}\n' "$work" "$work" "$2" "$work" >"$work/office/pawl.json"
	chown -R "$1:$group" "$work/office" "$work/run"
	cfg=$work/office/pawl.json log=$work/run/audit_log.jsonl
}
# asks UID
asks() {
	: >"$work/report"
	printf '%s' "$pre" | as "$1" "$pawl" hook claude-code --config "$cfg" >"$work/out" 2>"$work/err"
	status=$? out=$(cat "$work/out") err=$(cat "$work/err")
}
# says UID COMMAND...
says() {
	uid=$1
	shift
	as "$uid" "$pawl" --config "$cfg" approvals "$@" >"$work/out" 2>"$work/err"
	status=$? out=$(cat "$work/out") err=$(cat "$work/err")
}
# pending UID: what waits, as that user sees it
pending() {
	says "$1" list --pending --json
	id=$(printf '%s' "$out" | sed -n 's/.*"id":"\([^"]*\)".*/\1/p')
	digest=$(printf '%s' "$out" | sed -n 's/.*"digest":"\(........\).*/\1/p')
}
exits() {
	[ "$status" -eq "$1" ]
}

# ---- a system install: uids are compared
office 0 ''
asks $ada
ok 'system: it waits' denies claude-code '*pending as ap-*'
pending $bob
says $ada approve "$id" --digest "$digest"
ok 'who asked may not approve' exits 1
ok 'and hears why' has "$err" "*uid $ada asked for $id and may not approve it*"
asks $ada
ok 'nothing was decided' denies claude-code "*pending as $id,*"
says $bob approve "$id" --digest "$digest"
ok 'another may' exits 0
says $eve approve "$id" --digest "$digest"
ok 'a second winner there is not' exits 1
ok 'who was the first is said' has "$err" "*already approved*uid $bob*"
asks $bob
ok 'a yes is for the session that asked, whoever runs it' exits 0
asks $ada
ok 'and used once' denies claude-code '*pending as ap-*'
pending $ada
says $ada deny "$id" --reason 'I know better'
ok 'who asked may say no' exits 0
ok 'by whom is on record' logged "\"approval.decided\".*\"by\":\"uid $ada\""
asks $ada
says $ada cancel "$id"
ok 'what is denied is not canceled' exits 1

# ---- several people
office 0 ',"need":2'
asks $ada
pending $bob
says $ada approve "$id" --digest "$digest"
ok 'need 2: who asked is none of them' exits 1
says $bob approve "$id" --digest "$digest"
ok 'need 2: the first is noted' exits 0
ok 'and does not decide' has "$out" '*still need*'
says $bob approve "$id" --digest "$digest"
ok 'need 2: the same person again decides nothing' exits 1
ok 'and is told' has "$err" "*uid $bob has approved $id already; it needs 2 different people*"
says $bob deny "$id" --reason 'or not'
ok 'nor the opposite' exits 1
asks $ada
ok 'need 2: one is not enough' denies claude-code "*pending as $id,*"
says $eve approve "$id" --digest "$digest"
ok 'need 2: another is the second' exits 0
asks $ada
ok 'need 2: it runs' exits 0
ok 'both are on record' [ "$(grep '"approval.voted"' "$log" | grep -c -e "uid $bob" -e "uid $eve")" = 2 ]
asks $ada
pending $bob
says $bob approve "$id" --digest "$digest"
says $eve deny "$id" --reason 'not today'
ok 'need 2: one no ends it' exits 0
asks $ada
ok 'whoever said yes' denies claude-code '*a person denied it: not today'

# ---- a user install: agent and person are one uid, the agent's descendants are known
office $ada ''
cat >"$work/agent.sh" <<'AGENT'
pawl=$1 cfg=$2 pre=$3
printf '%s' "$pre" | "$pawl" hook claude-code --config "$cfg" >/dev/null 2>&1
list=$("$pawl" --config "$cfg" --json approvals list --pending)
id=$(printf '%s' "$list" | sed -n 's/.*"id":"\([^"]*\)".*/\1/p')
digest=$(printf '%s' "$list" | sed -n 's/.*"digest":"\(........\).*/\1/p')
sh -c '"$@"; exit $?' x "$pawl" --config "$cfg" approvals approve "$id" --digest "$digest"
AGENT
chmod 755 "$work/agent.sh"
as $ada sh "$work/agent.sh" "$pawl" "$cfg" "$pre" >"$work/out" 2>"$work/err"
status=$? out=$(cat "$work/out") err=$(cat "$work/err")
ok "user: the agent's child may not approve" exits 1
ok 'and hears why' has "$err" '*which started this one: the agent may not approve its own call*'
pending $ada
ok 'user: it still waits' [ -n "$id" ]
says $ada approve "$id" --digest "$digest"
ok 'user: the same uid from elsewhere may' exits 0
asks $ada
ok 'user: and it runs' exits 0
finish
