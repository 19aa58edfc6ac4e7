# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # variables of cli.sh
# Recordings of hosts that do not exist, for tests of fleet; source it after cli.sh. They have the tables of a recording of latscope
# 0.1, with other contents.

# fleet_recording DIR HOST KERNEL START SEED [LONGER]: a minute of runqlat with the services web.service and db.service. START is in
# seconds since 1970. SEED chooses how busy and slow the host is, LONGER (1) multiplies its latencies by 2^((LONGER-1)/32).
fleet_recording() {
	local at=$1 host=$2 kernel=$3 start=$4 seed=$5 longer=${6-1}

	mkdir -p "$at"
	[ -e "$dir/template.db" ] || gunzip <tests/cli/recordings/0.1-mixed.db.gz >"$dir/template.db"
	cp "$dir/template.db" "$at/run.db"
	sqlite3 -bail "$at/run.db" <<-END
		.output /dev/null
		PRAGMA journal_mode = off;
		.output
		PRAGMA synchronous = off;
		BEGIN;
		DELETE FROM slots; DELETE FROM sums; DELETE FROM acct; DELETE FROM interval; DELETE FROM process; DELETE FROM kernel_check;
		DELETE FROM series WHERE id NOT IN (1, 7, 13, 14, 15);
		UPDATE module SET split = CASE name WHEN 'runqlat' THEN 'cgroup' ELSE '' END, recursion_missed = 0;
		INSERT INTO series VALUES(101, 7, 'cgroup', 101, '/system.slice/web.service'), (102, 7, 'cgroup', 102, '/system.slice/db.service');
		UPDATE meta SET value = json_set(value, '$.kernel', '$kernel', '$.hostname', '$host') WHERE name = 'host';
		UPDATE meta SET value = strftime('%Y-%m-%dT%H:%M:%SZ', $start, 'unixepoch') WHERE name = 'start_utc';
		UPDATE meta SET value = $start * 1000000000 WHERE name = 'start_mono_ns';
		UPDATE meta SET value = 60000000000 WHERE name = 'duration_ns';
		INSERT INTO interval VALUES(1, 0, 60000000000);
		$(fleet_slots "$seed" "$longer")
		INSERT INTO slots SELECT 1, 7, slot, sum(count) FROM slots WHERE series > 100 GROUP BY slot;
		INSERT INTO sums SELECT 1, series, sum(count), sum(count * (low_ns + high_ns) / 2), max(high_ns - 1),
			sum(CASE WHEN low_ns >= 8000 THEN count ELSE 0 END) FROM slots JOIN slot_edges USING (slot) GROUP BY series;
		INSERT INTO acct SELECT 1, 7, 'seen', count FROM sums WHERE series = 7;
		COMMIT;
	END
}

# fleet_slots SEED LONGER: prints the slots of both services as SQL. Web waits around 2 us with a tail, db around 8 us.
fleet_slots() {
	awk -v seed="$1" -v longer="$2" 'BEGIN {
		srand(seed); base = int(rand() * 12); load = 1 + 9 * rand(); tail = 1 + 3 * rand()
		for (service = 101; service <= 102; service++)
			for (i = 0; i < 60; i++) {
				slot = 32 + 32 * (service == 101 ? 1 : 3) + base + i + longer - 1
				count = int(load * 1000 * exp(-(i - 20) ^ 2 / 100) + load * tail * 40 / (1 + i))
				printf "INSERT INTO slots VALUES(1, %d, %d, %d);\n", service, slot, count
			}
	}'
}

# fleet_rows DIR [RUN]: prints a recording of fleet_recording as INSERT, a row for the whole and one for each service; RUN is the start
# of the service that it comes from
fleet_rows() {
	sqlite3 "$1/run.db" "
		SELECT 'INSERT INTO rows (start, host, run, number, interval_ns, probe, metric, split, key, kernel, method, labels,'
			|| ' \`hist.slot\`, \`hist.n\`, recorded, sum_ns, max_ns, tail, tail_ns, seen, filtered, missed_start, unmatched,'
			|| ' map_full, negative, excluded, continued, lost, lost_ns) FORMAT TabSeparated';
		WITH name(id, split, key) AS (VALUES(7, '', ''), (101, 'service', 'web.service'), (102, 'service', 'db.service')),
			host(name, kernel) AS (SELECT json_extract(value, '\$.hostname'), json_extract(value, '\$.kernel') FROM meta
				WHERE name = 'host'),
			start(s) AS (SELECT strftime('%s', value) FROM meta WHERE name = 'start_utc'),
			labels(list) AS (SELECT '[' || coalesce(group_concat('''' || replace(replace(name || '=' || value, '\', '\\\\'),
				'''', '\''') || ''''), '') || ']' FROM (SELECT * FROM label ORDER BY name))
		SELECT printf('%s	%s	%s	%d	%d	runqlat	run_queue	%s	%s	%s	tp_btf	%s	[%s]	[%s]	%d	%d	%d	%d	8000	%s	%s	%s',
			s, host.name, '${2-one}', 0, 60000000000, split, key, kernel, list,
			(SELECT group_concat(slot) FROM (SELECT * FROM slots WHERE series = name.id ORDER BY slot)),
			(SELECT group_concat(count) FROM (SELECT * FROM slots WHERE series = name.id ORDER BY slot)),
			count, sum_ns, max_ns, tail, CASE split WHEN '' THEN count ELSE '\N' END,
			CASE split WHEN '' THEN '0	0	0	0	0	0	0	0' ELSE '\N	\N	\N	\N	\N	\N	\N	\N' END,
			CASE split WHEN '' THEN '0' ELSE '\N' END)
		FROM name, host, start, labels JOIN sums ON sums.series = name.id"
}

# fleet_merge OUT DIR...: one recording with all events of others
fleet_merge() {
	local out=$1 other

	mkdir -p "$out"
	cp "$2/run.db" "$out/run.db"
	for other in "${@:3}"; do
		sqlite3 -bail "$out/run.db" <<-END
			PRAGMA synchronous = off;
			ATTACH '$other/run.db' AS other;
			INSERT INTO slots SELECT * FROM other.slots WHERE true
				ON CONFLICT(interval, series, slot) DO UPDATE SET count = count + excluded.count;
			UPDATE sums SET (count, sum_ns, max_ns, tail) = (SELECT sums.count + o.count, sums.sum_ns + o.sum_ns,
				max(sums.max_ns, o.max_ns), sums.tail + o.tail FROM other.sums o WHERE o.series = sums.series);
			UPDATE acct SET count = count + (SELECT o.count FROM other.acct o WHERE o.metric = acct.metric AND o.name = acct.name);
		END
	done
}
