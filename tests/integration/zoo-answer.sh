#!/bin/sh
# Whatever a plugin answers that is no answer is a refusal, and never its own words; what is
# one stays well-formed whatever it is made of.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
. "$src/tests/integration/zoo.sh"
begin
for n in 0 5 77 2147483647 -2147483648 -77; do
	zoo returns deny bad-status failed "$n"
done
zoo returns deny fail failed -1
places=middle
for n in -2 -3 -4 -5 -6 -7 -8 -9; do
	zoo returns deny '[a-z-]*' failed "$n"
done
places='first middle last'
zoo error-text deny fail failed
ok 'error-text: nobody reads the words of an error' \
	[ -z "$(grep -l hunter2 "$work"/out "$work"/err "$log")" ]
zoo deny-twice deny - 'the second reason'
zoo says-everything allow - ''
zoo grant-unasked either '*' ''
zoo notes-many allow - ''
for name in edit-array edit-no-json edit-duplicate edit-root edit-utf8 edit-missing \
	edit-pointer edit-huge edit-bad-then-good remove-missing substitute-empty \
	substitute-bad approval-negative; do
	zoo $name deny bad-reply failed
done
zoo edit-and-deny deny - 'changed and refused'
for name in reason-none reason-empty reason-null; do
	zoo $name deny - "refused by $name, which gave no reason"
done
zoo reason-control deny - 'red  [[]31m*'
ok 'reason-control: no control character gets out' \
	[ "$(tr -d '\n' <"$work/out" | tr -cd '[:cntrl:]' | wc -c)" -eq 0 ]
zoo reason-surrogate deny - 'half *�* of � one'
zoo reason-huge deny - 'xxxxxxxxxxxxxxxx*'
ok 'reason-huge: it is cut' [ "$(wc -c <"$work/out")" -lt 65536 ]
# What eval has in memory when the front hears of it counts; a hook is refused.
for name in forge-half-frame forge-empty-frame; do
	zoo $name either '*' 'policy error*'
	zoo_config $name first
	hook claude-code "$pre"
	ok "$name: a hook is refused" denies claude-code 'policy error*'
done
zoo forge-whole-frame deny '*' '*'
finish
