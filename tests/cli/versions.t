#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every release reads the recordings of all releases before it. tests/cli/recordings has short ones, made by those releases;
# the figures here are those that the same release printed. 0.2-early is of the first commits with version 3 of the format.
. "$(dirname "$0")/cli.sh"

# figures JSON: probe, events, maximum and p99 of each
figures() { jq -c '.probes[] | [.module, .total_events, .max_us, .percentiles.p99_us]' | paste -sd' '; }

# explained JSON: probe, slow samples, their time, slowest events and pairs of each
explained() { jq -c '.probes[] | select(.why) | [.module, .why.slow, .why.slow_ns, (.why.slowest, .why.pairs | length)]' | paste -sd' '; }

for name in 0.1-mixed 0.1-rmid 0.2-early-why 0.2-early-rmid 0.2-why; do
	gunzip <"tests/cli/recordings/$name.db.gz" >"$dir/$name.db"
done

check '0.1: report' 0 '' 'seen 54,893 = 54,889 recorded \+ 4 map_full .*in flight at end: 5, for 23.4 ms in total, the oldest for 10.9 ms' \
	report -v "$dir/0.1-mixed.db"
like '0.1: splits' "$out" 'op +events .*read +[0-9,]+ '
run report --json "$dir/0.1-mixed.db"
is '0.1: figures' "$(figures <<<"$out")" \
	'["memlat",290576,6944.393,6.133] ["runqlat",54889,236366.56,11837.629] ["iolat",6282,11671.497,446.666]'
is "0.1: the kernel's own account" "$(jq -c '.probes[2].accounting.kernel_check.time_ns.kernel' <<<"$out")" '[611000000,683000000]'
check '0.1: report of intervals' 0 '' '.' report -I --json "$dir/0.1-mixed.db"
is '0.1: intervals add up' "$(jq -s 'map(.probes[1].metrics[0].total_events) | add' <<<"$out")" 54889
check '0.1: a table' 0 '' '8429  task +[0-9.]+ +.*rows add up to 3054.708 ms of 3054.708 ms' report -P rmid "$dir/0.1-rmid.db"
check '0.1: compare' 0 '' 'OFF: 1 recording, 1.564 s.*ON: 1 recording, 1.527 s' compare -v "$dir/0.1-mixed.db" "$dir/0.1-rmid.db"

run report --json "$dir/0.2-early-why.db"
is '0.2-early: figures' "$(figures <<<"$out")" '["memlat",17911,391.875,6.882] ["runqlat",null,null,null] ["iolat",194,4909.927,3104]'
is '0.2-early: one threshold for the tails of all probes' "$(jq -c '[.probes[] | .tail_threshold_us, .tail_events]' <<<"$out")" \
	'[8,130,null,null,8,194]'
is '0.2-early: slow samples' "$(explained <<<"$out")" '["memlat",63,1923407,5,14] ["iolat",0,0,0,0]'
is '0.2-early: the slowest page fault' "$(jq -c '.probes[0].why.slowest[0] | [.time_ns, .ns]' <<<"$out")" '[205644135,391875]'
check '0.2-early: report of intervals' 0 '' '.' report -I --json "$dir/0.2-early-why.db"
is '0.2-early: intervals add up' "$(jq -s 'map(.probes[0].metrics[0].total_events) | add' <<<"$out")" 17911
check '0.2-early: a table' 0 '' 'rows add up to 535.897 ms of 535.897 ms' report -P rmid "$dir/0.2-early-rmid.db"
check '0.1 and 0.2-early: compare' 0 '' 'memlat .*runqlat ' compare "$dir/0.1-rmid.db" "$dir/0.2-early-rmid.db"

run report --json "$dir/0.2-why.db"
is '0.2: figures' "$(figures <<<"$out")" '["memlat",26639,405.836,11.592] ["runqlat",1700,120389.893,32938.666] ["iolat",377,757.2,708] ["softirq",447,74.151,46.5] ["rmid",null,null,null]'
is '0.2: a threshold for each probe' "$(jq -c '[.probes[] | .tail_threshold_us, .tail_events]' <<<"$out")" \
	'[8,2499,8,701,1024,0,8,79,null,null]'
is '0.2: slow samples' "$(explained <<<"$out")" '["memlat",2416,22562814,5,10] ["runqlat",32,1081227917,5,252] ["iolat",16,22138447,5,15]'
check '0.2: a table' 0 '' 'rows add up to 518.559 ms of 518.559 ms' report -P rmid "$dir/0.2-why.db"
check '0.2: a page' 0 '' '' report -q --html "$dir/page.html" "$dir/0.2-why.db"
ok '0.2: the page has the slowest wait' grep -q 'do_sigtimedwait' "$dir/page.html"

cp "$dir/0.1-mixed.db" "$dir/other.db"
sqlite3 "$dir/other.db" 'PRAGMA user_version = 2'
refuses 'a version that was never released' 1 'made by another version of latscope' report "$dir/other.db"
sqlite3 "$dir/other.db" 'PRAGMA user_version = 3'
refuses 'a version that it does not have' 1 'this recording is damaged' report "$dir/other.db"
cp "$dir/0.2-early-rmid.db" "$dir/nameless.db"
sqlite3 "$dir/nameless.db" 'UPDATE table_column SET name = NULL'
refuses 'a column without a name' 1 'this recording is damaged' report "$dir/nameless.db"
done_testing
