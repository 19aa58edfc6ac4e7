#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# faults.sh: what page faults wait for, and what they are not, compared with what the kernel or a program of known work tells. In
# the VM, with a disk /dev/vda.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/tap.sh

built=${LATSCOPE_BUILT:-$PWD/.output}
latscope=$built/latscope
reference=$built/tests/reference
dir=$(mktemp -d)
on_exit rm -rf "$dir"
root=/sys/fs/cgroup
export reference

prepare_guest() {
	[ -e $root/cgroup.controllers ] || mount -t cgroup2 none $root || return
	echo '+memory +io' >$root/cgroup.subtree_control
}

# ---- a cgroup that stalls outside page faults ----

# stalled GROUP RESOURCE, counted GROUP EVENT: the kernel's account of the cgroup, in ns and times
stalled() { echo "$(($(sed -n 's/^some .*total=//p' "$root/$1/$2.pressure") * 1000))"; }
counted() { sed -n "s/^$2 //p" "$root/$1/memory.events"; }
export -f stalled counted
export root

# within_group GROUP COMMAND...: a workload that runs in GROUP, and tells the kernel's account before and after it in $dir/inner
within_group() {
	(
		echo $BASHPID >"$root/$1/cgroup.procs"
		exec "${@:2}"
	) >/dev/null
}
export -f within_group
export dir

# account GROUP NAME: one line of what the kernel tells
account() { echo "$(stalled "$1" memory) $(stalled "$1" io) $(counted "$1" high) $(counted "$1" max)"; }
export -f account

# explained GROUP COMMAND...: explains it in $dir/why; sets $before, $inner and $after, lines of account()
explained() {
	local group=$1

	shift
	before=$(account "$group")
	"$latscope" why -q --json --cgroup "$root/$group" -d 1h -o "$dir/runs-$group" -- bash -c \
		'account "$0" >"$dir/inner"; within_group "$0" "$@"; account "$0" >>"$dir/inner"' "$group" "$@" >"$dir/why" 2>"$dir/err" ||
		diag "$(tail -n 3 "$dir/err")"
	after=$(account "$group")
	inner=$(<"$dir/inner")
}

# between FIELD VALUE: what latscope says is at least what the kernel counted within the workload, and at most what it counted around
between() {
	local within_ns around_ns

	within_ns=$(awk -v i="$1" 'NR == 1 { a = $i } END { printf "%.0f", $i - a }' <<<"$inner")
	around_ns=$(awk -v i="$1" 'NR == 1 { a = $i } END { printf "%.0f", $i - a }' <<<"$before
$after")
	# The last readings are of two moments, and the kernel counts in us.
	is_within $((within_ns - 2000 * ($1 <= 2))) "$2" $((around_ns + 2000 * ($1 <= 2)))
}

said() { jq -r "$1" "$dir/why"; }
of_memlat='.probes[] | select(.module == "memlat")'

memory_high() {
	local most sum recorded

	mkdir $root/high
	echo 12M >$root/high/memory.high
	explained high timeout 8 "$reference/touch" 8000
	ok 'memory.high: the stall is the one that the kernel tells' between 1 "$(said "$of_memlat.coverage.stall_ns")"
	ok 'memory.high: so it is in the sums of the cgroup' between 1 "$(said .cgroup.memory_some_ns)"
	ok 'memory.high: it struck as often' between 3 "$(said .cgroup.memory_high_events)"
	ok 'memory.high: memory.max did not' between 4 "$(said .cgroup.memory_max_events)"
	within 'memory.high: it is long' 1000000000 "$(said "$of_memlat.coverage.stall_ns")" 100000000000
	most=$(said "$of_memlat.coverage.explained_at_most_ns")
	[ "$most" != null ] || diag "$(said "$of_memlat.accounting")"
	within 'memory.high: page faults are not half of it' 0 "${most/null/-1}" $(($(said "$of_memlat.coverage.stall_ns") / 2))
	sum=$(said "$of_memlat.why.slow_ns")
	within 'memory.high: but as much as the slow ones take' "$sum" "$most" $((2 * most + 1))
	recorded=$(find "$dir/runs-high" -mindepth 1 -maxdepth 1)
	"$latscope" report "$recorded" | tr -s ' \n' ' ' >"$dir/text"
	like 'memory.high: report says what is not explained' "$(<"$dir/text")" \
		'memory stall of the cgroup [0-9.]+ s \(PSI\); explained at most [0-9.<]+ % \(page faults: [^)]*\)(; [0-9]+ were not measured)?; memory.high struck [0-9,]+ times. The rest is at the return to user mode'
	like 'memory.high: its pressure is that of the cgroup' "$(<"$dir/text")" 'Pressure of the cgroup /high: '
	like 'memory.high: what follows it says so' "$(<"$dir/text")" \
		'memlat( falls with|: cannot tell whether it follows| is not shown to follow| follows) memory pressure: [^;]*(; [^;]*)?most of this pressure is not in page faults'
	rmdir $root/high
}

# The same load where there is no limit.
no_limit() {
	mkdir $root/free
	explained free "$reference/touch" 8000
	is 'no limit: there is no stall' "$(said "$of_memlat.coverage.stall_ns")" 0
	is 'no limit: memory.high did not strike' "$(said .cgroup.memory_high_events)" 0
	"$latscope" report "$dir"/runs-free/* >"$dir/text"
	is 'no limit: nothing is said of it' "$(grep -E 'memory.high|memory stall of' "$dir/text")" ''
	rmdir $root/free
}

# io.max: the kernel holds up requests before the driver has them; dd waits for all of them.
io_max() {
	local device

	device=$(</sys/block/vda/dev)
	mkdir $root/slow
	echo "$device rbps=1048576" >$root/slow/io.max || { skip 'io.max' 'this kernel has no io.max' && rmdir $root/slow && return; }
	explained slow dd if=/dev/vda of=/dev/null bs=64k count=48 iflag=direct status=none
	local of_iolat='.probes[] | select(.module == "iolat")'
	ok 'io.max: the stall is the one that the kernel tells' between 2 "$(said "$of_iolat.coverage.stall_ns")"
	within 'io.max: it is long' 1000000000 "$(said "$of_iolat.coverage.stall_ns")" 10000000000
	within 'io.max: requests are not half of it' 1 "$(said "$of_iolat.coverage.explained_at_most_ns")" \
		$(($(said "$of_iolat.coverage.stall_ns") / 2))
	rmdir $root/slow
}

ok 'the guest is prepared' prepare_guest
memory_high
no_limit
io_max
done_testing
