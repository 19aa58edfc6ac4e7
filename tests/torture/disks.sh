# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # seed, w, disks and so on are shared with tests/torture/block.sh
# Makes disks, and stacks on them. RANDOM of this shell makes all choices: a subshell would not repeat them.

made=() # commands that undo what make_disks did

# pick WORD...: sets $picked to one word
pick() {
	local at=$((RANDOM % $# + 1))

	picked=${!at}
}

note_number() {
	local major minor

	IFS=: read -r major minor <"/sys/block/${1##*/}/dev"
	echo $((major << 20 | minor)) "${1##*/}" >>"$w/disks" # as the capture has it
}

# add_disk DEVICE [WAY]: adds a disk to compare, the target of the work, and the way of working
add_disk() {
	[ -b "$1" ] || return
	disks+=("$1") targets+=("$1") ways+=("${2:-any}")
	note_number "$1"
}

make_loop() {
	local loop

	pick on off ''
	truncate -s 512M "$w/image"
	loop=$(losetup -P -f --show "$w/image" 2>/dev/null) || return
	made+=("losetup -d $loop")
	[ -z "$picked" ] || losetup --direct-io="$picked" "$loop" 2>/dev/null # not on every file system
	add_disk "$loop"
}

# Only in the VM: disks of kernel modules, which no other user has.
make_null() {
	local irqmode poll way=any

	pick 0 1 2 && irqmode=$picked
	pick 0 0 1 && poll=$picked
	[ "$poll" = 0 ] || way=polled
	modprobe null_blk nr_devices=1 gb=1 queue_mode=2 irqmode="$irqmode" completion_nsec=$((RANDOM * 10)) \
		submit_queues=$((RANDOM % 2 + 1)) poll_queues="$poll" memory_backed=1 discard=1 || return
	made+=('rmmod null_blk')
	add_disk /dev/nullb0 $way
}

# A given share of commands fails, is late, or gets the answer "busy".
make_scsi() {
	local opts

	pick 0 0 8 0x8000 && opts=$picked
	modprobe scsi_debug dev_size_mb=64 ndelay=$((RANDOM * 20)) max_queue=$((RANDOM % 32 + 1)) lbpu=1 \
		every_nth=$((RANDOM % 50 + 10)) opts="$opts" || return
	made+=('rmmod scsi_debug')
	eventually scsi_disk >/dev/null
	scsi=$(scsi_disk)
	# With a file system on it, the kernel would warn when the disk is deleted.
	if [ $((seed % 2)) = 1 ]; then add_disk "$scsi" replugged; else add_disk "$scsi"; fi
}

# scsi_disk: prints the device of scsi_debug; fails if there is none
scsi_disk() {
	local dir

	dir=$(compgen -G '/sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*/block/*') && [ -b "/dev/${dir##*/}" ] &&
		echo "/dev/${dir##*/}"
}

# scsi_host: prints the directory of its host
scsi_host() { compgen -G '/sys/bus/pseudo/drivers/scsi_debug/adapter*/host*'; }

# rescan: the host of scsi_debug finds its disk again, under the same number or, if something still has that, another
rescan() {
	local host

	host=$(scsi_host) && echo '- - -' >"/sys/class/scsi_host/${host##*/}/scan" && eventually scsi_disk >/dev/null
}

# requests_of DISK: prints how many requests have completed
requests_of() {
	local reads writes

	read -r reads _ _ _ writes _ <"/sys/block/${1##*/}/stat" && echo $((reads + writes))
}

more_requests() { [ "$(requests_of "$1")" -gt "$2" ]; }

# replug DISK SECONDS: deletes the disk while it has requests, and finds it again, several times. In the end it is deleted.
# It has random numbers of its own, as every subshell must.
replug() {
	local disk=$1 end=$((SECONDS + $2)) rest before

	RANDOM=$(((seed * 8 + 7) & 32767))
	sleep 1 # of the work that runs on the disk
	while :; do
		rest=0.$((RANDOM % 5 + 1))
		before=$(requests_of "$disk")
		dd if=/dev/zero of="$disk" bs=4k oflag=direct seek=$((RANDOM % 4096)) count=2000 2>>"$w/dd" &
		dd if="$disk" of=/dev/null bs=64k iflag=direct skip=$((RANDOM % 256)) 2>>"$w/dd" &
		eventually more_requests "$disk" "$before"
		sleep "$rest"
		echo 1 >"/sys/block/${disk##*/}/device/delete"
		wait
		[ $SECONDS -lt $end ] || break
		rescan || return
		disk=$(scsi_disk)
		note_number "$disk"
	done
}

mapper() { dmsetup --noudevrules --noudevsync "$@"; }

# partition DISK: makes one partition, from 1 MiB on
partition() { echo 2048 | sfdisk -q "$1" && eventually test -b "$(partition_of "$1")"; }

partition_of() {
	case $1 in
	*[0-9]) echo "$1p1" ;;
	*) echo "${1}1" ;;
	esac
}

# table KIND DISK: prints a table for dmsetup. "linear" swaps the halves, so that some requests are split.
table() {
	local all half

	all=$(blockdev --getsz "$2") half=$((all / 2 / 8 * 8))
	case $1 in
	linear) printf '%s\n' "0 $half linear $2 $((all - half))" "$half $((all - half)) linear $2 0" ;;
	delay) echo "0 $all delay $2 0 $((RANDOM % 20))" ;;
	flakey) echo "0 $all flakey $2 0 1 1" ;; # for a second all is well, for a second all fails
	esac
}

# stack I: puts a partition, a mapping or nothing on disk I. It has no requests of its own: they count for the disk.
stack() {
	local disk=${disks[$1]} name

	pick none partition linear delay flakey
	name=latscope-${disk##*/}
	case $picked in
	none) return ;;
	partition)
		ok "block, seed $seed: a partition on $disk" partition "$disk"
		[ "${ways[$1]}" = replugged ] || made+=("sfdisk -q --delete $disk")
		targets[$1]=$(partition_of "$disk")
		;;
	*)
		table "$picked" "$disk" >"$w/table"
		ok "block, seed $seed: dm-$picked on $disk" mapper create "$name" "$w/table"
		made+=("mapper remove $name")
		targets[$1]=/dev/$(mapper info -c --noheadings -o blkdevname "$name")
		[ "$picked" != flakey ] || [ "${ways[$1]}" != any ] || ways[$1]=raw
		;;
	esac
}

make_disks() {
	local i

	disks=() targets=() ways=() made=() scsi=''
	: >"$w/disks"
	[ -z "${LATSCOPE_VM-}" ] || modprobe loop
	make_loop
	[ -n "${LATSCOPE_VM-}" ] || return 0
	# There is no udev to load the driver of SCSI disks.
	modprobe sd_mod
	add_disk /dev/vda
	make_null
	make_scsi
	is "block, seed $seed: all disks are there" ${#disks[@]} 4
	for i in "${!disks[@]}"; do
		[[ ${ways[i]} != @(any|replugged) ]] || stack "$i"
	done
	diag "$(paste -d ' ' <(printf '%s\n' "${targets[@]}") <(printf '%s\n' "${ways[@]}") | tr '\n' ';')"
}

unmake_disks() {
	local i

	for ((i = ${#made[@]} - 1; i >= 0; i--)); do
		# shellcheck disable=SC2086 # each word is an argument
		eventually ${made[i]} || diag "cannot undo: ${made[i]}"
	done
}
