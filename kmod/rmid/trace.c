// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>

#define CREATE_TRACE_POINTS
#include "trace.h"

/* What lies behind the header that all events share is the record, byte for byte. */
#define SAME_PLACE(event, record, field)                                 \
	static_assert(offsetof(struct trace_event_raw_##event, field) == \
		      sizeof(struct trace_entry) + offsetof(struct latscope_##record, field))

static_assert(sizeof(struct trace_entry) == 8);
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
