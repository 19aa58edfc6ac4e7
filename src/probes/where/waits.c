// SPDX-License-Identifier: BSD-2-Clause
#include "waits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include <core/sanitize.h>
#include <core/vec.h>
#include <symbols/symbols.h>

#include "calls.h"
#include "chains.h"
#include "stacks.h"
#include "view_states.h"

#define WORST 32 /* waits that are kept of an interval */
#define MOST_CAUSES 2048 /* of an interval; others have no name */

struct cause {
	uint32_t tgid, state;
	char comm[LAT_COMM_LEN];
	char text[CHAINS_TEXT];
	uint64_t ns, explained_ns, times;
};

struct worst {
	struct where_part part;
	struct chain chain;
	uint64_t explained_ns;
};

struct waits {
	struct ring_buffer *ring;
	const struct names *names; /* while it takes */
	struct chains *chains;
	struct stacks *stacks;
	struct worst worst[WORST]; /* in no order */
	size_t nr_worst;
	struct cause *causes;
	size_t nr_causes;
	int taken, err;
};

/* ---- taking ---- */

static uint64_t part_ns(const struct where_part *part)
{
	return part->end_ns - part->begin_ns;
}

/* Waits that the chain explains are worse than those that may be for work. */
static bool is_worse(const struct worst *one, const struct worst *other)
{
	if (one->explained_ns != other->explained_ns)
		return one->explained_ns > other->explained_ns;
	return part_ns(&one->part) > part_ns(&other->part);
}

static void keep_worst(struct waits *waits, const struct worst *fresh)
{
	struct worst *to = &waits->worst[0];

	if (waits->nr_worst < WORST) {
		waits->worst[waits->nr_worst++] = *fresh;
		return;
	}
	for (size_t i = 1; i < WORST; i++)
		if (is_worse(to, &waits->worst[i]))
			to = &waits->worst[i];
	if (is_worse(fresh, to))
		*to = *fresh;
}

static int add_cause(struct waits *waits, const struct worst *wait)
{
	const struct where_part *part = &wait->part;
	struct cause cause = { .tgid = part->tgid,
			       .state = WHERE_STATE(part->what),
			       .ns = part_ns(part),
			       .explained_ns = wait->explained_ns,
			       .times = 1 };

	memcpy(cause.comm, part->comm, sizeof(cause.comm));
	chain__cause(&wait->chain, waits->names, cause.text);
	if (waits->nr_causes >= MOST_CAUSES)
		snprintf(cause.text, sizeof(cause.text), "(other)");
	for (size_t i = waits->nr_causes; i--;) {
		struct cause *known = &waits->causes[i];

		if (known->tgid != cause.tgid || known->state != cause.state ||
		    strcmp(known->text, cause.text))
			continue;
		known->ns += cause.ns;
		known->explained_ns += cause.explained_ns;
		known->times++;
		return 0;
	}
	return vec__append(&waits->causes, &waits->nr_causes, &cause, sizeof(cause));
}

static int take(void *context, void *record, size_t size)
{
	struct waits *waits = context;
	const struct where_part *part = record;
	struct worst wait;

	if (size < sizeof(*part) || WHERE_STATE(part->what) >= WHERE_STATES)
		return 0;
	waits->taken++;
	chains__add(waits->chains, part);
	stacks__add(waits->stacks, part);
	if (!part->wanted || !where_is_wait(WHERE_STATE(part->what)) ||
	    WHERE_STATE(part->what) == WHERE_READY)
		return 0;
	wait.part = *part;
	chains__walk(waits->chains, part, &wait.chain);
	wait.explained_ns = chain__explained_ns(&wait.chain);
	keep_worst(waits, &wait);
	if (!waits->err)
		waits->err = add_cause(waits, &wait);
	return 0;
}

int waits__new(struct waits **out, int ring)
{
	struct waits *waits = calloc(1, sizeof(*waits));
	int err = waits ? chains__new(&waits->chains) : -ENOMEM;

	if (!err)
		err = stacks__new(&waits->stacks);
	if (!err) {
		waits->ring = ring_buffer__new(ring, take, waits, NULL);
		err = waits->ring ? 0 : -errno;
	}
	if (err) {
		waits__free(waits);
		return err;
	}
	*out = waits;
	return 0;
}

void waits__free(struct waits *waits)
{
	if (!waits)
		return;
	ring_buffer__free(waits->ring);
	chains__free(waits->chains);
	stacks__free(waits->stacks);
	free(waits->causes);
	free(waits);
}

int waits__take(struct waits *waits, const struct names *names)
{
	int got;

	waits->names = names;
	waits->taken = 0;
	got = ring_buffer__consume(waits->ring);
	for (size_t i = 0; i < waits->nr_worst; i++)
		chain__find_disk(&waits->worst[i].chain);
	if (got < 0 || waits->err)
		return waits->err ? waits->err : got;
	return waits->taken;
}

/* ---- tables ---- */

#define EXPLAINED                                                                             \
	"of it, for a disk, memory, a page fault or a lock, or for a thread that had one of " \
	"these meanwhile, a CPU, or a wait for one"

static const struct table_column waits_columns[WAITS_COLUMNS] = {
	[WAITS_PID] = { "pid", "", "process ID", TABLE_INTEGER, true },
	[WAITS_TID] = { "tid", "", "thread ID", TABLE_INTEGER, true },
	[WAITS_COMM] = { "comm", "", "name of the thread", TABLE_TEXT, true },
	[WAITS_STATE] = { "state", "", "what it waited for: a part of where", TABLE_TEXT, true },
	[WAITS_CALL] = { "call", "", "system call in which it waited", TABLE_TEXT, true },
	[WAITS_CHAIN] = { "chain", "", "who ended it, and what that thread did meanwhile",
			  TABLE_TEXT, true },
	[WAITS_NS] = { "ns", "ns", "how long", TABLE_INTEGER, false },
	[WAITS_EXPLAINED_NS] = { "explained_ns", "ns", EXPLAINED, TABLE_INTEGER, false },
	[WAITS_STACK] = { "stack", "", "addresses in the kernel, innermost first", TABLE_TEXT,
			  false },
	[WAITS_WAKER_PID] = { "waker_pid", "", "process of the thread that ended it", TABLE_INTEGER,
			      false },
	[WAITS_WAKER_TID] = { "waker_tid", "", "the thread; unknown: no thread did", TABLE_INTEGER,
			      false },
	[WAITS_WAKER] = { "waker", "", "its name", TABLE_TEXT, false },
};

static const struct table_column causes_columns[CAUSES_COLUMNS] = {
	[CAUSES_PID] = { "pid", "", "process ID", TABLE_INTEGER, true },
	[CAUSES_COMM] = { "comm", "", "name of the thread that waited", TABLE_TEXT, true },
	[CAUSES_STATE] = { "state", "", "what it waited for: a part of where", TABLE_TEXT, true },
	[CAUSES_CAUSE] = { "cause", "", "who ended the waits, and what that thread did mostly",
			   TABLE_TEXT, true },
	[CAUSES_NS] = { "ns", "ns", "how long, waits over the threshold", TABLE_INTEGER, false },
	[CAUSES_EXPLAINED_NS] = { "explained_ns", "ns", EXPLAINED, TABLE_INTEGER, false },
	[CAUSES_TIMES] = { "times", "", "how often", TABLE_INTEGER, false },
};

int waits__new_tables(struct table *more[RUN_MORE])
{
	int err = 0;

	if (!more[RUN_WAITS])
		err = table__new(&more[RUN_WAITS], waits_columns, WAITS_COLUMNS);
	if (!err && !more[RUN_CAUSES])
		err = table__new(&more[RUN_CAUSES], causes_columns, CAUSES_COLUMNS);
	return err ? err : sleep_stacks__new(&more[RUN_STACKS]);
}

static int set_comm(struct table *table, unsigned int column, const char *comm)
{
	char raw[LAT_COMM_LEN + 1] = "", clean[LAT_COMM_LEN + 1];

	memcpy(raw, comm, LAT_COMM_LEN);
	return table__set_text(table, column, sanitize__text(clean, sizeof(clean), raw));
}

static int add_wait(struct table *table, const struct worst *worst, uint64_t time_ns,
		    const struct names *names, struct symbols *symbols)
{
	const struct where_part *part = &worst->part;
	char call[CALLS_NAME], chain[CHAINS_TEXT], stack[STACKS_TEXT];
	int err = table__add_row(table, time_ns);

	if (err)
		return err;
	table__set_integer(table, WAITS_PID, part->tgid);
	table__set_integer(table, WAITS_TID, part->tid);
	table__set_integer(table, WAITS_NS, (int64_t)part_ns(part));
	table__set_integer(table, WAITS_EXPLAINED_NS, (int64_t)worst->explained_ns);
	err = set_comm(table, WAITS_COMM, part->comm);
	if (!err)
		err = table__set_text(table, WAITS_STATE, where_states[WHERE_STATE(part->what)]);
	if (!err)
		err = table__set_text(table, WAITS_CALL, calls__name(WHERE_CALL(part->what), call));
	if (!err)
		err = table__set_text(table, WAITS_CHAIN, chain__text(&worst->chain, names, chain));
	if (!err)
		err = table__set_text(table, WAITS_STACK, stacks__text(part, stack));
	if (!err && part->waker_tid && part->waker_source == WHY_NO_SOURCE) {
		table__set_integer(table, WAITS_WAKER_PID, part->waker_tgid);
		table__set_integer(table, WAITS_WAKER_TID, part->waker_tid);
		err = set_comm(table, WAITS_WAKER, part->waker_comm);
	}
	if (!err && symbols && part->stack_size > 0 &&
	    symbols__add(symbols, 0, (const uint64_t *)part->stack,
			 (size_t)part->stack_size / sizeof(part->stack[0])) == -ENOMEM)
		err = -ENOMEM;
	return err;
}

static int by_end(const void *left, const void *right)
{
	uint64_t a = ((const struct worst *)left)->part.end_ns;
	uint64_t b = ((const struct worst *)right)->part.end_ns;

	return a < b ? -1 : a > b;
}

static int add_causes(struct waits *waits, struct table *table, uint64_t time_ns)
{
	int err = 0;

	for (size_t i = 0; !err && i < waits->nr_causes; i++) {
		const struct cause *cause = &waits->causes[i];

		err = table__add_row(table, time_ns);
		if (err)
			break;
		table__set_integer(table, CAUSES_PID, cause->tgid);
		table__set_integer(table, CAUSES_NS, (int64_t)cause->ns);
		table__set_integer(table, CAUSES_EXPLAINED_NS, (int64_t)cause->explained_ns);
		table__set_integer(table, CAUSES_TIMES, (int64_t)cause->times);
		err = set_comm(table, CAUSES_COMM, cause->comm);
		if (!err)
			err = table__set_text(table, CAUSES_STATE, where_states[cause->state]);
		if (!err)
			err = table__set_text(table, CAUSES_CAUSE, cause->text);
	}
	return err;
}

int waits__add(struct waits *waits, struct table *const more[RUN_MORE],
	       const struct waits_interval *interval, const struct names *names,
	       struct symbols *symbols)
{
	const uint64_t opened_ns = interval->opened_ns, time_ns = interval->time_ns;
	int err = 0;

	qsort(waits->worst, waits->nr_worst, sizeof(*waits->worst), by_end);
	for (size_t i = 0; !err && i < waits->nr_worst; i++) {
		uint64_t end_ns = waits->worst[i].part.end_ns;

		end_ns = end_ns > opened_ns ? end_ns - opened_ns : 0;
		err = add_wait(more[RUN_WAITS], &waits->worst[i],
			       end_ns < time_ns ? end_ns : time_ns, names, symbols);
	}
	if (!err)
		err = add_causes(waits, more[RUN_CAUSES], time_ns);
	if (!err)
		err = stacks__put(waits->stacks, more[RUN_STACKS], time_ns, interval->over_ns,
				  symbols);
	waits->nr_worst = waits->nr_causes = 0;
	return err;
}
