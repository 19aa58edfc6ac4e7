// SPDX-License-Identifier: BSD-2-Clause
#include "trace.h"

#include <core/sanitize.h>

#define NAMES(list) (sizeof(list) / sizeof((list)[0]))

static void print_time(FILE *out, uint64_t time_ns)
{
	uint64_t us = time_ns / 1000;

	fprintf(out, "%5llu.%06llu", (unsigned long long)(us / 1000000),
		(unsigned long long)(us % 1000000));
}

/* The layout is that of tracefs, "<...>" the name of a task that it does not know. */
void trace__print(FILE *out, const struct lat_rmid_owner *record, uint32_t runner)
{
	static const char *const events[] = {
		[RMID_ALLOCATED] = "rmid_alloc",
		[RMID_FREED] = "rmid_free",
		[RMID_LISTED] = "rmid_existing",
		[RMID_YIELDED] = "rmid_yield",
	};
	static const char *const reasons[] = {
		[LATSCOPE_RMID_BIRTH] = "birth", [LATSCOPE_RMID_FOUND] = "found",
		[LATSCOPE_RMID_LATE] = "late",	 [LATSCOPE_RMID_EXIT] = "exit",
		[LATSCOPE_RMID_DUMP] = "dump",	 [LATSCOPE_RMID_EXEC] = "exec",
	};
	const struct latscope_rmid_owner *owner = &record->owner;
	char comm[LATSCOPE_RMID_COMM_LEN + 1] = "", clean[LATSCOPE_RMID_COMM_LEN + 1];

	if (record->head.flags >= NAMES(events) || !events[record->head.flags] ||
	    owner->why >= NAMES(reasons))
		return;
	snprintf(comm, sizeof(comm), "%.*s", LATSCOPE_RMID_COMM_LEN, owner->comm);
	fprintf(out, "%16s-%-7u [%03u] ..... ", "<...>", runner, record->head.cpu);
	print_time(out, owner->time_ns);
	fprintf(out,
		": %s: seq=%llu time_ns=%llu start_ns=%llu since_ns=%llu rmid=%u tgid=%u why=%s "
		"threads=%u comm=%s\n",
		events[record->head.flags], (unsigned long long)owner->seq,
		(unsigned long long)owner->time_ns, (unsigned long long)owner->start_ns,
		(unsigned long long)owner->since_ns, owner->rmid, owner->tgid, reasons[owner->why],
		owner->threads, sanitize__text(clean, sizeof(clean), comm));
}

void trace__end(FILE *out, uint64_t time_ns)
{
	fputs("# until ", out);
	print_time(out, time_ns);
	fputc('\n', out);
}
