// SPDX-License-Identifier: GPL-2.0-only
#include "count.h"

#define UNAVAILABLE (1ULL << 62)

/*
 * Bytes per ns, more than any current L3 cache moves (1 TB/s): it determines after how long a
 * counter may have overflowed. With 24 bits and 64 KiB that is 1.1 s.
 */
#define FASTEST 1000

struct count_format count__format(__u32 eax, __u32 ebx, __u32 default_width)
{
	__u32 width = eax & 0xff ? 24 + (eax & 0xff) : default_width;

	return (struct count_format){ .scale = ebx, .width = width < 62 ? width : 62 };
}

/* Difference of two counts, modulo the width. */
static __u64 difference(const struct count_format *format, __u64 from, __u64 to)
{
	return (to - from) & ((1ULL << format->width) - 1);
}

static _Bool may_have_wrapped(const struct count_format *format, __u64 span_ns)
{
	/* Divides first: a wide counter would overflow 64 bits otherwise. */
	return span_ns / format->scale >= (1ULL << format->width) / FASTEST;
}

static void decode_rising(const struct count_format *format, __u64 owned_ns,
			  struct count_past *past, struct latscope_rmid_read *record)
{
	_Bool compares = past->time_ns && past->time_ns >= owned_ns;

	record->status = LATSCOPE_RMID_BASELINE;
	if (compares) {
		record->since_ns = past->time_ns;
		record->status = LATSCOPE_RMID_WRAPPED;
		if (!may_have_wrapped(format, record->time_ns - past->time_ns)) {
			record->status = LATSCOPE_RMID_VALUE;
			record->bytes = difference(format, past->raw, record->raw) * format->scale;
		}
	}
	*past = (struct count_past){ .raw = record->raw, .time_ns = record->time_ns };
}

void count__decode(const struct count_format *format, __u32 event, __u64 raw, __u64 now_ns,
		   __u64 owned_ns, struct count_past *past, struct latscope_rmid_read *record)
{
	record->time_ns = now_ns;
	record->since_ns = now_ns;
	record->bytes = 0;
	record->raw = raw;
	record->event = event;
	if (raw & COUNT_ERROR) {
		record->status = LATSCOPE_RMID_ERROR;
	} else if (raw & UNAVAILABLE) {
		record->status = LATSCOPE_RMID_UNAVAILABLE;
	} else if (event == LATSCOPE_RMID_OCCUPANCY) {
		record->status = LATSCOPE_RMID_VALUE;
		record->bytes = difference(format, 0, raw) * format->scale;
	} else {
		decode_rising(format, owned_ns, past, record);
	}
}
