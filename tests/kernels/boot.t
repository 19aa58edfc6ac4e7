#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: slow
# The VM itself: input and output pass, each kernel is the expected one, and a guest that crashes differs from one whose
# command failed.
. "$(dirname "$0")/../cli/cli.sh"

# vm ARG...: sets $out, $err and $status.
vm() {
	out=$(tests/vm/run "$@" 2>"$dir/err")
	status=$?
	err=$(<"$dir/err")
}

# in_guest NAME: did that line of the guest's inspection below say yes?
in_guest() { grep -qx "$1" "$dir/io/found" || { echo "the guest found only:" && cat "$dir/io/found" && false; }; }

# One boot answers all; what it found goes by the shared directory.
inspect='
found() { echo "$*" >>"$LATSCOPE_VM_IO/found"; }
found "release $(uname -r)"
found "series $LATSCOPE_VM, soak $LATSCOPE_SOAK"
found "directory $PWD"
found "clock $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)"
[ -s /sys/kernel/btf/vmlinux ] && found btf
for fs in proc sysfs devtmpfs devpts tmpfs tracefs debugfs bpf cgroup2; do
	grep -q " $fs " /proc/mounts || found "no $fs"
done
modprobe null_blk && [ -b /dev/nullb0 ] && found "null_blk"
echo "p:probe handle_mm_fault" >/sys/kernel/tracing/kprobe_events && found kprobe
echo handle_mm_fault >/sys/kernel/tracing/set_ftrace_filter && found ftrace
dd if=/dev/vda bs=7 count=1 status=none | grep -qx content && found disk
mount -t ext4 /dev/vda /mnt 2>/dev/null # is none, but for all the kernel knows
grep -qw ext4 /proc/filesystems && found "wanted module"
model=/sys/kernel/debug/sched/preempt
if [ -e $model ]; then
	echo full >$model
	found "preemption $(tr " " "\n" <$model | grep . | LC_ALL=C sort | tr "\n" " ")"
else
	found "preemption is fixed: $(uname -v | grep -ow "PREEMPT[A-Z_]*" || echo none in the kernel)"
fi
touch /vm-boot-t && found "root is writable"
echo "to stdout"
echo "to stderr" >&2
exit 7'

# models SERIES: what the inspection finds of the preemption models after it has chosen the full one.
models() {
	case $1 in
	5.10) echo 'preemption is fixed: none in the kernel' ;;
	6.1 | 6.12) echo 'preemption (full) none voluntary ' ;;
	6.1-rt) echo 'preemption is fixed: PREEMPT_RT' ;;
	7) echo 'preemption (full) lazy ' ;;
	esac
}

# inspected SERIES
inspected() {
	mkdir -p "$dir/io"
	rm -f "$dir/io/found"
	LATSCOPE_SOAK=1 vm -k "$1" -s "$dir/io" -d "$dir/disk" bash -c "$inspect"
	is "$1: the exit status comes back" $status 7
	is "$1: stdout comes back" "$out" 'to stdout'
	is "$1: stderr comes back, alone" "$err" 'to stderr'
	ok "$1: it is the kernel of the package" in_guest "release $(cat "$kernel/release")"
	ok "$1: LATSCOPE_ variables come through" in_guest "series $1, soak 1"
	ok "$1: the working directory is the same" in_guest "directory $PWD"
	ok "$1: the clock is the TSC" in_guest 'clock tsc'
	ok "$1: all file systems are mounted" nothing_missing
	ok "$1: modprobe loads a module of the package" in_guest null_blk
	ok "$1: the kernel loads one when it wants it" in_guest 'wanted module'
	ok "$1: a disk is what its file is" in_guest disk
	ok "$1: kprobes can be had" in_guest kprobe
	ok "$1: fentry can be had: BTF" in_guest btf
	ok "$1: fentry can be had: the fault handler is traceable" in_guest ftrace
	ok "$1: the preemption model can be switched to full, where there is a choice" in_guest "$(models "$1")"
	ok "$1: the root takes writes" in_guest 'root is writable'
	ok "$1: and the host does not see them" test ! -e /vm-boot-t
}

nothing_missing() { ! grep '^no ' "$dir/io/found"; }

not_prepared() { cat "$dir/err" && false; }

echo content >"$dir/disk"
truncate -s 1M "$dir/disk"

for series in 5.10 6.1 6.1-rt 6.12 7; do
	if kernel=$(tests/vm/kernel $series 2>"$dir/err"); then
		have=$series
		inspected $series
	elif [ $? = 77 ]; then
		skip "$series: boots" "$(tail -n 1 "$dir/err")"
	else
		ok "$series: the kernel can be prepared" not_prepared
	fi
done
if [ -z "${have-}" ]; then
	done_testing
	exit
fi

vm -k "$have" sh -c 'echo before; echo c >/proc/sysrq-trigger'
is 'a panic: exit status' $status 125
is 'a panic: what was said before comes back' "$out" before
like 'a panic: the console is shown' "$err" 'vm: .*Kernel panic.*Call Trace'

vm -k "$have" sh -c 'echo "<4>WARNING: CPU: 0 PID: 1 at mm/here" >/dev/kmsg; exit 3'
is 'a warning of the kernel: exit status' $status 125
like 'a warning of the kernel: shown, with the status of the command' "$err" 'command: 3.*at mm/here'

vm -k "$have" -t 1 true
is 'no end: exit status' $status 124
like 'no end: is said' "$err" 'vm: timeout'

vm -k "$have" -q --no-such-option true
is 'QEMU fails: exit status' $status 125
like 'QEMU fails: its words are shown' "$err" 'no-such-option'

done_testing
