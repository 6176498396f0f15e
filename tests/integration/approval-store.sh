#!/bin/sh
# The queue's file system is full or read-only, its file too large, broken, another or gone:
# the hook refuses and says why, `pawl approvals` says what is wrong, and nothing is decided.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
# queued DIR [MEMBERS]
queued() {
	printf '{"plugin_dir":"%s/plugins","state_dir":"%s","deadline":"60s","require_approval":["Bash"],
		"approval":{"ask":"queue","wait":"%s","allow_self":true}}\n' "$work" "$1" "${2:-0}" >"$cfg"
}
event() {
	printf '{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"%s"}}' "$1"
}
approvals() {
	run '' "$pawl" --config "$cfg" approvals "$@"
}
member() {
	sed -n 's/.*"'"$1"'":"\([^"]*\)".*/\1/p' "$work/out" | head -n 1
}
last() {
	approvals list --pending --json
	id=$(member id) digest=$(member digest)
}
exits() {
	[ "$status" -eq "$1" ]
}
# refuses PATTERN: the last run of pawl approvals could not, and why is in a line
refuses() {
	exits 1 && [ -z "$out" ] && is_line "$err" && has "$err" "$1"
}

# in_room FOLDER: a part of this script in a mount namespace, its results as this one's
in_room() {
	cat >"$work/room.sh"
	mkdir -p "$work/room"
	(
		export work cfg pawl
		unshare -rm sh "$work/room.sh"
	) >"$work/room.out" 2>&1
}
field() {
	sed -n "s/^$1 //p" "$work/room.out"
}

# ---- a file system that is full, then read-only
queued "$work/room/state"
event one >"$work/one"
event two >"$work/two"
in_room <<'ROOM'
mount -t tmpfs -o size=200k tmpfs "$work/room" || exit 77
ask() {
	"$pawl" hook claude-code --config "$cfg" <"$work/$1" >"$work/o" 2>"$work/e"
	echo "$2 $? $(head -c 600 "$work/o")"
}
approvals() {
	name=$1
	shift
	"$pawl" --config "$cfg" approvals "$@" >"$work/o" 2>"$work/e"
	echo "$name $? $(head -c 300 "$work/o") $(head -c 300 "$work/e")"
}
ask one held
list=$("$pawl" --config "$cfg" --json approvals list)
id=$(printf '%s' "$list" | sed -n 's/.*"id":"\([^"]*\)".*/\1/p')
digest=$(printf '%s' "$list" | sed -n 's/.*"digest":"\([^"]*\)".*/\1/p')
dd if=/dev/zero of="$work/room/fill" bs=1k >/dev/null 2>&1
ask two full
approvals full-vote approve "$id" --digest "$digest"
approvals full-list list --json
ask one full-again
rm "$work/room/fill"
mount -o remount,ro "$work/room"
ask two readonly
approvals ro-vote approve "$id" --digest "$digest"
approvals ro-list list
ask one ro-again
mount -o remount,rw "$work/room"
approvals vote approve "$id" --digest "$digest"
dd if=/dev/zero of="$work/room/fill" bs=1k >/dev/null 2>&1
ask one full-use
rm "$work/room/fill"
ask one use
ask one used
echo end
ROOM
if [ "$(tail -n 1 "$work/room.out")" = end ]; then
	out=$(cat "$work/room.out") err=
	ok 'with room it waits' has "$(field held)" '2 *pending as ap-*'
	ok 'full: refused, and why' has "$(field full)" '2 *"deny"*cannot be put before*full*'
	ok 'full: no vote counts' has "$(field full-vote)" '1 *approvals.db*full*'
	ok 'full: the vote is not there' has "$(field full-list)" '0 *"status":"pending"*'
	ok 'full: what waits does not run' has "$(field full-again)" '2 *'
	ok 'read-only: refused, and why' has "$(field readonly)" '2 *"deny"*cannot be put before*ead-only*'
	ok 'read-only: no vote counts' has "$(field ro-vote)" '1 *ead-only*'
	ok 'read-only: list says so' has "$(field ro-list)" '1 *ead-only*'
	ok 'read-only: what waits does not run' has "$(field ro-again)" '2 *'
	ok 'with room again it is approved' has "$(field vote)" '0 *'
	ok 'full: a yes that cannot be used up lets nothing run' has "$(field full-use)" '2 *"deny"*full*'
	ok 'it is used once there is room' has "$(field use)" '0*'
	ok 'once' has "$(field used)" '2 *pending as ap-*'
else
	skip 'full and read-only file systems' "no tmpfs of our own may be mounted here"
fi

# ---- RLIMIT_FSIZE, which memory that has a descriptor falls under, too
queued "$work/state"
run "$(event one)" sh -c 'ulimit -f 8; exec "$@"' x "$pawl" hook claude-code --config "$cfg"
ok 'no file may grow: refused, and why' denies claude-code '*File too large*'
run "$(event one)" "$pawl" hook claude-code --config "$cfg"
ok 'then it waits' denies claude-code '*pending as ap-*'
last
run '' sh -c 'ulimit -f 1; exec "$@"' x "$pawl" --config "$cfg" approvals approve "$id" --digest "$digest"
ok 'no file may grow: no vote counts' refuses '*File too large*'
# the queue's command by itself comes as far as the database
run '' sh -c 'ulimit -f 1; exec "$@"' x "$top/libexec/pawl/pawl-approvals" --store "$work/state" \
	approve "$id" --digest "$digest"
ok 'the database may not grow: no vote counts' refuses '*approvals.db*'
last
ok 'it still waits' [ -n "$id" ]

# ---- a database that is broken, another's, or gone
cp -a "$work/state" "$work/good"
# back as it was, with the lock where it is: another one would be another queue
hurt() {
	rm -rf "$work/state/approvals.db"*
	cp -a "$work/good/approvals.db" "$work/state"
	cat "$work/good/approvals.lock" >"$work/state/approvals.lock"
}
# says NAME WHY: neither hook nor command goes on
says() {
	hook claude-code "$(event one)"
	ok "$1: the hook refuses, and why" denies claude-code "*cannot be put before*$2*"
	approvals list
	ok "$1: list says so" refuses "*approvals.db*$2*"
	approvals approve "$id" --digest "$digest"
	ok "$1: no vote counts" refuses "*approvals.db*$2*"
}
hurt
head -c 300 /dev/urandom | cat "$cfg" - >"$work/state/approvals.db"
says 'no database' 'not a database'
hurt
size=$(wc -c <"$work/state/approvals.db")
dd if=/dev/zero of="$work/state/approvals.db" bs=4096 seek=1 count=$((size / 4096 - 1)) conv=notrunc 2>/dev/null
says 'pages of zeroes' 'malformed'
hurt
dd if="$work/good/approvals.db" of="$work/state/approvals.db" bs=4096 count=3 2>/dev/null
says 'cut short' 'malformed'
hurt
cp "$top/tests/integration/rows" "$work/state/approvals.db"
says 'a program' 'not a database'
hurt
rm "$work/state/approvals.db"
mkdir "$work/state/approvals.db"
hook claude-code "$(event one)"
ok 'a folder: the hook refuses, and why' denies claude-code '*cannot be put before*approvals.db*'
hurt
mv "$work/state/approvals.db" "$work/elsewhere.db"
ln -s "$work/elsewhere.db" "$work/state/approvals.db"
hook claude-code "$(event one)"
ok 'a link: the hook refuses, and why' denies claude-code '*cannot be put before*approvals.db*'

hurt
approvals approve "$id" --digest "$digest"
ok 'approved' exits 0
rm "$work/state/approvals.db"
approvals approve "$id" --digest "$digest"
ok 'gone: no vote counts' refuses '*approvals.db*not there*'
approvals list
ok 'gone: list says so' refuses '*approvals.db*not there*'
hook claude-code "$(event one)"
ok 'gone: the yes is gone too, a person is asked anew' denies claude-code '*pending as ap-*'

# ---- an old copy that is put back: no yes of it counts, whatever became of it since
# put_back: the database alone
put_back() {
	cp -a "$work/old.db" "$work/state/approvals.db"
}
# put_back_all: the folder, as a backup has it
put_back_all() {
	mv "$work/state" "$work/state.was"
	cp -a "$work/old" "$work/state"
	rm -rf "$work/state.was"
}
for how in put_back put_back_all; do
	rm -rf "$work/state" "$work/old"
	hook claude-code "$(event one)"
	last
	approvals approve "$id" --digest "$digest"
	cp -a "$work/state" "$work/old"
	cp -a "$work/state/approvals.db" "$work/old.db"
	hook claude-code "$(event one)"
	ok "$how: approved, it runs" exits 0
	$how
	hook claude-code "$(event one)"
	ok "$how: the yes that was used does not count again" denies claude-code '*pending as ap-*'
	$how
	approvals list
	ok "$how: list says that it is void" has "$out" "*canceled*"
	approvals show "$id"
	ok "$how: and show says why" has "$out" '*older than what was done*'
	approvals approve "$id" --digest "$digest"
	ok "$how: nor is it decided again" refuses "*was canceled*older*"
	hook claude-code "$(event one)"
	last
	approvals approve "$id" --digest "$digest"
	hook claude-code "$(event one)"
	ok "$how: after that the queue works" exits 0
done

# ---- taken away while somebody waits
for how in gone swapped; do
	hurt
	queued "$work/state" 50s
	event two >"$work/event"
	"$pawl" hook claude-code --config "$cfg" <"$work/event" >"$work/out2" 2>"$work/err2" &
	waiting=$!
	# it is there: from then on nobody but a person ends the waiting
	tries=0
	until [ "$("$pawl" --config "$cfg" --json approvals list | wc -l)" -ge 2 ]; do
		tries=$((tries + 1))
		[ $tries -lt 1000 ] || break
	done
	cp "$work/good/approvals.db" "$work/other.db"
	case $how in
	gone) rm "$work/state/approvals.db" ;;
	swapped) mv "$work/other.db" "$work/state/approvals.db" ;;
	esac
	wait $waiting
	status=$? out=$(cat "$work/out2") err=$(cat "$work/err2")
	: >"$work/report"
	ok "$how while a hook waits: it refuses, and why" \
		denies claude-code '*approvals.db*taken away or replaced*'
done
finish
