#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# The account that latscope compares itself with is that of this kernel and its disks, and a difference is told: made here by
# files that are not the kernel's, in a mount namespace of its own.
. "$(dirname "$0")/host.sh"
own_mounts
skip_unless_able
kernel_check=.accounting.kernel_check

# ---- requests of two loop devices ----

read_one() { run iolat -v "$@" -- dd "if=/dev/$one" of=/dev/null iflag=direct bs=4k count=2000 status=none; }

agrees() { [[ $out != *MISMATCH* ]]; }

# says REGEX: latscope succeeds, and stdout matches
says() { ended 0 '' "$1"; }

reads_json() {
	read_one --json
	jq -e ".probes[0]$kernel_check | $1" <<<"$out" || { echo "$out" && false; }
}

truncate -s 16M "$dir/one" "$dir/other"
if loop_new "$dir/one" && one=${loop#/dev/} && loop_new "$dir/other" && other=${loop#/dev/}; then
	echo 1 >"/sys/block/$one/queue/iostats"
	echo 1 >"/sys/block/$other/queue/iostats"

	measure read_one # some hosts hide events from BPF
	ok 'requests agree with the kernel in number and time' says 'checked against .*: events 0 %, time not[[:space:]]+more'
	ok 'and nothing is said at the top' agrees
	measured 'the same in JSON' reads_json '.source == "/sys/block/*/stat"
		and .events.agrees and .events.off == 0 and .events.kernel[0] >= 2000 and .time_ns.agrees'

	# The account of one disk is not read, that of the other twice: latscope has seen more than the kernel.
	mount --bind "/sys/block/$other/stat" "/sys/block/$one/stat"
	read_one
	ok 'each line fits' fits
	ok 'too many are told at the top' says \
		$'[0-9]/s\n  MISMATCH: events differ from /sys/block/\\*/stat by \\+.*not[[:space:]]+rely.*\\[.*checked against .*: events \\+'
	ok 'in JSON' reads_json '.events.agrees == false and .events.off > 1900'
	run record -q -o "$dir/runs" -- dd "if=/dev/$one" of=/dev/null iflag=direct bs=4k count=2000 status=none
	check 'report tells it too' 0 '' 'MISMATCH: events differ from .* likely cause: an account that leaves[[:space:]]+a[[:space:]]+CPU[[:space:]]+or' report "$(recording "$dir/runs")"
	umount "/sys/block/$one/stat"

	# And the other way round.
	mount --bind "/sys/block/$one/stat" "/sys/block/$other/stat"
	read_one
	ok 'too few are told at the top' says 'MISMATCH: events differ from .* by -.*checked against .*: events -'
	umount "/sys/block/$other/stat"

	echo 0 >"/sys/block/$other/queue/iostats"
	read_one
	ok 'a disk without account: no check' says "not checked against .*: $other keeps no account \(queue/iostats\)"
	ok 'nor in JSON' reads_json '.events == null and .time_ns == null and (.reason | startswith("'"$other"' keeps no"))'
	echo 1 >"/sys/block/$other/queue/iostats"

	check 'what a filter leaves out has its time' 0 '' \
		'seen [0-9,]+ = 0 recorded \+ [0-9,]+ filtered \([0-9.]+ .?s\).*checked against ' \
		iolat -v --disk "$other" -- dd "if=/dev/$one" of=/dev/null iflag=direct bs=4k count=200 status=none
else
	skip 'requests' 'there are no loop devices here'
fi

# ---- the others ----

# perf events see a part of the kernel's faults, handle_mm_fault() all of them.
measure run memlat -v -d 100ms
ok 'faults are checked' says 'checked against /proc/vmstat: events (0 %|not[[:space:]]+more)'
if [ -e /proc/schedstat ]; then
	waits='checked against /proc/schedstat: events (0|-[0-9.]+) %'
else
	waits='checked against /proc/stat: events (0|-[0-9.]+) %; time not, as this kernel has no[[:space:]]+/proc/schedstat'
fi
measure run runqlat -v -d 100ms # some hosts hide a few switches
ok 'waits are checked' says "$waits"
ok 'and agree' agrees
calm
echo 'pgfault 1' >"$dir/vmstat"
mount --bind "$dir/vmstat" /proc/vmstat
check "a file that is not the kernel's is not believed" 0 '' \
	'not checked against /proc/vmstat: this container has a file of its own' memlat -v -d 50ms
umount /proc/vmstat
mount --bind "$dir/vmstat" /proc/stat
[ ! -e /proc/schedstat ] || mount --bind "$dir/vmstat" /proc/schedstat
check 'nor one of waits' 0 '' 'not checked against /proc/(sched)?stat: this container has a file' runqlat -v -d 50ms
umount /proc/stat
[ ! -e /proc/schedstat ] || umount /proc/schedstat
done_testing
