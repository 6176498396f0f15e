#!/bin/sh
# Every record says whose the code was that ran: the system's, or a user's.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
rm -f "$work/plugins/yes.so"
cp "$top/tests/zoo/yes.so" "$work/plugins/yes.so"
someone=54321
chmod 755 "$work"
mkdir "$work/theirs"
printf '{"plugin_dir":"%s/plugins","state_dir":"%s/theirs/state","chain":[{"plugin":"yes"}],
 "observe":[{"plugin":"audit","options":{"path":"%s/theirs/audit.db"}}]}\n' \
	"$work" "$work" "$work" >"$cfg"
log=$work/theirs/audit_log.jsonl

# says TRUST COMMAND...: a hook run by COMMAND leaves records that all say so
says() {
	trust=$1
	shift
	rm -rf "$work"/theirs/*
	run "$pre" "$@" "$pawl" hook claude-code --config "$cfg"
	abstains && [ "$(grep -c '"type":"call.allowed"' "$log")" -eq 1 ] &&
		logged "\"trust\":\"$trust\"" && [ "$(grep -c '"trust":"' "$log")" -eq \
			"$(grep -c "\"trust\":\"$trust\"" "$log")" ]
}

# checks TEXT COMMAND...
checks() {
	text=$1
	shift
	run '' "$@" "$pawl" check --config "$cfg"
	[ "$status" -eq 0 ] && has "$out" "$text"
}

if [ "$(id -u)" -ne 0 ]; then
	ok "what a user owns advises" says user env
	ok "check says so" checks 'trust: user' env
	finish
	exit
fi
ok "what root owns is the system's" says system env
ok "check says so" checks 'trust: system' env
if ! setpriv --reuid $someone --clear-groups test -r "$work/pawl.json" 2>/dev/null; then
	skip "run by a user" "no setpriv, or a folder on the way that is closed to others"
	finish
	exit
fi
chown -R $someone "$work/theirs"
as="setpriv --reuid $someone --clear-groups"
# shellcheck disable=SC2086
ok "run by a user, root's is still the system's" says system $as
chown $someone "$work/plugins/yes.so"
# shellcheck disable=SC2086
ok "with a plugin of the user's own it is the user's" says user $as
# shellcheck disable=SC2086
ok "check says why" checks 'trust: user (it advises: the config is root*not every plugin' $as
chown 0 "$work/plugins/yes.so"
chown $someone "$work/plugins"
# shellcheck disable=SC2086
ok "and in a folder of the user's own" says user $as
chown 0 "$work/plugins"
chown $someone "$cfg"
# shellcheck disable=SC2086
ok "and with the config of the user's own" says user $as
finish
