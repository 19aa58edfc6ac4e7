#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# doctor predicts what record does on this machine's own kernel; load makes each kind of load, by its system calls, and leaves
# nothing behind.
. "$(dirname "$0")/../cli/cli.sh"

# Each load has a session of its own, which identifies its processes.
shopt -s nullglob
mkdir "$dir/io"
kinds=(touch hog pingpong dio mixed)

# begin SECONDS SIGNAL: starts all kinds at once, $pids; the shell makes background processes ignore SIGINT
begin() {
	local kind

	pids=()
	for kind in "${kinds[@]}"; do
		setsid env --default-signal=INT "$latscope" load "$kind" -q -d "$1" --dir "$dir/io" >"$dir/$kind" 2>&1 &
		pids+=($!)
	done
}

alone() { [ -z "$(pgrep -s "$1")" ]; }
at_work() { [ "$(pgrep -cs "$1")" -ge 2 ]; }

# judge TITLE: tests that each load has succeeded, has no children left, and has printed nothing
judge() {
	local i

	for i in "${!kinds[@]}"; do
		wait "${pids[i]}"
		is "$1: ${kinds[i]}: exit status" $? 0
		ok "$1: ${kinds[i]}: no process is left" alone "${pids[i]}"
		is "$1: ${kinds[i]}: nothing is said" "$(<"$dir/${kinds[i]}")" ''
	done
	is "$1: no file is left" "$(find "$dir/io" -mindepth 1)" ''
}

begin 1s
judge 'its time is up'
for signal in INT TERM; do
	begin 1h
	for i in "${!kinds[@]}"; do
		ok "${kinds[i]} has processes until SIG$signal" wait_for at_work "${pids[i]}"
		kill -$signal "${pids[i]}"
	done
	judge "SIG$signal"
done
begin 1h
for i in "${!kinds[@]}"; do
	wait_for at_work "${pids[i]}"
	kill -KILL "${pids[i]}"
done
for i in "${!kinds[@]}"; do
	wait "${pids[i]}" 2>/dev/null
	ok "kill -9: ${kinds[i]}: no process is left" wait_for alone "${pids[i]}"
done
is 'kill -9: no file is left' "$(find "$dir/io" -mindepth 1)" ''

refuses 'no place for the file of dio' 1 \
	'load: cannot create a temporary file in /no/such: No such file or directory; choose another directory with --dir' \
	load dio --dir /no/such -d 1s
check 'a place in memory' 0 \
	'^latscope: load: cannot use direct I/O in /dev/shm: its file system is in memory; using the page cache; choose' '' \
	load dio --dir /dev/shm -d 100ms

# traced CALLS ARG...: starts a load; $dir/calls has what its processes ask the kernel
traced() {
	rm -f "$dir/calls"
	strace -f -qq -e trace="$1" -o "$dir/calls" "$latscope" load -q --dir "$dir/io" "${@:2}" &
}
# requests: prints those of the child processes, without the blocks that fill the file at first
requests() {
	awk 'NR == 1 { parent = $1 } $1 != parent && !/, 1048576, /' "$dir/calls" |
		sed -nE 's/.* (pread64|pwrite64)\(.*, ([0-9]+), ([0-9]+)\) = .*/\1 \2 \3/p'
}
has_made() { [ "$(requests | wc -l)" -ge "$1" ]; }
# makes COUNT ARG...: $dir/made has the first requests of a load
makes() {
	traced pread64,pwrite64 dio -d 1h --tasks 1 --size 2M "${@:2}"
	wait_for has_made "$1"
	pkill -TERM -P $! -x latscope
	wait $!
	requests | head -n "$1" >"$dir/made"
}
if strace -qq true 2>/dev/null; then
	makes 100 --sequential --writes 0 --block 64K
	is 'sequential reads: nothing but reads of the block' "$(cut -d ' ' -f 1,2 "$dir/made" | sort -u)" 'pread64 65536'
	is 'each follows the one before, from the start again at the end' \
		"$(awk 'NR > 1 && $3 != (at + 65536) % 2097152 { bad++ } { at = $3 } END { print bad + 0, (NR > 32) }' "$dir/made")" '0 1'
	makes 400 --writes 100
	is 'writes only' "$(cut -d ' ' -f 1,2 "$dir/made" | sort -u)" 'pwrite64 4096'
	ok 'at random' test "$(cut -d ' ' -f 3 "$dir/made" | head -n 64 | sort -u | wc -l)" -gt 40
	makes 400 --writes 70%
	ok "70 % are writes: $(grep -c pwrite64 "$dir/made") of 400" \
		awk '/pwrite64/ { n++ } END { exit !(NR == 400 && n / NR > 0.7 - 3 * sqrt(0.21 / NR) && n / NR < 0.7 + 3 * sqrt(0.21 / NR)) }' "$dir/made"
	traced mmap touch -d 300ms --size 6M --tasks 2
	wait $!
	is 'touch: each of two processes has half' \
		"$(awk 'NR == 1 { parent = $1 } $1 != parent' "$dir/calls" | grep -o 'mmap(NULL, [0-9]*' | sort -u)" 'mmap(NULL, 3145728'
else
	skip 'what the loads ask the kernel' 'strace does not run here'
fi
[ "$(id -u)" != 0 ] || unprivileged check 'it needs no privilege' 0 '' '' load hog -d 100ms

skip_unless_able
latscope=$dir/latscope run doctor # the copy of unprivileged
recorded=$(sed '/^ringlat:/,$d' <<<"$out") # the rest is no part of record
modules=$(grep -cE '^[a-z]+:' <<<"$recorded")
is 'doctor knows the probes' "$modules" 6
ok 'doctor: its exit code tells whether each can run, in nothing but data' \
	ended "$(($(grep -c '^  \* ' <<<"$recorded") == modules ? 0 : 77))" '' '^latscope [0-9.]+ on Linux .*\* is the default'
ok 'doctor fits' fits
next=$(tail -n 1 <<<"$out" | sed 's/^Next: //')
is 'doctor ends with what to do next, in the words in which it was called' "$next" "$dir/latscope"
ok 'which works' bash -c "cd '$dir' && $next -d 50ms -q -o next >/dev/null"
used=$(sed -nE 's/^([a-z]+):.*/\1/p; s/^  \* ([a-z_-]+) .*/\1/p' <<<"$recorded" | paste -sd ' ')
run record -q --no-why --rmid --softirq --json -d 50ms -o "$dir/runs"
is 'record uses the methods that doctor marked' "$(jq -r '.probes[] | .module, .mechanism.method // empty' <<<"$out" | paste -sd ' ')" \
	"$used"
done_testing
