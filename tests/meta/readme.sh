#!/bin/sh
# readme.sh - what README.md shows is what there is: files, and the plugin's commands.
set -u
src=${abs_top_srcdir:-.}
build=${abs_top_builddir:-.}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
readme=$src/README.md

# block LANGUAGE HEADING: the first code block of that language below the heading
block() {
	awk -v fence="\`\`\`$1" -v heading="## $2" '
		$0 == heading { here = 1 }
		here && inside && $0 == "```" { exit }
		here && inside { print }
		here && $0 == fence { inside = 1 }' "$readme"
}

# check N NAME STATUS
check() {
	if [ "$3" -eq 0 ]; then
		echo "ok $1 - $2"
	else
		echo "not ok $1 - $2"
		sed 's/^/# /' "$tmp/out"
	fi
}

echo 1..9
block c "A plugin of your own" >"$tmp/hello.c"
diff "$tmp/hello.c" "$src/plugin-api/template/hello.c" >"$tmp/out"
check 1 "the plugin shown is the template" $?

block jsonc "A config" >"$tmp/pawl.json"
grep -v '^//' "$src/tests/demo/pawl.json" | diff "$tmp/pawl.json" - >"$tmp/out"
check 2 "the config shown is the demonstration's" $?

# the commands, in a folder that looks like the top of the tree
mkdir -p "$tmp/top/build"
ln -s "$src/plugin-api" "$tmp/top/plugin-api"
ln -s "$build/pawl" "$tmp/top/build/pawl"
block sh "A plugin of your own" >"$tmp/commands"
(cd "$tmp/top" && sh -e "$tmp/commands") >"$tmp/out" 2>&1
check 3 "the plugin is built and asked" $?
grep -qF '"decision":"deny"' "$tmp/out" &&
	grep -qF 'BLOCKED: not with \"force\"; leave it out' "$tmp/out"
check 4 "it answers as promised" $?

block sh pawl | head -1 | grep -q '^\./quickstart' 2>"$tmp/out"
head -6 "$readme" | grep -q '^\./quickstart check' 2>"$tmp/out"
check 5 "the two commands come first" $?
"$build/pawl" --help | sed -n 's/^  pawl \([a-z]*\) .*/\1/p' | while read -r command; do
	grep -q "^| .pawl $command" "$readme" || echo "$command"
done >"$tmp/out"
[ ! -s "$tmp/out" ]
check 6 "each command is in the table" $?

# Every cell of the clients' tables names golden files of that client, and each is there.
cells() {
	awk '$0 == "## What each client really does" { here = 1; next }
		/^## / { here = 0 }
		here && /^\| [a-z]/ && !/^\| client/' "$readme"
}
cells | while IFS='|' read -r _ client rest; do
	client=${client%%,*}
	client=${client## }
	client=${client%% }
	echo "${rest%|}" | tr '|' '\n' | while read -r cell; do
		names=$(echo "$cell" | grep -o '· `[^`]*`' | tr -d '·` ')
		[ -n "$names" ] || echo "$client: nothing stands behind \"$cell\""
		for name in $names; do
			[ -f "$src/tests/golden/$client/$name.out" ] || echo "$client: no golden file $name"
		done
	done
done >"$tmp/out"
[ ! -s "$tmp/out" ]
check 7 "a golden file stands behind each cell" $?
"$build/pawl" agents | sed '1d; s/ .*//' | while read -r agent; do
	[ "$(cells | grep -c "^| $agent[ ,]")" -ge 2 ] || echo "$agent is not in both tables"
done >"$tmp/out"
[ "$(cells | wc -l)" -ge 22 ] || echo "the tables are not found" >>"$tmp/out"
[ ! -s "$tmp/out" ]
check 8 "each client is in the tables" $?
grep -o '[a-z-]*\.sh`' "$readme" | tr -d '`' | sort -u | while read -r script; do
	find "$src/tests" "$src/autogen.sh" -name "$script" | grep -q . || echo "$script"
done >"$tmp/out"
[ ! -s "$tmp/out" ]
check 9 "the tests it names are there" $?
