# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# memlat compared with getrusage(2), userfaultfd(2) and other accounts of faults.
. tests/probes/window.sh

# sees_calls METHOD: succeeds for methods at handle_mm_fault(); perf-event sees less.
sees_calls() { [ "$1" != perf-event ]; }

# said_missing METHOD: prints the number of faults that it reports as missing
said_missing() { echo $(($(fact "$1" memlat.missed_start) + $(fact "$1" memlat.abandoned))); }

# lost METHOD: prints how many faults it may lose. A kretprobe sees only as many returns at a time as it has instances.
lost() { [ "$1" = kprobe ] && said_missing kprobe || echo 0; }

# A storm of faults in a measured process, and in another one.
storm_window() {
	begin
	start slow uffd -t 384 2304 20 || return
	watch_all memlat -p "$pid" --tail-us 20000
	start others uffd -t 128 768 20 || return
	work
}

# least_of_storm METHOD: prints how many of the faults must be recorded
least_of_storm() {
	if [ "$1" = kprobe ]; then
		echo 10 # no more sleep at the same time
	else
		echo $(($(printed slow pages) * 95 / 100))
	fi
}

# A storm of faults on a kernel that preempts our programs while they run: each missing fault is reported as missing, and no
# recorded fault is too short.
preempted_faults() {
	local method pages delay_ns=20000000

	window storm_window || return
	pages=$(printed slow pages)
	for method in "${methods[@]}"; do
		within "$method: preempted: a fault is recorded or said to be missing" \
			$((pages - $(fact "$method" memlat.recursion_missed))) \
			$(($(fact "$method" memlat.events) + $(said_missing "$method") + $(fact "$method" memlat.in_flight))) "$pages"
		diag "$method: $(fact "$method" memlat.events) of $pages recorded"
		is "$method: preempted: none is shorter than the delay" \
			"$(at_least "$method" memlat $delay_ns)" "$(fact "$method" memlat.events)"
		within "$method: preempted: nearly all are there" "$(least_of_storm "$method")" "$(fact "$method" memlat.events)" "$pages"
		balance "$method: preempted" "$method"
	done
}

# slow_faults WHAT DELAY_MS ARG...: the kernel retries each fault; the delay is in the first call
slow_faults() {
	local method pages what=$1 delay_ns=$(($2 * 1000000))

	window one_program "memlat -p PID --tail-us $(($2 * 1000))" slow uffd "${@:3}" "$2" || return
	for method in "${methods[@]}"; do
		pages=$(($(printed slow pages) - $(lost "$method")))
		is "$method: $what: one sample a fault" "$(fact "$method" memlat.events)" "$pages"
		is "$method: $what: each as long as the delay" "$(at_least "$method" memlat $delay_ns)" "$pages"
		is "$method: $what: each in the tail that begins there" "$(fact "$method" memlat.tail)" "$pages"
		within "$method: $what: the sum is between the delays and what the program saw" \
			$((pages * delay_ns)) "$(fact "$method" memlat.sum_ns)" "$(printed slow touch_sum_ns)"
		within "$method: $what: the longest is not longer than what the program saw" \
			$delay_ns "$(fact "$method" memlat.max_ns)" "$(printed slow touch_max_ns)"
		within "$method: $what: some are there" 10 "$pages" "$(printed slow pages)"
		[ "$(lost "$method")" != 0 ] || retried "$method: $what" "$method" "$pages"
		balance "$method: $what" "$method"
	done
}

# retried DESC METHOD FAULTS: tests that each fault took at least two calls, and that all calls are part of a fault
retried() {
	sees_calls "$2" || return
	within "$1: retries are distinguished from faults" "$3" "$(fact "$2" memlat.continued)" $((2 * $3))
	is "$1: and joined with them" "$(fact "$2" memlat.joined)" "$(fact "$2" memlat.continued)"
}

# Faults of a thread that preempts bpf() calls of others. perf-event does not see them; only the event's own count shows that.
skipped_faults() {
	local faults events missing methods=(perf-event)

	window one_program 'memlat -p PID' skipped skipped $((640 * soak)) || return
	faults=$(printed skipped minflt_window) events=$(fact perf-event memlat.events)
	missing=$(fact perf-event memlat.recursion_missed)
	diag "perf-event: skipped: $events of $faults recorded, $missing said to be missing"
	within 'perf-event: skipped: a fault is recorded or said to be missing' $((faults - missing)) \
		$((events + $(fact perf-event memlat.missed_start))) "$faults"
	if [[ $(preemption) =~ lazy|full|rt ]]; then
		ok 'perf-event: skipped: some are missing' [ "$events" -lt "$faults" ]
	fi
	balance 'perf-event: skipped' perf-event
}

# The end of a fault of which perf events missed the start, while the start of an earlier fault is left over: it has no time.
# This needs a kernel that preempts a system call at once.
leftover_starts() {
	local methods=(perf-event)

	[[ $(preemption) =~ full|rt ]] || return 0
	window one_program 'memlat -p PID' leftover leftover 10 || return
	within 'perf-event: a start that is left belongs to no other fault' \
		1 "$(fact perf-event memlat.unmatched)" "$(printed leftover rounds)"
	balance 'perf-event: a start that is left' perf-event
}

# The start of a fault that failed, of a thread that then gets another ID by exec: it does not stay in the table.
renumbered_starts() {
	local methods=(perf-event) abandoned failed count

	window one_program 'memlat -p PID' renumbered renumbered || return
	abandoned=$(fact perf-event memlat.abandoned) failed=$(printed renumbered failed)
	is 'perf-event: the start that a thread leaves by exec is removed' "$abandoned" "$failed"
	[ "$abandoned" = "$failed" ] || for count in events missed_start unmatched not_kept in_flight recursion_missed; do
		diag "$count: $(fact perf-event "memlat.$count")"
	done
	balance 'perf-event: the start that a thread leaves by exec' perf-event
}

touch_window() {
	local method splits

	begin
	start fast touch "$@" $((500 * soak)) || return
	for method in "${methods[@]}"; do
		splits=type,mode,access
		sees_calls "$method" || splits=type,mode
		watch "$method" memlat "$method" -p "$pid" --by "$splits"
	done
	work
}

# fast_faults MODE ACCESS ARG...: tests `touch ARG...`
fast_faults() {
	local method mode=$1 access=$2 what="touch, $2 by $1"

	window touch_window "${@:3}" || return
	for method in "${methods[@]}"; do
		is "$method: $what: what getrusage counts" "$(fact "$method" memlat.events)" "$(printed fast minflt_window)"
		is "$method: $what: minor" "$(fact "$method" memlat.type.minor.events)" "$(printed fast minflt_window)"
		is "$method: $what: mode" "$(keys "$method" memlat.mode)" "$mode "
		! sees_calls "$method" || is "$method: $what: access" "$(keys "$method" memlat.access)" "$access "
		is "$method: $what: each has an event" "$(fact "$method" memlat.no_event)" 0
		balance "$method: $what" "$method"
	done
	if [[ $(preemption) =~ none|voluntary ]]; then
		is "perf-event: $what: no fault is said to be missing" "$(fact perf-event memlat.recursion_missed)" 0
	fi
}

# Without splits, short faults are counted in a straight line.
plain_faults() {
	local method events most

	window one_program 'memlat -p PID --tail-us 4' plain touch $((500 * soak)) || return
	for method in "${methods[@]}"; do
		events=$(fact "$method" memlat.events) most=$(most_ns "$method" memlat 0 "$forever")
		is "$method: no splits: what getrusage counts" "$events" "$(printed plain minflt_window)"
		within "$method: no splits: the slots have the sum" \
			$((most * 31 / 32 - 32 * events)) "$(fact "$method" memlat.sum_ns)" "$most"
		is "$method: no splits: the tail begins at 4 us" "$(fact "$method" memlat.tail)" "$(at_least "$method" memlat 4000)"
		balance "$method: no splits" "$method"
	done
}

# Faults that read from the disk.
cold_faults() {
	local method pages

	window one_program 'memlat -p PID --by type,process' cold cold "$disk_fs/cold-$$" $((100 * soak)) || return
	pages=$(printed cold majflt_window)
	for method in "${methods[@]}"; do
		is "$method: cold: what getrusage counts as major" "$(fact "$method" memlat.type.major.events)" "$pages"
		is "$method: cold: nothing else" "$(fact "$method" memlat.events)" "$pages"
		is "$method: cold: of the process" "$(fact "$method" "memlat.process.$(printed cold pid).events")" "$pages"
		retried "$method: cold" "$method" "$pages"
		balance "$method: cold" "$method"
	done
}

# compact: compacts free memory, so that there are huge pages. Without permission, the program thp reports missing pages.
compact() { [ -n "${LATSCOPE_VM-}" ] || echo 1 2>/dev/null >/proc/sys/vm/compact_memory; }

thp_window() {
	local method by

	begin
	compact
	start huge thp $((4 * soak)) || return
	for method in "${methods[@]}"; do
		by=(--by page)
		sees_calls "$method" || by=()
		watch "$method" memlat "$method" -p "$pid" "${by[@]}"
	done
	work
}

huge_faults() {
	local method

	window thp_window || return
	for method in "${methods[@]}"; do
		is "$method: thp: what getrusage counts" "$(fact "$method" memlat.events)" "$(printed huge minflt_window)"
		! sees_calls "$method" || is "$method: thp: all by huge pages" "$(keys "$method" memlat.page)" 'thp '
		balance "$method: thp" "$method"
	done
}

# gup_faults ARG...: faults without an exception; there are no events of them, but perf-event tells how many there were
gup_faults() {
	local method wanted what="gup${1+ $1}" text

	window one_program 'memlat -p PID --by mode' gup gup "$@" $((200 * soak)) || return
	for method in "${methods[@]}"; do
		wanted=0
		! sees_calls "$method" || wanted=$(printed gup minflt_window)
		is "$method: $what: as many as the kernel counts" "$(fact "$method" memlat.mode.gup.events)" "$wanted"
		is "$method: $what: nothing else" "$(fact "$method" memlat.events)" "$wanted"
		balance "$method: $what" "$method"
		wanted=$(($(printed gup minflt_window) - wanted))
		is "$method: $what: the others are said to have no event" \
			$(($(fact "$method" memlat.no_event) + $(fact "$method" memlat.recursion_missed))) "$wanted"
		text=$("$latscope" report "$w/$method"/* | tr -s ' \n' ' ')
		if [ "$wanted" = 0 ]; then
			is "$method: $what: nothing is missing" "${text//*MISSING*/MISSING}" "$text"
		else
			like "$method: $what: all of them are missing" "$text" "MISSING: 100 % of the events \($wanted of $wanted\) were not measured"
		fi
	done
}

mixed_window() {
	begin
	start slow uffd $((20 * soak)) 5 || return
	start fast touch $((2000 * soak)) || return
	watch_all memlat --by process
	work
}

# Faults of two processes at the same time, among those of all others.
mixed_faults() {
	local method slow fast

	window mixed_window || return
	slow=memlat.process.$(printed slow pid) fast=memlat.process.$(printed fast pid)
	for method in "${methods[@]}"; do
		is "$method: two processes: the slow one's faults" "$(fact "$method" "$slow.events")" "$(printed slow pages)"
		is "$method: two processes: all of them slow" "$(at_least "$method" "$slow" 5000000)" "$(printed slow pages)"
		is "$method: two processes: the fast one's" "$(fact "$method" "$fast.events")" "$(printed fast minflt_window)"
		balance "$method: two processes" "$method"
	done
}

# place_of TID: sets $place to the first one that the task may have in the table of calls: see first_place()
place_of() { place=$((($1 * 0x9e3779b1 & 0xffffffff) >> 18 & ~1)); }

# next_alike LAST: sets $pid to the next ID that is free and whose first place is from $first to LAST; fails if there is none
next_alike() {
	local most

	most=$(</proc/sys/kernel/pid_max)
	while [ $((++pid)) -lt "$most" ]; do
		place_of "$pid"
		[ "$place" -lt "$first" ] || [ "$place" -gt "$1" ] || [ -e "/proc/$pid" ] || return 0
	done
	return 1
}

# alike_window PAIRS LEAST COUNT: LEAST to COUNT processes, of which the first places are in PAIRS pairs next to each other.
# If another process gets the ID that was chosen, the one that was to have it is not one of them.
alike_window() {
	local pid=$((1000 + RANDOM % 1000)) first last chosen place i=0

	begin
	alike=()
	place_of $pid
	first=$place last=$((place + 2 * ($1 - 1)))
	while [ ${#alike[@]} -lt "$3" ] && next_alike $last; do
		chosen=$pid
		echo $((chosen - 2)) >/proc/sys/kernel/ns_last_pid # start creates one process before
		start "alike$((i++))" uffd $((40 * soak)) 5 || return
		place_of "$pid"
		[ "$place" -lt "$first" ] || [ "$place" -gt "$last" ] || alike+=("$pid")
		pid=$chosen
	done
	watch_all memlat --by process
	work
	[ ${#alike[@]} -ge "$2" ] || no_reference="only ${#alike[@]} processes have the same places"
}

# alike_faults PAIRS LEAST COUNT: as alike_window; faults in progress at the same time of tasks that have the same places in the table
alike_faults() {
	local method pid alike pages

	window alike_window "$@" || return
	pages=$(printed alike0 pages)
	for method in "${methods[@]}"; do
		for pid in "${alike[@]}"; do
			is "$method: $3 with the same places: the faults of each" "$(fact "$method" "memlat.process.$pid.events")" "$pages"
			is "$method: $3 with the same places: all of them slow" \
				"$(at_least "$method" "memlat.process.$pid" 5000000)" "$pages"
		done
		is "$method: $3 with the same places: none is another's" "$(fact "$method" memlat.unmatched)" 0
		balance "$method: $3 with the same places" "$method"
	done
}

# 19 tasks or more that have 18 places altogether: the others are in task storage, which only this method uses.
too_many_alike() {
	local methods=(perf-event)

	[ -n "${LATSCOPE_VM-}" ] || alike_faults 6 19 20
}

# stuck_fault WHAT OPEN BEFORE MISSED: a fault that was in progress at the attach. At the end OPEN faults are in flight, BEFORE
# of them since before the attach, and MISSED faults have ended without a known start. None is a sample.
stuck_fault() {
	local method what="in progress at the attach: $1" whose

	window one_program 'memlat -p PID' stuck stuck "$1" || return
	whose=('' "stuck ($pid)")
	for method in "${methods[@]}"; do
		is "$method: $what: in flight at end" "$(fact "$method" memlat.in_flight)" "$2"
		is "$method: $what: began before" "$(fact "$method" memlat.in_flight_before)" "$3"
		is "$method: $what: its process" "$(fact "$method" memlat.in_flight_of)" "${whose[$2]}"
		is "$method: $what: no start" "$(fact "$method" memlat.missed_start)" "$4"
		is "$method: $what: no sample" "$(fact "$method" memlat.events)" 0
		[ "$3" = 0 ] || within "$method: $what: as old as the window at least" \
			"$(fact "$method" window_ns)" "$(fact "$method" memlat.in_flight_ns)" "$forever"
		balance "$method: $what" "$method"
	done
}

stuck_faults() {
	case $(uname -r) in
	6.1.*) stuck_fault never 0 0 0 ;; # its stacks are not read: it may warn
	*) stuck_fault never 1 1 0 ;;
	esac
	stuck_fault ends 0 0 1
	stuck_fault another 1 0 1
}

# Splits that software events do not have are refused.
refused_splits() {
	refused_split memlat perf-event access
	refused_split memlat perf-event page
	refused_split memlat perf-event kind
}

# Errors that only the method perf-event can make.
software_events() {
	skipped_faults
	leftover_starts
	renumbered_starts
	too_many_alike
}

if ! methods memlat; then
	:
elif [ "$extent" = check ]; then
	slow_faults uffd 5 20
	on 6.1 fast_faults user write
	on 6.12 plain_faults
	on 6.12 stuck_fault never 1 1 0
	on 6.1 stuck_fault another 1 0 1
	on 6.1 stuck_fault ends 0 0 1
	on 6.1 renumbered_starts
	on 6.1 gup_faults
elif [ "$extent" = compact ]; then
	if [[ $(preemption) =~ lazy|full|rt ]]; then
		preempted_faults
	else
		slow_faults uffd 5 20
	fi
	[[ " ${methods[*]} " != *' perf-event '* ]] || software_events
	fast_faults user write
	plain_faults
	[ -n "$repeated" ] || stuck_faults
else
	slow_faults uffd 5 $((20 * soak))
	[[ " ${methods[*]} " != *' perf-event '* ]] || software_events
	on 6.1 slow_faults 'uffd, many at once' 20 -t 512 $((3072 * soak))
	fast_faults user write
	plain_faults
	on 6.1 fast_faults user read -r
	on 6.12 fast_faults kernel write -s kernel
	on 6.12 fast_faults kernel read -s kernel -r
	cold_faults
	on 6.12 huge_faults
	on 6.1 gup_faults
	on 6.12 gup_faults -r
	on 6.1 mixed_faults
	on 6.12 alike_faults 1 2 3
	stuck_faults
	on 6.12 refused_splits
fi
