#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# kinds.sh: memlat --by kind compared with programs whose faults are of known kinds, with the kernel's counts and with its function
# tracer. In the VM, with a second NUMA node.
set -u
cd "$(dirname "$0")/../.." || exit
# shellcheck disable=SC2154 # set by window.sh
. tests/probes/window.sh

methods=(fentry kprobe) # perf-event refuses it
tracing=/sys/kernel/tracing balancing=/sys/kernel/debug/sched/numa_balancing

prepare() {
	modprobe zram num_devices=1 && echo 64M >/sys/block/zram0/disksize && mkswap /dev/zram0 >/dev/null && swapon /dev/zram0 &&
		echo 0 >/proc/sys/vm/page-cluster && echo 8 >/proc/sys/vm/nr_hugepages || return
	[ -e "$tracing/trace" ] || mount -t tracefs none "$tracing" || return
	[ -e /sys/kernel/debug/sched ] || mount -t debugfs none /sys/kernel/debug
	echo 0 >/proc/sys/kernel/numa_balancing && echo 10 >"$balancing/scan_delay_ms" && echo 10 >"$balancing/scan_period_min_ms" &&
		echo 100 >"$balancing/scan_period_max_ms"
}

# of_kind METHOD KIND: prints the number of faults
of_kind() { fact "$1" "memlat.kind.$2.events"; }

# all_kinds METHOD: prints the number of faults of all kinds
all_kinds() {
	local kind sum=0

	for kind in anonymous file cow hugetlb numa swap migration uffd; do
		sum=$((sum + $(of_kind "$1" $kind)))
	done
	echo $sum
}

# sums METHOD WHAT PROGRAM: each fault that getrusage counts has a kind
sums() {
	is "$1: $2: each fault has a kind" "$(all_kinds "$1")" "$(fact "$1" memlat.events)"
	is "$1: $2: what getrusage counts" "$(fact "$1" memlat.events)" \
		$(($(printed "$3" minflt_window) + $(printed "$3" majflt_window)))
	balance "$1: $2" "$1"
}

known_kinds() {
	local method kind

	window one_program 'memlat -p PID --by kind,type' kinds kinds 211 101 97 53 61 3 || return
	for method in "${methods[@]}"; do
		for kind in anonymous file cow hugetlb swap; do
			is "$method: kinds: $kind" "$(of_kind "$method" $kind)" "$(printed kinds $kind)"
		done
		is "$method: kinds: no others" "$(keys "$method" memlat.kind)" 'anonymous cow file hugetlb swap '
		# The kernel counts a read from zram as major, or not.
		within "$method: kinds: swap is at most what was read from it" 1 "$(of_kind "$method" swap)" "$(printed kinds pswpin)"
		within "$method: kinds: major are some of these" 0 "$(fact "$method" memlat.type.major.events)" "$(printed kinds swap)"
		sums "$method" kinds kinds
	done
}

# The kernel retries each; the later calls find the page there.
userfaults() {
	local method

	window one_program 'memlat -p PID --by kind' slow uffd 20 5 || return
	for method in "${methods[@]}"; do
		is "$method: uffd: each is one" "$(of_kind "$method" uffd)" "$(printed slow pages)"
		sums "$method" uffd slow
	done
}

# traced REGEX: prints how many calls of the functions the tracer saw
traced() { grep -cE ": ($1) <-" "$tracing/trace"; }

moving_window() {
	begin
	start moving moving 40 256 || return
	watch_all memlat -p "$pid" --by kind
	await_recorders
	echo nop >"$tracing/current_tracer"
	printf '%s\n' '*migration_entry_wait' >"$tracing/set_ftrace_filter"
	echo "$pid" >"$tracing/set_ftrace_pid"
	echo function >"$tracing/current_tracer"
	run_programs
	echo 0 >"$tracing/tracing_on"
	close_window
}

moving_pages() {
	local method waits

	window moving_window || return
	waits=$(traced '(pmd_)?migration_entry_wait')
	for method in "${methods[@]}"; do
		within "$method: moving: there are waits" 1 "$(of_kind "$method" migration)" "$(printed moving loop_faults)"
		is "$method: moving: as many as the tracer sees" "$(of_kind "$method" migration)" "$waits"
		is "$method: moving: the others are of the mapping" "$(of_kind "$method" anonymous)" \
			$(($(printed moving touched) + $(printed moving loop_faults) - waits))
		sums "$method" moving moving
	done
}

# hint_faults_of_all: prints the kernel's count, of all processes
hint_faults_of_all() { sed -n 's/^numa_hint_faults //p' /proc/vmstat; }

hint_window() {
	begin
	before=$(hint_faults_of_all)
	start hinted hinted 512 200 || return
	watch_all memlat -p "$pid" --by kind
	await_recorders
	echo 1 >/proc/sys/kernel/numa_balancing
	run_programs
	close_window
}

hint_faults() {
	local method before after

	window hint_window || return
	after=$(hint_faults_of_all)
	for method in "${methods[@]}"; do
		is "$method: hints: first touches are none" "$(of_kind "$method" anonymous)" "$(printed hinted touched)"
		is "$method: hints: all other faults are" "$(of_kind "$method" numa)" \
			$(($(printed hinted minflt_window) + $(printed hinted majflt_window) - $(printed hinted touched)))
		within "$method: hints: at most what the kernel counts as such" 200 "$(of_kind "$method" numa)" $((after - before))
		sums "$method" hints hinted
	done
}

ok 'the guest is prepared' prepare || { done_testing && exit; }
known_kinds
userfaults
moving_pages
hint_faults
refused_split memlat perf-event kind
done_testing
