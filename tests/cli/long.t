#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# The time of report grows linearly with the number of intervals.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/cli/cli.sh
skip_unless_able

run record -q -d 100ms -o "$dir/made"
made=$(recording "$dir/made")

# lengthen COUNT: makes a recording with so many intervals of 1 ms, each with the same events in other slots
lengthen() {
	mkdir "$dir/$1"
	cp "$made/run.db" "$dir/$1/run.db"
	sqlite3 "$dir/$1/run.db" >/dev/null <<-END
		PRAGMA journal_mode = OFF;
		PRAGMA synchronous = OFF;
		BEGIN;
		DELETE FROM interval;
		DELETE FROM slots;
		DELETE FROM sums;
		DELETE FROM acct;
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
			INSERT INTO interval SELECT i, (i - 1) * 1000000, i * 1000000 FROM n;
		INSERT INTO slots SELECT interval.id, series.id, 100 + (interval.id * 7 + series.id * 13) % 200, 1 + interval.id % 3
			FROM interval, series WHERE split = '' ORDER BY 1, 2;
		INSERT INTO sums SELECT interval, series, count, count * 10000, 20000, 0 FROM slots;
		INSERT INTO acct SELECT interval, series, 'seen', count FROM sums;
		UPDATE meta SET value = $1 * 1000000 WHERE name = 'duration_ns';
		UPDATE meta SET value = 1000000 WHERE name = 'interval_ns';
		COMMIT;
	END
}

# cpu_ms DIR: prints the CPU time of a report in user mode, which does not depend on other load
cpu_ms() {
	local TIMEFORMAT=%U

	{ time "$latscope" report "$1" >"$dir/stdout" 2>"$dir/stderr"; } 2>&1 | tr -d .
}

# least_ms: sets $few and $many, the least of five, in turn. Other load adds to CPU time, too, by caches and hyperthreads.
least_ms() {
	local ms

	few='' many=''
	for _ in 1 2 3 4 5; do
		ms=$((10#$(cpu_ms "$dir/10000")))
		[ "${few:-$ms}" -lt "$ms" ] || few=$ms
		ms=$((10#$(cpu_ms "$dir/100000")))
		[ "${many:-$ms}" -lt "$ms" ] || many=$ms
	done
}

lengthen 10000
lengthen 100000
least_ms
like 'it is a report' "$(<"$dir/stdout")" 'over[[:space:]]+100000 intervals'
is 'without a word' "$(<"$dir/stderr")" ''
ok "ten times the intervals take at most 15 times as long: $few and $many ms" test $many -le $((15 * few))
done_testing
