#!/bin/sh
# headers.sh - each header compiles alone, so that the order of includes never matters.
set -u
src=${abs_top_srcdir:-.}
build=${abs_top_builddir:-.}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
n=0
foreign=$(pkg-config --cflags json-c sqlite3 libsodium 2>/dev/null)
# cmocka wants four headers before its own
printf '#include <%s>\n' stdarg.h stddef.h setjmp.h stdint.h cmocka.h >"$tmp/cmocka.c"
has_cmocka=true
${PAWL_TEST_CC:-cc} -fsyntax-only "$tmp/cmocka.c" 2>"$tmp/out" || has_cmocka=false
for header in $(cd "$src" && find host plugins audit plugin-api tests/unit -name '*.h' | sort); do
	n=$((n + 1))
	# what is always included first
	printf '#include <config.h>\n#include "%s"\n' "$src/$header" >"$tmp/alone.c"
	case $header in
	tests/unit/*)
		$has_cmocka || { echo "ok $n - $header # SKIP no cmocka"; continue; }
		{ cat "$tmp/cmocka.c" && cat "$tmp/alone.c"; } >"$tmp/both.c"
		mv "$tmp/both.c" "$tmp/alone.c"
		;;
	esac
	# shellcheck disable=SC2086
	if ${PAWL_TEST_CC:-cc} -std=gnu11 -Wall -Wextra -Werror -Wno-unused -I"$build" \
		-I"$src/host" -I"$src/plugin-api" -I"$src/tests/unit" $foreign \
		-fsyntax-only "$tmp/alone.c" 2>"$tmp/out"; then
		echo "ok $n - $header"
	else
		echo "not ok $n - $header"
		sed 's/^/# /' "$tmp/out"
	fi
done
echo "1..$n"
