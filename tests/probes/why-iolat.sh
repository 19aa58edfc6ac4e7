#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Divides the slow block requests of known loads, and compares the parts with what the loads did. In the VM the disks are of
# null_blk and take 10 ms for a request; elsewhere there is one loop device, if there can be one.
# why-iolat.sh check: only those of make check. why-iolat.sh load NAME ARG...: runs a load.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/tap.sh

# ---- loads; processes are known by the names of links to fio ----

as=(--size=32m --direct=1 --ioengine=libaio --output-format=json)

# hog DEVICE ARG...
hog() { "$dir/hog" --name=hog --filename="$1" "${as[@]}" "${@:2}" >"$dir/hog.json"; }

# with_victim DEVICE COMMAND...: runs it while a victim reads one block of the device after the other
with_victim() {
	local victim reads

	reads=$(reads_of "${1#/dev/}")
	"$dir/victim" --name=victim --filename="$1" "${as[@]}" --rw=randread --bs=4k --time_based --runtime=900 >/dev/null &
	victim=$!
	until [ "$(reads_of "${1#/dev/}")" -gt $((reads + 3)) ]; do sleep 0.1; done
	"${@:2}"
	kill $victim
	wait $victim
}

reads_of() { awk -v disk="$1" '$3 == disk { print $4 }' /proc/diskstats; }
writes_of() { awk -v disk="$1" '$3 == disk { print $8 }' /proc/diskstats; }

load_neighbour() { with_victim "$1" hog "$1" --rw="$2" --bs=16k --iodepth=10 --number_ios="$3"; }
load_syncs() { with_victim "$1" hog "$1" --rw=randwrite --bs=4k --fdatasync=1 --number_ios="$2"; }
load_sequences() { hog "$1" --rw=randwrite --bs=4k --ioengine=psync --sync=dsync --number_ios="$2"; }
load_discards() { with_victim "$1" hog "$1" --rw=randtrim --ioengine=sync --bs=4k --number_ios="$2"; }
load_encrypted() { with_victim "$1" hog "$2" --rw=randwrite --bs=16k --iodepth=10 --number_ios="$3"; }
load_alone() { "$dir/victim" --name=victim --filename="$1" "${as[@]}" --rw=randread --bs=4k --iodepth="$2" --number_ios="$3" >/dev/null; }

# load_shared DEVICE COUNT NEIGHBOUR...: a victim reads COUNT blocks, one at a time, alone; then as many with neighbours, each a
# word of a name and options of fio. fio itself says how long the reads took.
load_shared() {
	local device=$1 neighbour pids=()

	read_blocks "$device" "$2" alone
	for neighbour in "${@:3}"; do
		# shellcheck disable=SC2086 # words
		"$dir/${neighbour%% *}" --name=neighbour --filename="$device" "${as[@]}" ${neighbour#* } --time_based --runtime=900 \
			--output="$dir/${neighbour%% *}.json" >/dev/null &
		pids+=($!)
	done
	for neighbour in "${pids[@]}"; do
		eventually does_io "$neighbour"
	done
	read_blocks "$device" "$2" together
	kill "${pids[@]}"
	wait
}

# does_io PID: has a child of this fio, which has its job, read or written for a while?
does_io() {
	local child

	for child in $(pgrep -P "$1"); do
		awk '/^(read|write)_bytes/ { bytes += $2 } END { exit bytes < 200000 }' "/proc/$child/io" && return
	done
	return 1
}

# read_blocks DEVICE COUNT NAME
read_blocks() {
	"$dir/victim" --name=victim --filename="$1" "${as[@]}" --rw=randread --bs=4k --number_ios="$2" --output="$dir/$3.json" >/dev/null
}


# Buffered writes of a cgroup; the flusher threads write them to the disk.
load_writeback() { with_victim "$1" write_back "${@:2}"; }

write_back() {
	sh -c "echo \$\$ >$1/cgroup.procs && exec dd if=/dev/zero of=/mnt/file bs=64k count=$2 conv=notrunc status=none"
	while awk '$1 == "Dirty:" || $1 == "Writeback:" { sum += $2 } END { exit sum < 256 }' /proc/meminfo; do sleep 0.2; done
}

# A database: small appends to a file, each waited for
database() {
	rm -f /mnt/database # each write makes it longer, which the journal has to say
	"$dir/database" --name=database --filename=/mnt/database --rw=write --bs=4k --ioengine=psync --fallocate=none --fdatasync=1 --size=32m \
		--number_ios="$1" --output="$dir/database.json" >/dev/null
}

load_commits() { with_victim "$1" database "$2"; }

# load_stream COUNT: a database next to buffered writes to another file
load_stream() {
	local stream

	until [ -e "$dir/enough" ]; do dd if=/dev/zero of=/mnt/stream bs=64k count=200 conv=notrunc status=none; done &
	stream=$!
	until awk '$1 == "Writeback:" { exit $2 == 0 }' /proc/meminfo; do sleep 0.1; done
	database "$1"
	touch "$dir/enough"
	wait $stream
}

if [ "${1-}" = load ]; then
	"load_$2" "${@:3}"
	exit 0
fi

# ---- tests ----

. tests/measure.sh
built=${LATSCOPE_BUILT:-$PWD/.output}
dir=$(mktemp -d)
export dir
at_exit=() command=(iolat --why) options=() disk=''
on_exit clean_up

clean_up() {
	local command

	for command in "${at_exit[@]}"; do
		$command
	done
	rm -rf "$dir"
}

query() { sqlite3 -readonly "$db" "$1"; }

# explain OVER LOAD ARG...: runs the load under iolat, with $options; sets $db
explain() {
	rm -rf "$dir/runs"
	begin_evidence
	"$built/latscope" "${command[@]}" -q --over "$1" "${options[@]}" -o "$dir/runs" -- tests/probes/why-iolat.sh load "${@:2}" >"$dir/out" 2>"$dir/err"
	end_evidence
	db=$(echo "$dir"/runs/*/run.db)
	[ -e "$db" ] && [ "$(query "SELECT count(*) FROM probe WHERE name = 'iolat' AND why_slow > 0")" = 1 ] && return
	ok "$2: there are slow requests" false
	diag "$(tail -n 5 "$dir/err")"
	return 1
}

# slow CONDITION: ns of slow time
slow() { query "SELECT coalesce(sum(ns), 0) FROM iolat_why WHERE $1"; }

# share WHAT OF PERCENT CONDITION: tests that at least PERCENT of the slow time that meets OF meets CONDITION, too
share() {
	local all part

	all=$(slow "$2") part=$(slow "($2) AND ($4)")
	ok "$1" [ $((all > 0 && part * 100 >= all * $3)) = 1 ]
	[ $((all > 0 && part * 100 >= all * $3)) = 1 ] ||
		diag "$part of $all ns: $4"$'\n'"$(query 'SELECT victim, part, culprit, sum(ns), sum(events) FROM iolat_why
			GROUP BY 1, 2, 3 ORDER BY 4 DESC LIMIT 12')"
}

# adds_up WHAT: everything is in some part, and in a known one
adds_up() {
	all_sums "$1"
	share "$1: at most 2 % is unknown" 1 98 "part <> 'unknown'"
}

# all_sums WHAT: of pairs, of samples and of each slow event; nothing may disturb them
all_sums() {
	local disturbance=''

	is "$1: pairs sum to the slow time" "$(slow 1)" "$(query "SELECT why_slow_ns FROM probe WHERE name = 'iolat'")"
	is "$1: parts sum to each event" "$(query 'SELECT count(*) FROM iolat_slow WHERE ns <> unknown_ns + queued_ns +
		device_ns + own_ns + other_ns + flush_ns + discard_ns + requeued_ns + journal_ns + writeback_ns')" 0
	ok "$1: there are events" [ "$(query 'SELECT count(*) FROM iolat_slow')" -gt 0 ]
}

victim="victim LIKE 'victim (%'"
by_hog="culprit LIKE 'hog (%'"
by_others="part IN ('other', 'own', 'journal', 'flush', 'discard')"

# neighbour DEVICE OP COUNT SHARE COLUMN OTHER_COLUMN: SHARE of 100 of its time, the disk works for it
neighbour() {
	local what="a neighbour, $2" bytes run_ns

	explain 1ms neighbour "$1" "rand$2" "$3" || return
	bytes=$(jq ".jobs[0].$2.io_bytes" "$dir/hog.json")
	adds_up "$what"
	share "$what: nearly all of the time of others is its own" "$victim AND $by_others" 95 "$by_hog AND part = 'other'"
	run_ns=$(jq ".jobs[0].$2.runtime * 1000000" "$dir/hog.json")
	within "$what: as long as the disk worked for it" $((run_ns * $4 / 100)) "$(slow "$victim AND $by_hog")" "$run_ns"
	within "$what: its bytes are those that it counts" $((bytes * 98 / 100)) \
		"$(query "SELECT sum($5) FROM iolat_why WHERE $victim AND $by_hog")" "$bytes"
	is "$what: and no others" "$(query "SELECT sum($6) FROM iolat_why WHERE $victim AND $by_hog")" 0
	is "$what: events have the disk" "$(query 'SELECT DISTINCT disk FROM iolat_slow')" "${1#/dev/}"
	is "$what: and the operation" "$(query "SELECT process, op, bytes FROM iolat_slow WHERE NOT
		(process = 'victim' AND op = 'read' AND bytes = 4096 OR process = 'hog' AND op = '$2' AND bytes % 16384 = 0)")" ''
}

# filtered DISK: only the victim, and by the command that explains all probes
filtered() {
	local command=(why) options=(--comm victim)

	neighbour "$1" read 200 80 read_bytes written_bytes
	like 'a filter: only the victim is one' "$(query 'SELECT DISTINCT victim FROM iolat_why')" '^victim \([0-9]+\)$'
	like 'the sentence names the neighbour' "$(sed -n '/^iolat/,$p' "$dir/out" | tr -s ' \n' ' ')" 'hog \([0-9]+\) kept the'
}

alone() {
	explain 1ms alone "$1" 1 "$2" || return
	adds_up alone
	share 'alone: the device has it nearly all the time' 1 95 "part = 'device'"
}

# null_disk DEPTH [SETTING...]: sets $disk to one that takes 10 ms for a request and can flush and discard
null_disk() {
	local at=/sys/kernel/config/nullb/why

	[[ $* != *mbps=* ]] || at=/sys/kernel/config/nullb/slow # null_blk cannot have its limit removed
	modprobe null_blk nr_devices=0 || return
	mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config || return
	mkdir -p $at && echo 0 >$at/power || return
	set_all $at memory_backed=1 size=64 queue_mode=2 irqmode=2 completion_nsec=10000000 discard=1 cache_size=16 \
		submit_queues=1 hw_queue_depth="$1" "${@:2}" power=1 || return
	disk=nullb$(<$at/index)
	[ -b "/dev/$disk" ] || disk=${at##*/} # since 6.4 the disk is called so
	set_all "/sys/block/$disk/queue" scheduler=mq-deadline nr_requests=64
}

# serial_disk: sets $disk, and $options for it, to a loop device that takes all requests at once. The disk below it takes one at a
# time, in order, and works on it for 10 ms.
serial_disk() {
	null_disk 1 && echo none >"/sys/block/$disk/queue/scheduler" &&
		modprobe loop && disk=$(losetup -f --show --direct-io=on "/dev/$disk") &&
		disk=${disk#/dev/} && echo none >"/sys/block/$disk/queue/scheduler" && options=(--disk "$disk")
}

# on_serial_disk COMMAND...: with "$disk" as the next word
on_serial_disk() {
	local options=()

	serial_disk
	ok "$1: the disk" test -b "/dev/$disk" || return
	"$1" "/dev/$disk" "${@:2}"
	losetup -d "/dev/$disk"
}

set_all() {
	local setting

	for setting in "${@:2}"; do
		echo "${setting#*=}" >"$1/${setting%%=*}" || return
	done
}

# One request at a time: each waits for three others, in the queue of the scheduler.
depth() {
	null_disk 1
	ok 'queue depth 1: the device' test -b "/dev/$disk" || return
	explain 1ms alone "/dev/$disk" 4 100
	adds_up 'queue depth 1'
	share 'queue depth 1: most of the time is for others of its process' 1 65 "part = 'own'"
	share 'queue depth 1: and the rest with the device' 1 97 "part IN ('own', 'device')"
}

# said FILE FIELD: a number of the job in the JSON of fio, read or written
said() { sed -n '/^{/,$p' "$dir/$1.json" | jq "[.jobs[0].read, .jobs[0].write | select(.total_ios > 0)][0].$2" | cut -d. -f1; }

# shared WHAT COUNT NEIGHBOUR...: what the reads of the victim lost to its neighbours is what they took longer than alone, by fio's
# own clock. Sets $lost_ns, $whole_ns: the time of those with neighbours.
shared() {
	local what=$1 alone_ns unblamed=${unblamed-5}

	ok "$what: the device" test -b "/dev/$disk" || return
	local options=(--disk "$disk")
	explain 100us shared "/dev/$disk" "${@:2}" || return
	adds_up "$what"
	alone_ns=$(said alone lat_ns.mean)
	whole_ns=$(($(said together lat_ns.mean) * $2)) lost_ns=$(($(said together lat_ns.mean) * $2 - alone_ns * $2))
	diag "$what: alone $alone_ns ns, together $((whole_ns / $2)) ns: lost $((lost_ns * 100 / whole_ns)) %, blamed $(
		slow "$victim AND culprit NOT LIKE 'victim (%'") of $whole_ns ns; $(grep -a "^$disk" -A 1 "$dir/out" | tr -s ' \n' ' ')"
	within "$what: the neighbours have what the victim lost to them" $((lost_ns - whole_ns * unblamed / 100)) \
		"$(slow "$victim AND culprit NOT LIKE 'victim (%'")" $((lost_ns + whole_ns / 20))
}

at_most() { within "$1" 0 "$2" "$3"; }

# has_of_lost WHAT PERCENT NAME: of what the victim lost
has_of_lost() { share "$1" "$victim AND culprit NOT LIKE 'victim (%'" "$2" "culprit LIKE '$3 (%'"; }

reads='--rw=randread --bs=4k --iodepth=16'
large='--rw=randread --bs=64k --iodepth=4'
small='--rw=randread --bs=4k --iodepth=4'

# Each takes 10 ms, whatever others do.
parallel() {
	null_disk 128
	shared parallel 60 "hog $reads" || return
	at_most 'parallel: nobody has more than 5 % of the victim' "$(slow "$victim AND culprit NOT LIKE 'victim (%'")" $((whole_ns / 20))
	at_most 'parallel: the victim has at most 2 % of its neighbour' "$(slow "victim LIKE 'hog (%' AND culprit LIKE 'victim (%'")" \
		$(($(slow "victim LIKE 'hog (%'") / 50))
	like 'parallel: the disk serves many at a time' "$(<"$dir/out")" "$disk serves (at least )?1[0-9] at a time"
}

# One at a time, whatever its size: each of two neighbours is to blame as often as it had the disk.
serial() {
	local hog

	null_disk 1
	shared serial 40 "hog $reads" || return
	has_of_lost 'serial: the neighbour is to blame' 99 hog
	like 'serial: the disk serves one at a time' "$(<"$dir/out")" "$disk serves 1 at a time"
	shared 'serial, two' 40 "hog $small" "big $large" || return
	hog=$(($(said hog total_ios) * 100 / ($(said hog total_ios) + $(said big total_ios))))
	has_of_lost 'serial, two: the one with small requests, by their number' $((hog - 10)) hog
	has_of_lost 'serial, two: and the one with large ones' $((90 - hog)) big
}

# 10 MB/s: the process that moves most bytes is to blame. If the limit was used up before the victim's request came, it waits while
# the disk does little, and for that part of its wait nobody is to blame. To tell a limit of bytes from a limit of requests, iolat
# compares batches of requests that have another mix of sizes. Here the mix changes little, so it needs more than a hundred batches.
limited() {
	local unblamed=10 big

	null_disk 64 mbps=10 completion_nsec=1000000
	shared limited 80 "hog ${large/read/write}" || return
	has_of_lost 'limited: the neighbour is to blame' 99 hog
	at_most 'limited: the victim has at most 5 % of its neighbour' "$(slow "victim LIKE 'hog (%' AND culprit LIKE 'victim (%'")" \
		$(($(slow "victim LIKE 'hog (%'") / 20))
	like 'limited: the limit is said' "$(<"$dir/out")" "$disk is limited to [0-9.]+ MiB/s"
	shared 'limited, two' 300 "hog $small" "big $large" || return
	big=$(($(said big io_bytes) * 100 / ($(said big io_bytes) + $(said hog io_bytes))))
	has_of_lost 'limited, two: the one with large requests, by their bytes' $((big - 10)) big
}

flushes() {
	null_disk 1
	ok 'flushes: the device' test -b "/dev/$disk" || return
	explain 1ms syncs "/dev/$disk" 50 || return
	adds_up flushes
	share 'flushes: some of the time of the victim' "$victim AND $by_others" 30 "part = 'flush'"
	if grep -aq btf_trace_block_io_start /sys/kernel/btf/vmlinux; then
		share 'flushes: all are of the neighbour' "part = 'flush'" 99 "$by_hog"
	else
		share 'flushes: nobody else is blamed' "part = 'flush'" 99 "$by_hog OR culprit IS NULL"
	fi
	is 'flushes: nothing is discarded' "$(slow "part = 'discard'")" 0
	explain 1ms discards "/dev/$disk" 50 || return
	adds_up discards
	share 'discards: some of the time of the victim' "$victim AND $by_others" 30 "part = 'discard'"
	share 'discards: all are of the neighbour' "part = 'discard'" 99 "$by_hog"
	is 'discards: nothing is flushed' "$(slow "part = 'flush'")" 0
}

# sequences DEVICE COUNT: a write that has to reach the medium is a write, though as a whole it ends with a flush
sequences() {
	local options=(-i 10ms) # each interval keeps its slowest

	grep -qx 'write back' "/sys/block/${1#/dev/}/queue/write_cache" || {
		skip 'flush sequences' 'the disk has no volatile cache' && return
	}
	explain 1us sequences "$@" || return
	adds_up 'flush sequences'
	is 'flush sequences: there are writes and flushes' \
		"$(query "SELECT DISTINCT op FROM iolat_slow WHERE process = 'hog' AND op <> 'read' ORDER BY op")" $'flush\nwrite'
}

# dm-crypt writes by a thread of its own. To blame is the process whose data it writes.
encrypted() {
	local key=0123456789abcdef0123456789abcdef

	null_disk 1
	modprobe dm-crypt && dmsetup --noudevrules --noudevsync create encrypted --table "0 65536 crypt aes-cbc-plain64 $key 0 /dev/$disk 0"
	ok 'dm-crypt: the device' test -b /dev/dm-0 || return
	explain 1ms encrypted "/dev/$disk" /dev/dm-0 150 || return
	adds_up dm-crypt
	share 'dm-crypt: its writer is blamed' "$victim AND $by_others" 99 "$by_hog"
	is 'dm-crypt: its thread is neither victim nor culprit' \
		"$(query "SELECT count(*) FROM iolat_why WHERE victim LIKE 'dmcrypt%' OR culprit LIKE 'dmcrypt%' OR culprit LIKE 'kworker%'")" 0
	dmsetup --noudevrules --noudevsync remove encrypted
}

# A host adapter that is busy for each third command.
requeues() {
	modprobe scsi_debug dev_size_mb=64 ndelay=5000000 every_nth=3 opts=0x8000 max_queue=1 && modprobe sd_mod
	eventually test -b /dev/sda
	ok 'requeues: the device' test -b /dev/sda || return
	explain 1us alone /dev/sda 1 60 || return
	adds_up requeues
	share 'requeues: some of the time is lost to them' 1 10 "part = 'requeued'"
	share 'requeues: the rest is with the device' "part <> 'requeued'" 80 "part = 'device'"
}

writeback() {
	local group=/sys/fs/cgroup/writer options=("${options[@]}" --by 'process,cgroup') bytes written

	ok 'writeback: a file system' make_file "$1" || return
	ok 'writeback: a cgroup' make_group $group || return
	echo 64 >"/sys/block/${1#/dev/}/queue/max_sectors_kb" # so that there are some hundred requests
	soon_dirty
	written=$(writes_of "${1#/dev/}")
	explain 1ms writeback "$1" $group 800 || return
	umount /mnt
	written=$(($(writes_of "${1#/dev/}") - written))
	adds_up writeback
	share 'writeback: the cgroup is blamed' "$victim AND $by_others" 75 "culprit = '/writer'"
	# The few requests of the file system's own are as long as others, but small.
	bytes=$(query "SELECT sum(written_bytes) FROM iolat_why WHERE $victim AND $by_others")
	within 'writeback: and not the thread that writes' $((bytes * 98 / 100)) \
		"$(query "SELECT sum(written_bytes) FROM iolat_why WHERE $victim AND $by_others AND culprit = '/writer'")" "$bytes"
	share 'writeback: as a victim it is the cgroup, too' "NOT ($victim)" 90 "victim = '/writer'"
	within 'writeback: --by cgroup charges the same cgroup' $((written * 90 / 100)) "$(requests_of $group)" "$written"
}

# requests_of CGROUP: the samples of its row
requests_of() {
	query "SELECT coalesce(sum(count), 0) FROM sums JOIN series ON series.id = sums.series JOIN metric ON metric.id = series.metric
		WHERE metric.name = 'total' AND split = 'cgroup' AND key = $(stat -c %i "$1")"
}

# A database waits for each of its writes, and the journal for the database; nobody waits for the stream.
journal() {
	grep -aq btf_trace_block_io_start /sys/kernel/btf/vmlinux || {
		skip journal 'the submitter of a flush sequence is not known before Linux 6.5' && return
	}
	null_disk 1
	ok 'journal: a file system' make_journal "/dev/$disk" || return
	soon_dirty
	local options=(--disk "$disk")
	explain 1ms stream 30 || return
	all_sums journal
	share 'journal: most of the slow time is of asynchronous writes' 1 50 "part = 'writeback'"
	share 'journal: none of it is of the database or of the journal' "part = 'writeback'" 99 "victim NOT LIKE 'database (%' AND victim NOT LIKE 'jbd2/%'"
	like 'journal: but the database or its journal leads' "$(sed -n '/^iolat:.*samples/,$p' "$dir/out" | grep -m1 ' waited most: ')" \
		'^(Little was slow [^.]*[.0-9 %a-z)]*\. )?(database|jbd2/)'
	is 'journal: no slow event is one that nobody waits for' "$(query 'SELECT count(*) FROM iolat_slow WHERE writeback_ns > 0')" 0
	sync # what is left of the stream
	explain 1ms commits "/dev/$disk" 30 || return
	umount /mnt
	all_sums commits
	share 'commits: a neighbour waits for the journal' "$victim AND $by_others" 30 "part = 'journal'"
	share 'commits: and that is of jbd2' "part = 'journal'" 99 "culprit LIKE 'jbd2/%'"
	share 'commits: which does nothing else' "culprit LIKE 'jbd2/%'" 99 "part IN ('journal', 'flush') OR victim LIKE 'jbd2/%'"
	share 'commits: the rest is mostly for the database' "$victim AND part = 'other'" 70 "culprit LIKE 'database (%'"
}

make_journal() { mkfs.ext4 -q -E nodiscard,lazy_itable_init=0 -J size=4 "$1" && mount -o noinit_itable,no_prefetch_block_bitmaps "$1" /mnt; }

# The kernel begins soon to write back.
soon_dirty() {
	echo 1 >/proc/sys/vm/dirty_background_ratio
	echo 50 >/proc/sys/vm/dirty_writeback_centisecs
	echo 50 >/proc/sys/vm/dirty_expire_centisecs
}

# A file that the cgroup writes over. The file system has nothing to write itself then: no bitmaps, no journal, no times; and it
# reads none ahead. What it writes is not of the cgroup.
make_file() {
	mkfs.ext4 -q -E nodiscard,lazy_itable_init=0 -O ^has_journal "$1" && mount "$1" /mnt &&
		dd if=/dev/zero of=/mnt/file bs=64k count=800 status=none && umount /mnt &&
		mount -o lazytime,noinit_itable,no_prefetch_block_bitmaps "$1" /mnt
}

make_group() {
	echo '+memory +io' >/sys/fs/cgroup/cgroup.subtree_control && mkdir "$1"
}

links() {
	local name

	for name in victim hog big database; do
		ln -sf "$(command -v fio)" "$dir/$name" || return
	done
}

command -v fio >/dev/null || skip_all 'fio is not installed'
links
if [ -z "${LATSCOPE_VM-}" ]; then
	truncate -s 32M "$built/why-iolat.disk"
	at_exit=("rm -f $built/why-iolat.disk")
	disk=$(losetup -f --show --direct-io=on "$built/why-iolat.disk" 2>/dev/null) || skip_all 'no loop device can be had'
	at_exit=("losetup -d $disk" "${at_exit[@]}")
	explain 1us neighbour "$disk" randread 2000
	adds_up 'loop device'
	sequences "$disk" 400
	done_testing
	exit
fi
tests=${LATSCOPE_WHY_TESTS-write read alone depth parallel serial limited flushes requeues encrypted journal writeback}
# On 6.1 and 7, what differs most from 6.12.
[[ $LATSCOPE_VM${LATSCOPE_SOAK-} != @(6.1|7) ]] || tests=${LATSCOPE_WHY_TESTS-write depth limited journal writeback}
[ "${1-}" != check ] || tests=flushes
for test in $tests; do
	case $test in
	write) on_serial_disk neighbour write 200 80 written_bytes read_bytes ;;
	read) on_serial_disk filtered ;;
	alone) on_serial_disk alone 50 ;;
	writeback) on_serial_disk writeback ;;
	*) $test ;;
	esac
done
done_testing
