-- SPDX-License-Identifier: BSD-2-Clause
-- The other statements of `latscope fleet init` and `latscope fleet rollup`. `-- [NAME]` begins the statements of a step.
-- Times are seconds since 1970. Names of partitions sort like their dates.

-- [database]
CREATE DATABASE IF NOT EXISTS {database};

-- [exists]
EXISTS TABLE rows;

-- On a cluster, the tables of the database ask all shards.
-- [is_shard]
SELECT count() FROM system.tables WHERE name = 'rows' AND database = currentDatabase() AND engine = 'Distributed';

-- Does the server delete by itself?
-- [deletes]
SELECT count() FROM system.merge_tree_settings WHERE name = 'ttl_only_drop_parts';

-- [retention]
SELECT toUnixTimestamp(now()), rows_days, days FROM retention;

-- Tables that an earlier rollup left because it was killed; one that runs is younger.
-- [leftovers]
SELECT name FROM system.tables WHERE database = currentDatabase() AND match(name, '^rollup_[0-9]+_[0-9]+_[0-9]+$')
    AND toUInt64OrZero(extract(name, '[0-9]+')) + 86400 < {now};

-- [drop]
DROP TABLE IF EXISTS {into};

-- Days with the complete hours that got rows since they were rolled up, and these hours.
-- [hours]
SELECT toString(toDate(intDiv(toUInt32(at), 86400))) AS day, arrayStringConcat(arrayMap(x -> toString(x), arraySort(groupArray(at))), ',')
FROM
(
    SELECT toUnixTimestamp(hour) AS at
    FROM (SELECT hour, max(received) AS last FROM arrivals
        WHERE toUnixTimestamp(hour) >= {oldest} AND toUnixTimestamp(hour) + 3600 <= {now} GROUP BY hour)
    ANY LEFT JOIN (SELECT hour, max(as_of) AS made FROM hours GROUP BY hour) USING hour
    WHERE last >= made
)
GROUP BY day ORDER BY day;

-- The other hours of the day are copied.
-- [begin_hours]
CREATE TABLE {into} AS hours;
INSERT INTO {into} SELECT * FROM hours WHERE toDate(hour) = '{day}' AND toUnixTimestamp(hour) NOT IN ({hours});

-- Complete days that got rows since they were rolled up, and when they begin.
-- [days]
SELECT toString(toDate(number)), number * 86400
FROM
(
    SELECT toUInt32(intDiv(toUnixTimestamp(hour), 86400)) AS number, max(received) AS last FROM arrivals
    WHERE toUnixTimestamp(hour) >= {oldest} AND toUnixTimestamp(hour) < intDiv({now}, 86400) * 86400 GROUP BY number
)
ANY LEFT JOIN (SELECT toUInt32(toUInt16(day)) AS number, max(as_of) AS made FROM days GROUP BY number) USING number
WHERE last >= made ORDER BY number;

-- In how many parts is the day made, so that memory is bounded?
-- [slices]
SELECT 1 + intDiv(count(), 50000000) FROM rows WHERE start >= toDateTime({start}, 'UTC') AND start < toDateTime({start} + 86400, 'UTC');

-- [begin_days]
CREATE TABLE {into} AS days;

-- [replace]
ALTER TABLE {table} REPLACE PARTITION '{day}' FROM {into};

-- [refused]
SELECT host, problem, count() FROM rows FINAL
WHERE problem != '' AND start >= toDateTime({start}, 'UTC') AND start < toDateTime({start} + 3600, 'UTC')
GROUP BY host, problem ORDER BY host, problem LIMIT 20;

-- Hours whose rows are partly deleted already are not made anew. This is told for two hours.
-- [late]
SELECT count() AS late FROM
(
    SELECT hour, max(received) AS last FROM arrivals WHERE toUnixTimestamp(hour) < {oldest}
    GROUP BY hour HAVING toUnixTimestamp(last) >= {now} - 7200
)
HAVING late > 0;

-- A clock that is ahead: the rows are counted in the hour that they claim once it has come.
-- [ahead]
SELECT host, max(toUnixTimestamp(start)) - toUnixTimestamp(now()) FROM rows
WHERE toUnixTimestamp(start) > toUnixTimestamp(now()) + 120 AND start > now() GROUP BY host ORDER BY host LIMIT 20;

-- Arrivals are kept 31 days longer than rows.
-- [old]
SELECT DISTINCT table, partition FROM system.parts WHERE active AND database = currentDatabase() AND
(
    (table = 'rows' AND partition < toString(toDate(intDiv({now}, 86400) - {rows_days}))) OR
    (table IN ('hours', 'days') AND partition < toString(toDate(intDiv({now}, 86400) - {days}))) OR
    (table = 'arrivals' AND partition < toString(toDate(intDiv({now}, 86400) - {rows_days} - 31)))
);

-- [drop_partition]
ALTER TABLE {table} DROP PARTITION '{day}';
