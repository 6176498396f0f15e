#!/bin/sh
# run.sh - one fuzz target for a while: run.sh CORPUS SECONDS TARGET
#
# Begins with CORPUS/NAME and what earlier runs kept; says in one line what it did, or shows
# what went wrong and ends with 1.
name=$(basename "$3" | sed 's/^fuzz-//')
found=tests/fuzz/found-$name
log=$found.log
mkdir -p "$found" || exit 1
# hanging is a finding, too; slow machines are not
if "$3" -max_total_time="$2" -timeout=60 -rss_limit_mb=4096 -print_final_stats=1 \
	-artifact_prefix="$found/" "$found" "$1/$name" >"$log" 2>&1; then
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
	echo "fuzz: $name: $runs inputs in $2 s, nothing found"
	exit 0
fi
tail -n 60 "$log"
echo "fuzz: $name: FAILED; the input lies in $(pwd)/$found, the whole log is $log"
exit 1
