#!/bin/sh
# <pawl/plugin.h> alone, and a plugin made with it, in each language and compiler there is.
set -u
src=${abs_top_srcdir:-.}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
echo '#include <pawl/plugin.h>' >"$tmp/alone.c"
n=0

# report STATUS NAME: one TAP line, and what the compiler said when it failed
report() {
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		sed 's/^/# /' "$tmp/out"
	fi
}

# try COMPILER LANGUAGE STANDARD
try() {
	flags="-x $2 -std=$3 -pedantic -Wall -Wextra -Wundef -Werror -I$src/plugin-api"
	# shellcheck disable=SC2086
	$1 $flags -fsyntax-only "$tmp/alone.c" >"$tmp/out" 2>&1
	report $? "header alone: $1 -std=$3"
	# shellcheck disable=SC2086
	$1 $flags -fPIC -fvisibility=hidden -shared -Wl,-z,defs -o "$tmp/any.so" \
		"$src/tests/abi/plugin.c" >"$tmp/out" 2>&1 &&
		nm -D --defined-only "$tmp/any.so" >"$tmp/out" 2>&1 &&
		[ "$(awk '{print $NF}' "$tmp/out")" = pawl_plugin_entry_0 ]
	report $? "plugin with one symbol: $1 -std=$3"
}

# each CANDIDATE once, where it is there
compilers() {
	for candidate in "$@"; do
		[ -n "$candidate" ] && command -v "${candidate%% *}" >/dev/null 2>&1 || continue
		echo "$candidate"
	done | sort -u
}

compilers "${PAWL_TEST_CC:-}" gcc clang >"$tmp/cc"
while IFS= read -r cc; do
	for std in c99 c11 gnu11; do
		try "$cc" c $std
	done
done <"$tmp/cc"
compilers "${PAWL_TEST_CXX:-}" g++ clang++ >"$tmp/cxx"
while IFS= read -r cxx; do
	for std in c++11 c++17; do
		try "$cxx" c++ $std
	done
done <"$tmp/cxx"
[ "$n" -gt 0 ] || { echo "1..0 # SKIP no compiler"; exit 0; }
echo "1..$n"
