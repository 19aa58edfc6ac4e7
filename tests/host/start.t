#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# record loads its probes into this machine's own kernel in threads: a probe that fails leaves the others alone and nothing behind,
# and signals are for the window.
. "$(dirname "$0")/../cli/cli.sh"
skip_unless_able
gcc -shared -fPIC -O2 -o "$dir/fail_bpf.so" tests/cli/fail_bpf.c || exit

# programs PID: prints the names of the BPF programs that it holds, in one line
programs() {
	local id

	ids "$1" | sed -n 's/^prog //p' | while read -r id; do bpftool -j prog show id "$id" | jq -r .name; done | sort | tr '\n' ' '
}

# measured: prints the probes that the recording has
measured() { jq -rs 'map(select(.complete) | .module) | sort | join(" ")' "$(recording "$dir/runs")"/*.summary.json; }

# All methods of each probe, by a program that the method needs.
memlat='mark='
runqlat='stamps_switch= stored_switch='
iolat='stamps_complete= hashed_complete='
where='read_threads='

# unlike TITLE TEXT REGEX
has_not() { [[ ! $1 =~ $2 ]] || { printf 'got:\n%s\nwanted no match of:\n%s\n' "$1" "$2" && false; }; }
unlike() { ok "$1" has_not "$2" "$3"; }

# reason PROBE REGEX: a regex for the line that tells why the probe cannot run
reason() { printf "latscope: %s cannot run on this machine: [^\\n]*%s[^\\n]*; 'latscope doctor' explains" "$1" "$2"; }

# preload VARIABLE=VALUE...
preload() { as=(env "LD_PRELOAD=$dir/fail_bpf.so" "$@"); }

preload "FAIL_ATTACH=${iolat//=/=24}"
start
held=$(ids "$pid")
names=$(programs "$pid")
kill -INT "$pid" # not before: on a busy machine the names take a while
finish
ok 'one probe cannot be attached: exit status, one line' ended 0 "^$(reason iolat 'Too many open files')\$" 'memlat.*runqlat'
is 'one probe cannot be attached: the others are recorded' "$(measured)" 'memlat runqlat where'
unlike 'one probe cannot be attached: it leaves no program' "$names" 'stamps_complete|hashed_complete|stamps_requeue'
like 'one probe cannot be attached: the others have theirs' "$names" 'mark .*prime'
ok 'one probe cannot be attached: nothing is left' unloaded "$held"

preload "FAIL_ATTACH=stamps_complete=24"
start
names=$(programs "$pid")
end_by INT
ok 'its best method cannot be attached: no message' ended 0 '' 'iolat'
is 'its best method cannot be attached: another one' "$(jq -r .mechanism.method "$(recording "$dir/runs")/iolat.summary.json")" tp_btf
unlike 'its best method cannot be attached: no program of that one is left' "$names" 'stamps_complete|stamps_requeue'
like 'its best method cannot be attached: the other one has its programs' "$names" 'hashed_complete'

preload "FAIL_LOAD=${memlat//=/=7} ${iolat//=/=23}"
start -d 300ms
finish
ok 'two probes cannot be loaded: each has its own reason' ended 0 \
	"^$(reason memlat "prog 'mark'[^\\n]*Argument list too long")"$'\n'"$(reason iolat "prog 'stamps_complete'[^\\n]*Too many open files in system")\$" \
	'runqlat'
unlike 'two probes cannot be loaded: not that of the other' "$(grep memlat "$dir/stderr")" 'complete|open files'
is 'two probes cannot be loaded: the others are recorded' "$(measured)" 'runqlat where'

preload "FAIL_LOAD=${memlat//=/=7} ${runqlat//=/=7} ${iolat//=/=7} ${where//=/=7}"
rm -rf "$dir/runs"
run record -q -d 300ms -o "$dir/runs"
ok 'no probe can be loaded: exit status, their order' ended 77 \
	"^$(reason where 'Argument list')"$'\n'"$(reason memlat 'Argument list')"$'\n'"$(reason runqlat 'Argument list')"$'\n'"$(reason iolat 'Argument list')\$" ''
ok 'no probe can be loaded: no recording' [ ! -e "$dir/runs" ]

# slowly: starts latscope record, and waits until its threads load programs
threads() { find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l; }
has_threads() { [ "$(threads)" = 3 ]; }
slowly() {
	rm -rf "$dir/runs"
	touch "$dir/slow"
	preload "SLOW_LOAD=$dir/slow"
	"${as[@]}" env --default-signal=INT "$latscope" record -qv -o "$dir/runs" >"$dir/stdout" 2>"$dir/stderr" &
	pid=$!
	wait_for has_threads
	wait_for holds
}

# Does it have programs or maps by now? Then they are in $held.
holds() {
	held=$(ids "$pid")
	[ -n "$held" ]
}

# blocked: prints how many threads have blocked SIGHUP, SIGINT, SIGTERM, SIGALRM, SIGCHLD and SIGWINCH
blocked() {
	local task mask count=0

	for task in "/proc/$pid/task"/*; do
		mask=$((16#$(awk '/^SigBlk:/ { print $2 }' "$task/status")))
		(((mask & 0x8016003) != 0x8016003)) || count=$((count + 1))
	done
	echo "$count"
}

# While it starts the others, the main thread has the signals blocked, too. A thread that has ended can still be in /proc.
two_blocked() { tap_same "$(blocked)" 2; }
one_thread() { tap_same "$(threads)" 1; }

slowly
ok 'threads that load have all signals blocked, the main thread not' eventually two_blocked
kill -INT "$pid"
kill -TERM "$pid"
held=$(ids "$pid")
rm "$dir/slow"
finish
ok 'Ctrl-C during the start: the window closes as it opens' ended 0 '' 'memlat.*runqlat.*iolat'
ok 'Ctrl-C during the start: the recording is complete' complete "$(recording "$dir/runs")"
ok 'Ctrl-C during the start: nothing is left' unloaded "$held"

slowly
end_by KILL 2>/dev/null
ok 'killed during the start: nothing is left' unloaded "$held"
ok 'killed during the start: no recording' [ ! -e "$dir/runs" ]
rm "$dir/slow"

as=()
start
ok 'when the window is open there is one thread' eventually one_thread
end_by INT
ok 'then the result is printed' ended 0 '' 'memlat.*runqlat.*iolat'
done_testing
