#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Waits as shares of the life of a process: against what the kernel counts in schedstat, what user space measures
# and when processes are known to have been there.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/cli/cli.sh
skip_unless_able

# truth NAME ARG...: records a program of known waits. Its own lines come first, then the JSON.
truth() {
	run record -q --by process --comm "$1" --json -o "$dir/runs-$1" -- ".output/tests/truth/$1" "${@:2}"
	said=$(sed '/^{/,$d' <<<"$out")
	out=$(sed -n '/^{/,$p' <<<"$out")
}

# of PID JQ: of the process in what was printed last
of() { jq -r --argjson pid "$1" ".processes[] | select(.id == \$pid) | $2" <<<"$out"; }
waited() { of "$1" ".waits[] | select(.module == \"$2\") | .$3"; }

# told NAME: what the truth said of itself
told() { grep -oE "(^| )$1=[0-9]+" <<<"$said" | cut -d= -f2; }

# between LOW VALUE HIGH
between() {
	jq -ne "($1) <= ($2) and ($2) <= ($3)" >/dev/null || { echo "not $1 <= $2 <= $3" && false; }
}

# A fresh task waits for a CPU before it does anything: schedstat has that, too. What the kernel counts wrongly
# (unmatched) or not at all (fallback), and what it hides from BPF (joined), is of all tasks of the machine.
truth sleepers 3 0.4
exact=$(jq -r '.modules[] | select(.module == "runqlat") | .mechanism.rung == "stamps" and
	(.accounting | .unmatched + .fallback + .joined == 0)' <<<"$out")
window=$(jq .duration_sec <<<"$out")
while read -r pid ns; do
	if [ "$exact" = true ]; then
		is "$pid: waits for a CPU as in schedstat, to the ns" "$(waited "$pid" runqlat sum_us)" \
			"$(jq -n "$ns / 1000")"
	else
		ok "$pid: waits for a CPU as in schedstat, within a tenth" \
			between "$ns * 0.9e-3" "$(waited "$pid" runqlat sum_us)" "$ns * 1.1e-3"
	fi
	ok "$pid: it lived while it worked" between 0.4 "$(of "$pid" .lived_sec)" "$window"
	ok "$pid: the share is the one by the other" between -1e-6 \
		"$(of "$pid" '(.waits[] | select(.module == "runqlat") | .sum_us / 1e6) / .lived_sec')-$(waited "$pid" runqlat share)" 1e-6
	is "$pid: one thread, and it ended" "$(of "$pid" '"\(.threads) \(.ended)"')" '1 true'
done < <(sed -nE 's/^child=([0-9]+) .*run_delay_life_ns=([0-9]+) .*/\1 \2/p' <<<"$said")
ok 'the sleepers were there' test "$tap_count" -ge 12
is 'the one that made them, too: a process from before the window' "$(of "$(told pid)" .ended)" true
ok 'and lived as long as the window' between "$(jq -n "$window * 0.9")" "$(of "$(told pid)" .lived_sec)" "$window"

# All of its threads start at the beginning and stay to the end.
truth sleepers -t 3 1 0.4
ok 'three threads' between 2.5 "$(of "$(told child)" .threads)" 3
# What a task waits for after it has begun to exit, it still waits for: its life is over then.
ok 'they wait no longer than the window each' between 0 "$(waited "$(told child)" runqlat sum_us)" \
	"3e6 * $(jq .duration_sec <<<"$out")"

# A request is no longer than its system call, and most of what the call does not wait for a CPU.
head -c 16M /dev/zero >"$dir/file"
sync "$dir/file"
truth dio -q 2 "$dir/file" 2000
if [ "$(told disk_reads)" -ge 2000 ] 2>/dev/null; then
	ok 'direct I/O of two threads: its time, by the calls' between \
		"($(told io_sum_ns) / 1000 - $(waited "$(told pid)" runqlat sum_us)) / 3" "$(waited "$(told pid)" iolat sum_us)" "$(told io_sum_ns) / 1000"
	ok 'it has up to three threads' between 1 "$(of "$(told pid)" .threads)" 3
else
	skip 'direct I/O of two threads: its time, by the calls' "no disk below $dir"
fi

# A process that lives through the window, one that sleeps for a known part of it, and a table for people.
perl -e 'select(undef, undef, undef, 0.02) while 1' &
lives=$!
run record -q --by process -o "$dir/runs" -- sh -c 'sleep 0.3; sleep 0.3'
like 'the table' "$out" $'\nWaits of each process as shares .*\nprocess +lived +threads +memlat +runqlat +iolat\n'
ok 'it fits a terminal' fits
recorded=$(recording "$dir/runs")
text=$out
run report "$recorded"
is 'report has the same' "$(sed -n '/^Waits of each/,/^$/p' <<<"$out")" "$(sed -n '/^Waits of each/,/^$/p' <<<"$text")"
run report --json "$recorded"
is 'who was there before and after' "$(of $lives .ended)" false
is 'lived as long as the window' "$(of $lives .lived_sec)" "$(jq .duration_sec <<<"$out")"
# shellcheck disable=SC2016 # jq's
ok 'two that slept for 0.3 s' jq -e '[.processes[] | select(.ended and (.name | startswith("sleep")) and
	.lived_sec >= 0.3 and .lived_sec < 0.3 + ($window | tonumber) - 0.6)] | length == 2' \
	--arg window "$(jq .duration_sec <<<"$out")" <<<"$out"
kill $lives
run record -q -d 50ms -o "$dir/whole"
ok 'without --by process there is no table' test "${out#*Waits of each process}" = "$out"
done_testing
