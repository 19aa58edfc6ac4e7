#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# Counted events, compared with the kernel's own account.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/cli/cli.sh
. tests/measure.sh

own_mounts
skip_unless_able
kernel_check=.accounting.kernel_check

# ---- requests of two loop devices ----

# loop_disk FILE: creates a loop device, and prints its name
loop_disk() {
	local disk

	truncate -s 16M "$1"
	disk=$(losetup -f --show "$1") || return
	echo "${disk#/dev/}"
}

leave() {
	losetup -d "/dev/$one" "/dev/$other"
	rm -rf "$dir"
}

read_one() { run iolat "$@" -- dd "if=/dev/$one" of=/dev/null iflag=direct bs=4k count=2000 status=none; }

agrees() { [[ $out != *MISMATCH* ]]; }

# says REGEX: latscope succeeds, and stdout matches
says() { ended 0 '' "$1"; }

reads_and_says() {
	read_one
	says "$1"
}

reads_json() {
	read_one --json
	# shellcheck disable=SC2016 # jq's
	jq -e ".probes[0]$kernel_check | $1" <<<"$out" || { echo "$out" && false; }
}

if one=$(loop_disk "$dir/one") && other=$(loop_disk "$dir/other"); then
	on_exit leave
	echo 1 >"/sys/block/$one/queue/iostats"
	echo 1 >"/sys/block/$other/queue/iostats"

	# Some hosts hide events from BPF, so some tries differ.
	measure reads_and_says 'checked against /sys/block/\*/stat: events 0 %, time not[[:space:]]+more'
	ok 'requests agree with the kernel in number and time' says 'checked against .*: events 0 %, time not[[:space:]]+more'
	ok 'and nothing is said at the top' agrees
	ok 'each line fits' fits
	measure reads_json '.events.agrees and .time_ns.agrees'
	ok 'the same in JSON' reads_json '.source == "/sys/block/*/stat"
		and .events.agrees and .events.off == 0 and .events.kernel[0] >= 2000 and .time_ns.agrees'

	# The account of one disk is not read, that of the other twice: latscope has seen more than the kernel.
	mount --bind "/sys/block/$other/stat" "/sys/block/$one/stat"
	measure reads_and_says MISMATCH
	ok 'too many are told at the top' says \
		$'[0-9]/s\n  MISMATCH: events differ from /sys/block/\\*/stat by \\+.*not[[:space:]]+rely.*\\[.*checked against .*: events \\+'
	ok 'in JSON' reads_json '.events.agrees == false and .events.off > 1900'
	run record -q -o "$dir/runs" -- dd "if=/dev/$one" of=/dev/null iflag=direct bs=4k count=2000 status=none
	check 'report tells it too' 0 '' 'MISMATCH: events differ' report "$(recording "$dir/runs")"
	umount "/sys/block/$one/stat"

	# And the other way round.
	mount --bind "/sys/block/$one/stat" "/sys/block/$other/stat"
	measure reads_and_says 'MISMATCH: events differ'
	ok 'too few are told at the top' says 'MISMATCH: events differ from .* by -.*checked against .*: events -'
	umount "/sys/block/$other/stat"

	echo 0 >"/sys/block/$other/queue/iostats"
	read_one
	ok 'a disk without account: no check' says "not checked against .*: $other keeps no account \(queue/iostats\)"
	ok 'nor in JSON' reads_json '.events == null and .time_ns == null and (.reason | startswith("'"$other"' keeps no"))'
	echo 1 >"/sys/block/$other/queue/iostats"

	check 'what a filter leaves out has its time' 0 '' \
		'seen [0-9,]+ = 0 recorded \+ [0-9,]+ filtered \([0-9.]+ .?s\).*checked against ' \
		iolat --disk "$other" -- dd "if=/dev/$one" of=/dev/null iflag=direct bs=4k count=200 status=none
else
	skip 'requests' 'there are no loop devices here'
fi

# ---- the others ----

# perf events see a part of the kernel's faults, handle_mm_fault() all of them.
faults_say() {
	run memlat -d 100ms
	says "$1"
}
measure faults_say 'checked against /proc/vmstat: events (0 %|not[[:space:]]+more)'
ok 'faults are checked' says 'checked against /proc/vmstat: events (0 %|not[[:space:]]+more)'
# Some hosts hide a few switches.
waits_agree() {
	run runqlat -d 100ms
	says "$1" && agrees
}
if [ -e /proc/schedstat ]; then
	waits='checked against /proc/schedstat: events (0|-[0-9.]+) %'
else
	waits='checked against /proc/stat: events (0|-[0-9.]+) %; time not, as this kernel has no[[:space:]]+/proc/schedstat'
fi
measure waits_agree "$waits"
ok 'waits are checked' says "$waits"
ok 'and agree' agrees
echo 'pgfault 1' >"$dir/vmstat"
mount --bind "$dir/vmstat" /proc/vmstat
check "a file that is not the kernel's is not believed" 0 '' \
	'not checked against /proc/vmstat: this container has a file of its own' memlat -d 50ms
umount /proc/vmstat
mount --bind "$dir/vmstat" /proc/stat
[ ! -e /proc/schedstat ] || mount --bind "$dir/vmstat" /proc/schedstat
check 'nor one of waits' 0 '' 'not checked against /proc/(sched)?stat: this container has a file' runqlat -d 50ms
umount /proc/stat
[ ! -e /proc/schedstat ] || umount /proc/schedstat
done_testing
