#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# What latscope makes of a kernel that refuses a program, a map or a method, of minimal privileges, and of odd disks. The programs
# must reach this machine's verifier, and its disks, its /sys and what it lets a process do are no file that can be stored; the
# kernels of the VM refuse nothing.
. "$(dirname "$0")/../cli/cli.sh"
skip_unless_able
own_mounts
mounts=$(grep -c ' - debugfs ' /proc/self/mountinfo)

# without_debugfs CMD...: where debugfs is not mounted; with_debugfs: where it is
without_debugfs() { in_mounts 'mount -t tmpfs none /sys/kernel/debug' "$@"; }
with_debugfs() { in_mounts 'mount -t debugfs none /sys/kernel/debug' "$@"; }

# in_a_time_namespace_of_the_kernel CMD...: with the same clocks as outside
in_a_time_namespace_of_the_kernel() { local as=(unshare -T) && "$@"; }

# spoiled NAME CMD...: with a verifier that refuses each program whose name begins with NAME
spoiled() { local as=(env SPOIL="$1" LD_PRELOAD="$dir/fail_bpf.so") && "${@:2}"; }

# without_lookup NAME CMD...: with failing lookups in the BPF map NAME
without_lookup() { local as=(env NO_LOOKUP="$1" LD_PRELOAD="$dir/fail_bpf.so") && "${@:2}"; }

"${CC:-gcc}" -O2 -Wall -Wextra -Werror -shared -fPIC -o "$dir/fail_bpf.so" tests/cli/fail_bpf.c || exit

if unshare -T true 2>/dev/null; then
	in_a_time_namespace_of_the_kernel check 'in a time namespace without another clock' 0 '' 'runqlat .*balances' runqlat -d 50ms
else
	skip 'in a time namespace without another clock' 'this kernel has none'
fi
in_a_container check 'without one of PIDs, a PID namespace does not matter' 0 '' 'runqlat .*balances' runqlat -d 50ms

# least CMD...: not root, but with the two capabilities of the line above
least() {
	local caps='+bpf,+perfmon' latscope=$dir/latscope
	local as=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps="$caps"
		--ambient-caps="$caps" --bounding-set="-all,$caps")

	"$@"
}
install -m755 "$latscope" "$dir/latscope"
install -d -m777 "$dir/theirs"
least check 'CAP_BPF and CAP_PERFMON are enough' 0 'recording in ' 'memlat .*runqlat .*iolat ' \
	record -v -d 50ms -o "$dir/theirs"
ok 'with them, the recording is complete' complete "$(recording "$dir/theirs")"

# A system call for a map would keep kprobes and perf events of its CPU from running programs.
for map in rows keys owners; do
	without_lookup $map check "the $map of a split are read without a system call" 0 '' 'process +events .*thread +events ' \
		runqlat -q --by process,thread -i 20ms -d 200ms
done
without_lookup light run runqlat -q --by process,thread --max-keys 4 -i 20ms -d 200ms
ok 'keys without a row are not' test "$status" != 0

# A program that the verifier refuses.
verdict="the kernel's verifier refused program stored_switch: R1 32-bit pointer arithmetic prohibited \(-v shows its log\)"
log="^verifier's log of program stored_switch:"$'\n.*0: \\(04\\) w1 \\+= 8.*processed [0-9]+ insns'
spoiled stored_switch refuses 'the verifier refuses a program' 77 \
	"runqlat cannot be measured by method tp_btf on this machine: $verdict; 'latscope doctor' explains" \
	runqlat --method tp_btf -d 1s
spoiled stored_switch check 'doctor says why' 0 '' "tp_btf +no[[:space:]]+${verdict// /[[:space:]]+}" doctor
brief=$out
spoiled stored_switch run doctor -v
is 'doctor -v prints the same' "$out" "$brief"
like 'and the log on stderr' "$err" "$log"
spoiled stored_switch run runqlat -v --method tp_btf -d 1s
is 'runqlat -v prints nothing on stdout, either' "$status:$out" 77:
like 'but the log on stderr, and then why' "$err" "$log.*"$'\n'"latscope: runqlat cannot be measured .*$verdict"
run doctor
brief=$out
run doctor -v
is 'doctor -v prints the same where nothing is spoiled' "$out" "$brief"
if [ -d /sys/kernel/debug ] && unshare -m mount -t debugfs none /sys/kernel/debug 2>/dev/null; then
	with_debugfs run doctor
	mounted=$out
	without_debugfs run doctor
	is 'debugfs that is not mounted changes no method' "$out" "$mounted"
	without_debugfs run runqlat -d 100ms --method stamps
	ok 'and leaves no mount' [ "$(grep -c ' - debugfs ' /proc/self/mountinfo)" = "$mounts" ]
else
	skip 'debugfs that is not mounted changes no method' 'debugfs cannot be mounted here'
	skip 'and leaves no mount' 'debugfs cannot be mounted here'
fi
ok 'and on stderr nothing but logs' tap_said stderr "${err%%verifier\'s log of program *}" ''

if [[ $brief = *'  * stamps '* ]]; then
	spoiled stamps_switch check 'the next method takes the place of one that is refused' 0 '' \
		"\"method\": *\"tp_btf\".*the kernel's verifier refused stamps" runqlat --json -d 50ms
else
	skip 'the next method takes the place of one that is refused' 'here it is not stamps that is used by default'
fi

# A method that this kernel does not support, if there is one.
run doctor
read -r module method < <(awk '/^[a-z]+:/ { module = $1 } $2 == "no" { sub(":", "", module); print module, $1; exit }' <<<"$out")
if [ -n "${method-}" ]; then
	reason="$module cannot be measured by method $method on this machine: .*; needs .*; 'latscope doctor' explains"
	refuses "$module --method $method is refused" 77 "$reason" "$module" --method "$method" -d 1s
	check 'record goes on with the others and says so' 0 "$reason"$'\nrecording in [^[:cntrl:]]*$' \
		"$module: not measured: $method: .*balances.*balances" \
		record -v --method "$method" -d 50ms -o "$dir/refused"
	got=$(recording "$dir/refused")
	is 'the refused module has no files' "$(find "$got" -name "$module*")" ''
	is 'the others have theirs' "$(find "$got" -name '*.summary.json' | wc -l)" 3
	check 'report says why' 0 '' "$module: not measured: $method: .*balances.*balances" report "$got"
	refuses 'report has no CSV of it' 1 "$module: $method: .*; needs " report --csv -P "$module" "$got"
	run report --json "$got"
	ok 'and so in JSON' jq -e --arg name "$module" --arg method "$method" '
		[.probes[] | select(.refused)] | length == 1 and .[0].module == $name
		and (.[0].refused | startswith($method)) and (.[0] | keys == ["module", "refused"])' <<<"$out"
else
	skip 'a refused method' 'every method runs on this machine'
fi

check 'record goes on without what the method cannot do' 0 \
	"iolat cannot be measured by method stamps: cannot do --by process; leave out --method or --by process"$'\nrecording in [^[:cntrl:]]*$' \
	'iolat: not measured: stamps: cannot do --by process' \
	record -v --method stamps --by process -d 50ms -o "$dir/beyond"

# A disk of 8 MB with one partition, added by a system call, because the kernel may not support MBRs.
truncate -s 8M "$dir/disk"
! loop_new "$dir/disk" -P || addpart "$loop" 1 2048 4096
part=${loop#/dev/}p1
if [ -e "/sys/class/block/$part" ]; then
	check 'a partition as a disk' 0 "iolat: --disk $part: is a partition; measuring its whole disk$" \
		"only: disk ${part%p1}[[:space:]].*balances" iolat --disk "$part" -d 50ms
	check 'its device' 0 "--disk /dev/$part: is a partition" 'balances' iolat --disk "/dev/$part" -d 50ms
	check '--quiet does without the warning' 0 '' 'balances' iolat -q --disk "$part" -d 50ms
	check 'its disk' 0 '' 'balances' iolat --disk "${loop#/dev/}" -d 50ms
	check 'a disk, of all probes' 0 'recording in' "only: comm nobody, disk ${loop#/dev/} \(iolat\)[[:space:]]" \
		record -v --disk "${loop#/dev/}" --comm nobody -d 50ms -o "$dir/filtered"
	is 'each says which filters are its own' "$(cd "$(recording "$dir/filtered")" &&
		jq -r '"\(.module): \(.filter)"' ./*.summary.json)" "$(printf '%s\n' \
		"iolat: comm nobody, disk ${loop#/dev/}" 'memlat: comm nobody' 'runqlat: comm nobody' 'where: comm nobody')"
else
	skip 'a partition as a disk' 'no loop device with partitions'
fi

# without_requests: prints disks that have bios but no requests, and no disk below
without_requests() {
	local path

	for path in /sys/block/*; do
		[ -e "$path/mq" ] || [ "$(ls -A "$path/slaves")" ] || echo "${path##*/}"
	done
}

read -r disk < <(without_requests)
if [ -n "${disk-}" ]; then
	refuses 'a disk without requests is refused' 1 \
		"--disk $disk: it has no requests of its own, nor has a disk below it; iolat cannot measure it" \
		iolat --disk "$disk" -d 1s
	refuses 'by record, too' 1 "--disk $disk: it has no requests" record --disk "$disk" -d 1s -o "$dir/never"
	ok 'which leaves nothing' [ ! -e "$dir/never" ]
else
	skip 'a disk without requests is refused' 'all disks here have requests'
fi
if [ -e "/sys/class/block/$part" ] && dmsetup create "latscope-$$" --table "0 2048 linear $loop 0" 2>/dev/null; then
	refuses 'of a mapped disk, the one below it is named' 1 \
		"--disk dm-[0-9]+: it has no requests of its own; use a disk below it: ${loop#/dev/}$" \
		iolat --disk "$(dmsetup info -c --noheadings -o blkdevname "latscope-$$")" -d 1s
	dmsetup remove "latscope-$$"
else
	skip 'of a mapped disk, the one below it is named' 'no device mapper here'
fi
done_testing
