-- SPDX-License-Identifier: BSD-2-Clause
-- For a cluster: each shard has the tables of tables.sql in the database {database}_local, and in {database} tables of the same
-- names that ask all shards. All rows of a host are on one shard, where duplicates meet.
CREATE TABLE IF NOT EXISTS rows AS {database}_local.rows
ENGINE = Distributed({cluster}, {database}_local, rows, cityHash64(host));

CREATE TABLE IF NOT EXISTS hours AS {database}_local.hours
ENGINE = Distributed({cluster}, {database}_local, hours);

CREATE TABLE IF NOT EXISTS days AS {database}_local.days
ENGINE = Distributed({cluster}, {database}_local, days);

CREATE TABLE IF NOT EXISTS arrivals AS {database}_local.arrivals
ENGINE = Distributed({cluster}, {database}_local, arrivals);

CREATE VIEW IF NOT EXISTS schema_version AS SELECT version FROM {database}_local.schema_version;
