#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: packages
# systemd.t DIR SUITE: the service of the package latscope-exporter, started by systemd when a machine with Debian's SUITE boots
# in the VM: it answers, keeps a flight recorder, obeys the file with its options and the socket, and is purged without a trace.
# DIR has the packages built for SUITE.
. "$(dirname "$0")/root.sh"

debs=$(readlink -e "$1") suite=$2
declare -A kernel=([bookworm]=6.1 [trixie]=6.12)
fresh_with "$suite" "$suite"
ok 'the packages install' put_ours "$debs" latscope latscope-exporter
ok 'systemd installs after them' put systemd systemd-sysv busybox-static kmod
leave

# What the guest writes is a line for each thing that it found.
guest='
unit=latscope-exporter.service
say() { echo "$*" >>"$LATSCOPE_VM_IO/found"; }
get() { exec 3<>/dev/tcp/127.0.0.1/9469 && printf "GET $1 HTTP/1.0\r\n\r\n" >&3 && timeout 20 cat <&3; }
answers() { local i; for i in {1..60}; do get /healthz 2>/dev/null | grep -q "^ok" && return; sleep 1; done; return 1; }
say "first $(ps -p 1 -o comm= 2>/dev/null || cat /proc/1/comm)"
say "running $(systemctl is-system-running) $(systemctl --failed --plain --no-legend | cut -d " " -f 1 | tr "\n" " ")"
say "enabled $(systemctl --root=/ is-enabled $unit latscope-exporter.socket latscope-rollup.timer | tr "\n" " ")"
answers && say answers
packaging/debian/tests/exporter >"$LATSCOPE_VM_IO/autopkgtest" 2>&1 && say "autopkgtest passes"
get /metrics >"$LATSCOPE_VM_IO/metrics"
pid=$(systemctl show -P MainPID $unit)
say "user $(stat -c %u /proc/$pid | sed "s/^6[1-5]...$/dynamic/")"
say "capabilities $(sed -n "s/^CapEff:.//p" /proc/$pid/status)"
say "recorder $(ls /var/lib/latscope | grep -c -- -ring)"
systemctl show -P MemoryPeak $unit | sed "s/^/memory /" >>"$LATSCOPE_VM_IO/found"
echo "ARGS=\"--ring 16M --trigger '\''runqlat.rate>1 for 1s'\'' --listen 127.0.0.1:9469\"" >/etc/default/latscope-exporter
systemctl restart $unit && answers && say "options $(tr "\0" " " </proc/$(systemctl show -P MainPID $unit)/cmdline)"
snapshots() { get /metrics | sed -n "s/^latscope_snapshots_total.* //p" | head -n 1; }
for i in {1..60}; do made=$(snapshots); case $made in [1-9]*) break ;; esac; sleep 1; done
say "snapshots $made"
systemctl kill -s USR1 $unit; sleep 3
latscope snapshot -o /tmp/snapshot >/dev/null 2>&1 && say "snapshot $(latscope report /tmp/snapshot/* 2>/dev/null | grep -c "events,")"
systemctl stop $unit && say "stopped $(systemctl show -P Result $unit) $(systemctl show -P ExecMainStatus $unit)"
echo "ARGS=\"--no-ring\"" >/etc/default/latscope-exporter
systemctl reset-failed
systemctl start latscope-exporter.socket && say "socket waits $(systemctl is-active $unit)"
answers && say "socket starts $(systemctl is-active $unit)"
systemctl stop latscope-exporter.socket $unit
echo "ARGS=\"--nothing\"" >/etc/default/latscope-exporter
systemctl start $unit
for i in {1..60}; do systemctl is-active -q $unit || break; sleep 1; done
say "wrong options $(systemctl show -P Result $unit) $(systemctl show -P ExecMainStatus $unit) $(systemctl show -P NRestarts $unit) $(systemctl is-active $unit)"
dpkg --purge latscope-exporter latscope >"$LATSCOPE_VM_IO/purge" 2>&1 && say purged
say "left $(find /etc /var /usr /run -xdev -name "*latscope*" ! -path "/var/lib/dpkg/*" ! -path "/run/latscope-vm*" ! -name "*latscope-vm*" | grep -v /latscope/ | xargs -rn1 dpkg -S 2>&1 | grep -v "^latscope: " | tr "\n" " ")"
journalctl -b --no-pager -u $unit >"$LATSCOPE_VM_IO/journal" 2>/dev/null'
mkdir "$work/io"
tests/vm/run -k "${kernel[$suite]}" -r "$root" -b -s "$work/io" -m 1G -t 900 bash -c "$guest" >"$work/vm" 2>&1
status=$?
found() { grep -q "^$1\$" "$work/io/found" || { echo "the guest found only:" && cat "$work/io/found" && false; }; }
ended_well() { [ "$status" = 0 ] || { cat "$work/vm" && false; }; }

ok 'the machine boots and ends' ended_well
ok 'systemd is its first process' found 'first systemd'
ok 'nothing failed' found 'running \(running\|starting\) *'
ok 'the service is enabled, the socket and the timer of rollup are not' found 'enabled enabled disabled disabled '
ok 'the service answers' found answers
ok 'the autopkgtest of the service passes' found 'autopkgtest passes'
for probe in memlat runqlat iolat; do
	ok "$probe measures" grep -q "^latscope_probe_up{probe=\"$probe\"} 1" "$work/io/metrics"
done
ok 'a histogram has events' grep -qE '^latscope_runqlat_[a-z_]+_count [1-9]' "$work/io/metrics"
ok 'it runs as a user that no account has' found 'user dynamic'
ok 'it has no capability' found 'capabilities 0*'
ok 'it keeps a flight recorder' found 'recorder [1-9]'
ok 'it obeys /etc/default' found 'options .*serve --ring 16M --trigger runqlat.rate>1 for 1s --listen 127.0.0.1:9469 '
ok 'a trigger makes a snapshot' found 'snapshots [1-9]'
ok 'a snapshot is made by hand' found 'snapshot [1-9].*'
ok 'it stops' found 'stopped success 0'
ok 'the socket waits' found 'socket waits inactive'
ok 'a client of the socket starts the service' found 'socket starts active'
ok 'with wrong options it is not started again' found 'wrong options exit-code 2 0 failed'
ok 'it is purged' found purged
ok 'no trace is left' found 'left '
diag "$(grep -v systemd "$work/io/journal")"
done_testing
