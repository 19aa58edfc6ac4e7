#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: packages
# container.t DIR SUITE: what packaging/Containerfile says that a container must be given is enough, and needed: in namespaces of
# its own made by unshare, with the root of a fresh Debian SUITE, the capabilities of the recipe, no new privileges and a read-only
# /sys. DIR has the packages built for SUITE. No image is built: that needs a registry and a container engine.
. "$(dirname "$0")/root.sh"

debs=$(readlink -e "$1") suite=$2
fresh_with "$suite" "$suite"
ok 'the package installs' put_ours "$debs" latscope
leave
mkdir "$root/runs"

given=$(sed -n 's/.*--cap-add=\([A-Z_,]*\).*/\1/p' packaging/Containerfile | tr '[:upper:]' '[:lower:]')
start='
root=$1 capabilities=$2
shift 2
mount --rbind "$root" "$root" && cd "$root" || exit 99
if [ -n "$OWN_PIDS" ]; then mount -t proc proc proc; else mount --rbind /proc proc; fi
mount --rbind /sys sys && mount -o remount,bind,ro sys && mount -t tmpfs dev dev && mount -t tmpfs tmp tmp || exit 99
for node in null zero urandom; do touch dev/$node && mount --bind /dev/$node dev/$node || exit 99; done
list=
for name in $(echo "$capabilities" | tr , " "); do list=$list,+$name; done
exec chroot . setpriv --no-new-privs --bounding-set "-all$list" --inh-caps "-all" env -i PATH=/usr/bin:/bin HOME=/root "$@"'

# contained CAPABILITIES CMD...: with the PIDs of the host, as by --pid=host
contained() { unshare --mount --uts --ipc ${OWN_PIDS:+--pid --fork} bash -c "$start" - "$root" "$@"; }
export OWN_PIDS=''

# tries [CAPABILITIES] CMD...: sets $text and $status
tries() { text=$(contained "$@" 2>&1) && status=0 || status=$?; }
shows() {
	echo "exit status $status: $text"
	[ "$status" = "$1" ] && grep -qE "$2" <<<"$text"
}

like 'the recipe has capabilities' "$given" '^bpf,perfmon,'
tries "$given" latscope runqlat -d 1s
[ "$status" != 77 ] || skip_all "runqlat does not run here: $text"
ok 'a histogram' shows 0 '^  \[[0-9KM]+, [0-9KM]+\) .* \|[@.]'
ok 'nothing is lost' shows 0 'balances'
tries "$given" latscope record -d 1s -o /runs -- latscope load mixed -d 1s
ok 'it records' shows 0 'memlat'
ok 'the recording is on the volume' compgen -G "$root/runs/*/run.db"
sleep 1000 &
sleeper=$!
on_exit kill $sleeper
tries "$given" latscope runqlat -d 100ms -p $sleeper
ok '--pid=host: processes of the host are there' shows 0 'runqlat'
for missing in bpf perfmon; do
	tries "$(sed -E "s/\b($missing|sys_admin)\b,?//g" <<<"$given")" latscope runqlat -d 100ms
	ok "without $missing it says what is missing" shows 1 'CAP_BPF.*CAP_PERFMON.*--cap-add'
done
OWN_PIDS=1
tries "$given" latscope runqlat -d 100ms -p $sleeper
ok 'with PIDs of its own, those of the host are not there' shows 1 'no such|does not exist|No such|namespace'
OWN_PIDS=
text=$(unshare -Ur --mount --pid --fork bash -c 'mount -t proc proc "$0/proc" && exec chroot "$0" latscope runqlat -d 100ms' "$root" 2>&1)
status=$?
ok 'a rootless container is refused' shows 77 'user namespace'
done_testing
