#!/bin/sh
# What decides is the plugin that was checked, with its own symbols and the system's
# libraries, and whoever is refused learns file, rule and mend.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
cp -f "$helpers"/json-*.so "$work/plugins"

# event TOOL
event() {
	echo "{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\",\"tool_name\":\"$1\",\"tool_input\":{},\"tool_use_id\":\"$1\"}"
}

# answers N PATTERN: line N of the last run's answers
answers() {
	has "$(sed -n "$1p" "$work/out")" "$2"
}

# checks PATTERN: pawl check says so, with the entry's place before it
checks() {
	run '' "$pawl" check --config "$cfg"
	[ "$status" -eq 1 ] && has "$err" "$cfg:1:" && has "$err" "$1"
}

# ---- symbols: by the second line json-c is loaded, for the answer and by the audit
config '"chain":[
 {"plugin":"json-hidden","match":{"tool":"hidden"}},
 {"plugin":"json-shown","match":{"tool":"shown"}},
 {"plugin":"json-wanted","match":{"tool":"wanted"}}]'
run "$(event first)$nl$(event hidden)$nl$(event shown)$nl$(event wanted)$nl$(event last)$nl" \
	"$pawl" eval --config "$cfg"
ok "a plugin's own json_object_get is the one it calls" answers 2 '"reason":"it was mine"'
ok "one that exports it is refused" answers 3 'cannot be loaded'
ok "one that expects ours finds none" answers 4 'cannot be loaded'
ok "json-c goes on to write answers and records" \
	eval 'answers 5 "\"decision\":\"allow\"" && logged "it was mine" && logged "\"call\":\"last\""'
config '"chain":[{"plugin":"json-shown"}]'
ok "check names the symbol and the flag" checks 'json-shown.so: exports "json_object_get"*-fvisibility=hidden'
config '"chain":[{"plugin":"json-wanted"}]'
ok "check names what is undefined" checks 'json-wanted.so: cannot be loaded: undefined symbol: json_object_get'

# ---- sums
if command -v sha256sum >/dev/null 2>&1; then
	sum=$(sha256sum <"$work/plugins/no.so" | cut -c1-64)
	config "\"chain\":[{\"plugin\":\"no\",\"sha256\":\"$sum\"}]"
	hook claude-code "$pre"
	ok "a pinned plugin decides" denies claude-code 'no means no'
	ok "check has nothing against it" "$pawl" check --quiet --config "$cfg"
	config "\"chain\":[{\"plugin\":\"no\",\"sha256\":\"$sum\",\"isolation\":\"process\",
		\"sandbox\":\"best-effort\"}]"
	hook claude-code "$pre"
	ok "and in a process of its own" denies claude-code 'no means no'
	config "\"chain\":[{\"plugin\":\"no\",\"sha256\":\"$sum\"}]"
	cp "$work/plugins/yes.so" "$work/plugins/new" && mv "$work/plugins/new" "$work/plugins/no.so"
	hook claude-code "$pre"
	ok "another file in its place refuses" \
		denies claude-code 'policy error (no): the plugin cannot be loaded*'
	other=$(sha256sum <"$work/plugins/no.so" | cut -c1-64)
	ok "check names both sums and the mend" \
		checks "no.so: its SHA-256 is $other and not the entry's $sum; install*write its sum"
	run '' "$pawl" plugins --config "$cfg"
	ok "pawl plugins says so too" \
		eval '[ "$status" -eq 1 ] && has "$out" "no  *cannot be used: *its SHA-256 is $other"'
	run '' "$pawl" plugins no --config "$cfg"
	ok "and of the one asked for" eval '[ "$status" -eq 1 ] && has "$err" "its SHA-256 is $other"'
else
	skip "sums" "no sha256sum"
fi

# ---- files
mkdir "$work/plugins/folder.so"
ln -s yes.so "$work/plugins/link.so"
mkfifo "$work/plugins/pipe.so"
cp "$work/plugins/yes.so" "$work/plugins/writable.so"
chmod 664 "$work/plugins/writable.so"
refuses() {
	config "\"chain\":[{\"plugin\":\"$1\"}]"
	hook claude-code "$pre"
	denies claude-code "policy error ($1): the plugin cannot be loaded*" &&
		checks "$work/plugins/$1.so: $2"
}
ok "a folder refuses" refuses folder 'is a folder*name the file'
ok "a symbolic link refuses" refuses link '*symbolic link*put a copy in its place'
ok "a pipe refuses" refuses pipe '*pipe*put a file there'
ok "a file that others may write refuses" refuses writable '*its group (mode 0664); chmod go-w'
chmod 775 "$work/plugins"
config '"chain":[{"plugin":"yes"}]'
hook claude-code "$pre"
ok "a folder that others may write refuses" \
	eval "denies claude-code 'policy error (yes)*' && checks '$work/plugins: the folder*chmod go-w'"
chmod 755 "$work/plugins"

# ---- the environment decides nothing
cat >"$work/evil.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
__attribute__((constructor)) static void begin(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = 0;
	if (strstr(path, "pawl-worker"))
		fclose(fopen(EVIL, "w"));
}
END
if ${PAWL_TEST_CC:-cc} -shared -fPIC -DEVIL="\"$work/was-here\"" -o "$work/libm.so.6" "$work/evil.c" \
	2>/dev/null && [ -z "$sanitized" ]; then
	cp "$work/libm.so.6" "$work/libjson-c.so.5"
	cp "$work/libm.so.6" "$work/libsodium.so.23"
	config '"chain":[{"plugin":"no"}]'
	run "$pre" env LD_PRELOAD="$work/libm.so.6" LD_LIBRARY_PATH="$work" \
		"$pawl" hook claude-code --config "$cfg"
	ok "LD_PRELOAD and LD_LIBRARY_PATH reach no worker" [ ! -e "$work/was-here" ]
else
	skip "LD_PRELOAD" "no compiler, or a sanitizer that wants to come first"
fi

# ---- little room
config '"chain":[{"plugin":"yes"},{"plugin":"no"}]' silent
run "$pre" sh -c 'ulimit -n 8; exec "$0" hook claude-code --config "$1"' "$pawl" "$cfg"
ok "with eight descriptors it denies" eval '[ "$status" -eq 2 ] && [ -n "$err" ]'
finish
