#!/bin/sh
# Every allocation of a hook's worker fails once: the answer is the right one or a refusal.
# The front has none: a static one is linked without an allocator.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
# shellcheck source=tests/faults/lib.sh
. "$src/tests/faults/lib.sh"
begin
prepare
if [ -n "$sanitized" ]; then
	skip 'allocations that fail' 'a sanitizer has an allocator of its own'
	finish
	exit 0
fi
front_allocates() {
	nm "$top/pawl" | grep -qE ' [TW] (__libc_)?(m|c|re)alloc$'
}
if nm "$top/pawl" 2>/dev/null | grep -q ' T main$' && ! nm -D "$top/pawl" 2>/dev/null | grep -q .; then
	ok 'the front has no allocator' eval '! front_allocates'
else
	skip 'the front has no allocator' 'it is not static, or there is no nm'
fi
for name in drop-in halted locked fact asked listed; do
	faults $name MALLOC 4
done
faults rewritten MALLOC 1 # the answer is written, too
# thousands more, nearly all of them the database's
faults recorded MALLOC 500 7
finish
