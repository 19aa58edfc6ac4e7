# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # what window.sh and iolat.sh set
# Requests that end in an error, by kind. dd says how many of its reads failed.

# read_sector ARG...: reads one sector by dd
read_sector() { dd of=/dev/null bs=512 iflag=direct count=1 status=none "$@" 2>/dev/null; }

# failed_reads DISK SECTOR...: reads these sectors, one at a time; prints how many failed
failed_reads() {
	local sector failed=0

	for sector in "${@:2}"; do
		read_sector if="$1" skip="$sector" || failed=$((failed + 1))
	done
	echo $failed
}

# Sector 4660 of scsi_debug's disk cannot be read; bad blocks of null_blk's are I/O errors. A disk that is offline gets no request: they
# fail before the issue.
errors_window() {
	local method

	begin
	for method in "${methods[@]}"; do
		watch "$method" iolat "$method"
	done
	await_recorders
	medium=$(failed_reads /dev/sda 4658 4659 4660 4661)
	exec {fd}</dev/sda # it cannot be opened later
	echo offline >/sys/block/sda/device/state
	for ((; offline < 3; offline++)); do
		! read_sector <&$fd || break
	done
	echo running >/sys/block/sda/device/state
	exec {fd}<&-
	io=$(failed_reads "/dev/$disk" 4 5 6 7 8 9)
	close_window
}

failing_disks() {
	local at=/sys/kernel/config/nullb/bad

	modprobe scsi_debug dev_size_mb=8 opts=2 && modprobe sd_mod && modprobe null_blk nr_devices=0 || return
	mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
	mkdir $at && echo 1 >$at/memory_backed && echo 16 >$at/size && echo +8-63 >$at/badblocks && echo 1 >$at/power || return
	disk=nullb$(<$at/index)
	[ -b "/dev/$disk" ] || disk=bad # since 6.4 the disk is called so
	eventually test -b /dev/sda
}

no_failing_disks() {
	[ ! -e /sys/kernel/config/nullb/bad ] || rmdir /sys/kernel/config/nullb/bad
	! lsmod | grep -q '^scsi_debug' || modprobe -r scsi_debug
	no_null_disk
}

failing_requests() {
	local method fd medium=0 offline=0 io=0

	no_null_disk
	at_exit=(no_failing_disks "${at_exit[@]}")
	failing_disks
	ok 'errors: the disks' test -b "/dev/$disk" -a -b /dev/sda || return
	window errors_window || return
	is 'errors: reads of a bad sector, of a disk that is offline, of bad blocks failed' "$medium $offline $io" '2 3 2'
	for method in "${methods[@]}"; do
		is "$method: errors" "$(fact "$method" total.errors)" 7
		is "$method: errors: of the medium" "$(fact "$method" total.errors_medium)" "$medium"
		is "$method: errors: I/O, or as the disk was offline" "$(fact "$method" total.errors_io)" $((offline + io))
		is "$method: errors: no timeout" "$(fact "$method" total.errors_timeout)" 0
		is "$method: errors: with the device there are none of a disk that is offline" "$(fact "$method" iolat.errors)" 4
		balance "$method: errors" "$method"
	done
	no_failing_disks
}
