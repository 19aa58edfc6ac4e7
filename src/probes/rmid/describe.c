// SPDX-License-Identifier: BSD-2-Clause
/* The text of the method, of what was measured and of what was missed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

/* perf_event_open() says "no such file" of an event that no PMU counts. */
const char *rmid__explain_lack(int err)
{
	return err == ENOENT || err == ENODEV || err == EOPNOTSUPP
		       ? "the machine has no such counter"
		       : strerror(err);
}

struct rows_layout rmid__layout(const struct rmid *rmid)
{
	return (struct rows_layout){ .counters = rmid->counters,
				     .nr_counters = rmid->nr_counters,
				     .rmids = true,
				     .caches = !rmid->back_end->lacks };
}

static void add_up(const struct rmid *rmid, struct rmid_account *account)
{
	const struct attribution *attribution = &rmid->attribution;

	*account = (struct rmid_account){
		.records = attribution->records,
		.malformed = attribution->malformed,
		.no_value = attribution->no_value,
		.ticks = attribution->ticks,
		.ticks_in_time = attribution->ticks_in_time,
		.slots = rmid->slots,
		.incomplete_slots = rmid->incomplete_slots,
		.missing_ns = rmid->missing_ns,
		.wall_ns = rmid->wall_ns,
		.told_ns = rmid->told_ns,
	};
	states__add_up(&rmid->states, account);
}

/* All rows, including idle and lost time, must add up to the CPU time of the window. */
static void tell_balance(const struct rmid_account *account, FILE *out)
{
	double wall = (double)account->wall_ns;

	fprintf(out, "; rows add up to %.3f ms of %.3f ms of CPUs", (double)account->told_ns / 1e6,
		wall / 1e6);
	if (account->told_ns != account->wall_ns)
		fprintf(out, ", which is wrong by %.6f %%",
			100.0 * ((double)account->told_ns - wall) / wall);
	fprintf(out, "; lost: %.3f ms, %.3f %%", (double)account->missing_ns / 1e6,
		100.0 * (double)account->missing_ns / wall);
}

static void tell_account(const struct rmid_account *account, FILE *out)
{
	tell_balance(account, out);
	fprintf(out, "; %llu of %llu slots incomplete, %llu records lost",
		(unsigned long long)account->incomplete_slots, (unsigned long long)account->slots,
		(unsigned long long)(account->lost_spans + account->lost_others));
	if (account->malformed)
		fprintf(out, ", %llu malformed", (unsigned long long)account->malformed);
	if (account->hidden)
		fprintf(out, ", %llu switches hidden", (unsigned long long)account->hidden);
	if (account->ticks)
		fprintf(out, "; %.2f %% of ticks within 100 us of their edge",
			100.0 * (double)account->ticks_in_time / (double)account->ticks);
	if (account->failed_reads)
		fprintf(out, "; perf events could not be read %llu times",
			(unsigned long long)account->failed_reads);
}

/* Describes what happened in the window. */
static void conclude(const struct rmid *rmid, FILE *out)
{
	struct rmid_account account;

	add_up(rmid, &account);
	if (!account.slots || !account.wall_ns)
		return;
	tell_account(&account, out);
	rmid->back_end->tell(rmid, &account, out);
}

/* Lists the perf events that exist and those that do not, and whether RDT is used. */
static void tell_columns(const struct rmid *rmid, FILE *out)
{
	const char *between = "; perf events: ";

	for (unsigned int i = 0; i < rmid->nr_counters; i++, between = ", ")
		fprintf(out, "%s%s", between, counters_kinds[rmid->counters[i]].name);
	between = "; not available: ";
	for (unsigned int kind = 0; kind < COUNTERS_KINDS; kind++) {
		if (!(rmid->lacking & 1U << kind))
			continue;
		fprintf(out, "%s%s", between, counters_kinds[kind].name);
		between = ", ";
	}
	if (rmid->lacking)
		fprintf(out, " (%s)", rmid__explain_lack(rmid->lacking_why));
	if (rmid->back_end->lacks)
		fputs(rmid->back_end->lacks, out);
}

static int tell(const struct rmid *rmid, char text[RUN_HOW])
{
	FILE *out;

	memset(text, 0, RUN_HOW);
	out = fmemopen(text, RUN_HOW - 1, "w");
	if (!out)
		return -errno;
	fputs(rmid->method->mechanism, out);
	tell_columns(rmid, out);
	conclude(rmid, out);
	fclose(out);
	return 0;
}

int rmid__describe(struct probe *probe)
{
	const struct rmid *rmid = rmid__of(probe);
	struct rows_layout layout = rmid__layout(rmid);
	struct run_probe *entry = probe->entry;
	int err;

	snprintf(entry->name, sizeof(entry->name), "%s", probe->ops->name);
	snprintf(entry->method, sizeof(entry->method), "%s", rmid->method->name);
	err = tell(rmid, entry->mechanism);
	if (!err && !entry->table)
		err = rows__new_table(&entry->table, &layout);
	return err;
}
