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

# fleet_times DIR HOST KERNEL START DISK [CGROUP]: a minute, in two intervals, of where: two threads of db.service are for DISK percent of
# their time in `disk`, and else in `work`; one of web.service is in `cpu` for 6 s and in `timer` for 54 s. The cgroup of db.service
# is CGROUP.
fleet_times() {
	local at=$1 host=$2 kernel=$3 start=$4 disk=$5 cgroup=${6-/system.slice/db.service}

	mkdir -p "$at"
	[ -e "$dir/times.db" ] || tar -xJOf tests/cli/recordings/where.tar.xz where/run.db >"$dir/times.db"
	cp "$dir/times.db" "$at/run.db"
	sqlite3 -bail "$at/run.db" <<-END
		PRAGMA synchronous = off;
		BEGIN;
		DELETE FROM interval; DELETE FROM "where"; DELETE FROM where_sleeps; DELETE FROM where_waits; DELETE FROM where_causes;
		DELETE FROM where_stacks; DELETE FROM pressure;
		DELETE FROM slots; DELETE FROM sums; DELETE FROM acct; DELETE FROM series WHERE id != metric OR metric IS NULL;
		UPDATE meta SET value = json_set(value, '$.kernel', '$kernel', '$.hostname', '$host') WHERE name = 'host';
		UPDATE meta SET value = strftime('%Y-%m-%dT%H:%M:%SZ', $start, 'unixepoch') WHERE name = 'start_utc';
		UPDATE meta SET value = $start * 1000000000 WHERE name = 'start_mono_ns';
		UPDATE meta SET value = 60000000000 WHERE name = 'duration_ns';
		DELETE FROM meta WHERE name = 'filter';
		INSERT INTO interval VALUES(1, 0, 30000000000), (2, 30000000000, 60000000000);
		INSERT INTO "where"(interval, time_ns, pid, comm, cgroup, life_ns, cpu_ns, ready_ns, disk_ns, memory_ns, fault_ns, lock_ns,
			futex_ns, socket_ns, work_ns, timer_ns, child_ns, stopped_ns, other_ns, unknown_ns)
		SELECT id, end_ns, pid, comm, cgroup, cpu + disk + work + timer, cpu, 0, disk, 0, 0, 0, 0, 0, work, timer, 0, 0, 0, 0
		FROM interval, (SELECT column1 AS pid, column2 AS comm, column3 AS cgroup, column4 * 1000000 AS cpu, column5 * 1000000 AS disk,
			column6 * 1000000 AS work, column7 * 1000000 AS timer FROM (VALUES
			(7, 'db', '$cgroup', 0, 600 * $disk, 60000 - 600 * $disk, 0),
			(8, 'web', '/system.slice/web.service', 3000, 0, 0, 27000))) ORDER BY id;
		COMMIT;
	END
}

# fleet_times_rows DIR: prints a recording of fleet_times as INSERT, as serve stores its intervals
fleet_times_rows() {
	local state query=''

	for state in cpu disk work timer; do
		query+="${query:+UNION ALL }SELECT interval, comm || '.service' AS key, '$state' AS state, ${state}_ns AS ns FROM \"where\" "
	done
	echo 'INSERT INTO rows (start, host, run, number, interval_ns, probe, metric, split, key, kernel, method, sum_ns) FORMAT TabSeparated'
	sqlite3 -separator $'\t' "$1/run.db" "
		WITH part AS ($query), host(name, kernel) AS (SELECT json_extract(value, '\$.hostname'), json_extract(value, '\$.kernel')
			FROM meta WHERE name = 'host'),
			row AS (SELECT interval, 'service' AS split, key, state, ns FROM part WHERE ns
				UNION ALL SELECT interval, '', '', state, sum(ns) FROM part GROUP BY interval, state HAVING sum(ns))
		SELECT strftime('%s', meta.value) + (interval - 1) * 30, host.name, 'times', interval, 30000000000, 'where', state, split, key,
			host.kernel, 'tp_btf', ns FROM row, host, meta WHERE meta.name = 'start_utc'"
}
