#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# where on this machine: threads whose lives are known, what /proc shows of threads, switches that are not seen, and kernels that
# show less. Under soak, 1,000,000 threads that come and go.
set -u
cd "$(dirname "$0")/../.." || exit
if [ "$(readlink /proc/self/ns/mnt)" != "${WHERE_MOUNTS-}" ]; then
	unshare -m true 2>/dev/null || { echo '1..0 # SKIP cannot make a mount namespace' && exit; }
	exec unshare -m bash -c 'WHERE_MOUNTS=$(readlink /proc/self/ns/mnt) exec "$0"' "$0"
fi
. tests/probes/where.sh

# ---- what /proc shows ----

# The sampled program goes on before and after the window.
sampled_window() {
	begin
	start states states "$disk_fs" 100000 || return
	release states
	start sampler sampler "$pid" 1000 || return
	watch_where thread 1000s -p "${programs[states]}"
	await_recorders
	release sampler
	await 'the end of sampler' has_printed sampler 'done=1'
	stop_recorders thread
	end_program sampler
}

# compare_with_proc: prints what differs
compare_with_proc() {
	local part parts='cpu ready disk memory fault lock futex socket work timer child stopped other unknown life'

	for part in $parts; do
		echo "SELECT tid || ' $part ' || sum(${part}_ns) FROM \"where\" GROUP BY tid;"
	done | sqlite3 -readonly "$w"/thread/*/run.db | awk -f tests/probes/where-seen.awk - "$w/sampler.out"
}

sampled() {
	[ "$(uname -m)" = x86_64 ] || { skip 'what /proc shows' 'its system calls are those of x86-64' && return; }
	window sampled_window || return
	is 'proc: the states that /proc shows 1,000 times are the parts of 21 threads' "$(compare_with_proc)" threads=21
}

# ---- an incident: commits wait for a lock, whose holder waits for a disk, which serves a backup ----

loop_disk() {
	truncate -s 64M "$scratch/disk" && disk=$(losetup --show -f --direct-io=on "$scratch/disk" 2>/dev/null) && at_exit+=(free_disk)
}
free_disk() { losetup -d "$disk"; }

incident_window() {
	begin
	start incident incident "$disk" "$disk" 2000 || return
	watch chains where '' --by thread -i 300ms
	work
}

# of_disk CONDITION: prints how many of the worst waits of commits name the disk so
of_disk() {
	sqlite3 -readonly "$w"/chains/*/run.db "SELECT count(*) FROM where_waits WHERE comm = 'commit' AND ' < ' || chain GLOB '* < loop[0-9]*'
		AND $1"
}

# slow_commits: prints how many requests of commits iolat found slow that belong to the worst waits
slow_commits() {
	sqlite3 -readonly "$w"/chains/*/run.db "SELECT count(*) FROM iolat_slow s WHERE comm = 'commit'
		AND ns > (SELECT min(ns) FROM where_waits w WHERE w.interval = s.interval)"
}

# How many requests are slow, and how far back they are explained, depends on the disk: commits may wait for CPUs alone.
native_incident() {
	loop_disk || { skip 'an incident' 'no loop device can be made' && return; }
	window incident_window || return
	recount chains
	adds_up 'an incident'
	calm
	if [ "$(slow_commits)" -gt 0 ]; then
		ok 'an incident: the disk is named' [ "$(of_disk 1)" -gt 0 ]
	else
		skip 'an incident: the disk is named' 'the disk was fast: no request of a commit is in the worst waits'
	fi
	is 'an incident: no other disk is' "$(of_disk "' < ' || chain || ':' NOT GLOB '* < ${disk#/dev/}:*'")" 0
	is 'an incident: it served the backup, if anybody' "$(of_disk "chain GLOB '*: served *' AND chain NOT GLOB
		'*: served backup (*) *' AND chain NOT GLOB '*: served commit (*) *'")" 0
}

# ---- kernels that show less ----

# kernel_without NAME OTHER COMMAND...: runs COMMAND with the kernel's BTF having a name less
kernel_without() {
	sed "s/$1/$2/" /sys/kernel/btf/vmlinux >"$scratch/btf" && mount --bind "$scratch/btf" /sys/kernel/btf/vmlinux || return
	"${@:3}"
	umount /sys/kernel/btf/vmlinux
}

# less WHAT REGEX: what is not shown is said, and the sums are right
less() {
	window states_window 5 || return
	calm
	recount thread
	adds_up "$1"
	like "$1: the recording says so" "${known[mechanism]-}" "$2"
}
less_calls() {
	less 'a kernel that does not show system calls' 'does not show the system call of a sleep'
	is 'without system calls, they are other' "${known[timer.timer]-}" 0
	ok 'and nothing is left out' [ "${known[timer.other]-0}" -gt 0 ]
}
less_locks() {
	less 'a kernel that does not show its locks' 'does not show waits for its own locks'
	is 'without locks, these are not named' "${known[lock.lock]-}" 0
}

states $((20 * soak))
faulty $((50 * soak))
lives $((${LATSCOPE_SOAK:+976000} + 24000))
sampled
native_incident
kernel_without BPF_FUNC_task_pt_regs BPF_FUNC_task_pt_rexs less_calls
kernel_without btf_trace_contention_begin btf_trace_contention_begix less_locks
kernel_without '\x00bpf_storage\x00' '\x00bpf_storagf\x00' refused
done_testing
