#!/bin/sh
# A plugin that cannot be loaded, or goes wrong while it is, refuses what it was asked
# about; one that goes wrong when the process ends harms nothing.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
. "$src/tests/integration/zoo.sh"
begin
zoo constructor-crash deny crash \
	'policy error (constructor-crash): the plugin crashed while it was being loaded (signal 11)'
zoo open-crash deny crash \
	'policy error (open-crash): the plugin crashed while it was being loaded (signal 11)'
zoo constructor-exit deny exit 'policy error (constructor-exit): *while it was being loaded*'
zoo open-exit deny exit 'policy error (open-exit): *while it was being loaded*'
zoo destructor-crash allow - ''
zoo atexit-crash allow - ''
zoo open-fails deny load load
zoo wrong-abi deny load load
zoo no-entry deny load load
zoo undefined-symbol deny load load
zoo missing deny load load
echo 'no plugin' >"$work/plugins/text.so"
zoo text deny load load
cp "$top/tests/zoo/yes.so" "$work/plugins/other-name.so"
zoo other-name deny load load
cp "$top/tests/zoo/yes.so" "$work/plugins/writable.so" && chmod 666 "$work/plugins/writable.so"
zoo writable deny load load
deadline=300ms
zoo constructor-sleep deny timeout \
	'policy error (constructor-sleep): deadline exceeded in plugin constructor-sleep while it was being loaded'
finish
