# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # own_clock, seed, ms, w and so on are tests/torture/run's
# iolat, by disk, compared with the capture: random jobs of fio on all kinds of disks that can be made here, and on
# file systems, partitions and mappings on them.

# random_job I: sets $job to a random job of fio on the target of disk I
random_job() {
	local option options

	job=(--name="t$1" --filename="${targets[$1]}" --size=32M --randseed="$seed" --time_based
		--continue_on_error=all --allow_mounted_write=1)
	options=('rw randread randwrite randrw read write randtrim' 'bsrange 512-4k 4k-64k 128k-1M' 'iodepth 1 2 16 64'
		'ioengine psync libaio io_uring' 'direct 0 1 1' 'fsync 0 0 0 4' 'sync 0 0 sync dsync' 'thinktime 0 0 200'
		'rate_iops 2000')
	# Only unsplit requests on a queue without a scheduler are polled. They end when fio asks, so there is no rate.
	[ "${ways[$1]}" != polled ] || options=('rw randread randwrite randrw read write' 'bs 4k 16k' 'iodepth 1 2 16'
		'ioengine io_uring' 'hipri 1' 'direct 1' 'thinktime 500')
	for option in "${options[@]}"; do
		# shellcheck disable=SC2086 # a list
		pick ${option#* }
		job+=("--${option%% *}=$picked")
	done
}

# work_on I SECONDS: runs fio; failed requests do not matter, only their measurement
work_on() {
	pick none mq-deadline bfq kyber
	[ "${ways[$1]}" != polled ] || picked=none
	echo "$picked" 2>/dev/null >"/sys/block/${disks[$1]##*/}/queue/scheduler"
	random_job "$1"
	timeout 60 fio "${job[@]}" --runtime="$2" >>"$w/fio.$1" 2>&1
}

# make_files TYPE DEVICE
make_files() {
	case $1 in
	ext4) mkfs.ext4 -q -F "$2" ;;
	*) "mkfs.$1" -q -f "$2" ;;
	esac >/dev/null 2>"$w/mkfs"
}

# work_on_files I: runs fio on a file system, which adds writeback
work_on_files() {
	local type size fsync

	size=$(blockdev --getsize64 "${targets[$1]}")
	# mkfs.xfs wants 300 MB, mkfs.btrfs a bit over 100.
	if [ "$size" -lt 400000000 ]; then pick ext4; else pick ext4 xfs xfs btrfs; fi
	type=$picked
	[ -n "${LATSCOPE_VM-}" ] || type=ext4
	mkdir "$w/mount.$1"
	make_files "$type" "${targets[$1]}" && mount "${targets[$1]}" "$w/mount.$1" || return
	echo "$type on ${targets[$1]}" >>"$w/types"
	pick 0 8 64 && fsync=$picked
	pick randwrite write randrw
	fio --name="t$1" --directory="$w/mount.$1" --size=8M --nrfiles=4 --randseed="$seed" \
		--runtime=$((ms / 1000 + 1)) --time_based --rw="$picked" --bs=4k --fsync="$fsync" --rate_iops=1000 >"$w/fio.$1" 2>&1
	umount "$w/mount.$1"
}

# work I: does one of the above. It has random numbers of its own, as every subshell must.
work() {
	RANDOM=$(((seed * 8 + $1) & 32767))
	case ${ways[$1]} in
	any) if [ $((RANDOM % 3)) = 0 ]; then work_on_files "$1"; else work_on "$1" $((ms / 1000 + 1)); fi ;;
	*) work_on "$1" $((ms / 1000 + 1)) ;;
	esac
}

work_on_all() {
	local i jobs=()

	for i in "${!disks[@]}"; do
		work "$i" &
		jobs+=($!)
		[ "${ways[i]}" != replugged ] || {
			replug "${disks[i]}" $((ms / 1000 + 1)) &
			jobs+=($!)
		}
	done
	wait "${jobs[@]}"
	for i in "${!disks[@]}"; do
		[ "${ways[i]}" = replugged ] || blockdev --flushbufs "${disks[i]}"
	done
}

# The disk may have been deleted while its recorders run. Another disk may have its number then.
compare_only() {
	local why=''

	grep -w "${scsi##*/}" "$w/disks" | head -1 >"$w/number"
	keys only disk device >"$w/only.keys"
	ok "block, seed $seed: --disk: as many as captured" \
		same_count "$w/only.keys" "$w/capture" "$w/number" "$(said_missing only)"
	ok "block, seed $seed: --disk: balances" balanced only
	[ $((seed % 2)) = 0 ] || why='disks came or went meanwhile'
	is "block, seed $seed: --disk: why it is not checked" "$(query only 'SELECT DISTINCT why FROM kernel_check')" "$why"
}

# named METHOD: each disk has its name, even if it has been deleted
named() {
	query "$1" "SELECT key, name FROM series WHERE split = 'disk' AND metric = 1" | sort >"$w/named"
	sort -u "$w/disks" | join -j 1 - "$w/named" | awk '$2 != $3 { wrong = 1; print } END { exit wrong || !NR }'
}

torture_block() {
	local method own_clock scsi disks targets ways picked job tool tools=(fio)

	[ -z "${LATSCOPE_VM-}" ] || tools+=(dmsetup sfdisk mkfs.xfs mkfs.btrfs)
	for tool in "${tools[@]}"; do
		command -v "$tool" >/dev/null || {
			skip 'block' "there is no $tool"
			return
		}
	done
	methods iolat || return
	RANDOM=$((seed & 32767))
	make_disks
	[ ${#disks[@]} -gt 0 ] || {
		skip 'block' 'no disk can be made here'
		return
	}
	begin_capture block
	begin_recorders iolat --by disk
	[ -z "$scsi" ] || begin_only iolat --disk "$scsi" --by disk,cgroup
	end_beginning
	work_on_all
	end_recorders
	end_capture
	[ -z "${LATSCOPE_VM-}" ] || ok "block, seed $seed: nothing stays attached" eventually nothing_attached
	[ ! -e "$w/types" ] || diag "$(<"$w/types")"
	is "block, seed $seed: the capture lost nothing" "$(grep lost "$w/capture")" 'lost 0'
	for method in "${methods[@]}"; do
		own_clock=yes
		[ "$method" != stamps ] || own_clock=''
		keys "$method" disk device >"$w/$method.keys"
		ok "block, seed $seed: $method: requests took as long as captured" \
			agree 32 5000 300000 "$w/$method.keys" "$w/capture" "$w/disks"
		ok "block, seed $seed: $method: as many as captured" \
			same_count "$w/$method.keys" "$w/capture" "$w/disks" "$(said_missing "$method")"
		ok "block, seed $seed: $method: balances" balanced "$method"
		ok "block, seed $seed: $method: disks have their names" named "$method"
	done
	[ -z "$scsi" ] || compare_only
	unmake_disks
}
