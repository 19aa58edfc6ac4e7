#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# Waits and lives of processes, in real time and on a real disk, compared with schedstat, with measurements in user space, and with
# known lifetimes.
. "$(dirname "$0")/host.sh"
skip_unless_able

# reference NAME ARG...: records a program of known waits, which prints its own lines before the JSON
reference() {
	run record -q -i 100ms --by process --comm "$1" --json -o "$dir/runs-$1" -- ".output/tests/reference/$1" "${@:2}"
	told=$(sed '/^{/d' <<<"$out")
	out=$(tail -n 1 <<<"$out")
}

# of PID COLUMN: prints a sum of the process in $out, of the account of its threads
of() { jq -r "[.probes[] | select(.module == \"where\") | .top_k[] | select(.pid == $1) | .$2.sum] | add // 0" <<<"$out"; }
# waited PID PROBE: how long it waited, in us, by this probe
waited() {
	jq -r "[.probes[] | select(.module == \"$2\") | .keys[] | select(.by == \"process\" and .id == $1 and
		(.metric | IN(\"total\", \"run_queue\"))) | .sum_us] | add // 0" <<<"$out"
}
# rest PID: what its parts lack of its life
rest() {
	jq -r "[.probes[] | select(.module == \"where\") | .columns as \$all | .top_k[] | select(.pid == $1) | . as \$row
		| .life_ns.sum - ([\$all[].name | select(IN(\"cpu_ns\", \"ready_ns\", \"disk_ns\", \"memory_ns\", \"fault_ns\", \"lock_ns\",
			\"futex_ns\", \"socket_ns\", \"work_ns\", \"timer_ns\", \"child_ns\", \"stopped_ns\", \"other_ns\", \"unknown_ns\"))
			| \$row[.].sum] | add)] | add" <<<"$out"
}

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
near() { between "$2 * 0.9e-3 - 1000" "$(waited "$1" runqlat)" "$2 * 1.1e-3 + 20000"; }

# A new task waits for a CPU before it runs: schedstat includes that. Some hosts hide switches of a few tasks from BPF; and if the
# recorder stands still when all tasks have ended, the window is much longer than their lives.
measure reference sleepers 3 0.4
window=$(jq '.duration_sec * 1e9' <<<"$out")
while read -r pid ns; do
	ok "$pid: waits for a CPU as in schedstat, nearly" near "$pid" "$ns"
	ok "$pid: the account has the same wait" between "$(waited "$pid" runqlat) * 900 - 1e6" "$(of "$pid" ready_ns)" \
		"$(waited "$pid" runqlat) * 1100 + 1e6"
	ok "$pid: it lived while it worked" between 0.4e9 "$(of "$pid" life_ns)" "$window"
	is "$pid: the parts are all of its life" "$(rest "$pid")" 0
	is "$pid: one thread ended" "$(of "$pid" ended)" 1
done < <(slept)
ok 'the sleepers were there' test "$tap_count" -ge 15
ok 'the one that made them, a process from before the window, lived as long' \
	between "$window * 0.9" "$(of "$(told pid)" life_ns)" "$window * 1.001"

# All of its threads start at the beginning and stay to the end.
measure reference sleepers -t 3 1 0.4
ok 'three threads' between 3 "$(of "$(told child)" ended)" 4
ok 'they lived three times as long as one' between 1.2e9 "$(of "$(told child)" life_ns)" "3e9 * $(jq .duration_sec <<<"$out")"

# A request is at most as long as its system call, and most of the time that the call does not wait for a CPU.
head -c 16M /dev/zero >"$dir/file"
sync "$dir/file"
requests_fill_calls() {
	between "($(told io_sum_ns) / 1000 - $(waited "$(told pid)" runqlat)) / 3" \
		"$(waited "$(told pid)" iolat)" "$(told io_sum_ns) / 1000"
}
disk_fills_calls() {
	between "($(told io_sum_ns) - 1000 * $(waited "$(told pid)" runqlat)) / 3" "$(of "$(told pid)" disk_ns)" "$(told io_sum_ns)"
}
measure reference dio -q 2 "$dir/file" 2000
if [ "$(told disk_reads)" -ge 2000 ] 2>/dev/null; then
	ok 'direct I/O of two threads: its time, by the calls' requests_fill_calls
	ok 'the account has the time for which they slept for it' disk_fills_calls
else
	skip 'direct I/O of two threads: its time, by the calls' "no disk below $dir"
	skip 'the account has the time for which they slept for it' "no disk below $dir"
fi

# A process that lives through the whole window, one that sleeps for a known part of it, and the table.
perl -e 'select(undef, undef, undef, 0.02) while 1' &
lives=$!
# table: prints the table of processes in $out
table() { sed -n '/^% of life/,/^check/{/^check/!p}' <<<"$out"; }
measure run record -q --by process -o "$dir/runs" -- sh -c 'sleep 0.3; sleep 0.3'
like 'the table' "$out" $'\n% of life +life +CPU +ready +disk '
ok 'it fits a terminal' fits
recorded=$(recording "$dir/runs")
text=$(table)
run report "$recorded"
is 'report has the same' "$(table)" "$text"
run report --json "$recorded"
ok 'who was there before and after lived as long as the window' between 0 \
	"($(jq .duration_sec <<<"$out") * 1e9 - $(of $lives life_ns) | fabs)" 20e6
ok 'two that slept for 0.3 s' jq -e '[.probes[0].top_k[] | select(.comm == "sleep") | .timer_ns.sum] | add >= 0.6e9 and add < 0.7e9' <<<"$out"
kill $lives
calm
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
