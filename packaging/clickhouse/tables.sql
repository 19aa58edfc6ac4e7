-- SPDX-License-Identifier: BSD-2-Clause
-- What `latscope serve --clickhouse` inserts, and the roll-ups that `latscope fleet rollup` makes of it. For ClickHouse 18.16 and
-- later. latscope-fleet(7) and docs/fleet.md describe the columns. Created by `latscope fleet init`.

-- One row per interval, probe, metric and key. A batch may be sent twice: its rows are equal, and one of each remains. Rows of a probe
-- that divides the time of threads have no events and no threshold: the metric is the state, sum_ns the time. See problem.sql.
CREATE TABLE IF NOT EXISTS rows
(
    start DateTime('UTC'),
    host String,
    run String,
    number UInt32,
    interval_ns UInt64,
    probe String,
    metric String,
    split String,
    key String,
    kernel String,
    method String,
    labels Array(String),
    `hist.slot` Array(UInt16),
    `hist.n` Array(UInt64),
    recorded UInt64,
    sum_ns UInt64,
    max_ns UInt64,
    tail UInt64,
    tail_ns UInt64,
    seen Nullable(UInt64),
    filtered Nullable(UInt64),
    missed_start Nullable(UInt64),
    unmatched Nullable(UInt64),
    map_full Nullable(UInt64),
    negative Nullable(UInt64),
    excluded Nullable(UInt64),
    continued Nullable(UInt64),
    lost Nullable(UInt64),
    lost_ns Nullable(UInt64),
    problem String ALIAS ''
)
ENGINE = ReplacingMergeTree
PARTITION BY toDate(start)
ORDER BY (toStartOfHour(start), probe, metric, split, key, host, start, run, number);

-- By hour, without the host. The partition of a day is replaced as a whole, so no row is in it twice.
CREATE TABLE IF NOT EXISTS hours
(
    hour DateTime('UTC'),
    probe String,
    metric String,
    split String,
    key String,
    kernel String,
    method String,
    labels Array(String),
    tail_ns UInt64,
    `hist.slot` Array(UInt16),
    `hist.n` Array(UInt64),
    recorded UInt64,
    sum_ns UInt64,
    max_ns UInt64,
    tail UInt64,
    interval_ns UInt64,
    seen Nullable(UInt64),
    filtered Nullable(UInt64),
    missed_start Nullable(UInt64),
    unmatched Nullable(UInt64),
    map_full Nullable(UInt64),
    negative Nullable(UInt64),
    excluded Nullable(UInt64),
    continued Nullable(UInt64),
    lost Nullable(UInt64),
    lost_ns Nullable(UInt64),
    hosts UInt64,
    rows UInt64,
    as_of DateTime('UTC')
)
ENGINE = MergeTree
PARTITION BY toDate(hour)
ORDER BY (probe, metric, split, key, hour);

-- By day (UTC) and host, in the same way. The columns are repeated because in 18.16 AS copies all columns of a table, also `hour`.
CREATE TABLE IF NOT EXISTS days
(
    day Date,
    host String,
    probe String,
    metric String,
    split String,
    key String,
    kernel String,
    method String,
    labels Array(String),
    tail_ns UInt64,
    `hist.slot` Array(UInt16),
    `hist.n` Array(UInt64),
    recorded UInt64,
    sum_ns UInt64,
    max_ns UInt64,
    tail UInt64,
    interval_ns UInt64,
    seen Nullable(UInt64),
    filtered Nullable(UInt64),
    missed_start Nullable(UInt64),
    unmatched Nullable(UInt64),
    map_full Nullable(UInt64),
    negative Nullable(UInt64),
    excluded Nullable(UInt64),
    continued Nullable(UInt64),
    lost Nullable(UInt64),
    lost_ns Nullable(UInt64),
    rows UInt64,
    as_of DateTime('UTC')
)
ENGINE = MergeTree
PARTITION BY day
ORDER BY (probe, metric, split, key, day, host);

-- When rows of an hour last arrived, by the server's clock: an hour whose roll-up is older is made again. The maximum is the same
-- however often a batch is sent.
CREATE TABLE IF NOT EXISTS arrivals
(
    hour DateTime('UTC'),
    received DateTime('UTC')
)
ENGINE = ReplacingMergeTree(received)
PARTITION BY toDate(hour)
ORDER BY hour;

CREATE MATERIALIZED VIEW IF NOT EXISTS arrivals_of_rows TO arrivals AS
SELECT toStartOfHour(start) AS hour, now() AS received FROM rows GROUP BY hour;

-- What latscope checks before it uses the tables.
CREATE VIEW IF NOT EXISTS schema_version AS SELECT toUInt32(1) AS version;
