#!/bin/sh
# A plugin that changes what everyone shares harms no answer: either it does not matter, or
# the call is refused.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
. "$src/tests/integration/zoo.sh"
begin
zoo noise allow - ''
shared change-folder allow - ''
# a fenced one may not, and says so with a number that is no verdict
isolated change-folder either '*' 'policy error*'
zoo change-umask allow - ''
ok 'change-umask: what is written stays private' \
	[ -z "$(find "$work"/audit* \( -perm -040 -o -perm -004 -o -perm -020 \))" ]
zoo change-locale allow - ''
zoo change-signals allow - ''
zoo close-standard allow - ''
# eval's answers lie in memory that is shared, and need no descriptor
zoo close-all either '*' 'policy error*'
zoo no-more-files either '*' 'policy error*'
zoo keep-pointers allow - ''
zoo scribble-args deny crash 'crash 11'
zoo scribble-json deny crash 'crash 11'
zoo scribble-context deny crash 'crash 11'
zoo scribble-tool deny crash 'crash 11'
zoo scribble-value deny crash 'crash 11'
finish
