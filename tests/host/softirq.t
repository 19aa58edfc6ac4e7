#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# softirq compared with the trace of this machine's own kernel, of the interrupts of a real disk, by another clock read.
. "$(dirname "$0")/host.sh"
own_mounts
skip_unless_able
trace=/sys/kernel/tracing/instances/latscope-$$
[ -d /sys/kernel/tracing/events/irq ] || mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
mkdir "$trace" 2>/dev/null || skip_all 'this kernel has no tracefs here'
echo mono >"$trace/trace_clock"
echo 16384 >"$trace/buffer_size_kb"

on_exit rmdir "$trace"
truncate -s 16M "$dir/disk"
loop_new "$dir/disk" || skip_all 'it may make no loop device'

# Handlers in the trace: "VECTOR COUNT NS" of each vector.
traced() {
	perl -ne '
		next unless m{\[(\d+)\]\s+\S+\s+(\d+)\.(\d+): softirq_(entry|exit): vec=\d+ \[action=(\w+)\]};
		my ($cpu, $ns, $what, $vector) = ($1, $2 * 1e9 + $3 * 1e3, $4, lc $5);
		if ($what eq "entry") { $start{$cpu} = $ns; next }
		next unless defined $start{$cpu};
		$count{$vector}++, $sum{$vector} += $ns - delete $start{$cpu};
		END { print "$_ $count{$_} $sum{$_}\n" for sort keys %count }' "$trace/trace"
}

# The window is inside the trace. Softirqs are of the disk: little else happens before and after it.
observe() {
	echo >"$trace/trace"
	echo 1 >"$trace/events/irq/softirq_entry/enable"
	echo 1 >"$trace/events/irq/softirq_exit/enable"
	run softirq --by vector --json -- dd "if=$loop" of=/dev/null iflag=direct bs=4k count=3000 status=none
	echo 0 >"$trace/events/irq/enable"
	traced >"$dir/traced"
}

# agrees VECTOR: nearly as many handlers as in the trace. The trace has whole microseconds, and writing it takes time: its
# mean is between ours and half as much again, give or take 1 us.
agrees() {
	local count ns

	read -r _ count ns < <(grep "^$1 " "$dir/traced")
	jq -e --arg vector "$1" --argjson count "${count:-0}" --argjson ns "${ns:-0}" '
		[.probes[0].keys[] | select(.name == $vector)][0] as $key
		| $count >= 1000 and $key.total_events <= $count and $key.total_events >= 0.9 * $count
		  and $key.mean_us <= $ns / $count / 1000 + 1 and 1.5 * $key.mean_us + 1 >= $ns / $count / 1000' <<<"$out" >/dev/null ||
		{ cat "$dir/traced" && jq -c '.probes[0].keys[] | {name, total_events, mean_us}' <<<"$out" && false; }
}

measure observe # a handler may lose its CPU between the two clocks
ok 'block: handlers and their mean are those of the trace' agrees block
ok 'the kernel has counted as many' jq -e '.probes[0].accounting.kernel_check
	| .source == "/proc/stat" and .events.agrees and .events.kernel[0] >= 1000' <<<"$out"
calm
is 'it ends well' "$status" 0
ok 'the vectors add up to the whole' jq -e '.probes[0] | ([.keys[].total_events] | add) == .total_events' <<<"$out"
ok 'the accounting balances' jq -e '.probes[0].accounting | .balanced' <<<"$out"
check 'its method by name' 0 '' 'balances.*method: tp_btf' softirq -v -d 300ms --method tp_btf
wrong 'it cannot filter by task' '--pid does not apply here' softirq -d 1s -p 1
check 'record --softirq' 0 'recording in' 'softirq handler: .*balances' record -d 300ms --softirq -o "$dir/runs"
done_testing
