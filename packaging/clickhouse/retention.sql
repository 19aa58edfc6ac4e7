-- SPDX-License-Identifier: BSD-2-Clause
-- How long the tables keep what they have, in days. `latscope fleet rollup` deletes older partitions.
DROP TABLE IF EXISTS retention;

CREATE VIEW retention AS SELECT toUInt32({rows_days}) AS rows_days, toUInt32({days}) AS days;
