#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native fast
# doctor predicts what record does; load makes each kind of load and leaves nothing behind.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/cli/cli.sh

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
[ "$(id -u)" != 0 ] || unprivileged check 'it needs no privilege' 0 '' '' load hog -d 100ms

skip_unless_able
run doctor
recorded=$(sed '/^ringlat:/,$d' <<<"$out") # the rest is no part of record
modules=$(grep -cE '^[a-z]+:' <<<"$recorded")
is 'doctor knows the probes' "$modules" 5
ok 'doctor: its exit code tells whether each can run, in nothing but data' \
	ended "$(($(grep -c '^  \* ' <<<"$recorded") == modules ? 0 : 77))" '' '^latscope [0-9.]+ on Linux .*\* is the default'
ok 'doctor fits' fits
like 'doctor ends with what to do next' "$(tail -n 1 <<<"$out")" '^Next: latscope record -d 10s$'
used=$(sed -nE 's/^([a-z]+):.*/\1/p; s/^  \* ([a-z_-]+) .*/\1/p' <<<"$recorded" | paste -sd ' ')
run record -q --rmid --softirq --json -d 50ms -o "$dir/runs"
is 'record uses the methods that doctor marked' "$(jq -r '.probes[] | .module, .mechanism.method // empty' <<<"$out" | paste -sd ' ')" \
	"$used"
done_testing
