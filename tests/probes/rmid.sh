# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# rmid against the scheduler's account of each process, on the rungs that are there.
[ -n "${dir-}" ] || . tests/cli/cli.sh
rungs=(switches)
[ ! -e /proc/latscope_rmid ] || rungs=(module switches)

soak=${LATSCOPE_SOAK:+20} soak=${soak:-1} # what counts are multiplied by
percent=${percent:-1}                     # what CPU time may be off by

# rows SQL: of the last recording; t0 is when its window opened
rows() { sqlite3 -readonly "$recording/run.db" "WITH m AS (SELECT value AS t0 FROM meta WHERE name = 'start_mono_ns') $1"; }

# measure ARG...: a recording, $recording, and what is printed, $out
measure() {
	rm -rf "$dir/rmid"
	run rmid -q -o "$dir/rmid" "$@"
	recording=$(recording "$dir/rmid")
}

# second PID START_NS END_NS RAN_NS: what the process had in that second, within $percent of the kernel's account. It
# can be less by what nobody is known to have had (an overloaded machine loses records, and some hosts hide the
# switches of a few tasks), and more by what the hypervisor stole, which the kernel's account leaves out.
second() {
	local got lost off=$(($4 * percent / 100))

	IFS='|' read -r got lost < <(rows "SELECT ifnull(sum(cpu_ns) FILTER (WHERE pid = $1), 0),
		ifnull(sum(cpu_ns) FILTER (WHERE comm = '(lost)'), 0)
		FROM rmid, m WHERE time_ns + t0 > $2 AND time_ns + t0 <= $3")
	echo "process $1: $got ns, by schedstat $4 ns, lost $lost ns, stolen $steal ns"
	[ $((got + lost + off)) -ge "$4" ] && [ "$got" -le $(($4 + off + steal)) ]
}

# slots: in all that the window holds whole, and of which anything is known to have run, is every CPU's time there?
whole_slots() {
	local bad

	bad=$(rows "SELECT time_ns, sum(cpu_ns) FROM rmid, m
		WHERE time_ns > 1000000 AND time_ns <= (SELECT value FROM meta WHERE name = 'duration_ns')
		GROUP BY time_ns HAVING sum(cpu_ns) <> $(nproc --all) * 1000000")
	[ -z "$bad" ] || { echo "slots that do not balance, the first ones: ${bad:0:200}" && false; }
}

# wall: is it so of the whole, within 0.5 %? Slots without rows are idle; the first and the last are cut.
wall() {
	rows "SELECT abs(got - wall) <= 0.005 * wall + 2e6 * $(nproc --all) FROM (
		SELECT sum(cpu_ns) + 1e6 * $(nproc --all) * (duration / 1000000 - count(DISTINCT time_ns)) AS got,
			$(nproc --all) * duration AS wall
		FROM rmid, (SELECT value AS duration FROM meta WHERE name = 'duration_ns'))" | grep -qx 1
}

# seconds: every second of every process that was told
seconds() {
	local pid start end ran bad=0

	while read -r pid start end ran; do
		second "$pid" "$start" "$end" "$ran" || bad=1
	done < <(sed -n 's/[a-z_]*=//g; /^[0-9]* [0-9]* [0-9]* [0-9]*$/p' <<<"$out")
	[ $bad = 0 ]
}

# duties RUNG: four processes of known duty. The kernel's stamp of a switch and ours are not of the same moment, and
# differ by more where a virtual machine does not get its own CPU in between: what is off is measured again.
duties() {
	local steal late tries said

	for tries in 1 2 3; do
		measure --rung "$1" -- .output/tests/truth/duty $((3 * soak)) ${LATSCOPE_VM:+10}
		steal=$(sed -n 's/^steal_ns=//p' <<<"$out") late=$(sed -n 's/^late=//p' <<<"$out")
		said=$(seconds) && [ "$late" -lt $((3 * soak)) ] && break
		diag "try $tries: $said"
	done
	ok "$1: four processes are measured" ended 0 '' 'late=.*rmid: '
	if [ "$late" -lt $((3 * soak)) ]; then
		ok "$1: the CPU time of each in each second is that of schedstat, within $percent %" seconds
		diag "$said"
	else
		skip "$1: CPU time by process" "the machine is too busy for the truth: late $late times"
	fi
	ok "$1: every slot has the time of every CPU" whole_slots
	ok "$1: all slots have that of the window, within 0.5 %" wall
}

for rung in "${rungs[@]}"; do
	duties "$rung"
done
