#!/bin/sh
# tarball.sh - what git tracks is what the tarball has, dot files aside.
set -u
src=${abs_top_srcdir:-.}
skip() {
	echo "1..0 # SKIP $1"
	exit 0
}
command -v git >/dev/null 2>&1 || skip "git is not installed"
[ -e "$src/.git" ] || skip "this is no git tree"
tracked=$(cd "$src" && git ls-files 2>/dev/null) || skip "git does not read this tree"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
echo 1..1
(cd "${abs_top_builddir:-.}" && MAKEFLAGS='' make -s distdir distdir="$tmp/pawl") >"$tmp/out" 2>&1
printf '%s\n' "$tracked" | grep -v -e '^\.' -e '/\.' | while read -r file; do
	# tracked, not yet committed as gone
	[ ! -e "$src/$file" ] || [ -e "$tmp/pawl/$file" ] || echo "$file"
done >"$tmp/missing"
if [ -d "$tmp/pawl" ] && [ ! -s "$tmp/missing" ]; then
	echo "ok 1 - every tracked file is in the tarball"
else
	echo "not ok 1 - every tracked file is in the tarball"
	tail -n 5 "$tmp/out" | sed 's/^/# /'
	sed 's/^/# missing: /' "$tmp/missing"
fi
