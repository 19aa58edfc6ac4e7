#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The work of report, in instructions, grows linearly with the number of intervals.
. "$(dirname "$0")/cli.sh"
command -v valgrind >/dev/null || skip_all 'valgrind is not installed'
stored json
made=$dir/json

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

# instructions DIR: prints how many a report takes, in millions
instructions() {
	valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --log-file="$dir/log" "$latscope" report "$1" \
		>"$dir/stdout" 2>"$dir/stderr"
	sed -nE 's/^.*I +refs: +([0-9,]+),[0-9]{3},[0-9]{3}$/\1/p' "$dir/log" | tr -d ,
}

lengthen 2000
lengthen 20000
few=$(instructions "$dir/2000") many=$(instructions "$dir/20000")
like 'it is a report' "$(<"$dir/stdout")" 'time line: [0-9]+ intervals of'
is 'without a word' "$(<"$dir/stderr")" ''
ok "ten times the intervals take at most 11 times as many: $few and $many million" test "$many" -le $((11 * few))
done_testing
