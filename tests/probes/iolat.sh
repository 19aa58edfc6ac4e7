# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # what window.sh sets
# iolat compared with /proc/diskstats, with the time of each I/O as fio and a program see it, and with null_blk's delay.
. tests/probes/window.sh
. tests/probes/hung-disk.sh
. tests/probes/mapper.sh
. tests/probes/errors.sh

sees_submitter() { [ "$1" = tp_btf ]; }

# setting DISK NAME VALUE: sets an attribute of its queue
setting() { echo "$3" >"/sys/block/$1/queue/$2"; }

# loop_disk on|off: creates a loop device, $disk, with direct I/O or without
loop_disk() {
	truncate -s 64M "$disk_fs/loop-$$-$1"
	at_exit+=("rm -f $disk_fs/loop-$$-$1")
	disk=$(losetup -f --show --direct-io="$1" "$disk_fs/loop-$$-$1") || return
	at_exit=("losetup -d $disk" "${at_exit[@]}")
	disk=${disk#/dev/}
	setting "$disk" iostats 1
}

# watch_disk: records $disk with every method, as a recorder of the method's name, by all splits that the method has
watch_disk() {
	local method by

	for method in "${methods[@]}"; do
		by=disk,op
		! sees_submitter "$method" || by=disk,op,process
		watch "$method" iolat "$method" --disk "$disk" --by "$by"
	done
}

# capture: starts "own", a BPF program that counts the completions of $disk. An interrupt completes a request, whatever task is
# current, and some machines run no BPF program while certain tasks are. So a probe must record what another program
# at the same place sees; in the VM, that must be everything.
capture() { start own requests "$(<"/sys/block/$disk/dev")"; }

# end_capture: closes the window, and reads what "own" has seen
end_capture() {
	release own
	await 'what was captured' has_printed own 'done=1'
	close_window
}

# work_captured PROGRAM...: lets them work, then reads what "own" has seen
work_captured() {
	local name

	await_recorders
	for name in "$@"; do
		release "$name"
	done
	for name in "$@"; do
		await "the end of $name" has_printed "$name" 'done=1'
	done
	end_capture
}

# captured_all WHAT KIND COUNT: tests in the VM that "own" has seen all COUNT completions; elsewhere reports missing ones
captured_all() {
	if [ -n "${LATSCOPE_VM-}" ]; then
		is "$1: $2: another program sees all" "$(printed own "$2")" "$3"
	else
		within "$1: $2: another program sees no more than there are" 0 "$(printed own "$2")" "$3"
		[ "$(printed own "$2")" = "$3" ] || diag "no program was run for $(($3 - $(printed own "$2"))) of $3 completions"
	fi
}

dio_window() {
	begin
	capture || return
	start io dio "$@" "/dev/$disk" $((200 * soak)) || return
	watch_disk
	! [[ $* = *-D* && " ${methods[*]} " = *' tp_btf '* ]] || watch filtered iolat tp_btf --disk "$disk" -p "${programs[io]}"
	work_captured io
}

# counted WHAT METHOD OP COUNT: tests that there are COUNT requests, all of this op, disk and process
counted() {
	is "$2: $1: one sample a request" "$(fact "$2" iolat.events)" "$4"
	is "$2: $1: op" "$(keys "$2" iolat.op)" "$3 "
	is "$2: $1: disk" "$(keys "$2" iolat.disk)" "$disk "
	! sees_submitter "$2" ||
		is "$2: $1: submitter" "$(fact "$2" "iolat.process.$(printed io pid).events")" "$4"
	balance "$2: $1" "$2"
}

# parts WHAT METHOD: tests that the times add up, and are within the time that the program saw
parts() {
	local device queued total

	device=$(fact "$2" iolat.sum_ns) queued=$(fact "$2" queued.sum_ns) total=$(fact "$2" total.sum_ns)
	is "$2: $1: queued and with the device make the total" $((device + queued)) "$total"
	within "$2: $1: the total is within what the program saw" "$device" "$total" "$(printed io io_sum_ns)"
	within "$2: $1: the longest, too" 1 "$(fact "$2" total.max_ns)" "$(printed io io_max_ns)"
}

# transfers OP ARG...: tests `dio ARG...` against /proc/diskstats
transfers() {
	local method op=$1 what="dio${2+ ${*:2}}"

	window dio_window "${@:2}" || return
	captured_all "$what" "${op}s" "$(printed io "disk_${op}s")"
	for method in "${methods[@]}"; do
		counted "$what" "$method" "$op" "$(printed own "${op}s")"
		parts "$what" "$method"
	done
}

# Without statistics the kernel does not stamp the allocation, and stamps the issue only for other users: the former
# is unknown then, and the latter must come from our own clock.
unstamped() {
	local method count

	setting "$disk" iostats 0
	setting "$disk" wbt_lat_usec 0 2>/dev/null
	window dio_window || return
	count=$(printed own reads)
	for method in "${methods[@]}"; do
		counted 'no statistics' "$method" read "$count"
		is "$method: no statistics: queued is not known" "$(fact "$method" queued.missed_start)" "$count"
		is "$method: no statistics: nor is total" "$(fact "$method" total.missed_start)" "$count"
		[ "$method" != stamps ] || fallen_back "$count"
	done
	setting "$disk" iostats 1
}

# fallen_back COUNT: tests that stamps used its own clock, because the kernel has no stamps. Writeback throttling makes the
# kernel stamp the issue, too, and never stops once it has started on a disk.
fallen_back() {
	if [ "$(fact stamps iolat.fallback)" = 0 ] && [ "$(fact stamps iolat.checked)" -gt 0 ]; then
		skip 'stamps: no statistics: our stamps' 'writeback throttling has the kernel stamp them all the same'
	else
		is 'stamps: no statistics: our stamps' "$(fact stamps iolat.fallback)" "$1"
	fi
}

# ---- flush sequences, on a disk with a volatile cache ----

# sequences METRIC METHOD: prints its events as "WRITES FLUSHES"
sequences() { echo "$(fact "$2" "$1.op.write.events") $(fact "$2" "$1.op.flush.events")"; }

# Each write becomes a write of data and a flush, and a flush without data follows. The kernel sees the latter as
# a write that ends without an issue, and another flush that is issued.
flush_sequences() {
	local method count writes flushes ends syncs

	grep -qx 'write back' "/sys/block/$disk/queue/write_cache" || {
		skip 'flush sequences' 'the disk has no volatile cache' && return
	}
	window dio_window -W -D || return
	count=$(printed io count) writes=$(printed own writes) flushes=$(printed own flushes)
	ends=$(printed own ends) syncs=$(printed own syncs)
	captured_all O_DSYNC writes "$count"
	captured_all O_DSYNC ends "$count"
	captured_all O_DSYNC syncs $(($(printed io disk_writes) - count))
	captured_all O_DSYNC flushes "$(printed io disk_flushes)"
	for method in "${methods[@]}"; do
		is "$method: O_DSYNC: device, by op" "$(sequences iolat "$method")" "$writes $flushes"
		is "$method: O_DSYNC: queued, by op" "$(sequences queued "$method")" "$writes $flushes"
		is "$method: O_DSYNC: total, by op" "$(sequences total "$method")" "$ends $((flushes + syncs))"
		balance "$method: O_DSYNC" "$method"
	done
	[ -n "${facts[filtered iolat.method]-}" ] || return
	grep -aq btf_trace_block_io_start /sys/kernel/btf/vmlinux || {
		skip 'O_DSYNC: submitters' 'before Linux 6.5 no tracepoint shows who submits a request of a flush sequence' && return
	}
	# The submitter of a flush is the task that is current when the flush is due.
	within 'tp_btf: O_DSYNC: total, by process' $((ends + syncs)) \
		"$(fact tp_btf "total.process.$(printed io pid).events")" $((ends + syncs + flushes))
	within 'tp_btf: O_DSYNC: total, -p' $((ends + syncs)) "$(fact filtered total.events)" $((ends + syncs + flushes))
}

# ---- discards ----

discards=20 # of 4 KiB each, no two next to each other

discard_window() {
	local i

	begin
	watch_disk
	await_recorders
	for ((i = 1; i <= discards; i++)); do
		blkdiscard -o $((i << 20)) -l 4096 "/dev/$disk" || return
	done
	close_window
}

# Machines that run no BPF program for some tasks miss some completions.
discards() {
	local method least=1

	[ -z "${LATSCOPE_VM-}" ] || least=$discards
	window discard_window || return
	for method in "${methods[@]}"; do
		within "$method: discards are discards" "$least" "$(fact "$method" iolat.op.discard.events)" "$discards"
		is "$method: and no writes" "$(fact "$method" iolat.op.write.events)" 0
	done
}

# ---- the start, by a clock of another program ----

# captured_window METHOD ARG...: runs `fio ARG...` on $disk
captured_window() {
	begin
	capture || return
	watch "$1" iolat "$1" --disk "$disk" --by op
	await_recorders
	fio --name=load --filename="/dev/$disk" --size=48m "${@:2}" >"$w/fio"
	stop_recorders "$1"
	end_capture
}

# agrees METHOD METRIC OP: compares each decile with that of "own"; it may differ by an eighth and the time of some programs.
# On 6.1 iolat uses the kernel's stamp of the start, which is always right there.
# Three in a hundred requests may be seen by only one of both.
agrees() {
	local i=0 percent low high own metric=$2 slack=2000 other

	[ "$metric" != iolat ] || metric=device
	[ -z "${LATSCOPE_VM-}" ] || slack=10000 # an instruction takes 4 ns there
	read_slots "$1" "$2.op.$3"
	for percent in 10 20 30 40 50 60 70 80 90; do
		read_printed own "${metric}_p${percent}_ns"
		own=$answer other=$answer
		if [[ ${LATSCOPE_VM-}-$metric = @(6.1|6.1-rt)-@(queued|total) ]]; then
			read_printed own "kernel_${metric}_p${percent}_ns"
			other=$answer
		fi
		slot_of $((samples * (percent - 3) / 100))
		low=${lows[i]-0}
		slot_of $((samples * (percent + 3) / 100))
		high=${highs[i]-0}
		if ! is_within $((low - own / 8 - slack)) $((own > other ? own : other)) "$forever" ||
			! is_within 0 $((own < other ? own : other)) $((high + own / 8 + slack)); then
			echo "p$percent of $metric"
			return 1
		fi
	done
}

# all_agree OP METHOD: on a busy host, one in ten requests may be delayed between two programs, which then see other tails
all_agree() {
	local metric

	for metric in iolat queued total; do
		agrees "$2" $metric "$1" || return
	done
}

# captured_by METHOD WHAT OP ARG...: tests one method
captured_by() {
	local methods=("$1") metric

	window captured_window "$1" "${@:4}" || return
	is "$1: $2: the other program misses none" "$(printed own lost)" 0
	diag "$1: $2: queued p50 $(printed own queued_p50_ns) ns, $(printed own kernel_queued_p50_ns) by the kernel's stamp"
	for metric in iolat queued total; do
		ok "$1: $2: $metric: each decile is that of another clock" agrees "$1" $metric "$3"
	done
}

# captured WHAT OP ARG...: tests each method on `fio ARG...` against another program that has its own clock
captured() {
	local method

	command -v fio >/dev/null || { skip "$1: deciles by another clock" 'fio is not installed' && return; }
	for method in "${methods[@]}"; do
		captured_by "$method" "$@" || return
	done
}

batches() {
	captured 'batches of 16' write --rw=randwrite --bs=4k --direct=1 --ioengine=libaio --iodepth=16 \
		--iodepth_batch=16 --iodepth_batch_complete_min=16 --number_ios=$((1600 * soak))
}

# Since 6.10 the kernel stamps requests that are submitted together with the time of the first one.
captures() {
	on 6.1 captured 'one at a time' read --rw=randread --bs=4k --direct=1 --ioengine=psync --number_ios=$((300 * soak))
	batches
	on 6.12 captured 'writeback' write --rw=write --bs=64k --ioengine=psync --end_fsync=1
}

# Also with the second variant of the BPF programs, on kernels that have both.
stamped_by_plugs() {
	local disk

	[ -z "${LATSCOPE_VM-}" ] || modprobe loop
	loop_disk on || { skip 'iolat on a loop device' 'no loop device can be had' && return; }
	flush_sequences
	batches
}

foreign_window() {
	begin
	start other dio "/dev/$1" 8 || return
	start io dio "/dev/$disk" 100 || return
	capture || return
	watch stamps iolat stamps --disk "$disk"
	await_recorders
	release other
	await 'the interval with its requests' filtered_by stamps 8
	release io
	await 'the end of io' has_printed io 'done=1'
	end_capture
}

# filtered_by NAME COUNT: succeeds if the intervals written so far have so many filtered events
filtered_by() {
	local filtered

	filtered=$(sqlite3 -readonly "$w/$1"/*/run.db "SELECT sum(count) FROM acct WHERE name = 'filtered'")
	[ "${filtered:-0}" -ge "$2" ]
}

# Requests of another disk do not prove the stamps of this one, which must still be compared.
foreign() {
	local other=$disk

	loop_disk off || return
	window foreign_window "$other" || return
	is 'stamps: with load on another disk: only samples of this disk' "$(fact stamps iolat.events)" "$(printed own reads)"
	ok 'stamps: with load on another disk: stamps of this disk are compared' [ "$(fact stamps iolat.checked)" -gt 0 ]
	balance 'stamps: with load on another disk' stamps
}

filter_window() {
	begin
	cgroup=${cgroups:+$cgroups/wanted/below} start io dio "/dev/$disk" $((100 * soak)) || return
	cgroup=${cgroups:+$cgroups/other} start other dio "/dev/$disk" $((100 * soak)) || return
	capture || return
	watch_filters
	work_captured io other
}

watch_filters() {
	watch pid iolat '' -p "${programs[io]}" --disk "$disk"
	watch comm iolat '' --comm dio --disk "$disk"
	watch nobody iolat '' --comm nobody --disk "$disk"
	watch all iolat '' --disk "$disk"
	watch cgroups iolat '' --disk "$disk" --by cgroup
}

# by_cgroup ALL COUNT: tests that of all requests no more than COUNT are of the first program, and the rest of the second
by_cgroup() {
	local metric wanted other

	for metric in iolat queued total; do
		wanted=$(fact cgroups "$metric.cgroup.$(stat -c %i "$cgroups/wanted/below").events")
		other=$(fact cgroups "$metric.cgroup.$(stat -c %i "$cgroups/other").events")
		within "--by cgroup: $metric: its requests" $(($1 - $2)) "$wanted" "$2"
		is "--by cgroup: $metric: all have their cgroup" $((wanted + other)) "$1"
	done
	balance '--by cgroup' cgroups
}

# ---- which submitter a request is counted for ----

# submitters_window ARG...
submitters_window() {
	begin
	start io submitters "/dev/$disk" "$@" || return
	capture || return
	watch submitters iolat tp_btf --disk "$disk" --by process,thread ${max_keys:+--max-keys "$max_keys"}
	work_captured io
}

# submitter_keys METRIC SPLIT: prints the names and events of the keys of programs that submitters has made
submitter_keys() {
	sqlite3 -readonly -separator ' ' "$w"/submitters/*/run.db "SELECT series.name, sum(sums.count) FROM sums
		JOIN series ON series.id = sums.series JOIN metric ON metric.id = series.metric
		WHERE metric.name = '$1' AND split = '$2' AND series.name GLOB 'sub[0-9]*' GROUP BY series.name ORDER BY 1"
}

# of_submitters COUNT: prints what submitter_keys does if COUNT requests of each program were seen
of_submitters() {
	local i

	for ((i = 0; i < 3; i++)); do
		echo "sub$i ($(printed io "pid$i")) $1"
	done
}

# each_submitter COUNT: each of the three has its name and COUNT requests. Some machines run no program for some requests;
# then each has at most COUNT, and all together what another program has seen.
each_submitter() {
	local total=$(($(printed own reads) + $(printed own writes))) got sum=0 count

	got=$(submitter_keys "$2" "$3")
	if [ "$total" = $((3 * $1)) ]; then
		tap_same "$got" "$(of_submitters "$1")"
		return
	fi
	while read -r _ _ count; do
		[ "$count" -le "$1" ] || { echo "$got" && return 1; }
		sum=$((sum + count))
	done <<<"$got"
	[ $sum = "$total" ] || { echo "$got, of $total" && return 1; }
}

# their_names WHAT COUNT
their_names() {
	local metric split

	captured_all "$1" "$([ "$2" = 1 ] && echo writes || echo reads)" $((3 * $2))
	for metric in device queued total; do
		for split in process thread; do
			ok "$1: $metric by $split: each has its own, and its name" each_submitter "$2" $metric $split
		done
	done
	balance "$1" submitters
}

# Programs find the row of a process by the lower bits of its ID; the name is only kept for the first requests.
submitters() {
	[[ " ${methods[*]} " = *' tp_btf '* ]] || return
	! window submitters_window 3 $((50 * soak)) 4096 || their_names 'IDs with the same lower bits' $((50 * soak))
	! window submitters_window 3 0 0 || their_names 'gone before the completion' 1
	max_keys=16
	if window submitters_window 200 3 0; then
		is 'more processes than keys: all are counted' "$(sqlite3 -readonly "$w"/submitters/*/run.db "SELECT sum(count) FROM sums
			JOIN series ON series.id = sums.series JOIN metric ON metric.id = series.metric
			WHERE metric.name = 'device' AND split = 'process'")" "$(printed own reads)"
		within 'more processes than keys: some have names' 2 "$(submitter_keys device process | wc -l)" 16
		balance 'more processes than keys' submitters
	fi
	max_keys=
}

# A filter by task selects by the submitter, and so does a split by cgroup.
filters() {
	local count all cgroups=''

	make_cgroups || cgroups=''
	window filter_window || return
	count=$(printed io count) all=$(printed own reads)
	captured_all filters reads $((2 * count))
	within '-p: its requests' $((all - count)) "$(fact pid iolat.events)" "$count"
	# Other disks may have flush sequences, which end without an issue.
	is '-p: the others are filtered' "$(($(fact pid iolat.events) + $(fact pid iolat.filtered)))" \
		"$(($(fact pid iolat.seen) - $(fact pid iolat.excluded)))"
	is '--comm: those of all of that name' "$(fact comm iolat.events)" "$all"
	is '--comm: nobody: none' "$(fact nobody iolat.events)" 0
	balance '-p' pid
	is 'a filter takes the method that sees submitters' "$(fact pid iolat.method)" tp_btf
	if [ -n "$cgroups" ]; then
		by_cgroup "$all" "$count"
	else
		skip 'iolat: --by cgroup' 'no cgroup v2 can be made here'
	fi
}

refused_splits() {
	refused_split iolat stamps process
}

# ---- null_blk: each request takes a given time ----

no_null_disk() { ! lsmod | grep -q '^null_blk' || modprobe -r null_blk; }

# null_disk NS [IRQMODE [PARAMETER=VALUE...]]: makes nullb0 complete each request after NS, in a timer's interrupt; IRQMODE 0:
# at once, in the task
null_disk() {
	no_null_disk
	modprobe null_blk nr_devices=1 queue_mode=2 "irqmode=${2:-2}" "completion_nsec=$1" "${@:3}"
}

# fio_window ARG...: `fio ARG...` reads blocks of $disk at random
fio_window() {
	begin
	watch_disk
	await_recorders
	fio --name=read --filename="/dev/$disk" --rw=randread --bs=4k --direct=1 --ioengine=psync --output-format=json "$@" >"$w/fio"
	close_window
}

# fio_said FILTER: prints a value of fio's reads
fio_said() { jq ".jobs[0].read | $1" "$w/fio"; }

# known_delay NS SCHEDULER
known_delay() {
	local method count what="null_blk $1 ns, $2"

	ok "$what: the device" null_disk "$1" || return
	disk=nullb0
	setting nullb0 scheduler "$2"
	window fio_window "--size=$((800 * soak))k" || return
	count=$(fio_said .total_ios)
	for method in "${methods[@]}"; do
		is "$method: $what: as many as fio" "$(fact "$method" iolat.events)" "$count"
		is "$method: $what: none shorter than the delay" "$(at_least "$method" iolat "$1")" "$count"
		within "$method: $what: none longer than fio saw" "$1" "$(fact "$method" iolat.max_ns)" \
			"$(fio_said .clat_ns.max)"
		within "$method: $what: the sum is between the delays and fio's" $((count * $1)) \
			"$(fact "$method" iolat.sum_ns)" "$(fio_said '.clat_ns.mean * .total_ios | ceil')"
		balance "$method: $what" "$method"
	done
}

# ---- requests of several queues, which share the lines of iolat's table ----

# queues_window QUEUES COUNT: a process on a CPU of each queue reads COUNT blocks, 200 at a time
queues_window() {
	begin
	capture || return
	watch_disk
	await_recorders
	fio --name=read --filename="/dev/$disk" --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=200 \
		"--numjobs=$1" "--cpus_allowed=0-$(($1 - 1))" --cpus_allowed_policy=split "--number_ios=$2" --size=1g >"$w/fio"
	end_capture
}

# of_processes METHOD: prints each metric's processes, with the number of their events
of_processes() {
	sqlite3 -readonly -separator ' ' "$w/$1"/*/run.db "SELECT metric.name, rtrim(series.name, ' (0123456789)'), sum(sums.count)
		FROM sums JOIN series ON series.id = sums.series JOIN metric ON metric.id = series.metric
		WHERE split = 'process' GROUP BY series.id ORDER BY 1, 2"
}

# each_process QUEUES COUNT: prints what of_processes does if each process has its COUNT requests, and no other task has any
each_process() {
	local metric i

	for metric in device queued total; do
		for ((i = 0; i < $1; i++)); do
			echo "$metric fio $2"
		done
	done
}

# The device takes few requests at a time, so the others wait, and the kernel's worker issues them. A line of the table has two
# places, and often the request in the first one ends while that in the second one waits.
same_lines() {
	local method metric queues count=$((1000 * soak)) what='queues with the same lines'

	ok "$what: the device" null_disk 1000000 2 submit_queues=4 poll_queues=0 hw_queue_depth=8 || return
	disk=nullb0
	queues=$(compgen -G '/sys/block/nullb0/mq/*' | wc -l)
	[ "$queues" -gt 1 ] || { skip "$what" 'one CPU, so null_blk has one queue' && return; }
	setting nullb0 scheduler mq-deadline
	setting nullb0 nr_requests 256
	setting nullb0 nomerges 2
	window queues_window "$queues" "$count" || return
	captured_all "$what" reads $((queues * count))
	for method in "${methods[@]}"; do
		for metric in iolat queued total; do
			is "$method: $what: $metric: all have a sample" "$(fact "$method" "$metric.events")" $((queues * count))
		done
		balance "$method: $what" "$method"
		! sees_submitter "$method" ||
			is "$method: $what: of each process" "$(of_processes "$method")" "$(each_process "$queues" "$count")"
	done
}

# ---- a disk that comes and goes between two readings ----

brief_window() {
	begin
	watch_all iolat --by disk -i 1h
	await_recorders
	null_disk 10000
	await 'reads of the disk' dd if=/dev/nullb0 of=/dev/null bs=4k count=8 iflag=direct status=none
	no_null_disk
	close_window
}

brief_disk() {
	local method

	no_null_disk
	window brief_window || return
	for method in "${methods[@]}"; do
		is "$method: a disk of a moment has its name" "$(sqlite3 -readonly "$w/$method"/*/run.db "SELECT DISTINCT name
			FROM series WHERE split = 'disk' AND name LIKE 'nullb%'")" nullb0
	done
}

# ---- requests in flight when the window opens or closes ----

hung=/proc/sys/kernel/hung_task_timeout_secs

# flying: succeeds if all 8 requests are in flight
flying() { [[ $(<"/sys/block/$disk/inflight") =~ ^\ *0\ +8$ ]]; }

# send PROGRAM: lets it send requests, which cannot complete before the thaw
send() {
	fsfreeze -f "$disk_fs"
	release "$1"
	await "8 requests of $1" flying
}

land() {
	fsfreeze -u "$disk_fs"
	await "the end of $1" has_printed "$1" 'done=1'
}

flight_window() {
	begin
	start early dio -W -q 8 "/dev/$disk" 8 || return
	start late dio -W -q 8 "/dev/$disk" 8 || return
	send early
	watch_disk
	watch cgroups iolat '' --disk "$disk" --by cgroup
	await_recorders
	land early
	send late
	stop_recorders "${methods[@]}" cgroups
	land late
	close_window
}

# other_ns NAME METRIC: prints the time of the row (other) of its cgroups
other_ns() {
	sqlite3 -readonly "$w/$1"/*/run.db "SELECT sum(sum_ns) FROM sums JOIN series ON series.id = sums.series
		JOIN metric ON metric.id = series.metric WHERE metric.name = '$2' AND split = 'cgroup' AND series.name = '(other)'"
}

# be_patient: the kernel does not complain of tasks that hang, until the end of the suite
be_patient() {
	[ -e "$hung" ] || return 0
	at_exit=("wait_for_hung $(<"$hung")" "${at_exit[@]}") # if called again: the first value is restored last
	wait_for_hung 0
}
wait_for_hung() { echo "$1" >"$hung"; }

# Writes to a loop device whose file is on a frozen file system.
in_flight() {
	local method missed other

	loop_disk off || return
	be_patient
	window flight_window || return
	for method in "${methods[@]}" cgroups; do
		missed=8
		[ "$method" != stamps ] || missed=0
		is "$method: in flight at the start" "$(fact "$method" iolat.missed_start)" $missed
		is "$method: in flight at the end" "$(fact "$method" iolat.in_flight)" 8
		balance "$method: in flight" "$method"
	done
	# No program has seen who submitted the first eight: one cgroup may have all of their time.
	other=$(other_ns cgroups total)
	within 'in flight: (other) has requests of unknown submitters' 1 "${other:-0}" "$forever"
	is 'in flight: no cgroup is said to have less of them' "$(fact cgroups total.other_most_ns)" "${other:-0}"
}

all_requests() {
	known_delays
	modprobe loop
	on 6.12 in_flight
	on 6.1 hung_disk
	loop_disk on || { ok 'a loop device' false && return; }
	transfers read
	on 6.1 transfers read -q 4
	on 6.12 transfers write -W
	flush_sequences
	on 6.1 discards
	captures
	unstamped
	on 6.12 filters
	on 6.1 foreign
	submitters
	mapped_requests
	failing_requests
	on 6.12 refused_splits
}

# On this machine, where there is no null_blk.
loop_requests() {
	loop_disk on || { skip 'iolat on a loop device' 'no loop device can be had' && return; }
	transfers read
	transfers write -W
	flush_sequences
	captured 'one at a time' read --rw=randread --bs=4k --direct=1 --ioengine=psync --number_ios=$((300 * soak))
	batches
	foreign
	hung_disk
}

known_delays() {
	on 6.1 known_delay 1000000 none
	on 6.12 known_delay 1000000 mq-deadline
	on 6.1 known_delay 3000000 none
	same_lines
	brief_disk
}

delayed_reads() {
	local method delay_ns=1000000

	ok 'the device' null_disk $delay_ns || return
	disk=nullb0
	setting nullb0 scheduler none
	transfers read
	for method in "${methods[@]}"; do
		is "$method: dio: none is shorter than the delay" \
			"$(at_least "$method" iolat $delay_ns)" "$(printed io disk_reads)"
	done
}

# Many tasks for few CPUs, on a kernel that preempts our programs while they run. If an interrupt completes the requests, none is
# missing. If their own task does, some may be missing: at least the abandoned ones, at most recursion_missed.
preempted_requests() {
	local method known unseen jobs=16 each=300 disk=nullb0
	local count=$((jobs * each)) reads=("--numjobs=$jobs" "--number_ios=$each" --size=1g)

	ok 'preempted: the device' null_disk 50000 || return
	window fio_window "${reads[@]}" || return
	is 'tp_btf: preempted: completed by interrupts, all are there' "$(fact tp_btf iolat.events)" $count
	ok 'preempted: another device' null_disk 0 0 || return
	window fio_window "${reads[@]}" || return
	for method in "${methods[@]}"; do
		known=$(($(fact "$method" iolat.events) + $(fact "$method" iolat.missed_start)))
		unseen=$(fact "$method" iolat.recursion_missed)
		within "$method: preempted: what is not recorded is said to be missing" $((count - unseen)) $known $count
		diag "$method: $(fact "$method" iolat.events) of $count recorded, up to $unseen not seen," \
			"$(fact "$method" iolat.abandoned) abandoned"
		balance "$method: preempted" "$method"
	done
	within 'tp_btf: preempted: what is abandoned is missing' 0 "$(fact tp_btf iolat.abandoned)" \
		$((count - $(fact tp_btf iolat.events)))
}

if ! methods iolat; then
	:
elif [ -z "${LATSCOPE_VM-}" ]; then
	loop_requests
elif [ "$extent" = check ]; then
	delayed_reads
	on 6.1 brief_disk
elif [ "$extent" = compact ]; then
	delayed_reads
	[ -n "$repeated" ] || brief_disk
	[ -n "$repeated" ] || on 7 mapped_requests
	# Once on each kernel; the long tests do it with none and voluntary.
	[[ $(preemption) =~ none|voluntary|lazy ]] || stamped_by_plugs
	! [[ $(preemption) =~ lazy|full|rt ]] || ! command -v fio >/dev/null || preempted_requests
else
	all_requests
fi
