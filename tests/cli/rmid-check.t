#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# The checker of traces of the kernel module rmid: a valid trace passes, and each fault in it is found, with the property
# that it violates.
. "$(dirname "$0")/cli.sh"

good=$dir/good

# owner SEQ NS RMID TGID WHY: prints the fields of a record
owner() { echo "seq=$1 time_ns=$2 start_ns=${4}000 since_ns=$2 rmid=$3 tgid=$4 why=$5 threads=1 comm=a b"; }

# at COMM-PID CPU TIME EVENT TEXT
at() { printf '%16s    [%03d] d..2. %5s.000000: %s: %s\n' "$1" "$2" "$3" "$4" "$5"; }

switch() { at "$1-$2" "$3" "$4" sched_switch "prev_comm=$1 prev_pid=$2 prev_prio=120 prev_state=$5 ==> next_comm=x next_pid=$6 next_prio=120"; }

pqr() { at "$1" "$2" "$3" write_msr "c8f, value $4"; }

# Two RMIDs. Process 100 exists before; 200 starts, makes the thread 201 and ends; 300 gets the RMID of 200.
{
	echo '# tracer: nop'
	at sh-100 0 1 rmid_existing "$(owner 7 1000000 1 100 dump)"
	at sh-100 0 1 tracing_mark_write dumped
	at sh-100 0 2 task_newtask 'pid=200 comm=sh clone_flags=1200000 oom_score_adj=0'
	at sh-100 0 2 rmid_alloc "$(owner 8 2000000 2 200 birth)"
	pqr sh-100 0 3 2
	switch sh 100 0 3 R 200
	at sh-200 0 3 rmid_sample 'time_ns=3000000 since_ns=2500000 cpu=0 rmid=2 kind=process end=tick switches=0'
	at sh-200 0 4 task_newtask 'pid=201 comm=sh clone_flags=3d0f00 oom_score_adj=0'
	switch sh 200 0 5 Z 201
	at sh-201 0 5 rmid_sample 'time_ns=5000000 since_ns=3000000 cpu=0 rmid=2 kind=process end=switch switches=1'
	pqr sh-201 0 6 1
	at sh-201 0 6 rmid_free "$(owner 9 6000000 2 200 exit)"
	switch sh 201 0 6 X 100
	at sh-100 0 8 task_newtask 'pid=300 comm=sh clone_flags=1200000 oom_score_adj=0'
	at sh-100 0 8 rmid_alloc "$(owner 10 8000000 2 300 birth)"
	pqr sh-100 0 9 0
} >"$good"

broken() { ! cmp -s "$good" "$dir/bad" && ! judge "$dir/bad" "$1"; }

judge() { .output/tests/rmid/check trace "$1" 2 2000000 "$2"; }

# right DESC FILE PROPERTY...: tests that the trace has these
right() {
	local property

	for property in "${@:3}"; do
		ok "right: $1$property" judge "$2" "$property"
	done
}
right '' "$good" order unique limbo fifo last leak pqr zero samples

# Another CPU may reuse the RMID before the trace has the switch in which it was freed.
sed -E '/prev_pid=201/{h;d}; /seq=10 /{s/\[000\]/[001]/;G}; /pid=300 /s/\[000\]/[001]/; $d' "$good" >"$dir/late"
ok 'right: the switch is told late' judge "$dir/late" unique

# The same for another thread, whose CPU stands still while the last thread ends: the trace has nothing in between.
other="$(at sh-9 1 1 task_newtask 'pid=9 comm=sh clone_flags=1200000 oom_score_adj=0')"
sed -E "/prev_pid=200/{s/\[000\\]/[001]/;s/next_pid=201/next_pid=9/;h;d}; /prev_pid=201/G; 1a\\$other" "$good" >"$dir/late"
right "another thread's switch is told late: " "$dir/late" unique last leak

# A task that was reaped before its last switch has lost its PID by then.
other="$(at sh-100 1 5 task_newtask 'pid=201 comm=sh clone_flags=1200000 oom_score_adj=0')"
sed -E "/seq=9 /i\\$other" "$good" >"$dir/reborn"
right 'a PID is used again before the last switch: ' "$dir/reborn" unique last leak
# A thread calls exec after the last switch of its leader, and is preempted before it ends, or before the trace tells of the exec.
exec=$(at sh-200 0 6 sched_process_exec 'filename=x pid=200 old_pid=201')
away=$(switch sh 200 0 6 R 100) back=$(switch sh 100 0 6 S 200)
for when in after before; do
	lines=("$exec" "$away" "$back")
	[ $when = after ] || lines=("$away" "$back" "$exec")
	sed -E "/prev_pid=201/d; /rmid_free/s/sh-201/sh-200/" "$good" |
		sed -e "/rmid_free/i\\${lines[0]}" -e "/rmid_free/i\\${lines[1]}" -e "/rmid_free/i\\${lines[2]}" \
			-e "/rmid_free/a\\$(switch sh 200 0 6 X 100)" >"$dir/exec"
	right "exec by a thread, preempted $when the event: " "$dir/exec" unique last leak
done
sed "/rmid_free/a\\$(at sh-200 1 6 sched_process_exit 'comm=sh pid=200 prio=120')" "$dir/late" >"$dir/bad"
ok 'found: but it went on' broken last
sed "/prev_pid=200/d; \$a\\$other" "$dir/late" >"$dir/bad"
ok 'found: its switch never comes' broken last
sed '/prev_pid=200/d; s/\[001\]/[000]/' "$dir/late" >"$dir/bad"
ok 'found: there is no other CPU on which it could be late' broken last

# finds PROPERTY DESC SED
finds() {
	sed "$3" "$good" >"$dir/bad"
	ok "found: $2" broken "$1"
}

finds order 'a record is missing' '/seq=9 /d'
finds order 'the time goes back' 's/seq=9 time_ns=6000000/seq=9 time_ns=1/'
finds order 'a stranger frees' '/seq=9 /s/tgid=200/tgid=201/'
finds order 'another process of the same PID frees' '/seq=9 /s/start_ns=200000/start_ns=1/'
finds unique 'an RMID goes to a second process' '/seq=8 /s/rmid=2/rmid=1/'
finds unique 'an RMID is given away while a thread of its owner lives' '/prev_pid=201/d'
finds last 'a thread goes on after the free' '/prev_pid=201/s/prev_state=X/prev_state=S/'
finds last 'another thread is switched out instead' '/prev_pid=201/s/prev_pid=201/prev_pid=100/'
finds limbo 'reuse 1 ns too early' 's/seq=10 time_ns=8000000/seq=10 time_ns=7999999/'
finds fifo 'an RMID that was not free for longest' '/seq=10 /s/rmid=2/rmid=3/'
finds last 'freed by the leader, with a thread left' '/rmid_free/s/sh-201/sh-200/'
finds last 'freed by a stranger on the CPU' '/rmid_free/s/sh-201/sh-100/'
finds leak 'never freed' '/rmid_free/d'
finds pqr 'not written at a switch' '/write_msr: c8f, value 1/d'
finds pqr 'another one written' '/value 2/s/value 2/value 1/'
finds zero 'left behind' '/value 0/s/value 0/value 1/'
finds samples 'a gap between samples' 's/since_ns=3000000 cpu/since_ns=3000001 cpu/'
finds samples 'a sample of an RMID that is not in the register' '/end=switch/s/rmid=2/rmid=1/'
: >"$dir/bad"
ok 'a trace with nothing to judge proves nothing' broken limbo
done_testing
