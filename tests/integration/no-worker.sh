#!/bin/sh
# A front that cannot start its worker refuses in fixed words.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
config '"chain":[{"plugin":"yes"}]'
mkdir -p "$work/bin/libexec/pawl"
cp "$pawl" "$work/bin/pawl"
# a worker that cannot be run, in the place of the one that may be installed
printf 'no program' >"$work/bin/libexec/pawl/pawl-worker"
pawl=$work/bin/pawl
for kind in 'none that runs' 'one that ends at once' 'one that talks nonsense'; do
	case $kind in
	*ends*) printf '#!/bin/sh\nexit 0\n' ;;
	*nonsense*) printf '#!/bin/sh\nprintf half >&3; exec sleep 5\n' ;;
	*) printf 'no program' ;;
	esac >"$work/bin/libexec/pawl/pawl-worker"
	[ "$kind" = 'none that runs' ] || chmod 755 "$work/bin/libexec/pawl/pawl-worker"
	[ "$kind" = 'none that runs' ] && [ -x "$(sed -n 's/^pkglibexecdir = //p' "$top/Makefile")/pawl-worker" ] && continue
	hook claude-code "$pre"
	ok "$kind: claude-code refuses" denies claude-code 'policy error: the worker *'
	hook gemini "$before"
	ok "$kind: gemini refuses" denies gemini 'policy error: the worker *'
	hook claude-code "$post" --event PostToolUse
	ok "$kind: after a tool, nothing" abstains
	run "$pre$nl$pre$nl" "$pawl" eval --config "$cfg"
	ok "$kind: eval refuses each line" [ "$(grep -c '"decision":"deny"' "$work/out")" = 2 ]
done
pawl=$top/pawl
# no descriptors, no processes, no memory
limited() {
	run "$pre" sh -c "$1"' && exec "$@"' sh "$pawl" hook claude-code --config "$cfg"
}
if grep -q '^FRONT_LDFLAGS = -static' "$top/Makefile"; then
	limited 'ulimit -n 3'
	ok 'no descriptors: refused' denies claude-code '*'
else
	skip 'no descriptors: refused' 'a front that is not static cannot even open its libc'
fi
if [ -z "$sanitized" ]; then
	limited 'ulimit -v 60000'
	ok 'no memory: refused' denies claude-code '*could not be started*'
fi
limited 'ulimit -f 0'
# what is written here are files
ok 'no file may grow: refused' [ "$status" -eq 2 ]
finish
