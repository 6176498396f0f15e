#!/bin/sh
# Every system call of a hook, from the front's main on, fails once, and its worker is killed
# at each: the answer is the right one or a refusal.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
# shellcheck source=tests/faults/lib.sh
. "$src/tests/faults/lib.sh"
begin
prepare
cp "$work/libexec/pawl/real" "$work/libexec/pawl/pawl-worker"
if [ -n "$sanitized" ]; then
	skip 'system calls that fail' "a sanitizer's own are among them"
	finish
	exit 0
fi
chain listed
printf %s "$pre" | "$sweep" EIO 100000 "$work" 2 x '' "$work/pawl" hook claude-code --config "$cfg" \
	>"$work/out"
if [ $? -eq 77 ]; then
	skip 'system calls that fail' "$(tail -n 2 "$work/out" | head -n 1)"
	finish
	exit 0
fi
faults drop-in EIO,ENOMEM,EMFILE,EACCES,EINTR,EAGAIN,KILL 30
for name in halted locked fact rewritten asked listed; do
	faults $name EIO,EINTR,KILL 30
done
# six processes: three plugins, one of them executed and two forked off it
faults apart EIO,ENOMEM,EAGAIN,KILL 60 7
# hundreds of calls more, the database's own
faults recorded EIO 60
finish
