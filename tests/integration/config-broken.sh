#!/bin/sh
# Without a config that can be read and trusted nothing runs, and the reason names it.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
begin
cfg=$work/c/pawl.json
mkdir "$work/c"
# broken NAME PATTERN: with $cfg as it is now
broken() {
	for agent in claude-code codex; do
		hook $agent "$pre"
		ok "$1: $agent refuses" denies $agent "pawl cannot read its configuration: $2"
	done
	hook gemini "$before"
	ok "$1: gemini refuses" denies gemini "pawl cannot read its configuration: $2"
	hook claude-code "$post"
	ok "$1: after a tool, nothing" abstains
	hook claude-code '' --event PostToolUse
	ok "$1: unreadable too" abstains
	run "$pre$nl$post$nl" "$pawl" eval --config "$cfg"
	ok "$1: eval refuses" has "$out" '"decision":"deny"*"observed":true'
	run '' "$pawl" check --config "$cfg"
	ok "$1: check says so" [ "$status" -eq 1 ]
}
broken missing "*$cfg*"
: >"$cfg"
broken empty "*$cfg*"
echo 'chain: []' >"$cfg"
broken 'no JSON' "*$cfg:1:1*"
config '"chain":[],}'
broken 'half' "*$cfg:*"
config '"dney":[]'
broken 'an unknown key' "*$cfg:1:*dney*"
config '"deny":["a"],"deny":["b"]'
broken 'a repeated key' "*$cfg:1:*deny*"
config '"deny":["a"]'
chmod 666 "$cfg"
broken 'writable by everyone' "*$cfg*"
rm "$cfg"
mkdir "$cfg"
broken 'a folder' "*$cfg*"
rmdir "$cfg"
mkfifo "$cfg"
broken 'a pipe' "*$cfg*"
rm "$cfg"
ln -s nowhere "$cfg"
broken 'a link' "*$cfg*"
rm "$cfg"
config '"chain":[]'
chmod 777 "$work/c"
broken 'in a folder of everyone' "*$work/c*"
finish
