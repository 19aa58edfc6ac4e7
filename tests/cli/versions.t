#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: fast
# Every release reads the recordings of all releases before it. tests/cli/recordings has short ones, made by those releases;
# the figures here are those that the same release printed.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/cli/cli.sh

# figures JSON: probe, events, maximum and p99 of each
figures() { jq -c '.probes[] | [.module, .total_events, .max_us, .percentiles.p99_us]' | paste -sd' '; }

for name in 0.1-mixed 0.1-rmid; do
	gunzip <"tests/cli/recordings/$name.db.gz" >"$dir/$name.db"
done

check '0.1: report' 0 '' 'seen 54,893 = 54,889 recorded \+ 4 map_full .*in flight at end: 5, for 23.4 ms in total, the oldest for 10.9 ms' \
	report "$dir/0.1-mixed.db"
like '0.1: splits' "$out" 'op +events .*read +[0-9,]+ '
run report --json "$dir/0.1-mixed.db"
is '0.1: figures' "$(figures <<<"$out")" \
	'["memlat",290576,6944.393,6.133] ["runqlat",54889,236366.56,11837.629] ["iolat",6282,11671.497,446.666]'
is "0.1: the kernel's own account" "$(jq -c '.probes[2].accounting.kernel_check.time_ns.kernel' <<<"$out")" '[611000000,683000000]'
check '0.1: report of intervals' 0 '' '.' report -I --json "$dir/0.1-mixed.db"
is '0.1: intervals add up' "$(jq -s 'map(.probes[1].metrics[0].total_events) | add' <<<"$out")" 54889
check '0.1: a table' 0 '' '8429  task +[0-9.]+ +.*rows add up to 3054.708 ms of 3054.708 ms' report -P rmid "$dir/0.1-rmid.db"
check '0.1: compare' 0 '' '^OFF: 1 recording, 1.564 s.*ON: 1 recording, 1.527 s' compare "$dir/0.1-mixed.db" "$dir/0.1-rmid.db"

cp "$dir/0.1-mixed.db" "$dir/other.db"
sqlite3 "$dir/other.db" 'PRAGMA user_version = 2'
refuses 'a version that was never released' 1 'made by another version of latscope' report "$dir/other.db"
sqlite3 "$dir/other.db" 'PRAGMA user_version = 3'
refuses 'a version that it does not have' 1 'this recording is damaged' report "$dir/other.db"
done_testing
