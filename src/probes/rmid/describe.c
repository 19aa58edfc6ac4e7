// SPDX-License-Identifier: BSD-2-Clause
/* The text of the method, of what was measured and of what was missed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "account.h"
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
				     .caches = !rmid__uses(rmid, RMID_BY_SWITCHES) };
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

static void tell_emulation(const struct rmid *rmid, FILE *out)
{
	struct emulation_state state = emulation__state(rmid->emulation);

	rmid_account__tell_emulation(&state, rmid->resctrl != NULL, out);
	if (rmid->resctrl)
		resctrl__tell(rmid->resctrl, out);
}

/* Describes what happened in the window. */
static void conclude(const struct rmid *rmid, FILE *out)
{
	struct rmid_account account;

	add_up(rmid, &account);
	if (!account.slots || !account.wall_ns)
		return;
	rmid_account__tell(&account, out);
	if (rmid__uses(rmid, RMID_BY_MODULE)) {
		fputs("; ", out);
		module__tell(&rmid->before, &rmid->after, account.no_value, out);
	} else {
		tell_emulation(rmid, out);
	}
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
	if (rmid__uses(rmid, RMID_BY_SWITCHES))
		fputs("; caches and memory traffic need the kernel module rmid and RDT", out);
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
