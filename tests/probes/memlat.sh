# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# memlat against getrusage(2), userfaultfd(2) and what else can tell how many faults there were.
. tests/probes/window.sh

# watch_all ARG...: on every rung, by the rung's name
watch_all() {
	local rung

	for rung in "${rungs[@]}"; do
		watch "$rung" memlat "$rung" "$@"
	done
}

# The rungs at handle_mm_fault(): the one of software events knows less.
sees_calls() { [ "$1" != perf-event ]; }

# has_all PROGRAM KEY RUNG: as many faults as PROGRAM tells by KEY
has_all() { all_there "$3" memlat.events "$(told "$1" "$2")"; }

# uffd_window DELAY_MS ARG...: uffd ARG... with such a delay
uffd_window() {
	begin
	start slow uffd "${@:2}" "$1" || return
	watch_all -p "$pid" --tail-us $(($1 * 1000))
	work
}

# said_missing RUNG: faults that it says it could not measure
said_missing() { echo $(($(fact "$1" memlat.missed_start) + $(fact "$1" memlat.abandoned))); }

# lost RUNG: those that it may lose. A kretprobe sees as many returns as it has instances.
lost() { [ "$1" = kprobe ] && said_missing kprobe || echo 0; }

# Of a process that is measured, and of one that is not.
storm_window() {
	begin
	start slow uffd -t 384 2304 20 || return
	watch_all -p "$pid" --tail-us 20000
	start others uffd -t 128 768 20 || return
	work
}

# least_of_storm RUNG: how many of the faults have to be recorded
least_of_storm() {
	if [ "$1" = kprobe ]; then
		echo 10 # no more sleep at the same time
	else
		echo $(($(told slow pages) * 95 / 100))
	fi
}

# Now and then the host stops the virtual machine where many programs are preempted.
storm_is_seen() {
	local least

	least=$(least_of_storm "$1")
	[ "$(fact "$1" memlat.events)" -ge "$least" ] || { echo "$(fact "$1" memlat.events), not $least" && false; }
}

# A storm of faults on a kernel that preempts our programs in their midst: a fault may be missing, but then it is said
# to be, and none is shorter than it was.
preempted_faults() {
	local rung pages delay_ns=20000000

	calm=storm_is_seen window storm_window || return
	pages=$(told slow pages)
	for rung in "${rungs[@]}"; do
		within "$rung: preempted: a fault is recorded or said to be missing" \
			$((pages - $(fact "$rung" memlat.recursion_missed))) \
			$(($(fact "$rung" memlat.events) + $(said_missing "$rung") + $(fact "$rung" memlat.open))) "$pages"
		diag "$rung: $(fact "$rung" memlat.events) of $pages recorded"
		is "$rung: preempted: none is shorter than the delay" \
			"$(at_least "$rung" memlat $delay_ns)" "$(fact "$rung" memlat.events)"
		within "$rung: preempted: nearly all are there" "$(least_of_storm "$rung")" "$(fact "$rung" memlat.events)" "$pages"
		balance "$rung: preempted" "$rung"
	done
}

# slow_faults WHAT DELAY_MS ARG...: each fault is retried by the kernel, with the delay in the first call.
slow_faults() {
	local rung pages what=$1 delay_ns=$(($2 * 1000000))

	calm='has_all slow pages' window uffd_window "${@:2}" || return
	for rung in "${rungs[@]}"; do
		pages=$(($(told slow pages) - $(lost "$rung")))
		is "$rung: $what: one sample a fault" "$(fact "$rung" memlat.events)" "$pages"
		is "$rung: $what: each as long as the delay" "$(at_least "$rung" memlat $delay_ns)" "$pages"
		is "$rung: $what: each in the tail that begins there" "$(fact "$rung" memlat.tail)" "$pages"
		within "$rung: $what: the sum is between the delays and what the program saw" \
			$((pages * delay_ns)) "$(fact "$rung" memlat.sum_ns)" "$(told slow touch_sum_ns)"
		within "$rung: $what: the longest is not longer than what the program saw" \
			$delay_ns "$(fact "$rung" memlat.max_ns)" "$(told slow touch_max_ns)"
		within "$rung: $what: some are there" 10 "$pages" "$(told slow pages)"
		[ "$(lost "$rung")" != 0 ] || retried "$rung: $what" "$rung" "$pages"
		balance "$rung: $what" "$rung"
	done
}

# retried DESC RUNG FAULTS: each of them took two calls at least, and all calls are part of a fault
retried() {
	sees_calls "$2" || return
	within "$1: retries are told from faults" "$3" "$(fact "$2" memlat.continued)" $((2 * $3))
	is "$1: and joined with them" "$(fact "$2" memlat.joined)" "$(fact "$2" memlat.continued)"
}

skipped_window() {
	begin
	start skipped skipped $((640 * soak)) || return
	watch_all -p "$pid"
	work
}

# Faults of a thread that preempts bpf() calls of others. Nobody but the event's own count tells that perf-event has not
# seen them.
skipped_faults() {
	local faults events missing rungs=(perf-event)

	window skipped_window || return
	faults=$(told skipped minflt_window) events=$(fact perf-event memlat.events)
	missing=$(fact perf-event memlat.recursion_missed)
	diag "perf-event: skipped: $events of $faults recorded, $missing said to be missing"
	within 'perf-event: skipped: a fault is recorded or said to be missing' $((faults - missing)) \
		$((events + $(fact perf-event memlat.missed_start))) "$faults"
	if [[ $(preemption) =~ lazy|full|rt ]]; then
		ok 'perf-event: skipped: some are missing' [ "$events" -lt "$faults" ]
	fi
	balance 'perf-event: skipped' perf-event
}

leftover_window() {
	begin
	start leftover leftover 10 || return
	watch_all -p "$pid"
	work
}

# The end of a fault whose start perf events did not show, with that of an earlier one left: it has no time. That takes
# a kernel that preempts a system call at once.
leftover_starts() {
	local rungs=(perf-event)

	[[ $(preemption) =~ full|rt ]] || return 0
	window leftover_window || return
	within 'perf-event: a start that is left belongs to no other fault' \
		1 "$(fact perf-event memlat.unmatched)" "$(told leftover rounds)"
	balance 'perf-event: a start that is left' perf-event
}

touch_window() {
	local rung splits

	begin
	start fast touch "$@" $((500 * soak)) || return
	for rung in "${rungs[@]}"; do
		splits=type,mode,access
		sees_calls "$rung" || splits=type,mode
		watch "$rung" memlat "$rung" -p "$pid" --by "$splits"
	done
	work
}

# fast_faults MODE ACCESS ARG...: touch ARG...
fast_faults() {
	local rung mode=$1 access=$2 what="touch, $2 by $1"

	calm='has_all fast minflt_window' window touch_window "${@:3}" || return
	for rung in "${rungs[@]}"; do
		is "$rung: $what: what getrusage counts" "$(fact "$rung" memlat.events)" "$(told fast minflt_window)"
		is "$rung: $what: minor" "$(fact "$rung" memlat.type.minor.events)" "$(told fast minflt_window)"
		is "$rung: $what: mode" "$(keys "$rung" memlat.mode)" "$mode "
		! sees_calls "$rung" || is "$rung: $what: access" "$(keys "$rung" memlat.access)" "$access "
		balance "$rung: $what" "$rung"
	done
	if [[ $(preemption) =~ none|voluntary ]]; then
		is "perf-event: $what: no fault is said to be missing" "$(fact perf-event memlat.recursion_missed)" 0
	fi
}

cold_window() {
	begin
	start cold cold "$disk_fs/cold-$$" $((100 * soak)) || return
	watch_all -p "$pid" --by type,process
	work
}

# Faults that read from the disk.
cold_faults() {
	local rung pages

	calm='has_all cold majflt_window' window cold_window || return
	pages=$(told cold majflt_window)
	for rung in "${rungs[@]}"; do
		is "$rung: cold: what getrusage counts as major" "$(fact "$rung" memlat.type.major.events)" "$pages"
		is "$rung: cold: nothing else" "$(fact "$rung" memlat.events)" "$pages"
		is "$rung: cold: of the process" "$(fact "$rung" "memlat.process.$(told cold pid).events")" "$pages"
		retried "$rung: cold" "$rung" "$pages"
		balance "$rung: cold" "$rung"
	done
}

# What is free is put together, lest there be no huge page. Where that may not be, the truth will tell.
compact() { [ -n "${LATSCOPE_VM-}" ] || echo 1 2>/dev/null >/proc/sys/vm/compact_memory; }

thp_window() {
	local rung by

	begin
	compact
	start huge thp $((4 * soak)) || return
	for rung in "${rungs[@]}"; do
		by=(--by page)
		sees_calls "$rung" || by=()
		watch "$rung" memlat "$rung" -p "$pid" "${by[@]}"
	done
	work
}

huge_faults() {
	local rung

	calm='has_all huge minflt_window' window thp_window || return
	for rung in "${rungs[@]}"; do
		is "$rung: thp: what getrusage counts" "$(fact "$rung" memlat.events)" "$(told huge minflt_window)"
		! sees_calls "$rung" || is "$rung: thp: all by huge pages" "$(keys "$rung" memlat.page)" 'thp '
		balance "$rung: thp" "$rung"
	done
}

gup_window() {
	begin
	start gup gup "$@" $((200 * soak)) || return
	watch_all -p "$pid" --by mode
	work
}

gup_has_all() { ! sees_calls "$1" || has_all gup minflt_window "$1"; }

# gup_faults ARG...: no exception: the events of the perf-event rung do not count them, and it says so.
gup_faults() {
	local rung wanted what="gup${1+ $1}"

	calm=gup_has_all window gup_window "$@" || return
	for rung in "${rungs[@]}"; do
		wanted=0
		! sees_calls "$rung" || wanted=$(told gup minflt_window)
		is "$rung: $what: as many as the kernel counts" "$(fact "$rung" memlat.mode.gup.events)" "$wanted"
		is "$rung: $what: nothing else" "$(fact "$rung" memlat.events)" "$wanted"
		balance "$rung: $what" "$rung"
	done
}

mixed_window() {
	begin
	start slow uffd $((20 * soak)) 5 || return
	start fast touch $((2000 * soak)) || return
	watch_all --by process
	work
}

mixed_has_all() {
	all_there "$1" "memlat.process.$(told slow pid).events" "$(told slow pages)" &&
		all_there "$1" "memlat.process.$(told fast pid).events" "$(told fast minflt_window)"
}

# Processes in the midst of one another's faults, and of everybody's.
mixed_faults() {
	local rung slow fast

	calm=mixed_has_all window mixed_window || return
	slow=memlat.process.$(told slow pid) fast=memlat.process.$(told fast pid)
	for rung in "${rungs[@]}"; do
		is "$rung: two processes: the slow one's faults" "$(fact "$rung" "$slow.events")" "$(told slow pages)"
		is "$rung: two processes: all of them slow" "$(at_least "$rung" "$slow" 5000000)" "$(told slow pages)"
		is "$rung: two processes: the fast one's" "$(fact "$rung" "$fast.events")" "$(told fast minflt_window)"
		balance "$rung: two processes" "$rung"
	done
}

stuck_window() {
	begin
	start stuck stuck "$1" || return
	watch_all -p "$pid"
	work
}

# stuck_fault WHAT OPEN BEFORE MISSED: a fault that was in progress at the attach. At the end so many are open, so many
# of these since before the attach, and so many faults ended of which the start is not known. None is a sample.
stuck_fault() {
	local rung what="in progress at the attach: $1"

	window stuck_window "$1" || return
	for rung in "${rungs[@]}"; do
		is "$rung: $what: open at end" "$(fact "$rung" memlat.open)" "$2"
		is "$rung: $what: began before" "$(fact "$rung" memlat.open_before)" "$3"
		is "$rung: $what: no start" "$(fact "$rung" memlat.missed_start)" "$4"
		is "$rung: $what: no sample" "$(fact "$rung" memlat.events)" 0
		[ "$3" = 0 ] || within "$rung: $what: as old as the window at least" \
			"$(fact "$rung" window_ns)" "$(fact "$rung" memlat.open_ns)" "$forever"
		balance "$rung: $what" "$rung"
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

# What software events do not tell is refused, not made up.
refused_splits() {
	local split status

	for split in access page; do
		"$latscope" memlat --rung perf-event --by $split -d 1ms >"$scratch/out" 2>"$scratch/err"
		status=$?
		is "perf-event: --by $split is refused" $status 2
		like "perf-event: --by $split: says why" "$(<"$scratch/err")" "rung perf-event cannot do --by $split; leave out"
	done
}

# What only the method by software events can get wrong.
software_events() {
	skipped_faults
	leftover_starts
}

if ! rungs memlat; then
	:
elif [ -n "${compact-}" ]; then
	if [[ $(preemption) =~ lazy|full|rt ]]; then
		preempted_faults
	else
		slow_faults uffd 5 20
	fi
	[[ " ${rungs[*]} " != *' perf-event '* ]] || software_events
	fast_faults user write
	[ -n "$repeated" ] || stuck_faults
else
	slow_faults uffd 5 $((20 * soak))
	[[ " ${rungs[*]} " != *' perf-event '* ]] || software_events
	on 6.1 slow_faults 'uffd, many at once' 20 -t 512 $((3072 * soak))
	fast_faults user write
	on 6.1 fast_faults user read -r
	on 6.12 fast_faults kernel write -s kernel
	on 6.12 fast_faults kernel read -s kernel -r
	cold_faults
	on 6.12 huge_faults
	on 6.1 gup_faults
	on 6.12 gup_faults -r
	on 6.1 mixed_faults
	stuck_faults
	on 6.12 refused_splits
fi
