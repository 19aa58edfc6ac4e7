#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# latscope where: wrong usage; the parts of threads that wait for one known thing each; who is named, and who is not; every format.
. "$(dirname "$0")/cli.sh"
skip_unless where

wrong 'a split that it does not have' "--by 'colour': unknown split; choose from process,thread,cgroup,call,state" where --by colour
wrong 'one of other probes' "--by 'call,disk,x': unknown split; choose from" where --by call,disk,x
wrong 'a split that does not apply' '--by disk does not apply here' where --by disk
wrong 'two owners of time' '--by takes one of process, thread, cgroup, and call, state' where --by process,cgroup
wrong 'two owners, one by its short form' '--by takes one of' where --threads --by cgroup
wrong 'call is a split of where alone' "--by 'call': unknown split" runqlat --by call
wrong 'a threshold of letters' "--over 'long': invalid threshold" where --over long
refuses 'a process that does not exist' 1 '-p 4194303: no such process' where -p 4194303
refuses 'a workload that does not exist' 1 "cannot run '/nonexistent'" where -- /nonexistent

# sums FILTER: each row of $out that FILTER selects: its parts sum to its life, to the nanosecond
sums() {
	jq -e '.probes[0] | [.columns[].name] as $names | $names[($names | index("life_ns")) + 1:][:14] as $parts
		| [.top_k[] | select('"$1"') | . as $row | ([$parts[] | $row[.].sum] | add) - .life_ns.sum]
		| length > 0 and all(.[]; . == 0)' <<<"$out"
}
json() { ok "$1" jq -e "$2" <<<"$out"; }

# ---- threads that wait for one known thing each, as a workload ----

work=$dir/work
mkdir "$work"
states=("$built/tests/reference/states" "$work" 20)
# with_states ARG...
with_states() { run where -q "$@" -- sh -c 'exec "$@" >"$0"' "$dir/states" "${states[@]}"; }

# is_in NAME STATE: the thread of that name, as it says itself, was in that state for its waits
is_in() {
	local line wait late got

	line=$(grep "^state=$1 " "$dir/states")
	[[ $line =~ \ ns=([0-9]+).*run_ns=([0-9]+)\ queue_ns=([0-9]+) ]] || { echo "no line: $line" && return 1; }
	wait=$((BASH_REMATCH[1] - BASH_REMATCH[2] - BASH_REMATCH[3]))
	# 1 % for the two clock reads of each wait. CPU time that the hypervisor takes is in no account of the kernel; here the thread was
	# on a CPU or waited for one. The test accepts up to a fifth of the wait.
	late=$(($(more_than_kernel "$1" cpu run) + $(more_than_kernel "$1" ready queue)))
	late=$((wait / 100 + (late < wait / 5 ? late : wait / 5)))
	got=$(jq "[.probes[0].top_k[] | select(.comm == \"$1\") | .$2_ns.sum, .unknown_ns.sum] | add" <<<"$out")
	[ "$got" -ge $((wait - late)) ] || { echo "thread $1: $2 $got ns, of at least $((wait - late))" && false; }
}

# more_than_kernel NAME PART KERNELS: prints by how much the part of that thread is longer than the kernel's own figure of it
more_than_kernel() {
	jq "[.probes[0].top_k[] | select(.comm == \"$1\") | .$2_ns.sum - .$3_ns.sum] | [add // 0, 0] | max" <<<"$out"
}

with_states --json --threads
is 'states as a workload' "$status" 0
ok 'each thread: the parts are its life' sums true
while read -r thread state; do
	ok "the thread $thread waits for $state" is_in "$thread" "$state"
done <<'END'
timer timer
pipe socket
poll work
epoll work
eventfd socket
socket socket
futex futex
child child
signal work
END
json 'the account is of the workload alone' '[.probes[0].top_k[].comm] | unique - ["child", "disk", "epoll", "eventfd", "futex", "lock",
	"pipe", "poll", "signal", "socket", "states", "timer"] == []'
if grep -qs total= /proc/pressure/cpu; then
	json 'the pressure of the machine is there, too' '.pressure | .cgroup == null and any(.columns[]; .name == "cpu_some" and .mean >= 0)'
else
	skip 'the pressure of the machine' 'this kernel has none'
fi
json 'so are the causes, and the worst waits' '[.probes[0].top_k[].pid] as $pids
	| all(.probes[0] | (.causes, .waits)[].pid; IN($pids[]))'
json 'the calls in which they slept' '[.probes[0].sleeps[] | .state + ":" + .call] | contains(["timer:clock_nanosleep", "futex:futex",
	"work:poll", "work:epoll_wait", "socket:read", "socket:recvfrom"])'
json 'who ended the waits for the futex' '[.probes[0].causes[] | select(.comm == "futex" and .state == "futex")
	| .cause] | any(test("^states "))'

with_states -v
is 'as text' "$status" 0
ok 'it fits' fits
like 'the whole' "$out" '(the workload|states .*): [0-9]+ threads .*lived '
for part in 'on a CPU' 'waited for a futex' 'socket or pipe' 'waited for work' timer 'waited for a child'; do
	like "a line: $part" "$out" $'\n'"  $part +[0-9.]+ [mu]?s +[0-9.]+ %"
done
like 'the worst waits' "$out" 'worst waits .*(states|futex|socket|pipe|child|poll|epoll|eventfd|lock|disk) \([0-9]+\): '
like 'what is not explained' "$out" 'not explained: unknown '
like 'what the kernel says' "$out" "checked against: life by the kernel's stamps: 0 ns off; scheduler:[[:space:]]+run[[:space:]]+time[[:space:]]"
like 'with -v, the method' "$out" 'method of where: tp_btf: own clock'

with_states --by call --no-why
like 'by call' "$out" 'call +for +time.*clock_nanosleep +timer'
ok 'it fits' fits
with_states --by state --no-why
like 'by state' "$out" 'state +time +of life  those with most of it.*waited for a child'
ok 'it fits' fits
with_states --threads --no-why
like 'by thread' "$out" '% of its life in +lived +CPU ready.*[a-z]+ \([0-9]+\) +[0-9.]+ m?s +[0-9.]+ '
ok 'it fits' fits

with_states --csv --no-why
is 'CSV: a row is the whole of its process' "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
	NR > 1 { for (i = at["life_ns"] + 1; i <= at["unknown_ns"]; i++) sum += $i; off += sum != $at["life_ns"]; sum = 0 }
	END { print (NR > 1 && !off) }' <<<"$out")" 1
with_states --csv --by call --no-why
like 'CSV by call' "$out" '^pid,tid,comm,state,call,ns,times.*,timer,clock_nanosleep,[0-9]+,[0-9]+'
with_states --csv -i 50ms --no-why
like 'CSV of intervals' "$out" '^time_ns,pid,tid,comm,cgroup,life_ns,cpu_ns,'

# ---- locks of the kernel ----

run where -q -- sh -c 'exec "$@" >&2' sh "$built/tests/reference/locked" 10 262144
if [[ $out = *'does not show waits for its locks'* ]]; then
	skip 'locks of the kernel' 'this kernel does not show waits for them'
else
	like 'page faults that wait for mmap_lock: the lock is named, and who ended it' "$(tr -s ' \n' ' ' <<<"$out")" \
		'waited for kernel lock [0-9.]+ m?s [0-9.]+ % mmap_lock [0-9.]+ m?s.* ended by (holder|locked)'
	ok 'the thread that slept ended no wait' test -z "$(tr -s ' \n' ' ' <<<"$out" | grep -E '(ended by|<) innocent')"
	ok 'it fits' fits
fi

# ---- who had the CPU ----

if taskset -c 0 true 2>/dev/null; then
	# named NAME CMD: a shell of that name on CPU 0
	named() { taskset -c 0 bash -c 'printf "$0" >/proc/$$/comm; eval "$1"' "$1" "$2" >/dev/null & }
	named backup 'while :; do :; done'
	hog=$!
	named webapp 'while :; do for i in {1..2000}; do :; done; read -rt .001 <>/dev/zero -N 0; done'
	victim=$!
	named innocent 'exec tail -f /dev/null'
	innocent=$!
	on_exit kill "$hog" "$victim" "$innocent"
	has_name() { [ "$(cat "/proc/$1/comm")" = "$2" ]; }
	ok 'a victim and a culprit on one CPU' eventually eval "has_name $hog backup && has_name $victim webapp"

	run where -q -d 2s -p "$victim" --json
	ok 'a process: the parts are its life' sums true
	json 'it is alone' '[.probes[0].top_k[].pid] == ['"$victim"']'
	json 'it waited for a CPU' '.probes[0].top_k[0].ready_ns.sum > 0'
	json 'behind the one who had it, and not behind the one who slept' '[.probes[].why? | select(.) | .names[]
		| select(.victim | startswith("webapp")).culprit // empty | sub(" .*"; "")] | contains(["backup"]) and all(. != "innocent")'
	run where -q -d 2s -p "$victim"
	like 'as text' "$out" "^webapp \\($victim\\): 1 thread lived .*waited for a CPU .*behind "
	ok 'the one who slept is not named' test -z "$(grep innocent <<<"$out")"
	ok 'it fits' fits

	run where -q -d 2s
	like 'the machine: a row for each, those that waited first' "$out" '^the machine: .*who waited +waited life%  for what'
	ok 'it fits' fits
	ok 'on the first screen' test "$(wc -l <<<"$out")" -le 28
	run where -q -d 2s -i 500ms --no-why
	like '-i: a line each' "$out" '^ +threads on CPU ready .*waited most(.* s +[0-9.]+ .*){3}'
	run where -q -d 1s --json --no-why
	ok 'the machine: the parts are the life of each process' sums true
else
	skip 'a victim and a culprit on one CPU' 'a process cannot be bound to a CPU here'
fi

# ---- whose account it is ----

# title ARG...: of the account, by the command and by report
title() {
	run "$1" -q -o "$dir/titled" "${@:2}"
	{ echo "$out" && "$latscope" report "$dir"/titled/2*Z; } | sed -nE 's/^(the (machine|workload)[a-z, ]*): [0-9]+ threads (of|lived) .*/\1/p' | sort | uniq -c
	rm -r "$dir/titled"
}
is 'record of a workload: of the machine' "$(title record -v -- sh -c 'sleep .1; true')" '      2 the machine'
is 'where of a workload: of that' "$(title where -- sh -c 'sleep .1; true')" '      2 the workload'
disk=$(basename "$(find /sys/block -maxdepth 1 -name '[sv]d*' -print -quit)")
if [ -n "$disk" ]; then
	is 'record of a disk: of the machine' "$(title record -v -d 100ms --disk "$disk")" '      2 the machine'
else
	skip 'record of a disk: of the machine' 'no disk'
fi

# ---- until Ctrl-C ----

"$latscope" where -q -i 50ms --no-why >"$dir/stdout" 2>"$dir/stderr" &
pid=$!
has_line() { [ "$(wc -l <"$dir/stdout")" -ge 3 ]; }
ok 'a window without end' eventually has_line
end_by INT
is 'Ctrl-C ends it' "$status" 0
like 'and it is printed' "$out" 'the machine: .*checked against: '

done_testing
