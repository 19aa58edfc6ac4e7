# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# What `latscope why` blames, compared with programs that make each other wait and measure by their own clocks how long they
# had the CPU: tests/reference/culprits.c. Needs tests/tap.sh.
. tests/measure.sh

why_dir=$(mktemp -d)
why_cgroup=''
why_cpu=$(($(nproc) - 1))
on_exit forget_why
built=${LATSCOPE_BUILT:-$PWD/.output}
chosen=() # filters
how=(runqlat --why)
around=() # a command that runs culprits
working=${working-} # the kernel module; empty: there is none

forget_why() {
	[ ! -d "$why_cgroup/inner" ] || rmdir "$why_cgroup/inner"
	[ -z "$why_cgroup" ] || rmdir "$why_cgroup"
	rm -rf "$why_dir" "${dir:-$why_dir}"
}

# blame SHAPE OVER MS [CGROUP]: a recording of culprits, as $db; what culprits printed is in $why_dir/out. latscope runs on
# another CPU than they do, if there is one.
blame() {
	local ms=$3

	[ "${extent-}" != check ] || [ "$1" = idle ] || ms=$(($3 / 3)) # what sleeps costs nothing there
	rm -rf "$why_dir/runs"
	taskset -c 0 "$built/latscope" "${how[@]}" -q -o "$why_dir/runs" "${chosen[@]}" --over "$2" -- \
		taskset -c "0-$why_cpu" "${around[@]}" "$built/tests/reference/culprits" "$1" "$why_cpu" "$ms" "${@:4}" >"$why_dir/out" 2>"$why_dir/err" ||
		{ cat "$why_dir/err" && return 1; }
	db=$(echo "$why_dir"/runs/*/run.db)
	[ "$(why_printed victim_pid)" -gt 0 ] || { cat "$why_dir/out" && false; }
}

why_printed() { sed -n "s/^$1=//p" "$why_dir/out"; }

query() { sqlite3 -readonly "$db" "$1"; }

# blamed CONDITION: ns of the victim's slow time
blamed() {
	query "SELECT coalesce(sum(ns), 0) FROM runqlat_why WHERE victim_id = $(why_printed victim_pid) AND ($1)"
}

# share OF PERCENT CONDITION: at least PERCENT of the slow time that meets OF meets CONDITION, too
share() {
	local all part

	all=$(blamed "$1") part=$(blamed "$3")
	[ $((all > 0 && part * 100 >= all * $2)) = 1 ] ||
		{ echo "only $part of $all ns: $3" && query "SELECT part, culprit, sum(ns) FROM runqlat_why WHERE
			victim_id = $(why_printed victim_pid) GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 8" && false; }
}

# near_to PERCENT GOT WANTED
near_to() { is_within $(($3 * (100 - $1) / 100)) "$2" $(($3 * (100 + $1) / 100)); }

hog_is() { echo "culprit_id = $(why_printed "hog${1}_pid") AND culprit LIKE 'hog$1 (%' AND part = '$2'"; }

# Everything is in some part: sums of pairs, of samples and of each slow event.
adds_up() {
	local parts

	tap_same "$(query 'SELECT sum(ns) FROM runqlat_why')" "$(query "SELECT why_slow_ns FROM probe WHERE name = 'runqlat'")" || return
	parts=$(query "SELECT group_concat(name, ' + ') FROM pragma_table_info('runqlat_slow') WHERE name LIKE '%\_ns' ESCAPE '\'
		AND name NOT LIKE 'culprit%' AND name <> 'time_ns'")
	tap_same "$(query "SELECT count(*) FROM runqlat_slow WHERE ns <> $parts")" 0 || return
	tap_same "$(query 'SELECT count(*) FROM runqlat_slow WHERE unknown_ns NOT BETWEEN 0 AND ns')" 0 || return
	[ "$(query 'SELECT count(*) FROM runqlat_slow')" -gt 0 ] || { echo 'no slow event' && false; }
}

blames_one() {
	blame one 10us 2000 && adds_up && share 1 98 "part <> 'unknown'" && share 1 99 "$(hog_is 1 other)" &&
		near_to $clock_share "$(blamed "$(hog_is 1 other)")" "$(why_printed hog1_ran_ns)"
}

# ratio in percent
blames_two() {
	local one two

	blame two 10us 3000 && adds_up && share 1 98 "part <> 'unknown'" || return
	one=$(blamed "$(hog_is 1 other)") two=$(blamed "$(hog_is 2 other)")
	near_to 3 $((one * 100 / two)) $(($(why_printed hog1_ran_ns) * 100 / $(why_printed hog2_ran_ns))) &&
		is_within 270 $((one * 100 / two)) 340 && share 1 100 "victim_traits = 'nice -20'" &&
		share "$(hog_is 1 other)" 100 "culprit_traits = 'nice -20'" && share "$(hog_is 2 other)" 100 "culprit_traits = 'nice -15'"
}

blames_realtime() {
	blame realtime 1ms 2000 && adds_up && share 1 97 "$(hog_is 1 realtime)" &&
		share "$(hog_is 1 realtime)" 100 "culprit_traits = 'SCHED_FIFO 1'" &&
		near_to 3 "$(blamed "$(hog_is 1 realtime)")" "$(why_printed hog1_ran_ns)"
}

# Where nobody else had the CPU, it was idle.
blames_idle() {
	blame idle 1us 2000 && adds_up && share 1 98 "part <> 'unknown'" && share 1 $idle_share "part = 'idle'" &&
		[ "$(blamed "part = 'idle'")" -gt 0 ]
}

# The two threads take turns: each waits while the other one runs.
blames_own() {
	blame own 10us 2000 && adds_up && share 1 97 "part = 'own'" && share 1 98 "part <> 'unknown'" &&
		near_to 3 "$(blamed "part = 'own'")" "$(why_printed victim_ran_ns)"
}

# The task on the CPU that the victim was moved from is blamed. What is left of its turn is not a wait: the other CPU is idle.
blames_move() {
	blame moved 1ms 3000 && adds_up && [ "$(why_printed moved_least_ns)" -gt 0 ] &&
		is_within $(($(why_printed moved_least_ns) * 95 / 100)) "$(blamed "$(hog_is 1 realtime)")" \
			$(($(why_printed moved_most_ns) * 105 / 100)) && share 1 95 "part <> 'moved'" &&
		blames_no_cpu_for_another
}

# By CPU, the same waits are said to have been on another one: the hog never had the CPU that the victim came to.
blames_no_cpu_for_another() {
	local other=$((why_cpu ? 0 : 1))

	blame_by_cpu moved 1ms 3000 && adds_up && tap_same "$(of_cpu $other "culprit LIKE 'hog1 (%'")" 0 &&
		is_within $(($(why_printed moved_least_ns) * 95 / 100)) "$(of_cpu $other "part = 'moved'")" \
			$(($(why_printed moved_most_ns) * 105 / 100))
}

# A kworker is blamed with the workqueue that it worked for, as long as it did; nobody else has its name. Of pgrep, which is like
# most, nothing is said.
blames_work() {
	local around=(tests/probes/working "$working" "$why_cpu") kworker="part = 'kernel' AND culprit LIKE 'kworker/$why_cpu:%H (%'"

	blame one 10us 3000 && adds_up &&
		near_to 5 "$(blamed "$kworker AND culprit_traits = 'nice -20, workqueue latscope_long'")" "$(why_printed long_ns)" &&
		near_to 5 "$(blamed "$kworker AND culprit_traits = 'nice -20, workqueue latscope_short'")" "$(why_printed short_ns)" &&
		tap_same "$(blamed "culprit_traits LIKE '%latscope%' AND NOT ($kworker)")" 0 &&
		share "$(hog_is 1 other)" 100 "culprit_traits = 'nice -20'" &&
		tap_same "$(query "SELECT count(*) > 0, count(victim_traits) FROM runqlat_why WHERE victim LIKE 'pgrep (%'")" '1|0'
}

# throttled_ns: how long the cgroup was out of quota
throttled_ns() {
	sed -n 's/^throttled_usec \(.*\)/\1000/p; s/^throttled_time //p' "$why_cgroup/cpu.stat"
}

# make_cgroup: a cgroup with 20 ms of every 100, by either version of the controller
make_cgroup() {
	local root=/sys/fs/cgroup

	[ -n "${LATSCOPE_VM-}" ] && ! mountpoint -q $root && mount -t cgroup2 none $root
	if [ -e $root/cpu/cpu.cfs_quota_us ] || [ -e $root/cpu/cgroup.procs ]; then
		mkdir $root/cpu/latscope-why.$$ && why_cgroup=$root/cpu/latscope-why.$$ &&
			echo 20000 >$why_cgroup/cpu.cfs_quota_us
	elif [ -n "${LATSCOPE_VM-}" ] || grep -qw cpu $root/cgroup.subtree_control; then # else it would stay so
		echo +cpu >$root/cgroup.subtree_control && mkdir $root/latscope-why.$$ && why_cgroup=$root/latscope-why.$$ &&
			echo '20000 100000' >$why_cgroup/cpu.max && echo 50 >$why_cgroup/cpu.weight
	else
		return 1
	fi
}

blames_quota() {
	local before

	before=$(throttled_ns)
	blame quota 1ms 3000 "$why_cgroup" && adds_up && share 1 $quota_share "part = 'quota'" &&
		near_to 5 "$(blamed "part = 'quota'")" $(($(throttled_ns) - before)) || return
	# Of version 1 the cgroup is not named; of version 2 it is, and of nothing but its quota.
	[ -e "$why_cgroup/cpu.max" ] || return 0
	share "part = 'quota'" 100 "victim_traits LIKE '%cpu.weight 50'" || return
	share "part = 'quota'" 100 "culprit = '${why_cgroup#/sys/fs/cgroup} (20 % of a CPU)' AND part = 'quota'" &&
		tap_same "$(blamed "culprit LIKE '${why_cgroup#/sys/fs/cgroup}%' AND part <> 'quota'")" 0 || return
	# Of two quotas it is not known which one struck: neither is named.
	echo +cpu >"$why_cgroup/cgroup.subtree_control" && mkdir "$why_cgroup/inner" &&
		echo '50000 100000' >"$why_cgroup/inner/cpu.max" && blame quota 1ms 1500 "$why_cgroup/inner" &&
		rmdir "$why_cgroup/inner" && [ "$(blamed "part = 'quota'")" -gt 0 ] &&
		tap_same "$(blamed "part = 'quota' AND culprit IS NOT NULL")" 0
}

# slow_events CONDITION
slow_events() { query "SELECT count(*) FROM runqlat_slow WHERE $1"; }

# A task that slept was woken up by the hog; one that lost the CPU was not woken up.
blames_waker() {
	local chosen=(--comm victim) events

	blame woken 1ms 1000 && events=$(slow_events 1) && [ "$events" -ge 5 ] &&
		is_within $((events * 9 / 10)) "$(slow_events "waker = 'hog1' AND waker_tid = $(why_printed hog1_pid)")" "$events" &&
		blame one 1ms 1000 && is_within 0 "$(slow_events waker_tid)" $(($(slow_events 1) / 10))
}

# No task woke it up, whatever ran then.
blames_no_waker() {
	local chosen=(--comm victim -i 50ms) events # five slow events are kept of each interval

	blame napping 1us 1000 && events=$(slow_events "waker <> ''") && [ "$events" -ge 5 ] &&
		is_within $((events * 95 / 100)) "$(slow_events "waker = 'timer' AND waker_tid IS NULL")" "$events" &&
		tap_same "$(slow_events "waker LIKE 'hog%'")" 0
}

# Each of many short turns has its name, however far back.
blames_pingpong() {
	blame pingpong 1us 3000 && adds_up && share 1 95 "$(hog_is 1 other) OR $(hog_is 2 other)" &&
		near_to 5 "$(blamed "$(hog_is 1 other)")" "$(why_printed hog1_ran_ns)" &&
		near_to 5 "$(blamed "$(hog_is 2 other)")" "$(why_printed hog2_ran_ns)"
}

# named NAME: ns of the victim's slow time that the result gives to tasks of that name as a whole
named() {
	"$built/latscope" report --json "${db%/run.db}" | jq --arg name "$1" '[.. | objects | select(has("names")) | .names[] |
		select(.victim | test("^victim( |$)")) | select((.culprit // "") | test("^" + $name + "( |$)")) | .ns] | add // 0'
}

# of_name NAME: the same by run.db, where a pair that finds no place has names and no IDs
of_name() {
	query "SELECT coalesce(sum(ns), 0) FROM runqlat_why WHERE (victim = 'victim' OR victim LIKE 'victim (%') AND
		(culprit = '$1' OR culprit LIKE '$1 (%') AND part = 'other'"
}

# had NAME RAN [ALL]: the victim waited for tasks of that name, as long as they ran: it always wants the CPU. ALL: with what they
# ran before, when it did not always want it. A clock of CPU time goes on in an interrupt, which is another part.
had() {
	local least=$(($2 * 95 / 100 - $(blamed "part = 'interrupts'"))) most=$((${3:-$2} * 105 / 100))

	is_within $least "$(of_name "$1")" $most && is_within $least "$(named "$1")" $most && return
	echo "($1)"
	query "SELECT victim, culprit, part, sum(ns) FROM runqlat_why WHERE victim LIKE 'victim%' GROUP BY 1, 2, 3 ORDER BY 4 DESC LIMIT 5"
	return 1
}

# Many processes of one name are one culprit, though their pairs with all that waited come near the number of places.
blames_crowd() {
	blame crowd 10us 2000 && adds_up && had crowd "$(why_printed crowd_ran_ns)" "$(why_printed crowd_all_ns)" &&
		had hog1 "$(why_printed hog1_ran_ns)" "$(why_printed hog1_all_ns)"
}

# Processes that are gone before anybody can look at them have their name all the same.
blames_churn() {
	blame churn 10us 2000 && adds_up && [ "$(why_printed briefs)" -ge 100 ] && had brief "$(why_printed brief_ran_ns)" &&
		share 1 97 "culprit LIKE 'brief (%' OR culprit LIKE 'hog1 (%'"
}

# An idle CPU is no reason for a task that may not run.
blames_budget() {
	blame deadline 1ms 1000 && adds_up && share 1 95 "part = 'budget'" &&
		near_to 5 "$(blamed "part = 'budget'")" "$(why_printed gaps_ns)"
}

# Nor is the one that may run then. The kernel keeps 50 ms of each second for it; interrupts make gaps, too, which are no waits.
blames_limit() {
	blame limited 1ms 3000 && adds_up && share 1 95 "part = 'budget'" &&
		is_within 25000000 "$(blamed "part = 'budget'")" $(($(why_printed gaps_ns) * 105 / 100))
}

# total KEY: ns of the samples of a key of a split
total() { query "SELECT coalesce(sum(sum_ns), 0) FROM totals WHERE name = '$1'"; }

# of_cpu CPU CONDITION: ns of the slow time on a CPU
of_cpu() {
	query "SELECT coalesce(sum(ns), 0) FROM runqlat_why WHERE victim = 'CPU $1' AND victim_id = $1 AND ($2)"
}

# The victim waits on its CPU alone: as long as the kernel says, and the filter leaves nothing of it on another CPU. By CPU,
# both are to blame that it had two: the hog while the victim waited, and the victim while the hog waited.
blames_cpu() {
	local chosen=(--comm victim --by cpu) other=$((why_cpu ? 0 : 1)) ran

	blame one 10us 2000 && near_to $clock_share "$(total "CPU $why_cpu")" "$(why_printed victim_waited_ns)" &&
		is_within 0 "$(total "CPU $other")" $(($(total "CPU $why_cpu") / 100)) || return
	chosen=(--comm victim --cpu "$why_cpu")
	blame one 10us 2000 && share 1 99 "$(hog_is 1 other)" &&
		near_to $clock_share "$(blamed "$(hog_is 1 other)")" "$(why_printed victim_waited_ns)" || return
	chosen=(--comm victim --cpu "$other" --by cpu)
	blame one 10us 1000 && is_within 0 "$(blamed 1)" $(($(why_printed victim_waited_ns) / 100)) &&
		is_within 0 "$(total "CPU $other")" $(($(why_printed victim_waited_ns) / 100)) &&
		tap_same "$(total "CPU $why_cpu")" 0 || return
	chosen=()
	blame_by_cpu one 10us 2000 && adds_up && ran=$(why_printed hog1_ran_ns) &&
		near_to 5 "$(of_cpu "$why_cpu" "$(hog_is 1 other)")" "$ran" &&
		near_to 5 "$(of_cpu "$why_cpu" "culprit_id = $(why_printed victim_pid)")" "$(why_printed victim_ran_ns)" &&
		is_within 0 "$(of_cpu "$other" "culprit LIKE 'hog1 (%' OR culprit LIKE 'victim (%'")" $((ran / 100))
}
blame_by_cpu() {
	local how=(why --by cpu)

	blame "$@"
}

idle_share=20 quota_share=40 clock_share=1
[ -z "${LATSCOPE_VM-}" ] || idle_share=90 quota_share=90 clock_share=3

declare -A claims=(
	[one]='one hog: the victim waits for it alone, as long as it ran'
	[two]='two hogs: each is blamed for its share'
	[realtime]='a real-time hog: it is blamed'
	[idle]='an idle CPU: nobody is blamed'
	[work]='two workqueues of one kworker: each is blamed, as long as its works had the CPU'
	[own]='two threads: their own process is blamed'
	[no_waker]='a timer woke it up: not the task that it interrupted'
	[pingpong]='two that wake each other up: each is blamed for what it had, as far back as it waited'
	[crowd]='80 processes of one name, and another one: each name is blamed for what its tasks had'
	[churn]='short-lived processes of one name: they are blamed by that name'
	[budget]='a deadline task out of budget: not the idle CPU'
	[limit]='a real-time task at the limit of all real-time tasks: the limit'
	[waker]='a waker is named if there was one'
	[move]='a move: who had the CPU before it is blamed'
	[cpu]='by CPU, and of some CPUs alone: waits are where they were, and who had the CPU then is blamed'
	[quota]='cpu.max: the quota is blamed, as long as cpu.stat says'
)
# Kernels share what does not depend on the kernel. tests: those that the caller wants.
case ${tests:+wanted-}${extent-}-${LATSCOPE_VM-}${LATSCOPE_SOAK-} in
wanted-*) ;;
check-6.1) tests='one move quota' ;;
check-6.12) tests='two realtime idle own waker no_waker budget limit cpu' ;;
*-) tests='one two idle move quota no_waker cpu' ;; # and the VM has the others
*-6.1 | *-7) tests='one two realtime idle work move quota no_waker budget limit cpu' ;;
*) tests='one two realtime idle work own waker move quota no_waker pingpong budget limit cpu crowd churn' ;;
esac
for test in $tests; do
	if { [ "$test" = move ] || [ "$test" = cpu ]; } && [ "$(nproc)" = 1 ]; then
		skip "${claims[$test]}" 'there is one CPU'
	elif [ "$test" = quota ] && ! make_cgroup 2>/dev/null; then
		skip 'cpu.max' 'cannot make a cgroup with a quota'
	elif [ "$test" = work ] && [ ! -e "$working" ]; then
		skip "${claims[work]}" 'there is no kernel module for this kernel here'
	else
		measured "${claims[$test]}" "blames_$test"
	fi
done
