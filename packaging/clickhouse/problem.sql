-- SPDX-License-Identifier: BSD-2-Clause
-- Can the row be true? The server computes `problem` when it is asked for; a client cannot set it. Rows in which it is not empty are
-- in no roll-up. A row may be read in the middle of an event: 1,000 events, or 1,000 s, are no contradiction. Linux has at most
-- 4,194,304 threads. `latscope fleet init` applies it to tables that exist, too.
ALTER TABLE rows MODIFY COLUMN problem String ALIAS multiIf(
    arrayExists(s -> s > 1184, hist.slot) OR arraySort(arrayDistinct(hist.slot)) != hist.slot, 'slots',
    arrayExists(n -> n = 0 OR n >= 1099511627776, hist.n) OR arraySum(hist.n) != recorded OR tail > recorded + 1000, 'counts',
    if(recorded = 0 AND tail_ns = 0, sum_ns > toFloat64(interval_ns) * 4194304 + 1e12,
        arraySum(arrayMap((s, n) -> n * if(s < 32, s, (32 + s % 32) * exp2(intDiv(s, 32) - 1)), hist.slot, hist.n)) * 31.25 > sum_ns + 1e12
        OR (arrayExists(s -> s = 1184, hist.slot) = 0 AND
            arraySum(arrayMap((s, n) -> n * if(s < 31, s + 1, (32 + (s + 1) % 32) * exp2(intDiv(s + 1, 32) - 1)), hist.slot, hist.n)) * 31.25
            < sum_ns - 1e12)), 'sum',
    max_ns > 31536000000000000, 'max',
    seen >= 281474976710656 OR seen + 1000 < recorded, 'seen',
    interval_ns >= 86400000000000, 'interval',
    '');
