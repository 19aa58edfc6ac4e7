// SPDX-License-Identifier: BSD-2-Clause
#include "attribution.h"

#include <errno.h>
#include <string.h>

int attribution__init(struct attribution *attribution, unsigned int cpus)
{
	int err;

	memset(attribution, 0, sizeof(*attribution));
	err = processes__new(&attribution->processes);
	if (err)
		return err;
	err = slots__new(&attribution->slots, cpus);
	if (err)
		attribution__clear(attribution);
	return err;
}

void attribution__clear(struct attribution *attribution)
{
	slots__free(attribution->slots);
	processes__free(attribution->processes);
	attribution->slots = NULL;
	attribution->processes = NULL;
}

/* The process of a span that ended at time_ns. UINT32_MAX: no memory. */
static uint32_t owner_of(struct attribution *attribution, uint32_t who, uint32_t id,
			 uint64_t born_ns, uint64_t time_ns)
{
	switch (who) {
	case RMID_WHO_IDLE:
		return PROCESSES_IDLE;
	case RMID_WHO_PROCESS:
		return processes__find(attribution->processes, id, born_ns);
	case RMID_WHO_RMID:
		if (id > LATSCOPE_RMID_MAX)
			return PROCESSES_UNKNOWN;
		return processes__owner(attribution->processes, id, time_ns);
	case RMID_WHO_WAITING:
		return PROCESSES_WAITING;
	case RMID_WHO_KERNEL:
		return PROCESSES_KERNEL;
	}
	return PROCESSES_UNKNOWN;
}

static void judge_tick(struct attribution *attribution, uint64_t time_ns)
{
	uint64_t beyond = time_ns % RMID_SLOT_NS;

	attribution->ticks++;
	if (beyond <= ATTRIBUTION_EDGE_NS || RMID_SLOT_NS - beyond <= ATTRIBUTION_EDGE_NS)
		attribution->ticks_in_time++;
}

static void note_run(struct attribution *attribution, uint32_t owner, uint64_t time_ns, bool last)
{
	if (last && owner >= PROCESSES_SPECIAL)
		processes__end(attribution->processes, owner, time_ns);
	else
		processes__ran(attribution->processes, owner, time_ns);
}

static int take_span(struct attribution *attribution, const struct lat_rmid_span *span)
{
	uint32_t owner =
		owner_of(attribution, span->who, span->id, span->born_ns, span->head.time_ns);
	int err;

	if (owner == UINT32_MAX)
		return -ENOMEM;
	if (span->head.flags & RMID_TICKED)
		judge_tick(attribution, span->head.time_ns);
	err = slots__add(attribution->slots, span, owner);
	if (err == -EINVAL) {
		attribution->malformed++;
		return 0;
	}
	note_run(attribution, owner, span->head.time_ns, span->head.flags & RMID_LAST);
	return err;
}

/* An RMID has one owner within a batch: a slot is shorter than the pause between two owners. */
int attribution__take_batch(struct attribution *attribution, const struct lat_rmid_batch *batch)
{
	uint32_t owners[RMID_CELLS / RMID_CELL_SIZE];
	const struct lat_rmid_cell *cell;
	int err;

	for (uint32_t i = 0; i < batch->nr; i++) {
		cell = slots__cell(batch, i);
		owners[i] = owner_of(attribution, cell->who, cell->id, cell->born_ns,
				     batch->head.time_ns);
		if (owners[i] == UINT32_MAX)
			return -ENOMEM;
		note_run(attribution, owners[i], batch->head.time_ns, cell->flags & RMID_LAST);
	}
	err = slots__add_batch(attribution->slots, batch, owners);
	if (err == -EINVAL) {
		attribution->malformed++;
		return 0;
	}
	return err;
}

static bool is_whole(const struct lat_rmid_batch *batch, size_t size)
{
	return batch->nr <= RMID_CELLS / RMID_CELL_SIZE &&
	       (const char *)slots__cell(batch, batch->nr) <= (const char *)batch + size;
}

/* With the kernel module, a process without an RMID stays unknown: no exit record would follow. */
static int take_process(struct attribution *attribution, const struct lat_rmid_process *process)
{
	struct processes *all = attribution->processes;
	uint32_t index;

	if (attribution->by_rmid)
		index = processes__look(all, process->tgid, process->born_ns);
	else
		index = processes__find(all, process->tgid, process->born_ns);
	if (index == UINT32_MAX)
		return -ENOMEM;
	if (index)
		processes__name(all, index, process->comm);
	return 0;
}

/* Only where RMIDs are emulated; it has no number of its own. */
static int take_waiting(struct attribution *attribution, const struct latscope_rmid_owner *owner)
{
	uint32_t index = processes__find(attribution->processes, owner->tgid, owner->start_ns);

	if (index == UINT32_MAX)
		return -ENOMEM;
	processes__name(attribution->processes, index, owner->comm);
	processes__await_rmid(attribution->processes, index, owner->since_ns);
	return 0;
}

/*
 * A record sent on request repeats what was known: it leaves no gap, as it has a number, too. Its
 * name may be outdated.
 */
static int take_owner(struct attribution *attribution, const struct lat_rmid_owner *record)
{
	const struct latscope_rmid_owner *owner = &record->owner;
	uint32_t index;

	if (record->head.flags == RMID_AWAITED)
		return take_waiting(attribution, owner);
	if (!owner->rmid || owner->rmid > LATSCOPE_RMID_MAX) {
		attribution->malformed++;
		return 0;
	}
	if (attribution->last_seq && owner->seq != attribution->last_seq + 1)
		attribution->owners_lost = true;
	attribution->last_seq = owner->seq;
	if (record->head.flags == RMID_FREED) {
		processes__take_rmid(attribution->processes, owner->rmid, owner->time_ns);
		return 0;
	}
	if (record->head.flags == RMID_YIELDED) {
		processes__yield_rmid(attribution->processes, owner->rmid, owner->time_ns);
		return 0;
	}
	index = processes__find(attribution->processes, owner->tgid, owner->start_ns);
	if (index == UINT32_MAX)
		return -ENOMEM;
	if (owner->why != LATSCOPE_RMID_DUMP ||
	    !processes__at(attribution->processes, index)->comm[0])
		processes__name(attribution->processes, index, owner->comm);
	processes__give_rmid(attribution->processes, owner->rmid, index,
			     record->head.flags == RMID_ALLOCATED ? owner->time_ns
								  : owner->since_ns);
	return 0;
}

static int take_reading(struct attribution *attribution, const struct latscope_rmid_read *read)
{
	if (read->rmid > LATSCOPE_RMID_MAX || read->since_ns > read->time_ns) {
		attribution->malformed++;
		return 0;
	}
	if (read->status != LATSCOPE_RMID_VALUE) {
		attribution->no_value++;
		return 0;
	}
	return slots__add_reading(attribution->slots, read,
				  processes__owner(attribution->processes, read->rmid,
						   read->time_ns));
}

int attribution__take(struct attribution *attribution, const void *record, size_t size)
{
	static const size_t sizes[] = {
		[RMID_SPAN] = RMID_SPAN_SIZE,
		[RMID_COUNTED_SPAN] = sizeof(struct lat_rmid_span),
		[RMID_BATCH] = sizeof(struct lat_rmid_batch),
		[RMID_COUNTED_BATCH] = sizeof(struct lat_rmid_batch),
		[RMID_PROCESS] = sizeof(struct lat_rmid_process),
		[RMID_OWNER] = sizeof(struct lat_rmid_owner),
		[RMID_READ] = sizeof(struct lat_rmid_read),
	};
	const struct lat_rmid_head *head = record;

	attribution->records++;
	if (size < sizeof(*head) || head->record >= sizeof(sizes) / sizeof(sizes[0]) ||
	    size < sizes[head->record]) {
		attribution->malformed++;
		return 0;
	}
	switch (head->record) {
	case RMID_BATCH:
	case RMID_COUNTED_BATCH:
		if (is_whole(record, size))
			return attribution__take_batch(attribution, record);
		attribution->malformed++;
		return 0;
	case RMID_PROCESS:
		return take_process(attribution, record);
	case RMID_OWNER:
		return take_owner(attribution, record);
	case RMID_READ:
		return take_reading(attribution, &((const struct lat_rmid_read *)record)->read);
	default:
		return take_span(attribution, record);
	}
}

void attribution__doubt(struct attribution *attribution, uint64_t until_ns)
{
	attribution->owners_lost = false;
	slots__doubt(attribution->slots, until_ns);
}
