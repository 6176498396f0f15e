#!/bin/sh
# arrows.sh - which folder may include which: the arrows drawn in README.md.
set -u
cd "${abs_top_srcdir:-.}" || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
n=0

# includes FILE...: "FILE INCLUDE" a line, the include with its < or "
includes() {
	awk 'match($0, /^[ \t]*#[ \t]*include[ \t]*[<"][^>"]+/) {
		name = substr($0, RSTART, RLENGTH)
		sub(/^[^<"]*/, "", name)
		print FILENAME, name
	}' "$@"
}

# What stands in angle brackets: whose is it?
library() {
	case $1 in
	config.h) echo config ;;
	pawl/*) echo pawl ;;
	json-c/* | json.h) echo json-c ;;
	sqlite3*) echo sqlite ;;
	sodium*) echo sodium ;;
	curl/*) echo curl ;;
	sys/* | linux/* | arpa/* | netinet/*) echo libc ;;
	assert.h | ctype.h | dirent.h | dlfcn.h | elf.h | emmintrin.h | endian.h | errno.h) echo libc ;;
	fcntl.h | fnmatch.h | getopt.h | glob.h | grp.h | inttypes.h | langinfo.h) echo libc ;;
	limits.h | link.h | locale.h | math.h | netdb.h | poll.h | pthread.h | pwd.h | regex.h) echo libc ;;
	sched.h | signal.h | spawn.h | stdalign.h | stdarg.h | stdatomic.h | stdbool.h) echo libc ;;
	stddef.h | stdint.h | stdio.h | stdlib.h | string.h | strings.h | syslog.h) echo libc ;;
	termios.h | time.h | unistd.h | wchar.h | immintrin.h) echo libc ;;
	*) echo foreign ;;
	esac
}

# allowed FILE INCLUDE WORD...: a word is a folder below host, a library, "own" (the
# file's folder), or a path
allowed() {
	file=$1
	name=${2#?}
	case $2 in
	'<'*) is=$(library "$name") ;;
	'"../common/'*) is=common ;;
	*/*) is=${name%%/*} ;;
	*) is=own ;;
	esac
	[ "$is" = own ] && ! [ -f "${file%/*}/$name" ] && return 1
	shift 2
	for word in "$@"; do
		[ "$word" = "$is" ] || [ "$word" = "$name" ] && return 0
	done
	return 1
}

# holds NAME FILES WORD...: every include of the files is allowed
holds() {
	n=$((n + 1))
	what=$1
	files=$2
	shift 2
	[ -n "$files" ] || { echo "not ok $n - $what: no files"; return; }
	# shellcheck disable=SC2086
	includes $files | while read -r file include; do
		allowed "$file" "$include" "$@" || echo "# $file may not include ${include#?}"
	done >"$tmp/wrong"
	if [ -s "$tmp/wrong" ]; then
		echo "not ok $n - $what"
		cat "$tmp/wrong"
	else
		echo "ok $n - $what"
	fi
}

below() {
	find "$@" -name '*.[ch]' | sort
}

# The process that the client talks to, and the headers it includes.
front() {
	sed -n '/^FRONT_FILES/,/NULL/p' host/fronts/Makefile.inc | grep -o 'host/[a-z/-]*\.c'
	echo host/cli/main.c
}

# closure FILE...: with every header below host that they bring in
closure() {
	printf '%s\n' "$@" >"$tmp/all"
	while :; do
		# shellcheck disable=SC2046
		includes $(cat "$tmp/all") | sed -n 's,.* ",host/,p' |
			sort -u - "$tmp/all" >"$tmp/more"
		cmp -s "$tmp/all" "$tmp/more" && break
		cp "$tmp/more" "$tmp/all"
	done
	cat "$tmp/all"
}

holds "plugin-api: libc" "$(below plugin-api/pawl)" libc
holds "templates: plugin-api" "$(below plugin-api/template)" libc pawl
holds "base: libc" "$(below host/base)" base libc config
holds "json: base" "$(below host/json | grep -v '/write\.c$')" json base libc config
holds "json/write.c: json-c too" host/json/write.c json base libc config json-c
holds "core: json, base, plugin-api" "$(below host/core | grep -v '/digest\.c$')" core json base libc config pawl
holds "core/digest.c: libc, libsodium" host/core/digest.c core libc config sodium
holds "dialects: core" "$(below host/dialects)" dialects core json base libc config pawl
holds "fronts: dialects" "$(below host/fronts)" fronts dialects core json base libc config pawl
holds "cli: all of host, no store" "$(below host/cli)" \
	cli fronts dialects core json base libc config pawl
# shellcheck disable=SC2046
holds "the front: libc, and headers that need no more" "$(closure $(front))" \
	fronts base libc config core/event.h core/progress.h dialects/forms.h json/json.h
for dir in plugins/*/; do
	dir=${dir%/}
	holds "$dir: plugin-api" "$(below "$dir")" own common libc config pawl
done
holds "audit: plugin-api, json, base" "$(below audit)" \
	own json base libc config pawl json-c sqlite sodium
holds "approvals: core's approval.h, audit, json, base" "$(below approvals)" \
	own core/approval.h json base libc config sqlite sodium audit cli/diff.h curl
echo "1..$n"
