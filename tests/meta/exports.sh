#!/bin/sh
# exports.sh - what programs and plugins export, and which libraries they bring in.
set -u
build=${abs_top_builddir:-.}
for tool in nm readelf; do
	command -v $tool >/dev/null 2>&1 || { echo "1..0 # SKIP $tool is not installed"; exit 0; }
done
if grep -q 'define PAWL_SANITIZED' "$build/config.h"; then
	echo "1..0 # SKIP sanitizers bring symbols and libraries of their own"
	exit 0
fi
n=0

# equal NAME GOT WANTED
equal() {
	n=$((n + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		printf '%s\n' "$2" | sed 's/^/# got /'
		printf '%s\n' "$3" | sed 's/^/# wanted /'
	fi
}

exported() {
	nm -D --defined-only "$1" 2>/dev/null | awk '{ print $NF }' | sed 's/@.*//' | sort
}

needed() {
	readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort
}

# Drops what is libc's own.
not_libc() {
	grep -v -x -e 'libc\.so\.6' -e 'libdl\.so\.2' -e 'libpthread\.so\.0' -e 'ld-.*' \
		-e 'libc\.musl-.*' -e 'libgcov.*'
}

for plugin in "$build"/lib/pawl/plugins/*.so "$build"/lib/pawl/template/*.so; do
	[ -f "$plugin" ] || continue
	equal "${plugin#"$build"/} exports its entry alone" "$(exported "$plugin")" \
		pawl_plugin_entry_0
done
# what the linker puts there for libc's sake
startup='^_|^stdin$|^stdout$|^stderr$|^environ$'
for program in pawl-worker pawl-tool; do
	equal "$program exports nothing" \
		"$(exported "$build/libexec/pawl/$program" | grep -v -E "$startup")" ""
	equal "$program needs libc alone" \
		"$(needed "$build/libexec/pawl/$program" | not_libc)" ""
done
equal "pawl needs libc at most" "$(needed "$build/pawl" | not_libc)" ""
for rule in "$build"/lib/pawl/plugins/*.so; do
	case $rule in */audit.so) continue ;; esac
	equal "${rule#"$build"/} needs libc alone" "$(needed "$rule" | not_libc)" ""
done
echo "1..$n"
