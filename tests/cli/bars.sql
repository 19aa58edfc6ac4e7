-- SPDX-License-Identifier: BSD-2-Clause
-- Adds to a recording of other probes what four processes did with their time, in each interval:
--   worker (100), 2 threads in cgroup /a: a quarter on a CPU, a quarter for a disk, half for a futex that holder (101) has; all for it in the third
--   hog (200) in /b: three quarters on a CPU, one quarter waiting for one
--   shell (300) in /a: in a read all the time; pool (400) in /b: for futexes, which time out
CREATE TEMP TABLE p AS SELECT * FROM probe LIMIT 1;
UPDATE p SET id = (SELECT max(id) + 1 FROM probe), name = 'where', method = 'tp_btf', split = NULL;
INSERT INTO probe SELECT * FROM p;

CREATE TABLE "where"(interval INTEGER, time_ns INTEGER, pid INTEGER, tid INTEGER, comm TEXT, cgroup TEXT, life_ns INTEGER, cpu_ns INTEGER,
	ready_ns INTEGER, disk_ns INTEGER, memory_ns INTEGER, fault_ns INTEGER, lock_ns INTEGER, futex_ns INTEGER, socket_ns INTEGER,
	work_ns INTEGER, timer_ns INTEGER, child_ns INTEGER, stopped_ns INTEGER, other_ns INTEGER, unknown_ns INTEGER, user_ns INTEGER,
	system_ns INTEGER, run_ns INTEGER, queue_ns INTEGER, io_ns INTEGER, threads INTEGER, ended INTEGER);
CREATE TABLE where_sleeps(interval INTEGER, time_ns INTEGER, pid INTEGER, tid INTEGER, comm TEXT, state TEXT, call TEXT, ns INTEGER, times INTEGER);
CREATE TABLE where_waits(interval INTEGER, time_ns INTEGER, pid INTEGER, tid INTEGER, comm TEXT, state TEXT, call TEXT, chain TEXT, ns INTEGER, stack TEXT);
CREATE TABLE where_causes(interval INTEGER, time_ns INTEGER, pid INTEGER, comm TEXT, state TEXT, cause TEXT, ns INTEGER, explained_ns INTEGER, times INTEGER);
-- The columns of each table after the first two. Names and numbers that tell whose a row is are its key.
INSERT INTO table_column (of_table, position, name, unit, what, kind, is_key, mean_scale)
	SELECT of_table, cid - 2, name, iif(name LIKE '%ns', 'ns', ''), '', type, name IN ('pid', 'tid', 'comm', 'cgroup', 'state', 'call', 'chain', 'cause'), 0
	FROM (SELECT 'where' AS of_table UNION SELECT 'where_sleeps' UNION SELECT 'where_waits' UNION SELECT 'where_causes'), pragma_table_info(of_table)
	WHERE cid > 1;

-- n: a quarter of the interval, about
CREATE TEMP TABLE i AS SELECT id, end_ns AS at, (end_ns - start_ns) / 4 AS n FROM interval;
CREATE TEMP TABLE w(pid, comm, cgroup, threads, cpu, ready, disk, futex, socket);
INSERT INTO w VALUES (100, 'worker', '/a', 2, 1, 0, 1, 2, 0), (200, 'hog', '/b', 1, 3, 1, 0, 0, 0), (300, 'shell', '/a', 1, 0, 0, 0, 0, 4),
	(400, 'pool', '/b', 1, 0, 0, 0, 4, 0);
UPDATE w SET cpu = cpu * threads, ready = ready * threads, disk = disk * threads, futex = futex * threads, socket = socket * threads;
INSERT INTO "where" SELECT id, at, pid, NULL, comm, cgroup, 4 * threads * n, n * cpu, n * ready, n * disk, 0, 0, 0, n * futex, n * socket, 0, 0, 0, 0, 0, 0,
	n * cpu, 0, n * cpu, n * ready, NULL, threads, 0 FROM i, w ORDER BY id, pid;
UPDATE "where" SET cpu_ns = 0, disk_ns = 0, futex_ns = life_ns WHERE pid = 100 AND interval = 3;
-- In order of time, as latscope writes them.
INSERT INTO where_sleeps SELECT id, at, pid, NULL, comm, state, call, 4 * n, times FROM i, (SELECT 100 AS pid, 'worker' AS comm, 'futex' AS state,
	'futex' AS call, 50 AS times UNION SELECT 300, 'shell', 'socket', 'read', 0 UNION SELECT 400, 'pool', 'futex', 'futex', 10) ORDER BY id, pid;
INSERT INTO where_waits SELECT id, at, 100, 102, 'worker', 'futex', 'futex', 'holder (101): disk 19.0 ms < softirq block', 20000000 + id, NULL FROM i ORDER BY id;
INSERT INTO where_causes SELECT id, at, pid, comm, 'futex', cause, 4 * n, explained * n, times FROM i, (SELECT 100 AS pid, 'worker' AS comm,
	'holder (101): disk' AS cause, 50 AS times, 4 AS explained UNION SELECT 400, 'pool', 'timer', 10, 0) ORDER BY id, pid;
UPDATE where_sleeps SET ns = 2 * ns WHERE pid = 100 AND interval = 3;
UPDATE where_causes SET ns = 2 * ns, explained_ns = 2 * explained_ns WHERE pid = 100 AND interval = 3;
