#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# Waits as shares of the life of a process, in real time and on a real disk, compared with schedstat, with measurements in user
# space, and with known lifetimes. tests/unit/test_life.c and test_shares.c have the arithmetic.
. "$(dirname "$0")/host.sh"
skip_unless_able

# reference NAME ARG...: records a program of known waits, which prints its own lines before the JSON
reference() {
	run record -q --by process --comm "$1" --json -o "$dir/runs-$1" -- ".output/tests/reference/$1" "${@:2}"
	told=$(sed '/^{/,$d' <<<"$out")
	out=$(sed -n '/^{/,$p' <<<"$out")
}

# of PID JQ: prints a value of the process in $out
of() { jq -r --argjson pid "$1" ".processes[] | select(.id == \$pid) | $2" <<<"$out"; }
waited() { of "$1" ".waits[] | select(.probe == \"$2\") | .$3"; }

# told NAME: prints a value that the reference has printed
told() { grep -oE "(^| )$1=[0-9]+" <<<"$told" | cut -d= -f2; }

# between LOW VALUE HIGH
between() {
	jq -ne "($1) <= ($2) and ($2) <= ($3)" >/dev/null || { echo "not $1 <= $2 <= $3" && false; }
}

# slept: prints the PID of each sleeper and its wait for a CPU in ns
slept() { sed -nE 's/^child=([0-9]+) .*run_delay_life_ns=([0-9]+) .*/\1 \2/p' <<<"$told"; }

# near PID NS: the wait is about NS. The kernel's clock stands still from a wakeup to the switch that it causes, ours does
# not, and a sleeper of 0.4 s has some hundred wakeups.
near() { between "$2 * 0.9e-3 - 1000" "$(waited "$1" runqlat sum_us)" "$2 * 1.1e-3 + 20000"; }

# A new task waits for a CPU before it runs: schedstat includes that. Some hosts hide switches of a few tasks from BPF; and if the
# recorder stands still when all tasks have ended, the window is much longer than their lives.
measure reference sleepers 3 0.4
window=$(jq .duration_sec <<<"$out")
while read -r pid ns; do
	ok "$pid: waits for a CPU as in schedstat, nearly" near "$pid" "$ns"
	ok "$pid: it lived while it worked" between 0.4 "$(of "$pid" .lived_sec)" "$window"
	ok "$pid: the share is the one by the other" between -1e-6 \
		"$(of "$pid" '(.waits[] | select(.probe == "runqlat") | .sum_us / 1e6) / .lived_sec')-$(waited "$pid" runqlat share)" 1e-6
	is "$pid: one thread, and it ended" "$(of "$pid" '"\(.threads) \(.ended)"')" '1 true'
done < <(slept)
ok 'the sleepers were there' test "$tap_count" -ge 12
is 'the one that made them, too: a process from before the window' "$(of "$(told pid)" .ended)" true
ok 'and lived as long as the window' between "$(jq -n "$window * 0.9")" "$(of "$(told pid)" .lived_sec)" "$window"

# All of its threads start at the beginning and stay to the end.
measure reference sleepers -t 3 1 0.4
ok 'three threads' between 2.5 "$(of "$(told child)" .threads)" 3
# A task can still wait after it has begun to exit, when its life is over.
ok 'they wait no longer than the window each' between 0 "$(waited "$(told child)" runqlat sum_us)" \
	"3e6 * $(jq .duration_sec <<<"$out")"

# A request is at most as long as its system call, and most of the time that the call does not wait for a CPU.
head -c 16M /dev/zero >"$dir/file"
sync "$dir/file"
requests_fill_calls() {
	between "($(told io_sum_ns) / 1000 - $(waited "$(told pid)" runqlat sum_us)) / 3" \
		"$(waited "$(told pid)" iolat sum_us)" "$(told io_sum_ns) / 1000"
}
measure reference dio -q 2 "$dir/file" 2000
if [ "$(told disk_reads)" -ge 2000 ] 2>/dev/null; then
	ok 'direct I/O of two threads: its time, by the calls' requests_fill_calls
	ok 'it has up to three threads' between 1 "$(of "$(told pid)" .threads)" 3
else
	skip 'direct I/O of two threads: its time, by the calls' "no disk below $dir"
fi

# A process that lives through the whole window, one that sleeps for a known part of it, and the table.
perl -e 'select(undef, undef, undef, 0.02) while 1' &
lives=$!
two_slept() {
	jq -e '[.processes[] | select(.ended and (.name | startswith("sleep")) and
		.lived_sec >= 0.3 and .lived_sec < 0.3 + ($window | tonumber) - 0.6)] | length == 2' \
		--arg window "$(jq .duration_sec <<<"$1")" <<<"$1"
}
measure run record -q --by process -o "$dir/runs" -- sh -c 'sleep 0.3; sleep 0.3'
like 'the table' "$out" $'\nWaits of each process as a share .*\nprocess +lived +threads +memlat +runqlat +iolat\n'
ok 'it fits a terminal' fits
recorded=$(recording "$dir/runs")
text=$out
run report "$recorded"
is 'report has the same' "$(sed -n '/^Waits of each/,/^$/p' <<<"$out")" "$(sed -n '/^Waits of each/,/^$/p' <<<"$text")"
run report --json "$recorded"
is 'who was there before and after' "$(of $lives .ended)" false
is 'lived as long as the window' "$(of $lives .lived_sec)" "$(jq .duration_sec <<<"$out")"
ok 'two that slept for 0.3 s' two_slept "$out"
kill $lives
calm
run record -q -d 50ms -o "$dir/whole"
ok 'without --by process there is no table' test "${out#*Waits of each process}" = "$out"
# 8 us is the edge of a slot: all samples from there on are the tail, in total and for each key.
tails_are_in_slots() {
	local wrong

	wrong=$(sqlite3 -readonly "$(recording "$dir/runs")/run.db" "SELECT count(*) FROM sums WHERE tail <> (
		SELECT coalesce(sum(slots.count), 0) FROM slots JOIN slot_edges USING (slot)
		WHERE slots.series = sums.series AND slots.interval = sums.interval AND low_ns >= 8000)")
	[ "$wrong" = 0 ] || { echo "$wrong series have another tail than their slots" && false; }
}
rm -rf "$dir/runs"
run record -q --by process --tail-us 8 -d 500ms -o "$dir/runs" -- sh -c 'sleep 0.3'
ok 'tails are what lies in the slots from the threshold on' tails_are_in_slots
is 'and there are some' "$(sqlite3 -readonly "$(recording "$dir/runs")/run.db" \
	"SELECT count(DISTINCT split) FROM sums JOIN series ON series.id = sums.series WHERE tail > 0")" 2
done_testing
