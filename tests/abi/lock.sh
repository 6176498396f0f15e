#!/bin/sh
# The lock itself: every field and number of the header has its line in offsets.c, an append
# compiles, and whatever else is done to the header does not.
set -u
src=${abs_top_srcdir:-.}
build=${abs_top_builddir:-.}
header=$src/plugin-api/pawl/plugin.h
first=$src/tests/abi/first/plugin.h
lock=$src/tests/abi/offsets.c
cc=${PAWL_TEST_CC:-cc}
command -v "${cc%% *}" >/dev/null 2>&1 || { echo "1..0 # SKIP no compiler"; exit 0; }
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/pawl"
n=0

report() {
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		sed 's/^/# /' "$tmp/out"
	fi
}

# plain FILE: without comments, one line after the other
plain() {
	sed -e 's,/\*[^*]*\*/,,g' "$1" | awk '
		{ while (inside || (at = index($0, "/*"))) {
			if (!inside) { kept = kept substr($0, 1, at - 1); inside = 1; $0 = substr($0, at + 2) }
			if (!(end = index($0, "*/"))) { $0 = ""; break }
			inside = 0; $0 = substr($0, end + 2)
		}
		print kept $0; kept = "" }'
}

# fields FILE: "STRUCT FIELD" a line
fields() {
	plain "$1" | awk '
		/^(typedef )?struct pawl_[a-z]* *{/ { match($0, /pawl_[a-z]*/); name = substr($0, RSTART, RLENGTH); next }
		/^}/ { name = "" }
		name == "" { next }
		{ line = $0
		  while (match(line, /\(\*[a-z_]+\)\(/)) {
			print name, substr(line, RSTART + 2, RLENGTH - 4)
			line = ""
		  }
		  if (line ~ /;[ \t]*$/ && line !~ /[()]/) {
			gsub(/\[[A-Z_0-9]*\]|;|\*/, " ", line)
			sub(/^[ \t]*(const )?[a-z_0-9]+ /, "", line)
			count = split(line, names, /[ ,\t]+/)
			for (i = 1; i <= count; i++) if (names[i] != "") print name, names[i]
		  } }'
}

numbers() {
	plain "$1" | awk '/^#define PAWL_[A-Z_]+[ \t]+[-(0-9U]/ { print $2 }' |
		grep -v -e '_ABI_'
}

# pinned HEADER: what of it has no line, to out
pinned() {
	fields "$1" | while read -r struct field; do
		grep -Eq "^FIELD\((struct )?$struct, $field," "$lock" || echo "no line for $struct.$field"
	done >"$tmp/out"
	numbers "$1" | while read -r name; do
		grep -q "^VALUE($name," "$lock" || echo "no line for $name"
	done >>"$tmp/out"
	[ ! -s "$tmp/out" ]
}

# that what is found in the header is what is there
echo "$(fields "$first" | wc -l) fields, $(numbers "$first" | wc -l) numbers" >"$tmp/out"
[ "$(cat "$tmp/out")" = "61 fields, 73 numbers" ]
report $? "the first header is read whole"
pinned "$first"
report $? "all of the first header is pinned"
pinned "$header"
report $? "all of the header is pinned: what was appended gets a line"

# compiles FILE: the lock with that header
compiles() {
	cp "$1" "$tmp/pawl/plugin.h"
	# shellcheck disable=SC2086
	$cc -std=gnu11 -fsyntax-only -I"$tmp" -I"$build" "$lock" >"$tmp/out" 2>&1
}

# change SCRIPT: the header with it, and that it is another
change() {
	sed -E "$1" "$header" >"$tmp/changed.h"
	if cmp -s "$header" "$tmp/changed.h"; then
		echo "the change changed nothing" >"$tmp/out"
		return 1
	fi
}

holds() {
	status=1
	if change "$2"; then
		if compiles "$tmp/changed.h"; then
			echo "it compiles" >"$tmp/out"
		else
			status=0
		fi
	fi
	report $status "no: $1"
}

lets() {
	change "$2" && compiles "$tmp/changed.h"
	report $? "yes: $1"
}

compiles "$header"
report $? "the header as it is"
compiles "$first"
report $? "the first header"
append='\/\* append below, and bump PAWL_ABI_MINOR \*\/'
lets "fields at the ends" "s/^\t$append/\tint32_t (*more)(const pawl_value *);/"
lets "a field at an option's end" 's/^(\tconst char \*choices;.*)/\tconst char *choices;\n\tconst char *unit;/'
lets "a new minor" 's/^(#define PAWL_ABI_MINOR) .*/\1 2/'
lets "a new number" 's/^(#define PAWL_T_CWD 12)/\1\n#define PAWL_T_MORE 13/'
holds "a field in the middle of the host" 's/^(\tvoid \*host_data;)/\1\n\tvoid *more;/'
holds "a function in the middle of the plugin" 's/^(\tvoid \(\*close\).*)/\1\n\tvoid (*more)(void *self);/'
holds "a field in the middle of an option" 's/^(\tint32_t type;.*)/\tint32_t more;\n\tint32_t type;/'
holds "a field at the beginning" 's/^(typedef struct pawl_plugin \{)/\1\n\tuint64_t more;/'
holds "two that changed places" 's/^\tconst char \*vendor;/\tconst char *summary_;/; s/^\tconst char \*summary;/\tconst char *vendor;/; s/summary_;/summary;/'
holds "another type of the same size" 's/^\tint32_t threads;/\tuint32_t threads;/'
holds "another parameter" 's/(int32_t \(\*string\)\(const pawl_value \*, )pawl_str \*out/\1const char **out/'
holds "another result" 's/^\tsize_t \(\*length\)/\tint64_t (*length)/'
holds "a const that went" 's/^\tconst pawl_value \*\(\*item\)/\tpawl_value *(*item)/'
holds "a name that changed" 's/^\tint32_t \(\*stop\)/\tint32_t (*halt)/'
holds "a field that went" '/^\tvoid \(\*tell\)/d'
holds "a text that grew" 's/^\tsize_t len;/\tsize_t len, more;/'
holds "a longer note" 's/^(#define PAWL_NOTE_SIZE) 248/\1 256/'
holds "a verdict with another number" 's/^(#define PAWL_DENY) 2/\1 5/'
holds "a number in the middle" 's/^#define PAWL_T_SOURCE 3/#define PAWL_T_MORE 3\n#define PAWL_T_SOURCE 4/'
holds "an error with another number" 's/^(#define PAWL_E_LIMIT) \(-7\)/\1 (-8)/'
holds "a flag with another bit" 's/^(#define PAWL_FEAT_GRANT) \(UINT64_C\(1\) << 3\)/\1 (UINT64_C(1) << 5)/'
holds "a flag of another type" 's/^(#define PAWL_OPTF_SECRET) 2u/\1 2/'
holds "another entry" 's/pawl_plugin_entry_0/pawl_plugin_entry_1/g'
holds "a minor that went back" 's/^(#define PAWL_ABI_MINOR) .*/\1 0/'
echo "1..$n"
