-- SPDX-License-Identifier: BSD-2-Clause
-- The same for servers that delete by themselves: ClickHouse 20.1 and later.
ALTER TABLE rows MODIFY TTL start + INTERVAL {rows_days} DAY;

ALTER TABLE rows MODIFY SETTING ttl_only_drop_parts = 1;

ALTER TABLE hours MODIFY TTL hour + INTERVAL {days} DAY;

ALTER TABLE hours MODIFY SETTING ttl_only_drop_parts = 1;

ALTER TABLE days MODIFY TTL day + INTERVAL {days} DAY;

ALTER TABLE days MODIFY SETTING ttl_only_drop_parts = 1;
