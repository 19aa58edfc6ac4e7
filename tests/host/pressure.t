#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# Pressure of this machine, its memory and its disk, in the time line of recordings; load pressure; and what record --report says
# about both.
. "$(dirname "$0")/host.sh"
own_mounts
skip_unless_able

# The kernel's own counters, in us; a workload reads them when it begins and when it ends.
psi() { sed -n "s/^$2 .*total=//p" "/proc/pressure/$1"; }
vm() { awk -v name="$1" '$1 == name { print $2 }' /proc/vmstat; }
now() { echo "$(psi memory some) $(psi memory full) $(psi io some) $(psi cpu some) $(vm pgmajfault) $(vm pswpin)"; }
export -f psi vm now
# gained: what run.db has of each, in the same units
gained() {
	sqlite3 -readonly -separator ' ' "$recorded/run.db" "SELECT sum(memory_some_ns) / 1000, sum(memory_full_ns) / 1000,
		sum(io_some_ns) / 1000, sum(cpu_some_ns) / 1000, sum(major_faults), sum(pages_swapped_in) FROM pressure"
}
# between FROM TO GOT: each number of GOT is at least what the inner pair gained and at most what the outer one did
between() {
	awk 'NR <= 4 { for (i = 1; i <= NF; i++) at[NR, i] = $i; next }
		{ for (i = 1; i <= NF; i++) if ($i < at[3, i] - at[2, i] - 2 || $i > at[4, i] - at[1, i] + 2) {
			print "number", i, $i, "not in", at[3, i] - at[2, i], at[4, i] - at[1, i]; bad = 1 } }
		END { exit bad || NR != 5 }' <<<"$1"
}

# own: records $recorded. If latscope loses its CPU between the clock and the kernel's counters, the share of a short interval
# is more than one.
own() {
	before=$(now)
	run record -q --report -i 100ms -o "$dir/own" -- bash -c 'now >"$0"; head -c 50M /dev/zero | sha256sum; now >>"$0"' "$dir/inner"
	after=$(now)
	recorded=$(recording "$dir/own")
	"$latscope" report --json "$recorded" >"$dir/own.json"
}
has_shares() {
	jq -e '.pressure | (.intervals | length >= 1) and
		([.intervals[] | .cpu_some, .memory_some, .io_some | numbers] | length > 0 and all(. >= 0 and . <= 1.05)) and
		([.pairs[].probe] | unique | length == 3) and ([.columns[].name] | index("pages_reclaimed"))' "$dir/own.json"
}
if [ -r /proc/pressure/memory ]; then
	measure own
	ok 'JSON: by interval, and each share is one' has_shares
	calm
	is 'a recording ends well' "$status" 0
	ok 'what it has is what the kernel counted meanwhile' between "$before
$(<"$dir/inner")
$after
$(gained)"
	like 'report has a time line of it' "$out" 'Pressure of the whole machine: .*end \(s\) +cpu +memory +mem full +io .* mean '
	as_printed=$(sed '/^memlat/,$!d' <<<"$out")
	run report "$recorded"
	is 'record --report prints what report prints' "$(sed '/^memlat/,$!d' <<<"$out")" "$as_printed"
	ok 'it fits' fits
	run report --csv -P pressure "$recorded"
	is 'CSV: a line for each interval' "$(($(wc -l <<<"$out") - 1))" "$(intervals "$recorded")"
	like 'CSV: the columns' "${out%%$'\n'*}" '^time_ns,cpu_some_ns,memory_some_ns,io_some_ns,memory_full_ns,'
else
	skip 'PSI' 'this kernel has none'
fi

# A kernel without PSI: nothing is 0, and the reason is there.
mkdir "$dir/empty"
if mount --bind "$dir/empty" /proc/pressure 2>/dev/null || [ ! -d /proc/pressure ]; then
	run record -q --report -d 300ms -i 30ms -o "$dir/none"
	is 'without PSI it records' "$status" 0
	like 'without PSI: the reason' "$out" 'unknown: PSI: .*/proc/pressure'
	recorded=$(recording "$dir/none")
	is 'without PSI: unknown, not 0' "$(sqlite3 -readonly "$recorded/run.db" 'SELECT count(*), count(memory_some_ns), count(cpu_some_ns) FROM pressure')" \
		"$(intervals "$recorded")|0|0"
	like 'without PSI it cannot tell' "$(tr -s ' \n' ' ' <<<"$out")" 'Slow block requests: .*memory pressure: cannot tell, it is unknown'
	umount /proc/pressure 2>/dev/null
fi

# ---- load pressure ----

groups() { find /sys/fs/cgroup -maxdepth 2 -name 'latscope-own-*'; }
run load pressure -d 100ms --dir "$dir"
if [ "$status" = 77 ]; then
	skip 'load pressure' "$err"
	done_testing
	exit
fi
is 'it ends well' "$status" 0
is 'it says nothing' "$out$err" ''
is 'and removes its cgroup' "$(groups)" ''
is 'no file is left' "$(find "$dir" -name '.latscope*')" ''
refuses 'a file in memory cannot be reclaimed' 1 'the file system of --dir is in memory; choose a directory on a disk' \
	load pressure --dir /dev/shm -d 100ms
is 'then nothing is left either' "$(groups)" ''
unprivileged run load pressure -d 100ms --dir /var/tmp
is 'without privileges it fails' "$status" 1
like 'and says why' "$err" 'load: cannot make a cgroup: Permission denied; run it as root'

"$latscope" load pressure -q -d 1h --dir "$dir" &
pid=$!
has_group() { [ -n "$(groups)" ] && [ -n "$(cat "$(groups)/cgroup.procs")" ]; }
ok 'its processes are in a cgroup of their own' wait_for has_group
limit=$(cat "$(groups)"/memory.max "$(groups)"/memory.limit_in_bytes 2>/dev/null)
is 'with the limit' "$limit" $((32 << 20))
# One after the other is started and enters.
all_but_two() { [ "$(wc -l <"$(groups)/cgroup.procs")" = $(($(pgrep -P "$pid" | wc -l) - 2)) ]; }
ok 'all but the reader, and the process that removes it' wait_for all_but_two
# A cgroup in it does what a process does that waits for the disk: until it is gone, the removal fails.
mkdir "$(groups)/busy"
# It sleeps between two tries.
tries_removal() { [ "$(sed -n 's/^voluntary_ctxt_switches:[[:space:]]*//p' "/proc/$remover/status")" -gt 100 ]; }
remover=$(pgrep -P "$pid" -x latscope-undo)
kill -KILL "$pid"
wait "$pid" 2>/dev/null
ok 'kill -9: the process that removes it tries' wait_for tries_removal
rmdir "$(groups)/busy"
no_group() { [ -z "$(groups)" ]; }
ok 'kill -9: the cgroup is removed as soon as it can be' wait_for no_group

# One command answers: do latencies follow memory pressure? Major faults do: reclaim makes them. A window may be disturbed.
if [ -r /proc/pressure/memory ]; then
	measure run record -q --report --comm latscope -o "$dir/follow" -- "$latscope" load pressure -q --dir "$dir" -d 8s
	like 'page faults follow memory pressure' "$(tr -s ' \n' ' ' <<<"$out")" \
		'Slow page faults come with memory pressure: [^:]*when they were slowest, [^:]* otherwise\.'
	calm
	like 'whether requests do is answered, too' "$(tr -s ' \n' ' ' <<<"$out")" \
		'Slow block requests( come with memory pressure: | are not explained by memory pressure: |: no link found with .*memory pressure|: .*memory pressure: cannot tell)'
	recorded=$(find "$dir/follow" -mindepth 1 -maxdepth 1 | tail -n 1)
	ok 'reclaim is in the time line' test "$(sqlite3 -readonly "$recorded/run.db" 'SELECT sum(pages_reclaimed) FROM pressure')" -gt 1000

	# The opposite: I/O, and no pressure at all.
	run record -q --report -o "$dir/calm" -- "$latscope" load dio -q --dir "$dir" -d 2s
	said=$(tr -s ' \n' ' ' <<<"$out")
	recorded=$(recording "$dir/calm")
	if [ "$(sqlite3 -readonly "$recorded/run.db" 'SELECT sum(memory_some_ns) FROM pressure')" = 0 ]; then
		like 'without memory pressure nothing follows it' "$said" 'Slow block requests: .*memory pressure: cannot tell, there was none in'
	else
		skip 'without memory pressure nothing follows it' 'the machine had memory pressure of its own'
	fi
	is 'nor does anything claim to' "$(grep -oE 'Slow [a-zA-Z ]* come with memory pressure' <<<"$said")" ''
fi
done_testing
