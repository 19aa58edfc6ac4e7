# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# rmid compared with the scheduler's account of each process.
[ -n "${dir-}" ] || . tests/cli/cli.sh
. tests/measure.sh
soak=${LATSCOPE_SOAK:+20} soak=${soak:-1} # what counts are multiplied by
percent=${percent:-1}                     # what CPU time may be off by

# rows SQL: queries the last recording; t0 is the start of its window
rows() { sqlite3 -readonly "$recording/run.db" "WITH m AS (SELECT value AS t0 FROM meta WHERE name = 'start_mono_ns') $1"; }

# observe ARG...: makes a recording, and sets $recording and $out, its output
observe() {
	rm -rf "$dir/rmid"
	run rmid -q -o "$dir/rmid" "$@"
	recording=$(recording "$dir/rmid")
}

# whole_slots: succeeds if all slots within the window in which something ran have the time of every CPU
whole_slots() {
	local bad

	bad=$(rows "SELECT time_ns, sum(cpu_ns) FROM rmid, m
		WHERE time_ns > 1000000 AND time_ns <= (SELECT value FROM meta WHERE name = 'duration_ns')
		GROUP BY time_ns HAVING sum(cpu_ns) <> $(nproc --all) * 1000000")
	[ -z "$bad" ] || { echo "slots that do not balance, the first ones: ${bad:0:200}" && false; }
}

# wall: succeeds if all rows, with idle and lost ones, add up to the time of all CPUs, to the nanosecond; also in the summary,
# which has rounded means, and in its own account
wall() {
	local off

	off=$(rows "SELECT sum(cpu_ns) - $(nproc --all) * (SELECT value FROM meta WHERE name = 'duration_ns') FROM rmid")
	[ "$off" = 0 ] || { echo "the rows are off by $off ns" && return 1; }
	off=$(jq --argjson cpus "$(nproc --all)" '([.top_k[].cpu_ns, .others.cpu_ns // empty] |
		map(.mean * .rows) | add) - .duration_sec * 1e9 * $cpus' "$recording/rmid.summary.json")
	awk -v off="$off" 'BEGIN { exit off < -1e4 || off > 1e4 }' || { echo "the summary is off by $off ns" && return 1; }
	if [[ ! $out =~ rows[[:space:]]+add[[:space:]]+up[[:space:]]+to[[:space:]]+([0-9.]+)[[:space:]]+ms[[:space:]]+of[[:space:]]+([0-9.]+)[[:space:]]+ms ]] ||
		[ "${BASH_REMATCH[1]}" != "${BASH_REMATCH[2]}" ]; then
		echo "its own account: $out"
		return 1
	fi
}

# seconds: succeeds if in every second each process has the time of the kernel's account, within $percent. It may be less by
# time that is attributed to no process (an overloaded machine loses records, and some hosts hide the switches of a few
# tasks), and more by time that the hypervisor stole, which the kernel's account leaves out.
seconds() {
	local told

	told=$(sed -nE 's/^pid=([0-9]+) start_ns=([0-9]+) end_ns=([0-9]+) ran_ns=([0-9]+)$/(\1,\2,\3,\4)/p' <<<"$out" | paste -sd,)
	rows ", told(pid, start, end, ran) AS (VALUES $told), counted AS (SELECT told.pid, ran,
			ifnull(sum(cpu_ns) FILTER (WHERE rmid.pid = told.pid), 0) AS got,
			ifnull(sum(cpu_ns) FILTER (WHERE comm = '(lost)'), 0) AS lost
		FROM m, told LEFT JOIN rmid ON time_ns + t0 > start AND time_ns + t0 <= end GROUP BY told.pid, start)
		SELECT format('process %d: %d ns, by schedstat %d ns, lost %d ns, stolen %d ns: %s', pid, got, ran, lost, $steal,
			iif(got + lost >= ran * (1 - $percent / 100.0) AND got <= ran * (1 + $percent / 100.0) + $steal,
				'right', 'wrong')) FROM counted"
}

all_right() { [[ $verdicts = *right* && $verdicts != *wrong* ]]; } # from seconds

# duties METHOD: tests four processes of known duty
duties() {
	local verdicts=''

	measure observe_duties "$1"
	ok "$1: four processes are measured" ended 0 '' 'late=.*rmid: '
	ok "$1: the CPU time of each in each second is that of schedstat, within $percent %" all_right
	diag "$verdicts"
	ok "$1: every slot has the time of every CPU" whole_slots
	ok "$1: all rows add up to the time of all CPUs" wall
}

observe_duties() {
	local steal

	observe --method "$1" -- "$built/tests/reference/duty" $((3 * soak)) ${LATSCOPE_VM:+10}
	steal=$(sed -n 's/^steal_ns=//p' <<<"$out")
	verdicts=$(seconds)
}

# shares: prints, for each process of turns, what it has of switches and of CPU time, and whether that is what the scheduler
# counted, within 5 and 20 %. Its death is not in the scheduler's account.
shares() {
	local told

	told=$(sed -nE 's/^pid=([0-9]+) ran_ns=([0-9]+) switches=([0-9]+)$/(\1,\2,\3)/p' <<<"$out" | paste -sd,)
	rows ", told(pid, ran, switched) AS (VALUES $told), counted AS (SELECT told.*, total(cpu_ns) AS got,
			total(switches) AS switches, count(DISTINCT process) AS processes FROM told LEFT JOIN rmid USING (pid) GROUP BY told.pid)
		SELECT format('process %d: %d switches of %d, %d of %d ns: %s', pid, switches, switched, got, ran,
			iif(processes = 1 AND switches BETWEEN switched * 0.95 - 5 AND switched * 1.05 + 10
				AND got BETWEEN ran * 0.8 AND ran * 1.2 + 2e6, 'right', 'wrong')) FROM counted"
}

# account_holds VERDICTS PROGRAM: measures PROGRAM of tests/reference; VERDICTS compares with what it printed
account_holds() {
	observe --method switches --counters none -- "$built/tests/reference/$2" 1000
	verdicts=$("$1")
	echo "$verdicts"
	all_right
}

# turns: tests three processes that take turns on a CPU within a slot: switches and time of one go to no other
turns() {
	local verdicts=''

	measure account_holds shares turns
	ok 'three processes in turn: switches and CPU time of each are those of the scheduler' all_right
	diag "$verdicts"
}

# lives: prints, for the PID that reuse used most often, how many processes have it, how many of these had a CPU more than
# once, and their CPU time, and whether that is true. Strangers may have it in between.
lives() {
	local told

	told=$(sed -nE 's/^reused=([0-9]+) processes=([0-9]+) twice=([0-9]+) ran_ns=([0-9]+) .*/(\1,\2,\3,\4)/p' <<<"$out" | paste -sd,)
	rows ", told(pid, lives, twice, ran) AS (VALUES $told),
			each AS (SELECT pid, sum(cpu_ns) AS got, sum(switches) > 1 AS twice FROM rmid GROUP BY process),
			counted AS (SELECT told.*, total(got) AS got, count(each.pid) AS processes, total(each.twice) AS got_twice
				FROM told LEFT JOIN each USING (pid) GROUP BY told.pid ORDER BY lives DESC LIMIT 1)
		SELECT format('PID %d: %d processes of %d, %d of %d more than once, %d of %d ns: %s', pid, processes, lives,
			got_twice, twice, got, ran,
			iif(processes BETWEEN lives * 0.98 AND lives * 1.05 AND got_twice BETWEEN twice * 0.98 AND twice * 1.05
				AND got BETWEEN ran * 0.8 AND ran * 1.2, 'right', 'wrong')) FROM counted"
}

# reuse: tests processes that have the same PID within a slot, one after the other
reuse() {
	local verdicts=''

	if [ ! -w /proc/sys/kernel/ns_last_pid ]; then
		skip 'a PID that is used again within a slot' 'this kernel cannot be asked for a PID'
		return
	fi
	measure account_holds lives reuse
	ok 'a PID that is used again within a slot: each process is told apart' all_right
	diag "$verdicts"
}
