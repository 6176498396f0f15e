#!/bin/sh
# A plugin that takes too long or too much is a refusal; what it started ends with the call.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
. "$src/tests/integration/zoo.sh"
begin
zoo fork-stays allow - ''
zoo fork-daemon allow - ''
zoo fork-returns either '*' '*'
zoo thread-stays allow - ''
if [ -n "$sanitized" ]; then
	skip memory-hog 'a sanitizer needs more addresses than it leaves'
else
	rest='*' # nothing is left for the next line either
	zoo memory-hog deny '*' '*'
	rest=allow
fi
deadline=300ms
zoo endless-loop deny timeout late
zoo oversleep deny timeout late
zoo stubborn deny timeout late
zoo stop-self deny timeout late
finish
