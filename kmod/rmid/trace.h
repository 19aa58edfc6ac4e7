/* SPDX-License-Identifier: GPL-2.0-only */
/* The tracepoints of <uapi/latscope/rmid.h>. An event's entry is the record of that header. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM latscope
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace

#if !defined(LATSCOPE_RMID_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define LATSCOPE_RMID_TRACE_H

#include <linux/tracepoint.h>
#include <uapi/latscope/rmid.h>

/* clang-format off */
DECLARE_EVENT_CLASS(rmid_owner,
	TP_PROTO(const struct latscope_rmid_owner *record),
	TP_ARGS(record),
	TP_STRUCT__entry(
		__field(u64, seq)
		__field(u64, time_ns)
		__field(u64, start_ns)
		__field(u64, since_ns)
		__field(u32, rmid)
		__field(u32, tgid)
		__field(u32, why)
		__field(u32, threads)
		__array(char, comm, LATSCOPE_RMID_COMM_LEN)
	),
	TP_fast_assign(
		__entry->seq = record->seq;
		__entry->time_ns = record->time_ns;
		__entry->start_ns = record->start_ns;
		__entry->since_ns = record->since_ns;
		__entry->rmid = record->rmid;
		__entry->tgid = record->tgid;
		__entry->why = record->why;
		__entry->threads = record->threads;
		memcpy(__entry->comm, record->comm, LATSCOPE_RMID_COMM_LEN);
	),
	TP_printk("seq=%llu time_ns=%llu start_ns=%llu since_ns=%llu rmid=%u tgid=%u why=%s "
		  "threads=%u comm=%s",
		  __entry->seq, __entry->time_ns, __entry->start_ns, __entry->since_ns,
		  __entry->rmid, __entry->tgid,
		  __print_symbolic(__entry->why,
				   { LATSCOPE_RMID_BIRTH, "birth" },
				   { LATSCOPE_RMID_FOUND, "found" },
				   { LATSCOPE_RMID_LATE, "late" },
				   { LATSCOPE_RMID_EXIT, "exit" },
				   { LATSCOPE_RMID_DUMP, "dump" },
				   { LATSCOPE_RMID_EXEC, "exec" }),
		  __entry->threads, __entry->comm)
);

DEFINE_EVENT(rmid_owner, rmid_alloc,
	TP_PROTO(const struct latscope_rmid_owner *record),
	TP_ARGS(record)
);

DEFINE_EVENT(rmid_owner, rmid_free,
	TP_PROTO(const struct latscope_rmid_owner *record),
	TP_ARGS(record)
);

DEFINE_EVENT(rmid_owner, rmid_existing,
	TP_PROTO(const struct latscope_rmid_owner *record),
	TP_ARGS(record)
);

TRACE_EVENT_FN(rmid_sample,
	TP_PROTO(const struct latscope_rmid_sample *record),
	TP_ARGS(record),
	TP_STRUCT__entry(
		__field(u64, time_ns)
		__field(u64, since_ns)
		__field(u32, cpu)
		__field(u32, rmid)
		__field(u32, kind)
		__field(u32, end)
		__field(u32, switches)
		__field(u32, pad)
	),
	TP_fast_assign(
		__entry->time_ns = record->time_ns;
		__entry->since_ns = record->since_ns;
		__entry->cpu = record->cpu;
		__entry->rmid = record->rmid;
		__entry->kind = record->kind;
		__entry->end = record->end;
		__entry->switches = record->switches;
		__entry->pad = 0;
	),
	TP_printk("time_ns=%llu since_ns=%llu cpu=%u rmid=%u kind=%s end=%s switches=%u",
		  __entry->time_ns, __entry->since_ns, __entry->cpu, __entry->rmid,
		  __print_symbolic(__entry->kind,
				   { LATSCOPE_RMID_PROCESS, "process" },
				   { LATSCOPE_RMID_WAITING, "waiting" },
				   { LATSCOPE_RMID_KERNEL, "kernel" },
				   { LATSCOPE_RMID_IDLE, "idle" }),
		  __entry->end == LATSCOPE_RMID_TICK ? "tick" : "switch", __entry->switches),
	cpu__listen, cpu__unlisten
);

TRACE_EVENT_FN(rmid_read,
	TP_PROTO(const struct latscope_rmid_read *record),
	TP_ARGS(record),
	TP_STRUCT__entry(
		__field(u64, time_ns)
		__field(u64, since_ns)
		__field(u64, bytes)
		__field(u64, raw)
		__field(u32, rmid)
		__field(u32, domain)
		__field(u32, event)
		__field(u32, status)
	),
	TP_fast_assign(
		__entry->time_ns = record->time_ns;
		__entry->since_ns = record->since_ns;
		__entry->bytes = record->bytes;
		__entry->raw = record->raw;
		__entry->rmid = record->rmid;
		__entry->domain = record->domain;
		__entry->event = record->event;
		__entry->status = record->status;
	),
	TP_printk("time_ns=%llu since_ns=%llu bytes=%llu raw=%#llx rmid=%u domain=%u event=%s "
		  "status=%s",
		  __entry->time_ns, __entry->since_ns, __entry->bytes, __entry->raw,
		  __entry->rmid, __entry->domain,
		  __print_symbolic(__entry->event,
				   { LATSCOPE_RMID_OCCUPANCY, "occupancy" },
				   { LATSCOPE_RMID_MBM_TOTAL, "mbm_total" },
				   { LATSCOPE_RMID_MBM_LOCAL, "mbm_local" }),
		  __print_symbolic(__entry->status,
				   { LATSCOPE_RMID_VALUE, "value" },
				   { LATSCOPE_RMID_BASELINE, "baseline" },
				   { LATSCOPE_RMID_UNAVAILABLE, "unavailable" },
				   { LATSCOPE_RMID_ERROR, "error" },
				   { LATSCOPE_RMID_WRAPPED, "wrapped" })),
	cpu__listen, cpu__unlisten
);
/* clang-format on */

#endif

#include <trace/define_trace.h>
