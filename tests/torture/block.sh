# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # seed, ms, w and so on are tests/torture/run's
# iolat, by disk, against the capture: random jobs of fio on whatever disks can be made here.

made=() # commands that undo what make_disks did

# pick WORD...: one of them
pick() {
	local at=$((RANDOM % $# + 1))

	echo "${!at}"
}

# add_disk DEVICE
add_disk() { [ ! -b "$1" ] || disks+=("$1"); }

make_loop() {
	local loop

	truncate -s 64M "$w/image"
	loop=$(losetup -f --show ${1:+--direct-io="$1"} "$w/image" 2>/dev/null) || return
	made+=("losetup -d $loop")
	add_disk "$loop"
}

# Only in the VM: modules of the kernel, whose disks are not anybody's.
make_null() {
	modprobe null_blk nr_devices=1 gb=1 queue_mode=2 irqmode="$(pick 0 1 2)" completion_nsec=$((RANDOM * 10)) \
		submit_queues=$((RANDOM % 2 + 1)) memory_backed=1 discard=1 2>/dev/null || return
	made+=('rmmod null_blk')
	add_disk /dev/nullb0
}

# Every so many commands fail, are late, or are answered "busy".
make_scsi() {
	local block

	modprobe scsi_debug dev_size_mb=64 ndelay=$((RANDOM * 20)) max_queue=$((RANDOM % 32 + 1)) lbpu=1 \
		every_nth=$((RANDOM % 50 + 10)) opts="$(pick 0 0 8 0x8000)" 2>/dev/null || return
	made+=('rmmod scsi_debug')
	udevadm settle 2>/dev/null || sleep 0.5
	for block in /sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*/block/*; do
		add_disk "/dev/${block##*/}"
	done
}

make_disks() {
	disks=() made=()
	make_loop "$(pick on off '')"
	[ -n "${LATSCOPE_VM-}" ] || return 0
	add_disk /dev/vda
	make_null
	make_scsi
}

unmake_disks() {
	local i

	for ((i = ${#made[@]} - 1; i >= 0; i--)); do
		# shellcheck disable=SC2086 # each word is an argument
		eventually ${made[i]} || diag "cannot undo: ${made[i]}"
	done
}

# number_of DEVICE: as the capture has it
number_of() {
	local major minor

	IFS=: read -r major minor <"/sys/block/${1##*/}/dev"
	echo $((major << 20 | minor))
}

set_scheduler() {
	local file=/sys/block/${1##*/}/queue/scheduler

	pick none mq-deadline bfq kyber 2>/dev/null >"$file"
	return 0
} 2>/dev/null

# work_on DEVICE NUMBER: one job; what fails is no matter, what is measured is
work_on() {
	set_scheduler "$1"
	fio --name="t$2" --filename="$1" --size=32M --randseed="$seed" --runtime=$((ms / 1000 + 1)) --time_based \
		--rw="$(pick randread randwrite randrw read write randtrim)" --bsrange="$(pick 512-4k 4k-64k 128k-1M)" \
		--ioengine="$(pick psync libaio io_uring)" --iodepth="$(pick 1 2 16 64)" --direct="$(pick 0 1 1)" \
		--fsync="$(pick 0 0 0 4)" --sync="$(pick 0 0 sync dsync)" --thinktime="$(pick 0 0 200)" \
		--rate_iops=2000 --continue_on_error=all --allow_mounted_write=1 >"$w/fio.$2" 2>&1
}

# work_on_files DEVICE NUMBER: a file system, and what its writeback does
work_on_files() {
	mkfs.ext4 -q -F "$1" >/dev/null 2>&1 && mkdir "$w/mount.$2" && mount "$1" "$w/mount.$2" || return
	fio --name="t$2" --directory="$w/mount.$2" --size=8M --nrfiles=4 --randseed="$seed" \
		--runtime=$((ms / 1000 + 1)) --time_based --rw="$(pick randwrite write randrw)" --bs=4k \
		--fsync="$(pick 0 8 64)" --rate_iops=1000 >"$w/fio.$2" 2>&1
	umount "$w/mount.$2"
}

work_on_all() {
	local i jobs=()

	RANDOM=$((seed & 32767))
	for i in "${!disks[@]}"; do
		if [ $((RANDOM % 3)) = 0 ]; then
			work_on_files "${disks[i]}" "$i" &
		else
			work_on "${disks[i]}" "$i" &
		fi
		jobs+=($!)
	done
	wait "${jobs[@]}"
	for i in "${!disks[@]}"; do
		blockdev --flushbufs "${disks[i]}"
	done
}

torture_block() {
	local rung disks=() disk

	command -v fio >/dev/null || {
		skip 'block' 'there is no fio'
		return
	}
	rungs iolat stamps tp_btf raw_tp || return
	RANDOM=$((seed & 32767))
	make_disks
	[ ${#disks[@]} -gt 0 ] || {
		skip 'block' 'no disk can be made here'
		return
	}
	for disk in "${disks[@]}"; do
		number_of "$disk"
	done >"$w/disks"
	begin_capture block
	begin_recorders iolat --by disk
	work_on_all
	end_recorders
	end_capture
	is "block, seed $seed: the capture lost nothing" "$(grep lost "$w/capture")" 'lost 0'
	for rung in "${rungs[@]}"; do
		keys "$rung" disk device >"$w/$rung.keys"
		ok "block, seed $seed: $rung: requests took as long as captured" \
			agree 32 5000 300000 "$w/$rung.keys" "$w/capture" "$w/disks"
		ok "block, seed $seed: $rung: as many as captured" \
			same_count "$w/$rung.keys" "$w/capture" "$w/disks" "$(said_missing "$rung")"
		ok "block, seed $seed: $rung: balances" balanced "$rung"
	done
	unmake_disks
}
