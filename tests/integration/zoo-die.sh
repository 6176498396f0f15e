#!/bin/sh
# A plugin that takes the process down, in any way, in any place, is a refusal.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
. "$src/tests/integration/zoo.sh"
begin
zoo sigsegv deny crash 'crash 11'
zoo sigabrt deny crash 'crash 6'
zoo sigfpe deny crash 'crash 8'
zoo divide-by-zero deny crash 'crash 8'
zoo sigill deny crash 'crash 4'
zoo sigterm-self deny crash 'crash 15'
zoo stack-overflow deny crash 'crash 11'
zoo longjmp-out deny crash 'crash 6'
zoo thread-crash deny crash 'crash 11'
zoo tls-destructor deny crash 'crash 11'
zoo kill-self deny crash 'crash 9'
shared kill-group deny crash 'crash 9'
# a fenced process sends no signal but to itself; one without a fence ends with its own group
isolated kill-group either '*' 'policy error*'
if [ -s "$top/tests/zoo/throw.so" ]; then
	zoo throw deny crash 'crash 6'
else
	skip 'throw' 'no C++ compiler'
fi
zoo exit-0 deny exit 'exit 0'
zoo exit-1 deny exit 'exit 1'
zoo exit-2 deny exit 'exit 2'
zoo exit-now deny exit 'exit 0'
zoo exec-true deny exit 'exit 0'
shared pthread-end deny exit 'policy error (pthread-end): *instead of answering (exit [01])'
# what libc would load for it cannot be loaded any more
isolated pthread-end deny '[a-z]*' 'policy error (pthread-end): *'
finish
