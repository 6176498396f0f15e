#!/bin/sh
# A webhook is posted to as Standard Webhooks says: signed, under one id however often it is
# tried, not where a redirect leads, and with nothing in it by which anybody could decide.
# shellcheck source=tests/integration/lib.sh
. "${abs_top_srcdir:-.}/tests/integration/lib.sh"
if ! grep -q 'libcurl\.so' "$top/libexec/pawl/pawl-approvals"; then
	echo '1..0 # SKIP built without libcurl'
	exit 0
fi
begin
key='a key of the test'
printf 'whsec_%s\n' "$(printf %s "$key" | base64)" >"$work/secret"
# sink STATUS...: $port, $sink; what comes is in $work/came
sink() {
	rm -f "$work/port"
	"$helpers/http-sink" "$work/port" "$work/came" "$key" "$@" &
	sink=$!
	until [ -s "$work/port" ]; do
		kill -0 $sink 2>/dev/null || exit 1
		sleep 0.1
	done
	port=$(cat "$work/port")
}
# hold TARGET: a call waits, and whoever is to know is told
hold() {
	forget
	config '"approval":{"ask":"queue","wait":"0","notify":['"$1"']},"require_approval":["Bash"]'
	printf '%s' "$pre" | sed 's/"ls"/"rm secret-argument"/' |
		"$pawl" hook claude-code --config "$cfg" >"$work/out" 2>"$work/err"
	status=$? out=$(cat "$work/out") err=$(cat "$work/err")
	: >"$work/report"
	id=$(printf '%s' "$out" | sed -n 's/.*pending as \(ap-[a-z0-9]*\).*/\1/p')
}
# came N: the N-th line
came() {
	sed -n "$1p" "$work/came"
}

sink 302 200
hold '{"url":"http://127.0.0.1:'"$port"'/hook?x=1","secret_file":"'"$work"'/secret"}'
ok 'the answer does not wait for it' denies claude-code '*pending as ap-*'
wait $sink
ok 'it is posted until it is taken' [ $? -eq 0 ]
show() { cat "$work/came"; }
ok 'signed' has "$(came 1)" '/hook?x=1 msg_* signed'
ok 'a redirect is not followed, the next try is the same' [ "$(came 4)" = "$(came 1)" ]
# is_of_now at SECONDS now SECONDS: receivers take five minutes
is_of_now() {
	[ "$2" -le "$4" ] && [ $(($4 - $2)) -le 300 ]
}
# shellcheck disable=SC2046
ok 'its time is that of the try' is_of_now $(came 5)
body=$(came 3)
ok 'it names the call' has "$body" '*"type":"approval.requested","id":"'"$id"'","tool_name":"Bash"*'
ok 'not its arguments' [ "$(grep -c secret-argument "$work/came")" = 0 ]
digest=$("$pawl" --config "$cfg" --json approvals list | sed -n 's/.*"digest":"\([^"]*\)".*/\1/p')
ok 'nor its whole digest' [ "$(grep -c "${digest:-.}" "$work/came")" = 0 ]
# the answer is noted after it was given
tries=0
until "$pawl" --config "$cfg" approvals show "$id" >"$work/out" &&
	has "$(cat "$work/out")" '*after 2 attempts*' || [ $tries -ge 300 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
ok 'the queue knows' has "$(cat "$work/out")" '*sent after 2 attempts*'

sink 204
hold '{"url":"http://127.0.0.1:'"$port"'/plain"}'
wait $sink
ok 'without a secret it is not signed' has "$(came 1)" '/plain msg_* unsigned'

http_proxy=http://127.0.0.1:9 https_proxy=$http_proxy ALL_PROXY=$http_proxy
export http_proxy https_proxy ALL_PROXY
sink 200
hold '{"url":"http://127.0.0.1:'"$port"'/direct"}'
wait $sink
ok "the environment's proxy is none of its" has "$(came 1)" '/direct msg_* unsigned'
finish
