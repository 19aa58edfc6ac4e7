#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# why at a rate of switches that the VM does not reach, of 5,000 threads, each of which has the CPU for microseconds at a time: no
# time is lost, and unknown time is reported as such. Then with threads whose IDs are equal modulo the size of the table of names:
# each culprit has its own name.
. "$(dirname "$0")/host.sh"
skip_unless_able

switches=300000
# An edge of a slot, so that the histogram knows how many samples are slow. Of more than 10,000 a second, not all are explained:
# the victims cannot have that many, because each of their slow waits takes so long.
over_us=8192 victims=64
db='' # of the last recording

query() { sqlite3 -readonly "$db" "$1"; }

# sums: prints each sum that is not what it should be
sums() {
	local parts

	parts=$(query "SELECT group_concat(name, ' + ') FROM pragma_table_info('runqlat_slow') WHERE name LIKE '%\_ns' ESCAPE '\'
		AND name NOT LIKE 'culprit%' AND name <> 'time_ns'")
	query "SELECT 'seen', sum(count) FROM acct WHERE name = 'seen' HAVING sum(count) < $switches;
		SELECT 'slow', sum(count), why_slow FROM probe, slots JOIN slot_edges USING (slot)
			WHERE series = 1 AND low_ns >= $over_us * 1000 HAVING sum(count) <> why_slow;
		SELECT 'raised', why_over_high_ns FROM probe WHERE why_over_high_ns <> why_over_low_ns;
		SELECT 'pairs', sum(ns), why_slow_ns FROM runqlat_why, probe HAVING sum(ns) <> why_slow_ns;
		SELECT 'event', * FROM runqlat_slow WHERE ns <> $parts OR unknown_ns < 0;
		SELECT 'events', count(*) FROM runqlat_slow HAVING count(*) = 0"
}

# named: prints the parts by whether their culprit has a name, and percent of the slow time
named() {
	query "SELECT part, culprit = '(other)', 100.0 * sum(ns) / (SELECT why_slow_ns FROM probe) FROM runqlat_why GROUP BY 1, 2"
}

# share CONDITION: of 1000
share() {
	query "SELECT CAST(1000 * coalesce(sum(ns), 0) / (SELECT why_slow_ns FROM probe) AS INTEGER) FROM runqlat_why WHERE $1"
}

unknown() { share "part = 'unknown'"; }

# record_many BY CPUS: records 5,000 threads on these CPUs, of which $victims are victims
record_many() {
	rm -rf "$dir/runs"
	measure run runqlat --why --by "$1" --comm victim --over ${over_us}us -q -o "$dir/runs" -- \
		taskset -c "$2" "$built/tests/reference/multitude" 5000 $victims $switches
	db=$(echo "$dir"/runs/*/run.db)
	diag "$(named)"
}

# many BY CPUS: tests such a recording. A turn of 5 ms that the host hides is unknown time of all threads at once.
many() {
	record_many "$@"
	within "by $1 on CPU $2: less than 2 % is unknown" 0 "$(unknown)" 19
	calm
	is "by $1 on CPU $2: it runs" "$status:$err" 0:
	is "by $1 on CPU $2: all sums are as they should be" "$(sums)" ''
}

# misnamed: culprits that have no name, or that of another thread
misnamed() {
	query "SELECT DISTINCT culprit FROM runqlat_why WHERE culprit_id AND culprit NOT GLOB '?* ([0-9]*)' OR
		culprit GLOB '[cm][0-9]*' AND culprit NOT IN ('c' || culprit_id || ' (' || culprit_id || ')',
			'm' || culprit_id || ' (' || culprit_id || ')')"
}

# printed KEY: the values of this key in $out, as a list
printed() { sed -n "s/^$1=//p" <<<"$out" | sort -u | paste -sd ,; }

# collide BY: short processes with the same place are all blamed, each by its own name. The ring of names goes round while the one
# that stays does not run: it has its own name nevertheless, and not that of one of the two that were named then.
collide() {
	rm -rf "$dir/runs"
	measure run runqlat --why --by "$1" --comm victim --over 1ms -q -o "$dir/runs" -- \
		"$built/tests/reference/collide" "$last" 80 40
	db=$(echo "$dir"/runs/*/run.db)
	tap_same "$status:$err" 0: && tap_same "$(misnamed)" '' || return
	tap_same "$(query "SELECT DISTINCT culprit FROM runqlat_why WHERE culprit GLOB 'c[0-9]*'" | sort)" \
		"$(sed -n 's/^short_pid=\(.*\)/c\1 (\1)/p' <<<"$out" | sort -u)" || return
	tap_same "$(query "SELECT DISTINCT culprit FROM runqlat_why WHERE culprit_id = $(printed stayer_pid)")" \
		"stayer ($(printed stayer_pid))" || return
	tap_same "$(query "SELECT DISTINCT culprit FROM runqlat_why WHERE culprit_id IN ($(printed two_pid))")" '' || return
	tap_same "$(query "SELECT sum(ns) FROM runqlat_why WHERE part = 'realtime' AND culprit = '(other)'")" ''
}

last=$(($(nproc) - 1))
measured 'processes with the same place have their names' collide process
measured 'threads, too' collide thread
many process "0,$last"
is 'two CPUs: own is the process itself' "$(query "SELECT DISTINCT culprit_id <> victim_id FROM runqlat_why
	WHERE part = 'own' AND culprit <> '(other)'")" 0

many thread "$last"
within 'one CPU: it is known what had the CPU before the turns that are kept' 900 \
	"$(share "part IN ('own', 'other')")" 1000
like 'one CPU: culprits without a name are said' "$out" '\(other\) +(own|other) '
is 'one CPU: the others have their own names' "$(misnamed)" ''
done_testing
