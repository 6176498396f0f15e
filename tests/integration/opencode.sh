#!/bin/sh
# OpenCode's plugin, as it is installed, in a host of hooks that does what OpenCode does.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}
command -v node >/dev/null || skip_all 'there is no node'
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ] || skip_all 'node is too old'
begin
cp "$top/host/clients/opencode/pawl.js" "$work/pawl.mjs" || exit 1
timeout -k 2 120 node "$src/tests/integration/opencode.mjs" "$work" "$pawl"
