#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# The flight recorder of serve, as it records this machine: snapshots, triggers, kill -9, restarts, full disks, and what why says of
# two cgroups. tests/kernels/serve-* set the clock.
. "$(dirname "$0")/../cli/serve.sh"
. tests/measure.sh
own_mounts
skip_unless_able

# balances: every probe of the snapshot accounts for each event, and its keys have all but those of a moment
balances() {
	local bad

	bad=$("$latscope" report --json "$snapshot" |
		jq -c '.. | objects | select(.module? and .accounting?) | [.module, .accounting.balanced, .total_events,
			([.keys[]? | select(.metric == .metric)] | group_by(.metric) | map(map(.total_events) | add) | first)] |
			select((.[1] | not) or ((.[2] - .[3]) | fabs) > 100 + .[2] / 1000)')
	[ -z "$bad" ] || { echo "$bad" && false; }
}

# seconds LOW HIGH: length of the snapshot
seconds() {
	awk -v got="$(json runqlat .duration_sec)" -v low="$1" -v high="$2" \
		'BEGIN { print got; exit !(got >= low && got <= high) }'
}

# ---- snapshots of a recorder that runs ----

serve_start --trigger 'runqlat.rate>0 for 2s' --trigger 'runqlat.max>1h'
wait_for span coarse 5
snapshot_new --last 3s
ok 'a snapshot' ended 0 '' ''
longest=$(sqlite3 "$snapshot/run.db" 'SELECT max(end_ns - start_ns) / 1e9 FROM interval')
ok 'it has the time that was asked for' seconds 1.9 "$(awk -v longest="$longest" 'BEGIN { print 3 + longest }')"
ok 'it balances' balances
is 'its intervals are short' "$(sqlite3 "$snapshot/run.db" 'SELECT count(*) > 15 FROM interval')" 1
check 'compare reads it' 0 '.*' '.' compare "$snapshot" "$snapshot"
is 'it says that it is complete' "$(jq .complete "$snapshot/runqlat.summary.json")" true

made() { compgen -G "$(ring)/*-snapshot/runqlat.csv" >/dev/null; }
ok 'the trigger that is met makes a snapshot' wait_for made
is 'the other does not' "$(compgen -G "$(ring)/*-snapshot" | wc -l)" 1
snapshot=$(compgen -G "$(ring)/*-snapshot")
ok 'it balances, too' balances
is 'it has its reason' "$(sqlite3 "$snapshot/run.db" 'SELECT value FROM label')" 'runqlat.rate>0 for 2s'
kill -USR1 "$server"
snapshots() { [ "$(get /metrics | sed -n 's/^latscope_snapshots_total //p')" = "$1" ]; }
begun() { [ "$(compgen -G "$(ring)/*-snapshot" | wc -l)" = 2 ]; }
wait_for begun
kill -USR1 "$server" # while the first one is being made, mostly
ok 'SIGUSR1 makes one, and a second one makes another' wait_for snapshots 3
seconds_over 3 # the condition of the trigger is met again
ok 'a trigger makes one in five minutes' snapshots 3

# ---- the end, and the next start ----

kill -KILL "$server"
wait "$server" 2>/dev/null
# returned: what was lent to the user that it had become is given back to root, by a process that outlives it
returned() {
	local foreign

	foreign=$(find "$dir/ring" ! -user 0) && tap_same "$foreign" ''
}
ok 'after kill -9: the files belong to root again' eventually returned
snapshot_new --last 1h
ok 'after kill -9: a snapshot' ended 0 '' ''
ok 'after kill -9: it has the time before' seconds 4 600
ok 'after kill -9: it balances' balances
ok 'after kill -9: they still do after the snapshot' returned

killed=$(ring)
seconds_over 1 # the name of the next one differs
serve_start
ok 'it starts again, and what was left stays' test -d "$killed"
wait_for span coarse 2
check 'the ring before can be read' 0 '' '' snapshot -q --last 1h -o "$dir/older" "$killed"
# As after a power cut: SQLite finds garbage where its pages should be, or nothing.
rm -f "$killed"/fine-000001/run.db-wal
printf '%65536s' x | dd of="$killed/fine-000001/run.db" bs=4096 seek=1 conv=notrunc status=none
run snapshot --last 1h -o "$dir/hurt" "$killed"
ok 'a damaged segment is left out' ended 0 \
	'1 segment of the flight recorder: damaged; what cannot be read of it is missing in the recording' ''
for segment in "$killed"/{fine,coarse}-*; do
	rm -f "$segment"/run.db-wal
	: >"$segment/run.db"
done
run snapshot --last 1h -o "$dir/hurt" "$killed"
ok 'nothing but damaged segments is an error' ended 1 'cannot read the flight recorder in .*: this recording is damaged' ''
serve_ends 'it ends'
snapshot_new --last 1h
ok 'after its end: a snapshot' ended 0 '' ''
ok 'after its end: it balances' balances
is 'after its end: every segment is one file' "$(find "$(ring)" -name 'run.db-*' | wc -l)" 0

# ---- why ----

# segments QUERY: prints its answers for every segment of the ring
segments() {
	local segment

	for segment in "$(ring)"/"$1"-*/run.db; do
		sqlite3 -readonly "$segment" "$2"
	done | sort -u
}

# slow LEVEL [CONDITION]: prints the time of all parts in the ring
slow() {
	segments "$1" "SELECT sum(ns) FROM runqlat_why ${2-}" | awk '{ sum += $1 } END { printf "%d", sum }'
}

# is_blamed VICTIM CULPRIT NS: in the slow waits of one cgroup the other had the CPU, most of the time, and for no longer than NS,
# which it really had; the victim has one thread that works, so hardly any own time
is_blamed() {
	local all own blamed

	IFS='|' read -r all blamed own <<<"$(sqlite3 -readonly "$snapshot/run.db" "
		SELECT sum(ns), sum(ns * (part = 'other' AND culprit LIKE '%${2##*/}')), sum(ns * (part = 'own'))
		FROM runqlat_why WHERE victim LIKE '%${1##*/}'")"
	[ "${all:-0}" -gt 0 ] || { echo "no slow wait of $1" && return 1; }
	is_within $((all * 4 / 5)) "$blamed" $(($3 + $3 / 50)) && is_within 0 "$own" $((blamed / 50))
}

# hog CGROUP FILE: one process; writes the CPU time that it had, in ns, to the file. The kernel's account of the cgroup can be
# seconds late.
hog() {
	taskset -c "$(($(nproc) - 1))" bash -c 'echo $$ >"$0/cgroup.procs" && end=$((SECONDS + 4))
		while ((SECONDS < end)); do :; done; times' "$1" |
		awk -F '[ms ]+' 'NR == 1 { printf "%d", (($1 + $3) * 60 + $2 + $4) * 1e9 }' >"$2"
}

# two_hogs: of hogs of two cgroups on one CPU each waits for the other one
two_hogs() {
	hog "$victim" "$dir/first" &
	hog "$cgroup" "$dir/second"
	wait $! # and not for the server
	wait_for recorded_until "$(now_ns)" # the interval that they end in is there
	snapshot_new --last 10s
}
now_ns() { awk '{ printf "%.0f", $1 * 1e9 }' /proc/uptime; }
# recorded_until NS: the flight recorder has all until then, by the monotonic clock
recorded_until() {
	sqlite3 -readonly "$(printf '%s\n' "$(ring)"/fine-*/run.db | tail -n 1)" \
		"SELECT value + (SELECT max(end_ns) FROM interval) > $1 FROM meta WHERE name = 'start_mono_ns'" | grep -qx 1
}

both_are_blamed() {
	is_blamed "$victim" "$cgroup" "$(<"$dir/second")" && is_blamed "$cgroup" "$victim" "$(<"$dir/first")"
}

if cgroup_new && victim=$cgroup && cgroup_new; then
	serve_start
	measure two_hogs # what else runs here can take the CPU, or have so long waits that those of the hogs are not slow
	ok 'why: each cgroup waits for the other, which has the CPU' both_are_blamed
	calm
	check 'why: report says it' 0 "" "${victim##*/}.* waited most: |${cgroup##*/}" report "$snapshot"
	parts=$(sqlite3 "$snapshot/run.db" "SELECT group_concat(name, ' + ') FROM pragma_table_info('runqlat_slow')
		WHERE name LIKE '%\_ns' ESCAPE '\' AND name NOT LIKE 'culprit%' AND name <> 'time_ns'")
	is 'why: the parts of an event sum to it' "$(sqlite3 "$snapshot/run.db" "SELECT count(*) > 0, sum(ns <> $parts)
		FROM runqlat_slow")" '1|0'
	is 'why: an event is within the snapshot' "$(sqlite3 "$snapshot/run.db" "SELECT max(time_ns) <= max(end_ns) AND
		min(time_ns) > 0 FROM runqlat_slow, interval")" 1
	serve_stop
	sums="SELECT why_slow > 0, why_slow_ns - (SELECT sum(ns) FROM runqlat_why) FROM probe WHERE name = 'runqlat'"
	is 'why: the pairs of a segment sum to its slow time' "$(segments fine "$sums")" '1|0'
	fine=$(slow fine)
	# Only this level has the part of a second at the end.
	within 'why: both levels have it' $((fine - $(slow fine 'WHERE interval = (SELECT max(id) FROM interval)'))) \
		"$(slow coarse)" "$fine"
	rmdir "$victim" "$cgroup"

	serve_start --no-why
	wait_for span coarse 2
	snapshot_new --last 1h
	is 'without why: there is none' "$(sqlite3 "$snapshot/run.db" ".tables %why")" ''
	serve_stop
else
	skip 'why' 'no cgroup v2 can be made here'
fi

# ---- a full disk ----

mkdir "$dir/small"
mount -t tmpfs -o size=8M tmpfs "$dir/small"
serve_start --ring-dir "$dir/small"
wait_for span coarse 2
dd if=/dev/zero of="$dir/small/fill" bs=1M status=none 2>/dev/null
lost() { get /metrics | grep -qE '^latscope_recorder_lost_intervals_total [1-9]'; }
"$latscope" load -q mixed -d 3s
ok 'a full disk: lost intervals are counted' wait_for lost
is 'a full disk: the exporter answers' "$(get_status /metrics)" 200
check 'a full disk: what was written can be read' 0 '' '' snapshot -q --last 1h -o "$dir/full" "$dir/small"
rm "$dir/small/fill"
writes() { get /metrics | grep -qx 'latscope_recorder_writes 1'; }
ok 'a full disk: it goes on when there is room' wait_for writes
serve_ends 'a full disk: it ends'
umount "$dir/small"
done_testing
