#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# why-memlat.sh [check]: the parts of slow page faults compared with faults whose parts are known: in the VM by all methods, with
# a slow disk /dev/vda; elsewhere, or with check, by one method, and what needs no cgroup and no disk.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/tap.sh
. tests/measure.sh

built=${LATSCOPE_BUILT:-$PWD/.output}
reference=$built/tests/reference
dir=$(mktemp -d)
on_exit clean_up

clean_up() {
	[ -z "${swap-}" ] || losetup -d "$swap"
	[ -z "${LATSCOPE_VM-}" ] || [ -n "${check-}" ] || umount -q /mnt
	rm -rf "$dir"
}

methods=(perf-event) ms=5
# An emulated CPU takes ten times as long for a fault.
[ -z "${LATSCOPE_VM-}" ] || methods=(fentry kprobe perf-event) ms=100
# Each method has a part of the tests; soak repeats all of them.
all=${LATSCOPE_SOAK-} brief='' # on 6.1 and 7, what differs most from 6.12
[[ ${LATSCOPE_VM-}${LATSCOPE_SOAK-} != @(6.1|7) ]] || methods=(fentry perf-event) brief=1
check=${1-}
[ -z "$check" ] || methods=(fentry) brief=''
tracing=/sys/kernel/tracing
method=''

# explain OVER_US COMMAND...: runs it and sets the functions below
explain() {
	local status=0

	begin_evidence
	"$built/tests/probes/why" "$method" "$@" >"$dir/out" 2>"$dir/err" || status=$?
	end_evidence
	[ $status != 0 ] || return 0
	diag "$method: $*: status $status: $(tail -n 3 "$dir/err")"
	return 1
}

# total KEY: prints a value of the sums
total() { sed -n "s/^total .*\<$1=\([0-9]*\).*/\1/p" "$dir/out"; }

# printed KEY: prints a value that the command printed
printed() { sed -n "s/^$1=\([0-9]*\)$/\1/p" "$dir/err"; }

# whole: prints what does not sum: parts to the fault, faults to the sums, pairs to the parts
whole() {
	awk '
	{ for (i = 2; i <= NF; i++) { at = index($i, "="); value[substr($i, 1, at - 1)] = substr($i, at + 1) } }
	$1 == "event" { if (value["ns"] != value["sum"]) print; all += value["ns"]; events++ }
	$1 == "pair" { pairs[value["part"]] += value["ns"] }
	$1 == "total" {
		if (value["ns"] != value["sum"]) print
		if (value["slow"] != value["sent"] + value["dropped"]) print
		if (!value["dropped"] && (value["slow"] - events || value["ns"] - all)) print "events: " events
		for (part in pairs) if (pairs[part] - value[part]) print part ": other pairs than " value[part]
	}' "$dir/out"
}

# sums WHAT: tests that the parts of each fault and of all sum, and that nearly all is known
sums() {
	all_sums "$1"
	within "$method: $1: at most 2 % is unknown" 0 "$(total unknown)" $(($(total ns) / 50))
}

# all_sums WHAT: nothing may disturb them
all_sums() {
	local disturbance=''

	is "$method: $1: the parts sum" "$(whole)" ''
}

# mostly WHAT PART SHARE: tests that PART has at least SHARE of 100
mostly() {
	within "$method: $1: at least $3 % is $2" $(($(total ns) * $3 / 100)) "$(total "$2")" "$(total ns)"
}

# events REGEX: prints how many events match
events() { grep -cE "^event .*$1" "$dir/out"; }

# A handler that takes its time.
slow_handler() {
	local pages=10

	explain $((ms * 1000)) "$reference/uffd" -w $pages $ms || { ok "$method: uffd runs" false && return; }
	is "$method: uffd: each fault is slow" "$(total slow)" $pages
	sums uffd
	# Others may have the CPU when it wakes up.
	within "$method: uffd: at least 98 % of what is no wait for a CPU is blocked" \
		$((($(total ns) - $(total runnable)) * 98 / 100)) "$(total blocked)" "$(total ns)"
	is "$method: uffd: each is on a CPU, too" "$(events ' cpu=[1-9]')" $pages
	is "$method: uffd: each has the stack of its sleep" "$(events 'stack=.*handle_userfault')" $pages
	is "$method: uffd: and that of the code" "$(events 'code=[0-9a-f]{1,12} ')" $pages
	if [ "$method" = perf-event ]; then
		is "$method: uffd: nobody is named" "$(blamed)" 0
	else
		within "$method: uffd: the thread that answers is named" $(($(total blocked) * 98 / 100)) \
			"$(blamed "$(printed handler_tid)")" "$(total blocked)"
		is "$method: uffd: nobody else is" "$(blamed)" "$(blamed "$(printed handler_tid)")"
	fi
}

# Tasks that could run.
starved() {
	local pages=5 run_ns

	explain $((ms * 1000)) "$reference/starved" -w $pages $ms || { ok "$method: starved runs" false && return; }
	is "$method: starved: each fault is slow" "$(total slow)" $pages
	sums starved
	run_ns=$(printed run_ns)
	within "$method: starved: the waits for a CPU are as long as the other task ran" \
		$((run_ns * 99 / 100)) "$(total runnable)" "$(total ns)"
	mostly starved runnable 96
	if [ "$(printed run_delay_ns)" -ge "$run_ns" ]; then
		within "$method: starved: and as the kernel counts" \
			$(($(printed run_delay_ns) * 98 / 100)) "$(total runnable)" $(($(printed run_delay_ns) * 101 / 100))
	else
		[ -z "${LATSCOPE_VM-}" ] || diag "$method: starved: the kernel counts $(printed run_delay_ns) ns of $run_ns"
	fi
}

# sum_of REGEX KEY: prints the sum of KEY over the lines that match
sum_of() { grep -E "$1" "$dir/out" | sed -n "s/.* $2=\([0-9]*\).*/\1/p" | awk '{ sum += $1 } END { printf "%.0f", sum }'; }

# blamed [TID]: prints the time blocked that is of TID, or of anybody
blamed() { echo $(($(sum_of "^pair .* culprit=${1:-[1-9][0-9]*} part=blocked " ns))); }

# A thread that holds mmap_lock, and one that does not. Kernels before 5.19 do not tell.
locked() {
	local holder long waited pages=262144 long_ms=1

	[ -z "${LATSCOPE_VM-}" ] || { pages=131072 long_ms=10; } # there it takes more than 1 ms to clear a page
	explain $((long_ms * 1000)) "$reference/locked" -w -l $long_ms 10 $pages || { ok "$method: locked runs" false && return; }
	holder=$(printed holder_tid) long=$(printed long_sum_ns)
	sums locked
	within "$method: locked: there are waits" 1 "$(printed long_count)" 1000
	within "$method: locked: the faults of the main thread are as long as it saw" \
		$((long * 90 / 100)) "$(sum_of "^event .* comm=locked " ns)" $((long + 1000000))
	within "$method: locked: all but what is no wait for a CPU is mmap_lock" \
		$((($(total ns) - $(total runnable)) * 95 / 100)) "$(total mmap_lock)" "$(total ns)"
	waited=$(sum_of "^event .* comm=locked " mmap_lock)
	within "$method: locked: not longer than it was held" 1 "$waited" "$(printed hold_sum_ns)"
	within "$method: locked: the holder is named" $(($(total mmap_lock) * 95 / 100)) \
		"$(sum_of "^pair .* culprit=$holder part=mmap_lock " ns)" "$(total mmap_lock)"
	is "$method: locked: nobody else is" "$(sum_of "^pair .*part=mmap_lock " ns)" \
		$(($(sum_of "^pair .* culprit=$holder part=mmap_lock " ns) + $(sum_of "^pair .* culprit=0 part=mmap_lock " ns)))
	explain $((long_ms * 1000)) "$reference/locked" -w -r -l $long_ms 10 4096 || { ok "$method: locked -r runs" false && return; }
	all_sums 'locked -r'
	within "$method: locked -r: who holds it for reading makes nobody wait" 0 "$(total mmap_lock)" \
		$(($(printed hold_sum_ns) / 10))
}

# Plain faults of many pages.
plain() {
	explain 1 "$reference/touch" -w 1000 || { ok "$method: touch runs" false && return; }
	within "$method: touch: the faults are there" 100 "$(total slow)" 1000
	sums touch
	# Others may have the CPU meanwhile.
	within "$method: touch: what is no wait for a CPU is on a CPU" \
		$((($(total ns) - $(total runnable)) * 98 / 100)) "$(total cpu)" "$(total ns)"
}

# A cold file on a slow disk, compared with the kernel's time of the requests.
cold() {
	local before after number

	before=$(awk '$3 == "vda" { print $7 }' /proc/diskstats)
	explain 1 "$reference/cold" -w "/mnt/cold-$method" 20 || { ok "$method: cold runs" false && return; }
	after=$(awk '$3 == "vda" { print $7 }' /proc/diskstats)
	number=$(($(cut -d: -f1 /sys/block/vda/dev) << 20 | $(cut -d: -f2 /sys/block/vda/dev)))
	sums cold
	mostly cold io 40
	within "$method: cold: as long as the requests" $(((after - before) * 600000)) "$(total io)" \
		$(((after - before) * 1100000 + 20000000))
	is "$method: cold: all of it is of that disk" \
		"$(sed -n "s/^pair .*culprit=$number part=io ns=\([0-9]*\).*/\1/p" "$dir/out")" "$(total io)"
	is "$method: cold: each event that waited has the disk" "$(events 'io=[1-9]')" "$(events "io=[1-9].* disk=$number ")"
}

# Pages that are in swap on a loop device, whose file is on the slow disk.
swapped() {
	local group=/sys/fs/cgroup/why pages=10 number

	mkdir $group
	number=$(($(cut -d: -f1 "/sys/block/${swap#/dev/}/dev") << 20 | $(cut -d: -f2 "/sys/block/${swap#/dev/}/dev")))
	explain 1 "$dir/swap_in_group" -w $group/memory.reclaim $pages || ok "$method: swapped runs" false
	rmdir $group
	is "$method: swapped: each page is read from swap" "$(printed pswpin)" $pages
	sums swapped
	mostly swapped io 40
	if [ "$method" = perf-event ]; then
		is "$method: swapped: no disk is named" "$(sum_of '^pair .*culprit=[1-9][0-9]* part=io ' ns)" 0
	else
		is "$method: swapped: all of it is of the swap disk" "$(sum_of "^pair .*culprit=$number part=io " ns)" "$(total io)"
		is "$method: swapped: each event that waited has that disk" "$(events 'io=[1-9]')" "$(events "io=[1-9].* disk=$number ")"
	fi
}

# swap_on_loop: sets $swap
swap_on_loop() {
	if [ -z "${swap-}" ]; then
		dd if=/dev/zero of=/mnt/swap bs=1M count=4 status=none && modprobe loop && swap=$(losetup --direct-io=on --show -f /mnt/swap) &&
			mkswap "$swap" >/dev/null && echo 0 >/proc/sys/vm/page-cluster || return
	fi
	swapon "$swap"
}

# A program on a file system that has no disk.
no_disk() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	explain 1 perl -e 1 || { ok "$method: perl runs" false && return; }
	sums 'no disk'
	is "$method: no disk: it waits for none" "$(total io)" 0
	within "$method: no disk: but it sleeps" 1 "$(total blocked)" "$(total ns)"
	is "$method: no disk: nobody is named" "$(blamed)" 0
}

# trace EVENT...: records tracepoints from now on
trace() {
	local event

	echo 0 >$tracing/tracing_on
	echo >$tracing/trace
	echo >$tracing/set_event
	for event in "$@"; do
		echo "$event" >>$tracing/set_event
	done
	echo 1 >$tracing/tracing_on
}

# traced COMM: prints the sum of what COMM spent in its work between begin and end of these tracepoints, in ns
traced() {
	echo 0 >$tracing/tracing_on
	awk -v comm="$1-" '
	/tracing_mark_write: why: / { counts = /ready/ }
	counts && index($1, comm) == 1 && match($0, / [0-9]+\.[0-9]+: /) {
		at = substr($0, RSTART + 1, RLENGTH - 3) * 1e6
		if ($0 ~ /_begin: /) begin = at
		else if ($0 ~ /_end: / && begin) { sum += at - begin; begin = 0 }
	}
	END { printf "%d\n", sum * 1000 }' $tracing/trace
}

# reclaim LIMIT SIDE: runs the load in a cgroup that reaches its LIMIT (high or max); sets $traced, the time of the reclaim by the tracepoints
reclaim() {
	local group=/sys/fs/cgroup/why limit=$1 side=$2

	mkdir $group
	dd if=/dev/zero of=/mnt/clean bs=64k count=128 status=none
	sync
	echo 3 >/proc/sys/vm/drop_caches
	echo 12M >"$group/memory.$limit"
	trace vmscan:mm_vmscan_memcg_reclaim_begin vmscan:mm_vmscan_memcg_reclaim_end
	explain 1 "$dir/in_group" -w -s "$side" /mnt/clean 2000 || ok "$method: pressure runs" false
	traced=$(traced pressure)
	rmdir $group
}

# pressure LIMIT SIDE SHARE: at least SHARE of 100 of the reclaim is in faults
pressure() {
	local what="memory.$1" traced

	reclaim "$1" "$2"
	sums "$what"
	within "$method: $what: there is reclaim" 1 "$(total reclaim)" "$(total ns)"
	# With memory.high, some of it is at the return to user code.
	within "$method: $what: as long as the tracepoints say" $((traced * $3 / 100)) "$(total reclaim)" $((traced * 105 / 100 + 100000))
}

# Huge pages of fragmented memory, compared with the tracepoints.
compaction() {
	local traced

	trace compaction:mm_compaction_begin compaction:mm_compaction_end
	explain 1 "$reference/fragment" -w 40 || ok "$method: fragment runs" false
	traced=$(traced fragment)
	sums compaction
	within "$method: compaction: there is some" 1 "$(total compaction)" "$(total ns)"
	within "$method: compaction: as long as the tracepoints say" \
		$((traced * 90 / 100)) "$(total compaction)" $((traced * 105 / 100 + 100000))
}

prepare_guest() {
	mkfs.ext4 -q /dev/vda && mount /dev/vda /mnt || return
	[ -e /sys/fs/cgroup/cgroup.controllers ] || mount -t cgroup2 none /sys/fs/cgroup || return
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control || return
	echo madvise >/sys/kernel/mm/transparent_hugepage/enabled
	echo madvise >/sys/kernel/mm/transparent_hugepage/defrag
	[ -e $tracing/trace ] || mount -t tracefs none $tracing || return
	printf '#!/bin/sh\necho $$ >/sys/fs/cgroup/why/cgroup.procs\nexec %s "$@"\n' "$reference/pressure" >"$dir/in_group"
	sed 's|/pressure |/swapped |' "$dir/in_group" >"$dir/swap_in_group"
	chmod +x "$dir"/*in_group
}

method=perf-event
explain 1000000 true || skip_all "memlat cannot run here: $(tail -n 1 "$dir/err")"
[ -z "${LATSCOPE_VM-}" ] || [ -n "$check" ] || ok 'the guest is prepared' prepare_guest
by_method() {
	slow_handler
	locked
	[ -n "$brief" ] || { starved && plain; }
	[ -n "${LATSCOPE_VM-}" ] && [ -z "$check" ] || return
	swap_on_loop
	ok "$method: there is swap" grep -q "^${swap-none} " /proc/swaps
	swapped
	swapoff "$swap"
	[ "$method" = fentry ] || [ -n "$all" ] || return
	cold
	pressure high kernel 50
	[ -z "$brief" ] || return
	no_disk
	pressure max user 90
	[ "$method" != fentry ] || compaction # the kernel puts off what has failed
}

for method in "${methods[@]}"; do
	by_method
done
done_testing
