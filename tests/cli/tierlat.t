#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# Errors of tierlat on machines where it cannot measure. tests/emu tests its measurements.
. "$(dirname "$0")/cli.sh"

root=$dir/root
msr=$dir/msr

# cpu MODEL [FLAGS]: the machine below $root has this CPU
cpu() {
	mkdir -p "$root/proc"
	cat >"$root/proc/cpuinfo" <<-END
		vendor_id	: GenuineIntel
		cpu family	: 6
		model		: $1
		model name	: Some Xeon
		stepping	: 6
		flags		: fpu ${2-}
	END
}

# pmu NAME UMASK: an uncore PMU below $root
pmu() {
	local at=$root/sys/bus/event_source/devices/$1

	mkdir -p "$at/format"
	echo 7 >"$at/type"
	echo 0 >"$at/cpumask"
	echo config:0-7 >"$at/format/event"
	echo "$2" >"$at/format/umask"
}

# tree [FILE]: $msr/0/msr is this file; without, there is no CPU.
tree() {
	rm -rf "$msr"
	mkdir -p "$msr"
	[ $# = 0 ] || { mkdir "$msr/0" && ln -s "$1" "$msr/0/msr"; }
}

topology=$root/sys/devices/system/cpu/cpu0/topology
mkdir -p "$topology"
echo 0 >"$topology/physical_package_id"
echo 0 >"$root/sys/devices/system/cpu/online"

fake=(tierlat --sysfs-root "$root" -d 10ms)
icx=(tierlat --model icx --msr-root "$msr" --boxes 2 -d 10ms)

cpu 151
refuses 'an unknown CPU is named' 77 'Some Xeon .GenuineIntel family 6 model 151 stepping 6. is not in' "${fake[@]}"
echo 'Features : fp' >"$root/proc/cpuinfo"
refuses 'no x86 at all' 77 'cannot tell what CPU this is' "${fake[@]}"
cpu 106
refuses 'no PMUs' 77 'no PMUs uncore_cha_0.*; load the kernel module intel_uncore' "${fake[@]}" --method perf
cpu 106 hypervisor
refuses 'a virtual machine' 77 'virtual machine, and its hypervisor gives it no uncore' "${fake[@]}"
cpu 207
for i in 0 1 2; do pmu uncore_cha_$i config:8-15,32-55; done
refuses 'a driver without the CXL filter' 77 'cannot express the filter of local-cxl' "${fake[@]}" --tier local-cxl
refuses 'events that this kernel does not know' 77 'the driver of uncore_cha_0|went offline' "${fake[@]}"
echo 0,9 >"$root/sys/bus/event_source/devices/uncore_cha_1/cpumask"
refuses 'a CPU that is offline' 1 'CPU 9, on which to read uncore_cha_1, is not there' "${fake[@]}"
echo nonsense >"$root/sys/bus/event_source/devices/uncore_cha_1/type"
refuses 'a /sys that makes no sense' 1 'cannot read the PMUs in /sys' "${fake[@]}"

if [ -e /dev/cpu/0/msr ]; then
	skip 'no msr module' 'this machine has it loaded'
else
	refuses 'no msr module' 77 'there is no /dev/cpu/[0-9]*/msr; load the msr module: modprobe msr' \
		tierlat --method msr --model icx --boxes 2 -d 10ms
fi
refuses 'no msr-root' 1 'cannot open /nowhere' tierlat --model icx --msr-root /nowhere -d 10ms
tree
refuses 'an empty msr-root' 77 "there is no CPU in $msr" "${icx[@]}"
refuses 'a CPU that is not there' 77 "there is no $msr/3/msr" "${icx[@]}" --cpu 3
tree /dev/null
refuses 'a short read' 1 'CHA 0 on CPU 0: short read' "${icx[@]}"
tree /dev/zero
refuses 'registers that take no write' 77 'was written 0x[0-9a-f]+ and reads 0x0: this is not Ice Lake-SP' "${icx[@]}"
tree /dev/full
refuses 'registers that cannot be written' 1 'cannot write MSR 0xe00 on CPU 0' "${icx[@]}"
refuses 'nothing tells how many CHAs' 77 'how many CHAs socket 0 has; give it by --boxes' \
	tierlat --model icx --msr-root "$msr" -d 10ms
tree "$dir/secret"
install -m600 /dev/null "$dir/secret"
unprivileged refuses 'no permission' 1 'does not let this user open' "${icx[@]}"
refuses 'no table has its registers' 77 'only the kernel.s driver can read the registers of Clearwater Forest; use --method' \
	tierlat --model cwf --msr-root "$msr" -d 10ms
refuses 'AMD has no registers for it' 77 'only the kernel.s driver can read .*; use --method perf' \
	tierlat --model zen5 --msr-root "$msr" -d 10ms

run doctor
if [ "$status" = 1 ]; then
	skip 'doctor says what tierlat lacks' "$err"
else
	like 'doctor says what tierlat lacks' "$out" $'\ntierlat \(record --tiers\): .*\n    perf  .*\n    msr  '
	like 'doctor says what the CPU offers' "$out" \
		$'\ntierlat \(record --tiers\): [^\n]*\n    .*(table of|: (sampled )?latencies in|cannot tell)'
fi
run validate tierlat
if [ "$status" = 77 ]; then
	refuses 'validate says what is missing' 77 'tierlat cannot run on this machine: .*doctor. explains' validate tierlat
else
	skip 'validate says what is missing' 'this machine may have the counters'
fi

wrong 'no such model' "--model 'ivb': unknown model; choose from skx, clx, cpx, icx, spr, emr, gnr, srf, cwf, snr, grr, zen4, zen5, zen6" tierlat --model ivb
wrong 'no such method' "--method 'pcm': unknown method; use perf or msr" tierlat --method pcm
wrong 'no such tier' "Ice Lake-SP has no tier 'cxl'; choose from local-ddr, remote-ddr" "${icx[@]}" --tier cxl
wrong 'a tier twice' 'local-ddr is named twice' "${icx[@]}" --tier local-ddr,local-ddr
wrong 'more CHAs than it can have' '41 CHAs on socket 0: Ice Lake-SP has at most 40' "${icx[@]}" --boxes 41
wrong 'fewer CHAs than tiers' '2 tiers need 2 CHAs, but socket 0 has 1' "${icx[@]}" --boxes 1
wrong 'too short an interval' '--interval 5 ms is too short; use 10 ms or more' tierlat -i 5ms
wrong 'too long an interval' '--interval .* is too long; use 10 min or less' tierlat -i 11m
wrong 'no list of CPUs' "--cpu '0-': invalid list; give one CPU per socket" tierlat --cpu 0-
wrong 'no weight' "--weight '0': invalid number; use one above 0 and up to 1" tierlat --weight 0
wrong 'weight is no number' "--weight 'nan': invalid number; use one above 0 and up to 1" tierlat --weight nan
wrong 'no number of requests' "--min-inserts 0: use a number from 1" tierlat --min-inserts 0
wrong 'registers of an unknown CPU' '--msr-root needs --model' tierlat --msr-root "$msr" -d 10ms
wrong 'a CPU twice' 'CPU 3 is named twice' "${icx[@]}" --cpu 3,3
wrong 'a part that tierlat lacks' 'tierlat has no overhead part' validate tierlat --only overhead
wrong 'what only msr has' 'are for --method msr' tierlat --method perf --boxes 2
wrong 'a reset by perf' 'are for --method msr' tierlat --method perf --reset
wrong 'a reset that measures' '--reset measures nothing: leave out -d, -i and -o' tierlat --reset -d 1s
wrong 'an unknown way to act' "--act 'magic': unknown method; use move_pages, weighted-interleave or damon" tierlat --act magic --system
wrong 'acting on nothing' '--act needs one of --pid, --cgroup and --system' tierlat --act move_pages
wrong 'acting on two targets' '--act needs one of --pid, --cgroup and --system' tierlat --act move_pages --system --pid 1
wrong 'a process by DAMON' 'cannot be limited to a process; use --cgroup' tierlat --act damon --pid 1
wrong 'pages that DAMON keeps' '--act damon puts no page back' tierlat --act damon --system --keep
wrong 'a dry run of nothing' '--dry-run and --keep are for --act' tierlat --dry-run
wrong 'a dry run that keeps' '--dry-run moves nothing: leave out --keep' tierlat --act move_pages --system --dry-run --keep
wrong 'a reset that acts' '--reset measures nothing: leave out --act' tierlat --reset --act move_pages --system
wrong 'more than all pages' "--max-shift '101%': invalid number" tierlat --max-shift 101%
wrong 'a percentage of what' "--max-shift '2%x': invalid number" tierlat --max-shift 2%x
wrong 'raw rows that nobody sees' '--raw adds rows: use it with --csv' tierlat --raw
wrong 'raw rows in an object without rows' '--raw adds rows' tierlat --raw --json
wrong 'no shift' "--max-shift '0': invalid number; use one above 0 and up to 1" tierlat --max-shift 0
for place in icx icx:0:/tmp icx:4 ivb:4:/tmp; do
	wrong "no place for record: $place" '--tiers-at: MODEL:BOXES:DIR' record --tiers-at $place
done
wrong 'an argument' "unexpected argument 'now'" tierlat now

done_testing
