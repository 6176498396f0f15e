#!/bin/sh
# The template builds outside of the tree with the header and .pc file alone.
set -u
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
command -v pkg-config >/dev/null 2>&1 || { echo "1..0 # SKIP no pkg-config"; exit 0; }
unset MAKEFLAGS MFLAGS MAKELEVEL
export PKG_CONFIG_PATH="$abs_top_builddir/plugin-api"

mkdir -p "$tmp/include/pawl" "$tmp/mine"
cp "$abs_top_srcdir/plugin-api/pawl/plugin.h" "$abs_top_srcdir/plugin-api/pawl/plugin.map" \
	"$tmp/include/pawl/"
cp "$abs_top_srcdir"/plugin-api/template/template.c \
	"$abs_top_srcdir"/plugin-api/template/Makefile "$tmp/mine/"
chmod -R u+w "$tmp"
# where the header would be installed
pc="pkg-config --define-variable=includedir=$tmp/include"

ok() {
	status=$?
	[ $status -eq 0 ] && echo "ok $1 - $2" && return
	echo "not ok $1 - $2"
	sed 's/^/# /' "$tmp/out"
}

echo 1..5
[ "$(pkg-config --variable=plugindir pawl-plugin)" = \
	"$(pkg-config --variable=libdir pawl-plugin)/pawl/plugins" ] 2>"$tmp/out"
ok 1 "pkg-config names the plugin folder"
make -C "$tmp/mine" CC="$PAWL_TEST_CC" CFLAGS="-O2 -Wall -Wextra -Werror" \
	PKG_CONFIG="$pc" >"$tmp/out" 2>&1
ok 2 "the template builds with its own Makefile"
nm -D --defined-only "$tmp/mine/org.example.words.so" >"$tmp/out" 2>&1
[ "$(awk '{print $NF}' "$tmp/out")" = pawl_plugin_entry_0 ]
ok 3 "it exports the entry and nothing else"
make -C "$tmp/mine" install DESTDIR="$tmp/root" PKG_CONFIG="$pc" >"$tmp/out" 2>&1 &&
	[ -f "$tmp/root$(pkg-config --variable=plugindir pawl-plugin)/org.example.words.so" ]
ok 4 "it installs into the plugin folder"
if command -v "${PAWL_TEST_CXX%% *}" >/dev/null 2>&1; then
	# shellcheck disable=SC2046
	$PAWL_TEST_CXX -O2 -Wall -Wextra -Werror $($pc --cflags pawl-plugin) -fPIC \
		-fvisibility=hidden -shared -Wl,-z,defs \
		-Wl,--version-script="$($pc --variable=symbols pawl-plugin)" \
		-o "$tmp/cxx.so" "$abs_top_srcdir/tests/abi/plugin.cc" >"$tmp/out" 2>&1 &&
		nm -D --defined-only "$tmp/cxx.so" >"$tmp/out" 2>&1 &&
		[ "$(awk '{print $NF}' "$tmp/out")" = pawl_plugin_entry_0 ]
	ok 5 "a C++ plugin with templates exports the entry alone"
else
	echo "ok 5 # SKIP no C++ compiler"
fi
