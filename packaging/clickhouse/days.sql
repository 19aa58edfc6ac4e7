-- SPDX-License-Identifier: BSD-2-Clause
-- The roll-up of one day by host, one of {slices} groups of hosts.
INSERT INTO {into}
(
    day, host, probe, metric, split, key, kernel, method, labels, tail_ns, `hist.slot`, `hist.n`, recorded, sum_ns,
    max_ns, tail, interval_ns, seen, filtered, missed_start, unmatched, map_full, negative, excluded, continued, lost,
    lost_ns, rows, as_of
)
SELECT
    of_day, host, probe, metric, split, key, kernel, method, labels, tail_ns, tupleElement(merged, 1),
    tupleElement(merged, 2), all_recorded, all_sum, all_max, all_tail, all_interval, all_seen, all_filtered,
    all_missed_start, all_unmatched, all_map_full, all_negative, all_excluded, all_continued, all_lost,
    if(untimed > 0, NULL, all_lost_ns), all_rows, toDateTime({as_of}, 'UTC')
FROM
(
    SELECT
        toDate(start, 'UTC') AS of_day, host, probe, metric, split, key, kernel, method, labels, tail_ns,
        sumMap(hist.slot, hist.n) AS merged, sum(recorded) AS all_recorded, sum(sum_ns) AS all_sum,
        max(max_ns) AS all_max, sum(tail) AS all_tail, sum(interval_ns) AS all_interval, sum(seen) AS all_seen,
        sum(filtered) AS all_filtered, sum(missed_start) AS all_missed_start, sum(unmatched) AS all_unmatched,
        sum(map_full) AS all_map_full, sum(negative) AS all_negative, sum(excluded) AS all_excluded,
        sum(continued) AS all_continued, sum(lost) AS all_lost, sum(lost_ns) AS all_lost_ns,
        countIf(isNull(lost_ns)) AS untimed, count() AS all_rows
    FROM rows FINAL
    WHERE start >= toDateTime({start}, 'UTC') AND start < toDateTime({start} + 86400, 'UTC')
        AND cityHash64(host) % {slices} = {slice} AND problem = ''
    GROUP BY of_day, host, probe, metric, split, key, kernel, method, labels, tail_ns
);
