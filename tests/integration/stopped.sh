#!/bin/sh
# A front that is told to stop refuses; one that is killed takes its worker along.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
config '"deadline":"60s","chain":[{"plugin":"stubborn"}]'

# running: how many processes, front, guard and worker and what that started, were started with this script's config
running() {
	grep -alz "^$cfg\$" /proc/[0-9]*/cmdline 2>/dev/null | wc -l | tr -d ' '
}

# soon WORD COMMAND...: waits up to 5 s until the command prints WORD
soon() {
	word=$1
	shift
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do
		[ "$("$@")" = "$word" ] && return 0
		sleep 0.2
	done
	return 1
}

begin_hook() {
	printf %s "$pre" >"$work/in"
	"$pawl" hook claude-code --config "$cfg" <"$work/in" >"$work/out" 2>"$work/err" &
	front=$!
	soon 3 running
}

for signal in TERM INT HUP; do
	begin_hook
	# let the plugin get to work: it blocks every signal there is
	sleep 0.2
	kill -s $signal "$front"
	wait "$front"
	status=$? out=$(cat "$work/out") err=$(cat "$work/err")
	: >"$work/report"
	ok "$signal: refused" denies claude-code '*asked to stop*'
	ok "$signal: nobody left" soon 0 running
done
for signal in QUIT USR1 ALRM XCPU; do
	begin_hook
	kill -s $signal "$front"
	wait "$front"
	status=$? out=$(cat "$work/out") err=$(cat "$work/err")
	: >"$work/report"
	ok "$signal: refused, too" denies claude-code '*asked to stop*'
	ok "$signal: nobody left" soon 0 running
done
if [ -n "$sanitized" ]; then
	skip "a fault of the front's own" 'a sanitizer keeps such signals to itself'
else
	for signal in SEGV BUS ABRT; do
		begin_hook
		kill -s $signal "$front"
		wait "$front"
		status=$? out=$(cat "$work/out") err=$(cat "$work/err")
		: >"$work/report"
		ok "$signal: refused, too" denies claude-code 'the hook itself failed'
		ok "$signal: nobody left" soon 0 running
	done
fi
begin_hook
kill -9 "$front"
wait "$front" 2>/dev/null
ok 'front killed: nobody left' soon 0 running
printf '%s\n' "$pre" >"$work/in"
"$pawl" eval --config "$cfg" <"$work/in" >"$work/out" 2>"$work/err" &
front=$!
soon 3 running
kill -9 "$front"
wait "$front" 2>/dev/null
ok 'eval killed: nobody left' soon 0 running

# what a plugin started goes with the front, in a session of its own or not
config '"deadline":"60s","chain":[{"plugin":"fork-stays"},{"plugin":"fork-daemon"},{"plugin":"stubborn"}]'
printf %s "$pre" >"$work/in"
"$pawl" hook claude-code --config "$cfg" <"$work/in" >"$work/out" 2>"$work/err" &
front=$!
ok 'a plugin has started two processes' soon 5 running
kill -9 "$front"
wait "$front" 2>/dev/null
ok 'front killed: they have gone, too' soon 0 running

# the worker's parent is no way to end the front, or to hold it up
for signal in KILL STOP; do
	config "\"deadline\":\"2s\",\"chain\":[{\"plugin\":\"parent-$signal\"}]"
	hook claude-code "$pre"
	ok "SIG$signal to the worker's parent: refused" denies claude-code '*'
	ok "SIG$signal: nobody left" soon 0 running
done
finish
