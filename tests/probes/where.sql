-- SPDX-License-Identifier: BSD-2-Clause
-- Facts of what where recorded, as lines KEY=VALUE; see where.sh.
CREATE TEMP VIEW rows AS SELECT *, cpu_ns + ready_ns + disk_ns + memory_ns + fault_ns + lock_ns + futex_ns + socket_ns + work_ns
	+ timer_ns + child_ns + stopped_ns + other_ns + unknown_ns AS sum_ns FROM "where";
SELECT 'rows=' || count(*), 'sums_off=' || sum(sum_ns <> life_ns), 'life_ns=' || sum(life_ns),
	'unknown_ns=' || sum(unknown_ns),
	'negative=' || sum(min(cpu_ns, ready_ns, disk_ns, memory_ns, fault_ns, lock_ns, futex_ns, socket_ns, work_ns, timer_ns,
		child_ns, stopped_ns, other_ns, unknown_ns, life_ns) < 0),
	'ran_ns=' || sum(cpu_ns), 'run_ns=' || sum(run_ns) FROM rows;
SELECT 'unknown_of=' || coalesce(group_concat(comm || ' ' || unknown_ns, ', '), '') FROM rows
	WHERE unknown_ns > 0;
SELECT 'mechanism=' || mechanism FROM probe WHERE name = 'where';
-- NAME.PART, of all threads or processes with this name
SELECT comm || '.cpu=' || sum(cpu_ns), comm || '.ready=' || sum(ready_ns), comm || '.disk=' || sum(disk_ns),
	comm || '.memory=' || sum(memory_ns), comm || '.fault=' || sum(fault_ns), comm || '.lock=' || sum(lock_ns),
	comm || '.futex=' || sum(futex_ns), comm || '.socket=' || sum(socket_ns), comm || '.work=' || sum(work_ns),
	comm || '.timer=' || sum(timer_ns), comm || '.child=' || sum(child_ns), comm || '.stopped=' || sum(stopped_ns),
	comm || '.other=' || sum(other_ns), comm || '.unknown=' || sum(unknown_ns), comm || '.life=' || sum(life_ns),
	comm || '.ended=' || sum(ended), comm || '.run=' || sum(run_ns), comm || '.queue=' || sum(queue_ns),
	comm || '.io=' || coalesce(sum(io_ns), '')
	FROM rows GROUP BY comm;
-- NAME.STATE.CALL
SELECT comm || '.' || state || '.' || call || '=' || sum(ns) FROM where_sleeps GROUP BY comm, state, call;
