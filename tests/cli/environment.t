#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# If the machine lacks something, or a named thing does not exist: one line, and exit status 77 or 1. Nothing is measured here:
# tests/host/environment.t has what fails later.
. "$(dirname "$0")/cli.sh"
[ "$(id -u)" = 0 ] || skip_all 'only root has namespaces and privileges to give up'

# without_btf CMD...: as on a kernel without CONFIG_DEBUG_INFO_BTF
without_btf() { in_mounts 'mount -t tmpfs none /sys/kernel/btf' "$@"; }

# forbidden CMD...: with a seccomp filter that forbids bpf()
forbidden() { local as=("$dir/no_bpf") && "$@"; }

# without_capabilities CMD...: as root of a container without capabilities
without_capabilities() { local as=(setpriv --inh-caps=-all --bounding-set=-all) && "$@"; }

# in_a_time_namespace CMD...: with a monotonic clock that is 1,000 s ahead
in_a_time_namespace() { local as=(unshare -T --monotonic 1000) && "$@"; }

# in_a_user_namespace CMD...: as root of a container without privileges
in_a_user_namespace() { local as=(unshare -Ur) && "$@"; }

in_a_user_namespace_of_nobody() {
	local as=(setpriv --reuid=65534 --regid=65534 --clear-groups unshare -Ur) latscope=$dir/latscope

	"$@"
}

"${CC:-gcc}" -O2 -Wall -Wextra -Werror -D_GNU_SOURCE tests/cli/no_bpf.c -o "$dir/no_bpf" || exit
no_pid=4194303
needs='needs root, or CAP_BPF and CAP_PERFMON; run it with sudo'

unprivileged refuses 'not root: record' 1 "record: $needs" record -d 1s -o "$dir/never"
unprivileged refuses 'not root: a probe' 1 "iolat: $needs" iolat -d 1s
unprivileged refuses 'not root: why' 1 "why: $needs" why -d 1s
unprivileged refuses 'not root: with a workload, which is not run' 1 "$needs" runqlat -- touch "$dir/ran"
unprivileged refuses 'not root: doctor' 1 "doctor: $needs" doctor
is 'not root: nothing is written' "$(find "$dir" -name never -o -name ran)" ''

# refused_everywhere WHERE CODE REASON: each command that measures fails, and neither runs nor writes anything
refused_everywhere() {
	local where=$1 in=${1// /_}

	"$in" refuses "$where: record" "$2" "record: $3$" record -d 1s -o "$dir/never"
	"$in" refuses "$where: a probe" "$2" "memlat: $3$" memlat -d 1s -o "$dir/never"
	"$in" refuses "$where: with a workload" "$2" "record: $3$" record -o "$dir/never" -- touch "$dir/ran"
	"$in" refuses "$where: doctor" "$2" "doctor: $3$" doctor
	"$in" refuses "$where: doctor -v" "$2" "doctor: $3$" doctor -v
	is "$where: nothing is left" "$(find "$dir" -name never -o -name ran)" ''
}

elsewhere='this is a user namespace \(a container without privileges\), where the kernel permits no BPF; run it on the host'
if unshare -Ur true 2>/dev/null; then
	refused_everywhere 'in a user namespace' 77 "$elsewhere"
else
	skip 'in a user namespace' 'this machine permits none'
fi
if setpriv --reuid=65534 --regid=65534 --clear-groups unshare -Ur true 2>/dev/null; then
	in_a_user_namespace_of_nobody refuses 'in a user namespace of nobody: a probe' 77 "iolat: $elsewhere$" iolat -d 1s
else
	skip 'in a user namespace of nobody: a probe' 'this machine permits none'
fi
if unshare -T --monotonic 1000 true 2>/dev/null; then
	refused_everywhere 'in a time namespace' 77 "this is a time namespace with other clocks than the kernel's; run it on the host"
else
	skip 'in a time namespace' 'this kernel has none'
fi
refused_everywhere 'without capabilities' 1 \
	'root lacks CAP_BPF or CAP_PERFMON here; give the container both \(--cap-add\), or run it on the host'
refused_everywhere forbidden 77 \
	'the system call bpf\(\) is forbidden here, by a seccomp filter or another security policy; run it outside the container, or relax the policy'

no_btf='this kernel has no BTF \(CONFIG_DEBUG_INFO_BTF\); run one that has it, such as that of .*linux-image-a[a-z]+64'
without_btf refuses 'no BTF: record' 77 "record: $no_btf" record -d 1s -o "$dir/never"
without_btf refuses 'no BTF: a probe' 77 "runqlat: $no_btf" runqlat -d 1s
without_btf refuses 'no BTF: doctor' 77 "doctor: $no_btf" doctor
without_btf refuses 'no BTF: wrong usage is still that' 2 'unknown method' runqlat --method ladder
stored mixed
without_btf check 'no BTF: a recording is read all the same' 0 '' 'memlat .*runqlat .*iolat ' report "$dir/mixed"

refuses 'an unknown PID' 1 "runqlat: -p $no_pid: no such process" runqlat -p $no_pid -d 1s
threads=(/proc/1/task/*) thread=${threads[-1]##*/}
if [ "$thread" != 1 ]; then
	refuses 'a thread that is no process' 1 "runqlat: -p $thread: no such process" runqlat -p "$thread" -d 1s
else
	skip 'a thread that is no process' 'process 1 has only one'
fi
refuses 'an unknown TID' 1 "memlat: -t $no_pid: no such thread" memlat -t $no_pid -d 1s
refuses 'an unknown cgroup' 1 'record: --cgroup /no/such: no such cgroup; give a directory' \
	record --cgroup /no/such -d 1s -o "$dir/never"
refuses 'a directory that is no cgroup' 1 '--cgroup /etc: no such cgroup' runqlat --cgroup /etc -d 1s
refuses 'a cgroup that is a file' 1 '--cgroup cgroup.procs: Not a directory; give' \
	runqlat --cgroup cgroup.procs -d 1s
refuses 'an unknown CPU' 1 'runqlat: --cpu 0,8191: there is no CPU 8191; see lscpu' runqlat --cpu 0,8191 -d 1s
refuses 'an unknown disk' 1 'iolat: --disk nosuch: no such disk; see lsblk' iolat --disk nosuch -d 1s
refuses 'a disk that is not one' 1 '--disk /dev/null: no such disk' iolat --disk /dev/null -d 1s
refuses 'a file that is on no disk' 1 '--disk /proc/version: which disk it is on is not known; name the disk, see lsblk' \
	iolat --disk /proc/version -d 1s
refuses 'a file that does not exist' 1 '--disk ./none: No such file' iolat --disk ./none -d 1s
is 'what is refused leaves no directory' "$(find "$dir" -name never)" ''
in_a_container refuses 'a PID in a PID namespace' 1 '-p 1: numbers differ in a PID namespace' runqlat -p 1 -d 1s
done_testing
