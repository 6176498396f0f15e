#!/bin/sh
# A refusal arrives by whichever way is left: stdout, stderr, the exit status.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
config '"chain":[{"plugin":"no"}]' silent
printf %s "$before" | "$pawl" hook gemini --config "$cfg" >"$work/out" 2>&-
status=$? out=$(cat "$work/out")
ok 'gemini without stderr: deny' [ "$status:$out" = '2:{"decision":"deny","reason":"BLOCKED: no means no"}' ]
printf %s "$pre" | "$pawl" hook claude-code --config "$cfg" >&- 2>"$work/err"
status=$? err=$(cat "$work/err")
ok 'without stdout: exit 2 and a word' [ "$status:$err" = '2:BLOCKED: no means no' ]
printf %s "$pre" | "$pawl" hook claude-code --config "$cfg" >&- 2>&-
ok 'without both: exit 2' [ $? = 2 ]
"$pawl" hook claude-code --config "$cfg" <&- >"$work/out" 2>"$work/err"
status=$? out=$(cat "$work/out") err=$(cat "$work/err")
: >"$work/report"
ok 'without stdin: refused' denies claude-code '*'
"$pawl" hook claude-code --config "$cfg" <&- >&- 2>&-
ok 'without any: exit 2' [ $? = 2 ]
config '"chain":[{"plugin":"append"}]' silent
printf %s "$pre" | "$pawl" hook claude-code --config "$cfg" >&- 2>"$work/err"
ok 'a rewrite without stdout is no "go ahead"' [ $? = 2 ]
config '"chain":[{"plugin":"no"}]' silent
# /dev/full takes nothing
if [ -c /dev/full ]; then
	printf %s "$pre" | "$pawl" hook claude-code --config "$cfg" >/dev/full 2>"$work/err"
	ok 'a full stdout: exit 2' [ $? = 2 ]
	config '"chain":[{"plugin":"append"}]' silent
	printf %s "$pre" | "$pawl" hook claude-code --config "$cfg" >/dev/full 2>"$work/err"
	ok 'a rewrite that cannot be written is no "go ahead"' [ $? = 2 ]
fi
config '"chain":[{"plugin":"sigsegv"}]' silent
printf %s "$before" | "$pawl" hook gemini --config "$cfg" >"$work/out" 2>&-
status=$? out=$(cat "$work/out")
ok 'a crash, gemini, no stderr' has "$status$out" '2{"decision":"deny","reason":"BLOCKED: policy error (sigsegv)*'
finish
