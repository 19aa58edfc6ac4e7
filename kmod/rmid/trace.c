// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>

#include "cpu.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/*
 * After the header that all events share comes the record, byte for byte. The header has 8 bytes;
 * in 6.1 with PREEMPT_RT 12, and the record is aligned.
 */
#define HEADER ALIGN(sizeof(struct trace_entry), __alignof__(u64))
#define SAME_PLACE(event, record, field)                                 \
	static_assert(offsetof(struct trace_event_raw_##event, field) == \
		      HEADER + offsetof(struct latscope_##record, field))

static_assert(HEADER <= 16);
SAME_PLACE(rmid_owner, rmid_owner, seq);
SAME_PLACE(rmid_owner, rmid_owner, rmid);
SAME_PLACE(rmid_owner, rmid_owner, threads);
SAME_PLACE(rmid_owner, rmid_owner, comm);
SAME_PLACE(rmid_sample, rmid_sample, time_ns);
SAME_PLACE(rmid_sample, rmid_sample, cpu);
SAME_PLACE(rmid_sample, rmid_sample, pad);
SAME_PLACE(rmid_read, rmid_read, time_ns);
SAME_PLACE(rmid_read, rmid_read, rmid);
SAME_PLACE(rmid_read, rmid_read, status);
