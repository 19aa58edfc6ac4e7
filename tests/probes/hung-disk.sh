# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # what window.sh and iolat.sh set
# A disk that hangs: a loop device whose file is on a frozen file system. Its requests began before the recorders were attached, and do
# not end while they record.

frozen=$scratch/frozen

# frozen_disk: makes the file system, and the loop device $disk on a file of it
frozen_disk() {
	local outer

	truncate -s 64M "$scratch/outer" && mkfs.ext4 -q "$scratch/outer" && mkdir "$frozen" || return
	outer=$(losetup -f --show "$scratch/outer") || return
	at_exit=("losetup -d $outer" "${at_exit[@]}")
	mount "$outer" "$frozen" 2>/dev/null || return
	at_exit=("umount $frozen" "${at_exit[@]}")
	truncate -s 32M "$frozen/file"
	disk=$(losetup -f --show --direct-io=off "$frozen/file") || return
	at_exit=("losetup -d $disk" "${at_exit[@]}")
	disk=${disk#/dev/}
	setting "$disk" iostats 1
}

# has_writes N: succeeds if N writes of the disk are in flight
has_writes() { [[ $(<"/sys/block/$disk/inflight") =~ ^\ *0\ +$1$ ]]; }

thaw() { ! mountpoint -q "$frozen" || fsfreeze -u "$frozen" 2>/dev/null; }

# The first three writes hang before the attach; two more of another program follow.
hung_window() {
	begin
	start early dio -W -q 3 "/dev/$disk" 3 || return
	start late dio -W -q 2 "/dev/$disk" 2 || return
	fsfreeze -f "$frozen"
	release early
	await '3 writes hang' has_writes 3
	watch_all iolat
	watch other iolat '' --by process
	watch filtered iolat '' -p $$
	watch elsewhere iolat '' --disk "${elsewhere#/dev/}"
	await_recorders
	release late
	await '5 writes hang' has_writes 5
	stop_recorders "${!recorders[@]}"
	thaw
	close_window
}

# Nothing is in flight at the attach; two writes hang afterwards.
later_window() {
	begin
	start late dio -W -q 2 "/dev/$disk" 2 || return
	watch_all iolat
	watch whose iolat '' --by process
	hanging=${programs[late]}
	await_recorders
	fsfreeze -f "$frozen"
	release late
	await '2 writes hang' has_writes 2
	stop_recorders "${!recorders[@]}"
	thaw
	close_window
}

# hung_by NAME: tests that the recorder has seen the three that were there, and the two others
hung_by() {
	within "$1: a disk hangs: its requests are in flight" 5 "$(fact "$1" iolat.in_flight)" "$forever"
	is "$1: a disk hangs: those from before the attach" "$(fact "$1" iolat.in_flight_before)" 3
	is "$1: a disk hangs: its name" "$(fact "$1" iolat.in_flight_of)" "$disk"
}

hung_disk() {
	local method elsewhere hanging

	frozen_disk || { skip 'a disk that hangs' 'no file system can be frozen here' && return; }
	at_exit=(thaw "${at_exit[@]}")
	truncate -s 1M "$scratch/elsewhere"
	elsewhere=$(losetup -f --show "$scratch/elsewhere") || return
	at_exit=("losetup -d $elsewhere" "${at_exit[@]}")
	be_patient
	window hung_window || return
	for method in "${methods[@]}" other; do
		hung_by "$method"
	done
	is 'a disk hangs: nothing of a task that has none' "$(fact filtered iolat.in_flight)" 0
	is 'a disk hangs: nothing on another disk' "$(fact elsewhere iolat.in_flight)" 0
	window later_window || return
	for method in "${methods[@]}"; do
		is "$method: writes that hang since the attach are not older" "$(fact "$method" iolat.in_flight_before)" 0
		within "$method: but in flight" 2 "$(fact "$method" iolat.in_flight)" "$forever"
	done
	is 'writes that hang: whose' "$(fact whose iolat.in_flight_of)" "dio ($hanging)"
}
