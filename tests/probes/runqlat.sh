# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# runqlat compared with the scheduler's own account of each task, /proc/PID/task/TID/schedstat.
. tests/probes/window.sh

# counted NAME KEY PCOUNT: as many waits as the kernel counts. Waits of tasks that moved during their sleep may be missing
# (unmatched). Some hosts, but not the VM, hide the switches of a few tasks from BPF, and so the waits that these
# switches begin or end. With stamps the next wait of the same task includes them (joined).
counted() {
	local events least

	events=$(fact "$1" "$2.events") least=$(($3 - $(fact "$1" runqlat.unmatched)))
	if [ "$(fact "$1" runqlat.method):$2" = stamps:runqlat ]; then
		events=$((events + $(fact "$1" runqlat.joined)))
	elif [ -z "${LATSCOPE_VM-}" ]; then
		least=$((least * 95 / 100 - 3))
	fi
	is_within "$least" "$events" "$3" || { echo "($2: waits)" && false; }
}

# whole NAME KEY PCOUNT: no wait is missing
whole() { [ "$(fact "$1" "$2.events")" = "$3" ]; }

# waited NAME KEY RUN_DELAY PCOUNT: KEY, a metric or one of its tasks, has the samples that the kernel counts. near() compares
# their length: the kernel's is no exact reference, as its clock stands still from a wakeup to the switch that it causes.
waited() { counted "$1" "$2" "$4"; }

# near NAME KEY RUN_DELAY PCOUNT [STALL_NS]: the sum is within 0.5 % of the kernel's, if no wait is missing there and with stamps
# (otherwise schedstat includes a sleep). Our stamps and the kernel's are taken at different moments. The clock of the run
# queue stands still from a wakeup to the switch that it causes, so the kernel's wait is shorter: by some 20 us. It can also
# be longer by that, if the wakeup makes the task lose the CPU. In the VM an instruction takes 4 ns, so it is twice as much;
# and a CPU stands still while the other one has its turn. One such turn, of STALL_NS, can come between both moments.
near() {
	local low=0 off=$(($3 * 5 / 1000 + $4 * 20000${LATSCOPE_VM:+ * 2 + ${5-0}}))

	! whole "$1" "$2" "$4" || ! whole stamps "$2" "$4" || low=$(($3 - off))
	is_within $low "$(fact "$1" "$2.sum_ns")" $(($3 + off)) || { echo "($2: ns waited)" && false; }
}

hog_window() {
	begin
	start hog hog $(($(nproc) - 1)) $((run_ns / 1000000)) $((40 * soak)) || return
	watch_all runqlat -t "$(printed hog waiter_tid)" --by thread
	work
}

# The sum is compared with two more clocks: it is at least the time that the hog ran, and at most the gaps that the waiter saw,
# plus short waits. In a run that was joined, the waiter may still have slept. The longest turn of the VM's other CPU made a gap
# longer than the hog ran; a gap with joined runs does not show it.
near_hog() {
	local joined_ns=$(($(printed hog joined) * $(printed hog run_max_ns)))
	local stall_ns=$(($(printed hog joined) ? 0 : $(printed hog gap_max_ns) - run_ns))

	near "$1" runqlat "$(printed hog run_delay_ns)" "$(printed hog pcount)" "$stall_ns" &&
		is_within $(($(printed hog run_sum_ns) - joined_ns)) "$(fact "$1" runqlat.sum_ns)" \
			$(($(printed hog gap_sum_ns) + $(most_ns "$1" runqlat 0 $((run_ns / 2)))))
}

# to_the_ns METHOD: stamps has read all of the kernel's account
to_the_ns() { [ "$1" != stamps ] || tap_same "$(fact stamps runqlat.kernel_ns)" "$(printed hog run_delay_ns)"; }

# A waiter, and a hog that repeatedly takes its CPU for 5 ms.
long_waits() {
	local method run_ns=5000000

	window hog_window || return
	for method in "${methods[@]}"; do
		long_ones "$method: hog" "$method" "$(printed hog joined)"
		ok "$method: hog: waits are those of schedstat" \
			waited "$method" runqlat "$(printed hog run_delay_ns)" "$(printed hog pcount)"
		ok "$method: hog: and their sum, near enough" near_hog "$method"
		is "$method: hog: of no other thread" "$(keys "$method" runqlat.thread)" "$(printed hog waiter_tid) "
		within "$method: hog: those of the hog are filtered" \
			"$(printed hog hog_pcount)" "$(fact "$method" runqlat.filtered)" "$forever"
		balance "$method: hog" "$method"
		[ "$method" != stamps ] || ok "stamps: hog: the kernel's account is read to the ns" to_the_ns stamps
	done
}

# long_ones DESC METHOD UNSEEN: tests that the waiter has one wait for each run of the hog that was not joined to the previous run;
# the waiter saw each as a gap, or did not come to its clock in between, as at most UNSEEN times.
long_ones() {
	local least=0

	[ -z "${LATSCOPE_VM-}" ] || least=$(($(printed hog count) - $(printed hog joined)))
	within "$1: all long waits are there, and no other" \
		"$least" "$(at_least "$2" runqlat $run_ns)" $(($(printed hog gaps) + $3 + 2))
	! whole "$2" runqlat "$(printed hog pcount)" ||
		within "$1: they are as long as the hog ran" \
			"$(printed hog run_sum_ns)" "$(most_ns "$2" runqlat $run_ns "$forever")" "$forever"
}

busy='echo; end=$((${EPOCHREALTIME/./} + 300000)); while ((${EPOCHREALTIME/./} < end)); do :; done'

# A task of a priority between both has the CPU when they begin.
joined_window() {
	local cpu=$(($(nproc) - 1)) between

	begin
	start hog hog $cpu $((run_ns / 1000000)) 40 || return
	watch_all runqlat -t "$(printed hog waiter_tid)" --by thread
	await_recorders
	chrt -f 1 taskset -c $cpu bash -c "$busy" >"$w/busy" &
	between=$!
	await 'the task between' [ -s "$w/busy" ]
	run_programs
	wait $between
	close_window
}

# While another task has the CPU, one wait includes several runs of the hog, which prints how many.
joined_waits() {
	local method run_ns=5000000

	window joined_window || return
	ok 'joined: several runs are in one wait' [ "$(printed hog joined)" -gt 2 ]
	for method in "${methods[@]}"; do
		long_ones "$method: joined" "$method" 0
		within "$method: joined: they are fewer than the runs" \
			1 "$(at_least "$method" runqlat $run_ns)" $(($(printed hog count) - 1))
	done
}

# children PROGRAM: prints the children of sleepers
children() {
	slurp "$w/$1.out"
	sed -n 's/^started=//p' <<<"$slurped"
}

# each_child VERDICT NAME PROGRAM: VERDICT is waited or near
each_child() {
	local child bad=0

	for child in $(children "$3"); do
		"$1" "$2" "runqlat.process.$child" \
			"$(printed "$3" "child=$child" run_delay_ns)" "$(printed "$3" "child=$child" pcount)" || bad=1
	done
	return $bad
}

# A recorder of its own watches the last child.
crowd_window() {
	begin
	start crowd sleepers "$@" || return
	child=$(children crowd | tail -n 1)
	watch_all runqlat --by process
	[[ " ${methods[*]} " != *' stamps '* ]] || watch alone runqlat stamps -p "$child"
	work
}

# whole_children NAME PROGRAM: prints how many children miss no wait
whole_children() {
	local child count=0

	for child in $(children "$2"); do
		! whole "$1" "runqlat.process.$child" "$(printed "$2" "child=$child" pcount)" || count=$((count + 1))
	done
	echo $count
}

near_crowd() { each_child near "$1" crowd && [ "$(whole_children "$1" crowd)" -gt 0 ]; }

# child_to_the_ns METHOD: the kernel adds the wait of a task when the task moves, and the rest when it gets a CPU
child_to_the_ns() {
	[ "$1" != stamps ] || tap_same "$(fact alone runqlat.kernel_ns)" "$(printed crowd "child=$child" run_delay_ns)"
}

# some_whole DESC METHOD: tests that near_crowd has compared something
some_whole() {
	if [ -z "${LATSCOPE_VM-}" ] && [ "$(whole_children "$2" crowd)" = 0 ]; then
		skip "$1" 'this machine hid a switch of each process from BPF, time and again'
	else
		within "$1" 1 "$(whole_children "$2" crowd)" "$forever"
	fi
}

# crowd ARG...: runs `sleepers ARG...`: many tasks on few CPUs, which move while they wait
crowd() {
	local method child=''

	window crowd_window "$@" || return
	for method in "${methods[@]}"; do
		ok "$method: sleepers $*: each process's waits are those of schedstat" each_child waited "$method" crowd
		ok "$method: sleepers $*: and their sum, near enough" near_crowd "$method"
		some_whole "$method: sleepers $*: of some, none is lacking" "$method"
		balance "$method: sleepers $*" "$method"
		[ "$method" != stamps ] ||
			ok "stamps: sleepers $*: the kernel's account of one is read to the ns" child_to_the_ns stamps
		[[ $* != '-t '* ]] || ok "$method: sleepers $*: those that sleep at the end are not in flight" \
			[ "$(fact "$method" runqlat.in_flight)" -lt $(($(children crowd | wc -l) * $2)) ]
	done
}

# ---- tasks that would have the same entry of the programs' table: every 16,384th TID ----

colliding_window() {
	local low high

	begin
	echo 3000 >/proc/sys/kernel/ns_last_pid
	start crowd sleepers 2 0.3 || return
	echo $((3000 + 16384)) >/proc/sys/kernel/ns_last_pid
	start others sleepers 2 0.3 || return
	low=$(children crowd | tail -n 1) high=$(children others | tail -n 1)
	watch_all runqlat --by process
	work
	[ $((high % 16384)) = $((low % 16384)) ]
}

right_colliders() { each_child waited "$1" crowd && each_child waited "$1" others; }

colliding_tasks() {
	local method

	if [ "$(</proc/sys/kernel/pid_max)" -lt 24000 ]; then
		skip 'tasks with the same entry have waits of their own' 'kernel.pid_max is too small'
		return
	fi
	window colliding_window || return
	for method in "${methods[@]}"; do
		ok "$method: tasks with the same entry have waits of their own" right_colliders "$method"
	done
}

# ---- a PID that is used again ----

# keys_are_all METHOD: the waits of all processes are those of the metric
keys_are_all() {
	local fact events=0

	for fact in "${!facts[@]}"; do
		[[ $fact != "$1 runqlat.process."*.events ]] || events=$((events + ${facts[$fact]}))
	done
	[ $events = "$(fact "$1" runqlat.events)" ] ||
		{ echo "$events waits of processes, $(fact "$1" runqlat.events) of all" && false; }
}

# joined_is_hidden METHOD: what was joined is no more than the switches that the kernel counts and no program saw
joined_is_hidden() {
	jq -e '.accounting.kernel_check.events | . == null or .ours[1] <= .kernel[1] + .tolerance' \
		"$w/$1"/*/runqlat.summary.json >/dev/null ||
		{ jq -c .accounting.kernel_check.events "$w/$1"/*/runqlat.summary.json && false; }
}

# no_later KEY: the kernel stamps a wait before the program of tp_btf does, and both end at the switch, by a clock that goes on
# then. So the shorter waits, where a clock that stands still shows, are no shorter with stamps.
no_later() {
	local low high least

	[[ " ${methods[*]} " = *' stamps tp_btf '* ]] || return 0
	read_slots tp_btf "$1"
	[ "$samples" -ge 50 ] || return 0
	decile 2
	least=$((low * 3 / 4))
	read_slots stamps "$1"
	decile 2
	is_within $least "$high" "$forever"
}

# right_lives METHOD: of the PID that was used most often, the waits of all its processes are those that the kernel counts
right_lives() {
	local pid delay pcount

	slurp "$w/lives.out"
	read -r _ pid delay pcount < <(sed -nE \
		's/^reused=([0-9]+) processes=([0-9]+) .*run_delay_life_ns=([0-9]+) pcount_life=([0-9]+)$/\2 \1 \3 \4/p' \
		<<<"$slurped" | sort -rn)
	waited "$1" "runqlat.process.$pid" "$delay" "$pcount" && near "$1" "runqlat.process.$pid" "$delay" "$pcount" &&
		keys_are_all "$1" && joined_is_hidden "$1" && no_later "runqlat.process.$pid" && tap_same "$(fact "$1" runqlat.negative)" 0
}

reused_pid() {
	local method lives=500

	[ -z "${LATSCOPE_VM-}" ] || lives=100
	if [ ! -w /proc/sys/kernel/ns_last_pid ]; then
		skip 'runqlat: a PID that is used again' 'this kernel cannot be asked for a PID'
		return
	fi
	window one_program 'runqlat --by process' lives reuse "$lives" || return
	for method in "${methods[@]}"; do
		ok "$method: a PID that is used again: waits and their sum are those of schedstat" right_lives "$method"
		balance "$method: a PID that is used again" "$method"
	done
}

# ---- a thread that gets another ID ----

# right_heir METHOD: it has the waits that the kernel counts, but for a few while it executes the program, and after it has read
# its account. Of these few, what came before a move, or all, may be unknown, but of no others. It has no wait of before.
right_heir() {
	local pcount

	pcount=$(($(printed heir after) - $(printed heir before)))
	is_within $((pcount * 95 / 100 - 10)) "$(fact "$1" "runqlat.thread.$(printed heir pid).events")" $((pcount + 10)) &&
		is_within 0 $(($(fact "$1" runqlat.partial) + $(fact "$1" runqlat.map_full))) 10 &&
		is_within 0 "$(fact "$1" runqlat.joined)" $((pcount / 10))
}

changed_id() {
	local method

	window one_program 'runqlat -p PID --by thread' heir heir 200 || return
	for method in "${methods[@]}"; do
		ok "$method: a thread that gets the ID of its process by exec has the waits that the kernel counts" \
			right_heir "$method"
		balance "$method: a thread that gets another ID" "$method"
	done
}

# ---- a task that loses its CPU on its way to sleep ----

# Recorders without a filter go the short way.
drowsy_window() {
	local method

	begin
	start drowsy drowsy $(($(nproc) - 1)) 100 $((500 * soak)) || return
	for method in "${methods[@]}"; do
		watch "$method" runqlat "$method" -t "$(printed drowsy drowsy_tid)" --by thread
		watch "$method-usual" runqlat "$method" --by thread
	done
	work
}

# right_drowsy NAME: as many waits as the thread's own account of switches says, together as long as the other one ran and no
# longer than it had no CPU. It is known how many of them the kernel does not count.
right_drowsy() {
	local key waits least most

	key=runqlat.thread.$(printed drowsy drowsy_tid) waits=$(printed drowsy waits)
	least=$waits
	most=$(($(printed drowsy waited_ns) + waits * 20000))
	[ -n "${LATSCOPE_VM-}" ] || least=$((waits * 95 / 100 - 3))
	is_within "$least" "$(fact "$1" "$key.events")" $((waits + 20)) || { echo "($1: waits)" && return 1; }
	is_within "$(printed drowsy run_sum_ns)" "$(fact "$1" "$key.sum_ns")" "$most" || { echo "($1: ns waited)" && return 1; }
	is_within $((waits - $(printed drowsy counted) - 20)) "$(fact "$1" runqlat.unstamped)" "$forever" ||
		{ echo "($1: unstamped)" && false; }
}

# uncounted: where the kernel preempts system calls, its account lacks many of these waits
uncounted() { [ "$(preemption)" != full ] || is_within 40 $(($(printed drowsy waits) - $(printed drowsy counted))) "$forever"; }

drowsy_waits() {
	local method

	window drowsy_window || return
	diag "drowsy: $(printed drowsy waits) waits, of which schedstat counts $(printed drowsy counted)"
	ok 'preempted on its way to sleep: it comes about where the kernel preempts system calls' uncounted
	for method in "${methods[@]}"; do
		ok "$method: preempted on its way to sleep: it waits, and for as long" right_drowsy "$method"
		ok "$method: and without filters" right_drowsy "$method-usual"
		balance "$method: preempted on its way to sleep" "$method"
	done
}

# ---- filters select by the task that waits ----

# filtered_to DESC NAME CHILD...: tests that only CHILD and its parent are recorded, and that waits of others are counted
filtered_to() {
	local key strangers=''

	for key in $(keys "$2" runqlat.process); do
		[[ " ${*:3} $(printed wanted pid) " = *" $key "* ]] || strangers+=" $key"
	done
	is "$1: nobody else" "$strangers" ''
	within "$1: the others are filtered" \
		$(($(printed other total=1 pcount) * 95 / 100)) "$(fact "$2" runqlat.filtered)" "$forever"
	balance "$1" "$2"
}

filter_window() {
	local method

	begin
	cp "$reference/sleepers" "$w/wanted"
	cgroup=$cgroups/wanted/below start wanted "$w/wanted" 4 0.5 || return
	cgroup=$cgroups/other start other sleepers 4 0.5 || return
	child=$(children wanted | tail -n 1)
	for method in "${methods[@]}"; do
		watch "$method-p" runqlat "$method" -p "$child" --by process
		watch "$method-comm" runqlat "$method" --comm wanted --by process
		watch "$method-cgroup" runqlat "$method" --cgroup "$cgroups/wanted" --by process,cgroup
	done
	work
}

# Two programs at once; filters select one of them by its name, by a parent of its cgroup, or by one process.
filters() {
	local method child

	window filter_window || return
	for method in "${methods[@]}"; do
		ok "$method: -p: the waits of the process" waited "$method-p" runqlat \
			"$(printed wanted "child=$child" run_delay_ns)" "$(printed wanted "child=$child" pcount)"
		filtered_to "$method: -p" "$method-p" "$child"
		check_children "$method: --comm" "$method-comm"
		check_children "$method: --cgroup" "$method-cgroup"
		is "$method: --cgroup: the one below is what they are in" \
			"$(keys "$method-cgroup" runqlat.cgroup)" "$(stat -c %i "$cgroups/wanted/below") "
	done
}

# check_children DESC NAME
check_children() {
	ok "$1: the waits of each process" each_child waited "$2" wanted
	# shellcheck disable=SC2046 # numbers
	filtered_to "$1" "$2" $(children wanted)
}

moved_tasks=12
[ -z "${LATSCOPE_VM-}" ] || moved_tasks=4 # it takes seconds for each

# Nothing may be in flight but what waits as the window closes.
asleep_all_the_while() {
	local method

	window one_program 'runqlat --comm moved' moved moved "$moved_tasks" 0 || return
	for method in "${methods[@]}"; do
		is "$method: tasks that were moved in their sleep: none waits" "$(fact "$method" runqlat.in_flight)" 0
	done
}

# Tasks that moved before the window, and wake up in it.
woken_in_the_window() {
	local method

	window one_program 'runqlat --comm moved' moved moved "$moved_tasks" 1 || return
	for method in "${methods[@]}"; do
		ok "$method: moved in their sleep before: their sleep is no wait" \
			[ "$(fact "$method" runqlat.max_ns)" -lt "$(printed moved slept_ns)" ]
		within "$method: moved in their sleep before: they have waited" \
			1 "$(fact "$method" runqlat.events)" "$forever"
		balance "$method: moved in their sleep before" "$method"
	done
}

mostly_whole() {
	is_within $(($(printed moved tasks) / 2)) "$(whole_children "$1" moved)" "$(printed moved tasks)" &&
		is_within 0 "$(fact "$1" runqlat.unmatched)" 2
}

# What was noted of the move is forgotten with the wait that ends the sleep, also the short way.
woken_twice() {
	local method

	window one_program 'runqlat --by process' moved moved "$moved_tasks" 2 || return
	for method in "${methods[@]}"; do
		ok "$method: moved in their sleep, and woken up twice: no wait is missing" mostly_whole "$method"
	done
}

awake_window() {
	local method

	begin
	start awake awake $((200 * soak)) || return
	for method in "${methods[@]}"; do
		watch "$method" runqlat "$method" -t "$(printed awake waiter_tid)" --metric wakeup
	done
	work
}

# slept METHOD: a sample for each sleep, and at most one more for the barrier; fewer on a host that hides switches
slept() {
	local slept forgotten

	slept=$(printed awake slept) forgotten=$(printed awake forgotten)
	is_within $((slept * 95 / 100)) "$(fact "$1" wakeup.events)" $((slept + 1 + forgotten / 4))
}

# A task that is woken up before it sleeps continues; when it loses the CPU later, the wait is not due to that wakeup. Not in
# the VM: its CPUs take turns, so no CPU wakes up a task that another one runs.
woken_before_sleep() {
	local method

	window awake_window || return
	if [ "$(printed awake forgotten)" -lt 12 ]; then
		skip 'runqlat: awake' 'in no window did wakeups come before the sleep'
		return
	fi
	for method in "${methods[@]}"; do
		ok "$method: awake: a wakeup that came before the sleep has no sample" slept "$method"
		balance "$method: awake" "$method"
	done
}

. tests/probes/waits.sh
. tests/probes/edges.sh

all_waits() {
	long_waits
	crowd $((4 * $(nproc))) "$soak"
	on 6.12 colliding_tasks
	on 6.12 reused_pid
	on 6.12 crowd -t 3 $((2 * $(nproc))) "$soak"
	on 6.12 changed_id
	if make_cgroups; then
		on 6.1 filters
	else
		skip 'runqlat: filters' 'no cgroup v2 can be made here'
	fi
	asleep_all_the_while
	woken_in_the_window
	on 6.12 woken_twice
	all_shapes
	[ -n "${LATSCOPE_VM-}" ] || woken_before_sleep
	if chrt -f 1 true 2>/dev/null; then
		on 6.12 joined_waits
		on 6.1 drowsy_waits
		on 6.1 open_wait
		late_end
		early_wait
		moved_waiters
	else
		skip 'runqlat: joined waits, waits at the edges of the window, and of tasks that are moved' 'no SCHED_FIFO here'
	fi
}

if ! methods runqlat; then
	:
elif [ "$extent" = check ]; then
	long_waits
	on 6.1 decile_waits idle 60
	on 6.12 summed_waits repin 20
	on 6.1 open_wait
	on 6.1 late_end
	on 6.1 early_wait
	on 6.12 moved_waiters
	on 6.1 changed_id
elif [ "$extent" = compact ]; then
	long_waits
	[ "$(preemption)" != full ] || drowsy_waits
	decile_waits idle 60
	summed_waits repin 20
else
	all_waits
fi
