// SPDX-License-Identifier: BSD-2-Clause
#include "slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "processes.h"

#define CELLS_KEPT 8

#define AWAY_NOT UINT32_MAX

/* The span of a CPU that was added before it ended; until_ns 0: none was. */
struct open_span {
	uint64_t since_ns, until_ns;
};

struct slots {
	uint64_t start_ns, end_ns; /* samples outside it are ignored */
	uint64_t first; /* number of the oldest slot not yet returned; slot n begins at n ms */
	uint64_t nr; /* slots begun, from the first on */
	struct slot *ring; /* slot n is at n % room */
	uint64_t room; /* a power of two */
	bool taken; /* the caller still uses the first */
	unsigned int cpus;
	uint64_t *done_ns; /* by CPU: all before this time is settled; 0: the CPU never joined */
	uint32_t *away; /* by CPU: the process of its time while it sends nothing; or AWAY_NOT */
	struct open_span *open; /* by CPU */
};

int slots__new(struct slots **out, unsigned int cpus)
{
	struct slots *slots = calloc(1, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	slots->done_ns = calloc(cpus, sizeof(*slots->done_ns));
	slots->away = calloc(cpus, sizeof(*slots->away));
	slots->open = calloc(cpus, sizeof(*slots->open));
	slots->room = 64;
	slots->ring = calloc(slots->room, sizeof(*slots->ring));
	if (!slots->done_ns || !slots->away || !slots->open || !slots->ring) {
		slots__free(slots);
		return -ENOMEM;
	}
	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		slots->away[cpu] = AWAY_NOT;
	slots->cpus = cpus;
	slots->end_ns = UINT64_MAX;
	*out = slots;
	return 0;
}

void slots__start(struct slots *slots, uint64_t start_ns)
{
	slots->start_ns = start_ns;
	slots->first = start_ns / RMID_SLOT_NS;
}

void slots__end(struct slots *slots, uint64_t end_ns)
{
	slots->end_ns = end_ns;
}

void slots__free(struct slots *slots)
{
	if (!slots)
		return;
	for (uint64_t i = 0; slots->ring && i < slots->room; i++)
		free(slots->ring[i].cells);
	free(slots->ring);
	free(slots->done_ns);
	free(slots->away);
	free(slots->open);
	free(slots);
}

static int grow(struct slots *slots)
{
	uint64_t room = 2 * slots->room;
	struct slot *ring = calloc(room, sizeof(*ring));

	if (!ring)
		return -ENOMEM;
	for (uint64_t n = slots->first; n < slots->first + slots->room; n++)
		ring[n % room] = slots->ring[n % slots->room];
	free(slots->ring);
	slots->ring = ring;
	slots->room = room;
	return 0;
}

static void clear(struct slot *slot, uint64_t number)
{
	slot->start_ns = number * RMID_SLOT_NS;
	slot->missing_ns = 0;
	slot->doubtful = false;
	slot->nr = 0;
	memset(slot->heads, 0, sizeof(slot->heads));
}

/* Slot number n, not yet returned; NULL: no memory. */
static struct slot *slot_of(struct slots *slots, uint64_t number)
{
	while (number >= slots->first + slots->room)
		if (grow(slots))
			return NULL;
	for (; slots->first + slots->nr <= number; slots->nr++)
		clear(&slots->ring[(slots->first + slots->nr) % slots->room],
		      slots->first + slots->nr);
	return &slots->ring[number % slots->room];
}

static struct slots_cell *add_cell(struct slot *slot, uint32_t process)
{
	uint32_t *head = &slot->heads[process % SLOTS_HEADS];
	size_t room = slot->room ? 2 * slot->room : 8;
	struct slots_cell *cell;

	if (slot->nr == slot->room) {
		cell = reallocarray(slot->cells, room, sizeof(*cell));
		if (!cell)
			return NULL;
		slot->cells = cell;
		slot->room = room;
	}
	cell = &slot->cells[slot->nr++];
	memset(cell, 0, sizeof(*cell));
	cell->process = process;
	cell->next = *head;
	*head = slot->nr;
	return cell;
}

static struct slots_cell *cell_of(struct slot *slot, uint32_t process)
{
	for (uint32_t at = slot->heads[process % SLOTS_HEADS]; at; at = slot->cells[at - 1].next)
		if (slot->cells[at - 1].process == process)
			return &slot->cells[at - 1];
	return add_cell(slot, process);
}

/* The share of [from, to) in a value of `whole`; adjacent shares add up exactly. */
static uint64_t share(uint64_t value, uint64_t from, uint64_t to, uint64_t whole)
{
	return (uint64_t)((unsigned __int128)value * to / whole) -
	       (uint64_t)((unsigned __int128)value * from / whole);
}

/* A counter that ran for part of the time is scaled to all of it. */
static uint64_t scaled(const struct lat_rmid_counter *counter)
{
	return (uint64_t)((unsigned __int128)counter->value * counter->enabled_ns /
			  counter->running_ns);
}

/* A counter that did not run is unknown, unless there was nothing to count. */
static void add_counters(struct rmid_sums *sums, const struct lat_rmid_span *span, uint64_t from,
			 uint64_t to)
{
	uint64_t start = span->start_ns, whole = span->head.time_ns - start;

	for (unsigned int i = 0; i < RMID_COUNTERS; i++) {
		const struct lat_rmid_counter *counter = &span->counters[i];

		if (!counter->running_ns)
			continue;
		sums->values[i] += share(scaled(counter), from - start, to - start, whole);
		sums->counted_ns[i] += to - from;
	}
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The CPU had no known process at that time. */
static int miss(struct slots *slots, uint64_t from, uint64_t to)
{
	struct slot *slot;
	uint64_t edge;

	for (; from < to; from = edge) {
		slot = slot_of(slots, from / RMID_SLOT_NS);
		if (!slot)
			return -ENOMEM;
		edge = earlier(to, slot->start_ns + RMID_SLOT_NS);
		slot->missing_ns += edge - from;
	}
	return 0;
}

/* Adds [from, to) of the span, which is new. */
static int add_time(struct slots *slots, const struct lat_rmid_span *span, uint32_t process,
		    uint64_t from, uint64_t to)
{
	struct slots_cell *cell;
	struct slot *slot;
	uint64_t edge;

	for (; from < to; from = edge) {
		slot = slot_of(slots, from / RMID_SLOT_NS);
		cell = slot ? cell_of(slot, process) : NULL;
		if (!cell)
			return -ENOMEM;
		edge = earlier(to, slot->start_ns + RMID_SLOT_NS);
		cell->sums.cpu_ns += edge - from;
		if (span->head.record == RMID_COUNTED_SPAN)
			add_counters(&cell->sums, span, from, edge);
	}
	return 0;
}

/* The slot of `at`, or the oldest one if `at` is already settled. NULL: no memory. */
static struct rmid_sums *sums_at(struct slots *slots, uint32_t process, uint64_t at)
{
	struct slot *slot = slot_of(slots, later(at / RMID_SLOT_NS, slots->first));
	struct slots_cell *cell = slot ? cell_of(slot, process) : NULL;

	return cell ? &cell->sums : NULL;
}

static int add_switches(struct slots *slots, uint32_t process, uint64_t at, uint64_t count)
{
	struct rmid_sums *sums;

	if (!count)
		return 0;
	sums = sums_at(slots, process, at);
	if (!sums)
		return -ENOMEM;
	sums->switches += count;
	return 0;
}

/* Takes back the slot that the caller had, if any. Frees the extra room of a burst. */
static void let_go(struct slots *slots)
{
	struct slot *slot = &slots->ring[slots->first % slots->room];

	if (!slots->taken)
		return;
	if (slot->room > CELLS_KEPT) {
		free(slot->cells);
		slot->cells = NULL;
		slot->room = 0;
	}
	slots->taken = false;
	slots->first++;
	slots->nr--;
}

void slots__join(struct slots *slots, unsigned int cpu, uint64_t since_ns)
{
	uint64_t first_ns;

	let_go(slots);
	first_ns = later(slots->start_ns, slots->first * RMID_SLOT_NS);
	if (cpu < slots->cpus && !slots->done_ns[cpu])
		slots->done_ns[cpu] = later(since_ns, first_ns);
}

void slots__leave(struct slots *slots, unsigned int cpu, uint32_t process)
{
	let_go(slots);
	slots->away[cpu] = process;
}

/* A CPU that sent nothing until then, for a known reason. */
static int pass_over(struct slots *slots, unsigned int cpu, uint64_t until_ns)
{
	struct lat_rmid_span span = { .head.time_ns = until_ns, .head.cpu = (__u16)cpu };
	uint64_t *done = &slots->done_ns[cpu];
	int err = 0;

	if (*done && *done < until_ns) {
		err = add_time(slots, &span, slots->away[cpu], *done, until_ns);
		*done = until_ns;
	}
	return err;
}

/* The unreported time before the next span. */
static int add_gap(struct slots *slots, unsigned int cpu, uint64_t until_ns)
{
	int err;

	until_ns = earlier(until_ns, slots->end_ns);
	if (slots->away[cpu] == AWAY_NOT)
		return miss(slots, slots->done_ns[cpu], until_ns);
	err = pass_over(slots, cpu, until_ns);
	slots->away[cpu] = AWAY_NOT;
	return err;
}

int slots__add(struct slots *slots, const struct lat_rmid_span *span, uint32_t process)
{
	uint64_t *done, from = span->start_ns, to = span->head.time_ns;
	unsigned int last = !!(span->head.flags & RMID_SWITCHED);
	int err;

	let_go(slots);
	if (span->head.cpu >= slots->cpus)
		return -EINVAL;
	done = &slots->done_ns[span->head.cpu];
	slots__join(slots, span->head.cpu, from);
	if (to < slots->start_ns || to < from || from >= slots->end_ns)
		return 0;
	err = add_gap(slots, span->head.cpu, from);
	if (!err)
		err = add_time(slots, span, process, later(from, *done),
			       earlier(to, slots->end_ns));
	if (!err && span->switches > last)
		err = add_switches(slots, process, from, span->switches - last);
	if (!err && to < slots->end_ns)
		err = add_switches(slots, process, to, last);
	*done = later(*done, to);
	return err;
}

const struct lat_rmid_cell *slots__cell(const struct lat_rmid_batch *batch, uint32_t i)
{
	size_t size =
		batch->head.record == RMID_BATCH ? RMID_CELL_SIZE : sizeof(struct lat_rmid_cell);

	return (const void *)((const char *)(batch + 1) + i * size);
}

/* Do the cells of the batch fill it, within one slot? */
static bool is_sound(const struct slots *slots, const struct lat_rmid_batch *batch)
{
	uint64_t start = batch->start_ns, end = batch->head.time_ns, sum = 0;

	for (uint32_t i = 0; i < batch->nr; i++)
		sum += slots__cell(batch, i)->cpu_ns;
	return batch->head.cpu < slots->cpus && sum == end - start &&
	       start / RMID_SLOT_NS == end / RMID_SLOT_NS;
}

/* The part in [from, to) of values spread evenly over the `whole` of a batch. */
struct part {
	uint64_t from, to, whole;
};

static void add_cell_counters(struct rmid_sums *sums, const struct lat_rmid_cell *cell,
			      const struct part *part, uint64_t cpu_ns)
{
	for (unsigned int i = 0; i < RMID_COUNTERS; i++) {
		const struct lat_rmid_counter *counter = &cell->counters[i];

		if (cell->unknown & 1U << i || !counter->running_ns)
			continue;
		sums->values[i] += share(scaled(counter), part->from, part->to, part->whole);
		sums->counted_ns[i] += cpu_ns;
	}
}

/*
 * A cell with `ns` that are new, or may be. `before`: the time of the previous cells. With running
 * sums, rounding loses nothing.
 */
static int add_cell_part(struct slots *slots, const struct lat_rmid_batch *batch, uint32_t i,
			 uint32_t owner, const struct part *part, uint64_t before, uint64_t ns)
{
	const struct lat_rmid_cell *cell = slots__cell(batch, i);
	struct rmid_sums *sums = sums_at(slots, owner, batch->start_ns);
	uint64_t cpu_ns;

	if (!sums)
		return -ENOMEM;
	cpu_ns = share(before + ns, part->from, part->to, part->whole) -
		 share(before, part->from, part->to, part->whole);
	sums->cpu_ns += cpu_ns;
	sums->switches += share(cell->switches, part->from, part->to, part->whole);
	if (batch->head.record == RMID_COUNTED_BATCH)
		add_cell_counters(sums, cell, part, cpu_ns);
	return 0;
}

/*
 * How much of the batch was added before it ended. An open span is only added if nothing before it
 * is missing. So it was the first one of the batch, and that of its first cell.
 */
static uint64_t added_before(const struct slots *slots, const struct lat_rmid_batch *batch)
{
	const struct open_span *open = &slots->open[batch->head.cpu];
	uint64_t ns = open->until_ns - open->since_ns;

	if (!open->until_ns || open->since_ns != batch->start_ns ||
	    open->until_ns != slots->done_ns[batch->head.cpu])
		return 0;
	return ns <= slots__cell(batch, 0)->cpu_ns ? ns : 0;
}

int slots__add_batch(struct slots *slots, const struct lat_rmid_batch *batch,
		     const uint32_t *owners)
{
	uint64_t *done, start = batch->start_ns, end = batch->head.time_ns, before = 0, ns, added;
	struct part part;
	int err;

	let_go(slots);
	if (!is_sound(slots, batch))
		return -EINVAL;
	slots__join(slots, batch->head.cpu, start);
	done = &slots->done_ns[batch->head.cpu];
	if (end <= *done || start == end || start >= slots->end_ns)
		return 0;
	err = add_gap(slots, batch->head.cpu, start);
	added = added_before(slots, batch);
	start += added;
	part.whole = end - start;
	part.from = later(start, *done) - start;
	part.to = later(start, earlier(end, slots->end_ns)) - start;
	for (uint32_t i = 0; !err && i < batch->nr; i++) {
		ns = slots__cell(batch, i)->cpu_ns - (i ? 0 : added);
		err = add_cell_part(slots, batch, i, owners[i], &part, before, ns);
		before += ns;
	}
	*done = end;
	return err;
}

bool slots__reaches(const struct slots *slots, unsigned int cpu, uint64_t time_ns)
{
	return cpu < slots->cpus && (slots->done_ns[cpu] >= time_ns ||
				     (slots->done_ns[cpu] && slots->away[cpu] != AWAY_NOT));
}

/* Two occupancy readings of one cache must not be added; the first one is kept. */
int slots__add_reading(struct slots *slots, const struct latscope_rmid_read *read, uint32_t process)
{
	uint64_t domain = 1ULL << read->domain % 64;
	struct rmid_cache *cache;
	struct rmid_sums *sums;

	let_go(slots);
	if (!read->event || read->event > RMID_EVENTS || read->time_ns < slots->start_ns ||
	    read->time_ns >= slots->end_ns)
		return 0;
	sums = sums_at(slots, process, read->time_ns);
	if (!sums)
		return -ENOMEM;
	cache = &sums->cache[read->event - 1];
	if (read->event == LATSCOPE_RMID_OCCUPANCY && cache->domains & domain)
		return 0;
	cache->bytes += read->bytes;
	cache->span_ns = later(cache->span_ns, read->time_ns - read->since_ns);
	cache->domains |= domain;
	return 0;
}

int slots__extend(struct slots *slots, unsigned int cpu, uint32_t process, uint64_t since_ns,
		  uint64_t now_ns)
{
	struct lat_rmid_span span = { .head.time_ns = now_ns,
				      .head.cpu = cpu,
				      .start_ns = since_ns };
	int err;

	if (!slots__reaches(slots, cpu, since_ns) || now_ns < since_ns)
		return 0;
	err = slots__add(slots, &span, process);
	slots->open[cpu] = (struct open_span){ since_ns, now_ns };
	return err;
}

int slots__give_up(struct slots *slots, uint64_t until_ns)
{
	int err = 0;

	let_go(slots);
	until_ns = earlier(until_ns, slots->end_ns);
	for (unsigned int cpu = 0; !err && cpu < slots->cpus; cpu++) {
		if (!slots->done_ns[cpu])
			continue;
		if (slots->away[cpu] != AWAY_NOT) {
			err = pass_over(slots, cpu, until_ns);
			continue;
		}
		err = miss(slots, slots->done_ns[cpu], until_ns);
		slots->done_ns[cpu] = later(slots->done_ns[cpu], until_ns);
	}
	return err;
}

void slots__doubt(struct slots *slots, uint64_t until_ns)
{
	let_go(slots);
	if (until_ns >= slots->first * RMID_SLOT_NS)
		/* no memory: the next addition reports it */
		slot_of(slots, until_ns / RMID_SLOT_NS);
	for (uint64_t n = slots->first; n < slots->first + slots->nr; n++)
		slots->ring[n % slots->room].doubtful = true;
}

uint64_t slots__settled_ns(const struct slots *slots)
{
	return slots->first * RMID_SLOT_NS;
}

const struct slot *slots__next(struct slots *slots)
{
	uint64_t done = UINT64_MAX, edge;

	let_go(slots);
	edge = (slots->first + 1) * RMID_SLOT_NS;
	for (unsigned int cpu = 0; cpu < slots->cpus; cpu++)
		if (slots->done_ns[cpu] && slots->away[cpu] == AWAY_NOT)
			done = earlier(done, slots->done_ns[cpu]);
	if (!slots->nr || done == UINT64_MAX || done < edge)
		return NULL;
	for (unsigned int cpu = 0; cpu < slots->cpus; cpu++)
		if (slots->away[cpu] != AWAY_NOT &&
		    pass_over(slots, cpu, earlier(edge, slots->end_ns)))
			return NULL; /* no memory: the next addition reports it */
	slots->taken = true;
	return &slots->ring[slots->first % slots->room];
}

const struct slot *slots__rest(struct slots *slots)
{
	let_go(slots);
	if (!slots->nr)
		return NULL;
	slots->taken = true;
	return &slots->ring[slots->first % slots->room];
}
