#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# report names the process that ran while waits were slow, and no other: a hog in bursts, and a steady process, of a real-time
# policy on CPUs that run at the same time, which the VM does not have.
. "$(dirname "$0")/host.sh"
skip_unless_able
skip_unless rmid --method switches
last=$(($(nproc --all) - 1))
taskset -c "$last" chrt -f 50 true 2>/dev/null || skip_all 'cannot run tasks of a real-time policy'

# All three are copies of bash, of a real-time policy: nothing else of the machine can delay them. The victim wakes up every few
# ms. The hog takes its CPU for 4 ms again and again, in eight bursts. The steady one works like the victim, next to it.
for name in rising-victim rising-steady rising-hog; do
	cp "$(command -v bash)" "$dir/$name"
done
duty='exec 9<> <(:); while :; do for i in {1..500}; do :; done; read -rt .002 -u 9; done'
burst='exec 9<> <(:); for i in {1..40}; do end=$((${EPOCHREALTIME/./} + 4000)); while [ ${EPOCHREALTIME/./} -lt $end ]; do :; done
	read -rt .002 -u 9; done'
bursts='for rest in .4 .7 .3 .9 .5 .6 1.1 .4; do chrt -f 50 taskset -c "$2" "$0" -c "$1"; sleep $rest; done'

# observe: records the bursts, and reports with a threshold that only the hog's turns exceed
observe() {
	local victim steady

	chrt -f 10 taskset -c "$last" "$dir/rising-victim" -c "$duty" &
	victim=$!
	chrt -f 10 taskset -c 0 "$dir/rising-steady" -c "$duty" &
	steady=$!
	run record -q --rmid --method switches --comm rising-victim -i 100ms -o "$dir/runs" -- bash -c "$bursts" "$dir/rising-hog" "$burst" "$last"
	kill "$victim" "$steady"
	wait "$victim" "$steady" 2>/dev/null
	run report --slow-us 2000 "$(recording "$dir/runs")"
}
measure observe
like 'the hog rose with the slow waits' "$(tr -s ' \n' ' ' <<<"$out")" 'runqlat: rising-hog [^:]*: CPU time rose: '
is 'the steady process did not' "$(grep -c "rising-steady .*: .* rose:" <<<"$out")" 0
is 'nor did the victim' "$(grep -c "rising-victim .*: .* rose:" <<<"$out")" 0
like 'the doubt is stated' "$(tr -s ' \n' ' ' <<<"$out")" 'rising-hog [^;]* of the others: positive correlation: \+[01]\.[0-9]* \[.*, .*\], p = .*'
run report --json --slow-us 2000 "$(recording "$dir/runs")"
ok 'JSON: the hog had several times as much CPU time in the worst quarter' jq -e '.rising | map(select(.probe == "runqlat" and .column == "cpu_ns")) |
	(map(select(.process | startswith("rising-hog"))) | length == 1 and all(.rose and .mean_in_worst_quarter > 3 * .mean_in_others)) and
	(map(select(.process | startswith("rising-steady"))) | length == 1 and all(.rose | not))' <<<"$out"
calm
run report --slow-us 2000 "$(recording "$dir/runs")"
ok 'it fits' fits
run report --json -P runqlat "$(recording "$dir/runs")"
ok 'JSON of one probe has none of it' jq -e 'has("rising") | not' <<<"$out"
done_testing
