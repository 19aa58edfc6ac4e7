#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# The names of processes and threads, of all probes together on this machine's own kernel and with workers of io_uring: a process has
# its leader's name, a thread its own. tests/unit/test_names.c has the rules.
. "$(dirname "$0")/host.sh"
skip_unless_able

head -c 64k /dev/zero >"$dir/file"
sync "$dir/file"

# named CHANGE: starts tests/reference/named as $named, and waits until it is ready
named() {
	local line

	coproc named_io { exec .output/tests/reference/named "$1" "$dir/file" 2>"$dir/named.err"; }
	named='' thread=''
	while read -r line <&"${named_io[0]}" && [ "$line" != ready=1 ]; do
		case $line in
		pid=*) named=${line#*=} ;;
		tid=*) thread=${line#*=} ;;
		esac
	done
	[ -n "$named" ]
}

change() {
	local line=''

	echo >&"${named_io[1]}"
	while [ "$line" != done=1 ]; do
		read -r line <&"${named_io[0]}" || return
	done
}

# Bash forgets the descriptors of a coprocess that has ended.
end_named() {
	# shellcheck disable=SC2154 # bash sets it
	local in=${named_io[1]} child=$named_io_PID

	exec {in}>&-
	wait "$child"
}

# record_change CHANGE: records one window around the change; the JSON is in $out
record_change() {
	named "$1" || { cat "$dir/named.err" && return 1; }
	start -i 50ms --by process,thread -p "$named" --json
	wait_for has_intervals "$(recording "$dir/runs")" 3
	change
	wait_for has_intervals "$(recording "$dir/runs")" 8
	end_by INT
	end_named
	out=$(tail -n 1 <<<"$out")
}

# names_of PROBE SPLIT: prints the names of keys that have samples, each once
names_of() {
	sqlite3 -readonly "$(recording "$dir/runs")/run.db" "SELECT DISTINCT series.name FROM series
		JOIN metric ON metric.id = series.metric JOIN probe ON probe.id = metric.probe
		WHERE probe.name = '$1' AND series.split = '$2' AND series.id IN (SELECT series FROM sums)"
}

# All probes must have a row by process; iolat only if there is a disk below.
process_is() {
	local module got

	for module in memlat runqlat iolat; do
		got=$(names_of "$module" process)
		[ "$module$got" != iolat ] || continue
		tap_same "$got" "$1 ($named)" || { echo "by $module" && return 1; }
	done
}

thread_is() { tap_match $'\n'"$(names_of runqlat thread)"$'\n' $'\n'"$1 \($thread\)"$'\n'; }

for case in none:nm-leader:nm-pool-7 leader:nm-second:nm-pool-7 thread:nm-leader:nm-pool-8 exec:exe:nm-pool-7 \
	zombie:nm-leader:nm-pool-7 ring:nm-leader:nm-pool-7; do
	IFS=: read -r what process name <<<"$case"
	record_change "$what"
	ok "$what: the process has its leader's name, $process" process_is "$process"
	ok "$what: the thread has its own, $name" thread_is "$name"
done
like 'io_uring: the worker has its own name' "$(names_of runqlat thread)" $'(^|\n)iou-wrk-'

# rmid has the same names. It sees those that have a CPU in the window, unless the host hides that.
rmid_says() {
	run rmid -q -d 200ms --json --method switches
	tap_same "$(jq -r --argjson pid "$named" '[.probes[0].top_k[] | select(.pid == $pid) | .comm] | unique | join(" ")' <<<"$out")" \
		"$1"
}
for case in none:nm-leader exec:exe zombie:nm-leader; do
	IFS=: read -r what process <<<"$case"
	named "$what"
	change
	measured "rmid, $what: the process has its leader's name" rmid_says "$process"
	end_named
done
done_testing
