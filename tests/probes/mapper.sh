# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # what window.sh and iolat.sh set
# Device mapper sends some bios to the disk on threads of its own. A request still counts for the process that submitted the bio to
# the uppermost device.

mapper() { dmsetup --noudevrules --noudevsync "$@"; }

# mapped NAME TABLE...: makes the device NAME, and prints its path
mapped() {
	mapper create "$1" --table "${*:2}" || return
	echo "/dev/dm-$(dmsetup info -c --noheadings -o minor "$1")"
}

no_mapped() {
	local name

	for name in stacked below encrypted delayed; do
		! dmsetup info "$name" >/dev/null 2>&1 || mapper remove "$name"
	done
}

# mapped_disks: makes $encrypted, $delayed, and $stacked on another such one, each on a part of $disk
mapped_disks() {
	local key=0123456789abcdef0123456789abcdef

	modprobe dm-crypt && modprobe dm-delay || return
	encrypted=$(mapped encrypted 0 65536 crypt aes-cbc-plain64 $key 0 "/dev/$disk" 0) &&
		delayed=$(mapped delayed 0 32768 delay "/dev/$disk" 65536 1) &&
		below=$(mapped below 0 32768 delay "/dev/$disk" 98304 1) &&
		stacked=$(mapped stacked 0 32768 crypt aes-cbc-plain64 $key 0 "$below" 0)
}

# The sectors of `writes` and `direct` are the same.
mapped_window() {
	begin
	start writes dio -W "$encrypted" $((100 * soak)) || return
	start reads dio "$encrypted" $((90 * soak)) || return
	start late dio "$delayed" $((80 * soak)) || return
	start both dio -W "$stacked" $((70 * soak)) || return
	start direct dio "/dev/$disk" $((60 * soak)) || return
	watch mapped iolat tp_btf --disk "$disk" --by process
	watch waits iolat tp_btf --disk "$disk" --by process --metric wait
	watch only iolat '' -p "${programs[late]}" --disk "$disk"
	work
}

# split_window: requests that are larger than the disk takes
split_window() {
	begin
	start large dio -W -b 1048576 "$encrypted" $((4 * soak)) || return
	watch mapped iolat tp_btf --disk "$disk" --by process
	work
}

mapped_requests() {
	local name below encrypted='' delayed='' stacked=''

	command -v dmsetup >/dev/null || { skip 'device mapper' 'dmsetup is not installed' && return; }
	ok 'device mapper: the disk' null_disk 10000 || return
	disk=nullb0
	setting nullb0 nomerges 2
	setting nullb0 max_sectors_kb 64
	at_exit=(no_mapped "${at_exit[@]}")
	mapped_disks
	ok 'device mapper: the devices' test -b "$stacked" || return
	window mapped_window || return
	for name in writes reads late both direct; do
		is "device mapper: $name: its requests are its own" "$(fact mapped "iolat.process.$(printed "$name" pid).events")" \
			"$(printed "$name" count)"
		is "device mapper: $name: so are its waits" "$(fact waits "wait.process.$(printed "$name" pid).events")" \
			"$(printed "$name" count)"
	done
	is 'device mapper: no thread of it has any' "$(fact mapped iolat.events)" $((400 * soak))
	is 'device mapper: -p' "$(fact only iolat.events)" "$(printed late count)"
	balance 'device mapper' mapped
	window split_window || return
	ok 'device mapper: large: they are split' [ "$(fact mapped iolat.events)" -ge $((64 * soak)) ]
	is 'device mapper: large: each part is its own' "$(fact mapped "iolat.process.$(printed large pid).events")" \
		"$(fact mapped iolat.events)"
	no_mapped
}
