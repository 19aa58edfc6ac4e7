-- SPDX-License-Identifier: BSD-2-Clause
-- Facts of a recording's run.db, as lines KEY=VALUE; see facts.sh.
-- The first metric of a probe has the name of the probe, as in the summary.
CREATE TEMP VIEW metrics AS
	SELECT metric.id, CASE metric.id WHEN min(metric.id) OVER (PARTITION BY probe)
		THEN probe.name ELSE metric.name END AS name
	FROM metric JOIN probe ON probe.id = metric.probe;
-- METRIC, or METRIC.SPLIT.KEY. KEY is the number of a task or cgroup, and otherwise a name.
CREATE TEMP VIEW keyed AS
	SELECT series.id, metrics.name || CASE
		WHEN split = '' THEN ''
		WHEN split IN ('process', 'thread', 'cgroup') THEN '.' || split || '.' || key
		ELSE '.' || split || '.' || series.name END AS name
	FROM series JOIN metrics ON metrics.id = series.metric;
CREATE TEMP VIEW hists AS
	SELECT keyed.name, slot, sum(count) AS count FROM slots JOIN keyed ON keyed.id = series GROUP BY keyed.id, slot;

SELECT metrics.name || '.' || acct.name || '=' || sum(count)
	FROM acct JOIN metrics ON metrics.id = metric GROUP BY metrics.id, acct.name;
SELECT keyed.name || '.events=' || sum(count), keyed.name || '.sum_ns=' || sum(sum_ns),
	keyed.name || '.max_ns=' || max(max_ns), keyed.name || '.tail=' || sum(tail)
	FROM sums JOIN keyed ON keyed.id = series GROUP BY keyed.id;
-- slots as LOW:HIGH:COUNT, in ns
SELECT name || '.hist=' || group_concat(low_ns || ':' || high_ns || ':' || count, ' ')
	FROM hists JOIN slot_edges USING (slot) GROUP BY name;
SELECT name || '.method=' || method, name || '.in_flight=' || in_flight_count, name || '.in_flight_ns=' || in_flight_oldest_ns,
	name || '.in_flight_before=' || in_flight_before, name || '.recursion_missed=' || recursion_missed, name || '.no_event=' || no_event, name || '.in_flight_of=' || in_flight_of FROM probe;
SELECT name || '.program_ns=' || cost_run_ns / cost_timed_events FROM probe WHERE cost_timed_events > 0;
SELECT 'window_ns=' || max(end_ns) FROM interval;
