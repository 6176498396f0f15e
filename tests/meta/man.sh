#!/bin/sh
# man.sh - the pages are clean and name what there is: commands, plugins, options.
set -u
src=${abs_top_srcdir:-.}
pawl=${abs_top_builddir:-.}/pawl
plugins=${abs_top_builddir:-.}/lib/pawl/plugins
command -v mandoc >/dev/null 2>&1 || { echo "1..0 # SKIP mandoc is not installed"; exit 0; }
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
n=0

# report NAME: passes when $tmp/wrong is empty
report() {
	n=$((n + 1))
	if [ -s "$tmp/wrong" ]; then
		echo "not ok $n - $1"
		sed 's/^/# /' "$tmp/wrong"
	else
		echo "ok $n - $1"
	fi
}

# plain PAGE: its text without markup
plain() {
	mandoc -T ascii -O width=200 "$1" 2>/dev/null | sed 's/.\x08//g'
}

pages=$(cd "$src" && find host plugin-api plugins audit approvals -name '*.[1-9]' | sort)
for page in $pages; do
	# whether other pages are installed is not this page's fault
	mandoc -T lint -W style "$src/$page" 2>/dev/null | grep -v 'referenced manual not found' >"$tmp/wrong"
	report "$page is clean"
done
for name in pawl.1 pawl-approvals.1 pawl.json.5 pawl-plugin.3 pawl-security.7; do
	: >"$tmp/wrong"
	printf '%s\n' "$pages" | grep -q "/$name\$" || echo "missing" >"$tmp/wrong"
	report "$name is there"
done

plain "$src/host/cli/pawl.1" >"$tmp/text"
"$pawl" --help | sed -n 's/^  pawl \([a-z]*\) .*/\1/p' >"$tmp/commands"
while read -r command; do
	grep -q "^ *pawl $command" "$tmp/text" || echo "$command"
done <"$tmp/commands" >"$tmp/wrong"
[ -s "$tmp/commands" ] || echo "no command in pawl --help" >"$tmp/wrong"
report "pawl(1) has a section for each command"
"$pawl" --help | grep -o -- '--[a-z]*' | sort -u | while read -r option; do
	grep -q -- "$option" "$tmp/text" || echo "$option"
done >"$tmp/wrong"
report "pawl(1) names each option"
"$pawl" --help | sed -n 's/^agents: *//p' | tr ' ' '\n' | while read -r agent; do
	grep -qw -- "$agent" "$tmp/text" || echo "$agent"
done >"$tmp/wrong"
report "pawl(1) names each agent"
"$pawl" audit --help | sed -n 's/^  \(--[a-z]*\).*/\1/p' | while read -r option; do
	grep -q -- "$option" "$tmp/text" || echo "$option"
done >"$tmp/wrong"
report "pawl(1) names each option of pawl audit"

# Plugins may lie where they are trusted only if nobody else may write there.
mkdir "$tmp/plugins" && cp "$plugins"/*.so "$tmp/plugins"
echo '{"plugin_dir": "plugins"}' >"$tmp/pawl.json"
for plugin in "$tmp"/plugins/*.so; do
	name=$(basename "$plugin" .so)
	page=$(printf '%s\n' "$pages" | grep "/pawl-$name\.8\$")
	if [ -z "$page" ]; then
		echo "no pawl-$name.8" >"$tmp/wrong"
	else
		plain "$src/$page" >"$tmp/text"
		"$pawl" --config "$tmp/pawl.json" --json plugins "$name" >"$tmp/json" \
			2>"$tmp/wrong" && grep -o '"name":"[^"]*"' "$tmp/json" | sed 's/.*:"\(.*\)"/\1/' |
			while read -r option; do
				grep -qw -- "$option" "$tmp/text" || echo "$option"
			done >"$tmp/wrong"
	fi
	report "pawl-$name(8) names each option"
done
echo "1..$n"
