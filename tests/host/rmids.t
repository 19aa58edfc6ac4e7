#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# Emulated RMIDs of the processes of this machine: who has one, in the dump, the trace and the rows. The checker of the kernel
# module's traces judges the trace, with the kernel's own events of births and deaths on CPUs that run at the same time.
. "$(dirname "$0")/host.sh"
skip_unless rmid --method switches

. tests/rmid/emulated.sh

check '--dump: the head of /proc/latscope_rmid' 0 '' \
	$'^version 1\nrmids [0-9]+\nlimbo_ns 2000000\nrdt off\nl3_scale 0\nmbm off\nassigned [1-9][0-9]*\nwaiting [0-9]+\nallocs .*\nunsampled \n\n[0-9]+ [0-9]+ ' \
	rmid -q -d 50ms --dump --method switches
run rmid -q -d 50ms --dump --rmids 7
is '--rmids' "$(head_of rmids)" 7

# A process that existed before, with a name that has a backslash.
perl -e 'open my $f, ">", "/proc/self/comm"; print $f shift; close $f; open $f, ">", shift; print $f $$; close $f; sleep 600' \
	'a b\c' "$dir/ready" &
wait_for test -s "$dir/ready"
pid=$(<"$dir/ready")
ticks=$(sed 's/.*) //' "/proc/$pid/stat" | cut -d' ' -f20)
run rmid -q -d 50ms --dump --method switches --rmids 1023
line=$(listed "$pid")
like 'a process that existed before is in the dump' "$line" "^[1-9][0-9]* $pid [0-9]+ 1 [0-9]+ a b.134c\$"
is 'with its start' "$(($(cut -d' ' -f3 <<<"$line") * $(getconf CLK_TCK) / 1000000000))" "$ticks"
kill "$pid"
wait "$pid" 2>/dev/null

# Of those that were there all the time, with the same number of threads before and after. Kernel threads have no RMID. The
# iterator of some kernels skips process 1, and a zombie has no RMID.
threads() { ps -eo pid=,ppid=,nlwp=,state= | awk '$1 > 2 && $2 != 2 && $4 != "Z" { print $1, $3 }' | sort; }
same_threads() {
	threads >"$dir/before"
	run rmid -q -d 50ms --dump --method switches --rmids 1023
	comm -12 "$dir/before" <(threads) >"$dir/stayed"
	list | awk '{ print $2, $4 }' | sort | comm -13 - "$dir/stayed" >"$dir/wrong"
	head "$dir/wrong"
	[ -s "$dir/stayed" ] && [ ! -s "$dir/wrong" ]
}
measured 'all processes are in the dump, with as many threads as the kernel says' same_threads

# With few RMIDs most processes wait: the dump has them with RMID 0, and so have their rows, each of its own.
run rmid -q -d 100ms --dump --method switches --rmids 2
is 'exhaustion: all RMIDs are in use' "$(head_of assigned)" 2
ok 'exhaustion: the others wait' test "$(head_of waiting)" -gt 0 -a "$(head_of refused)" -gt 0
is 'exhaustion: the list has those that wait, with RMID 0' "$(list | grep -c '^0 ')" "$(head_of waiting)"
is 'exhaustion: no RMID is listed twice' "$(list | grep -v '^0 ' | cut -d' ' -f1 | sort | uniq -d)" ''
"$latscope" load hog -q --tasks 4 -d 60s &
run rmid -q -d 300ms --csv --method switches --rmids 1
kill %%
wait 2>/dev/null
ok 'exhaustion: a process that waits has rows of its own' test "$(awk -F, '$8 == 0 && $8 != "" && NR > 1 { print $2 }' <<<"$out" | sort -u | grep -c .)" -ge 2
is 'no two processes of a slot have the same RMID' \
	"$(awk -F, 'NR > 1 && $8 > 0 && seen[$1, $8]++ { print }' <<<"$out")" ''
check 'the output says how many wait' 0 '' 'RMIDs[[:space:]]+are[[:space:]]+emulated.*no[[:space:]]+RMID[[:space:]]+was[[:space:]]+free.*processes[[:space:]]+wait' \
	rmid -q -d 50ms --method switches --rmids 1

# Processes that sleep and end within the millisecond in which they began: the usual way of a switch is not that of an end.
ends_are_seen() {
	run rmid -q --dump --method switches --counters none -- .output/tests/reference/reuse 500
	[ "$(head_of miscounted)" -le "$(head_of missed)" ] || { echo "$(head_of miscounted) ends were overlooked" && false; }
}
if [ -w /proc/sys/kernel/ns_last_pid ]; then
	ok 'short lives: all ends are seen, but for those that the host hid' ends_are_seen
else
	skip 'short lives' 'this kernel cannot be asked for a PID'
fi

# There, /proc has other numbers for the processes than the kernel's records: latscope itself is not to be found by them.
as=(unshare -pf --mount-proc)
measure run rmid -q -d 50ms --dump --method switches --rmids 2 # a host that hides switches makes some miscounted
ok 'a PID namespace: who lives keeps its RMID' test "$(head_of assigned)" -gt 0
is 'a PID namespace: nobody is taken for dead' "$(head_of miscounted)" 0
calm
refuses 'a PID namespace: no groups of resctrl' 77 'numbers differ in a PID namespace; run it on the host' rmid -d 50ms --method resctrl
as=()

# A few RMIDs more than there are processes, so that they go round. tests/probes/compact has one with more.
run rmid -q -d 50ms --dump --method switches
rmids=$(($(list | wc -l) + 30))
if traces_can_be_made; then
	measure traced $rmids
	judge_trace $rmids
else
	skip "$rmids RMIDs: the trace" 'tracefs cannot be used here'
fi
done_testing
