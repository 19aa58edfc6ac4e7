// SPDX-License-Identifier: BSD-2-Clause
#include "view_bars.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "view_accounts.h"
#include "view_states.h"
#include "waits.h"

/* A sleep that took so much of the time that is shown may have begun before it, or go on. */
#define WHOLE_SHARE 0.95

const enum bar_part view_bars__part_of[WHERE_STATES] = {
	[WHERE_CPU] = BAR_CPU,	     [WHERE_READY] = BAR_READY,	  [WHERE_DISK] = BAR_DISK,
	[WHERE_MEMORY] = BAR_MEMORY, [WHERE_FAULT] = BAR_MEMORY,  [WHERE_LOCK] = BAR_LOCK,
	[WHERE_FUTEX] = BAR_FUTEX,   [WHERE_SOCKET] = BAR_SOCKET, [WHERE_WORK] = BAR_IDLE,
	[WHERE_TIMER] = BAR_IDLE,    [WHERE_CHILD] = BAR_IDLE,	  [WHERE_STOPPED] = BAR_IDLE,
	[WHERE_OTHER] = BAR_OTHER,   [WHERE_UNKNOWN] = BAR_OTHER,
};

/* It is no wait if the thread sleeps all the time: then it may just have no work. */
static bool may_be_idle(enum bar_part part)
{
	return part == BAR_FUTEX || part == BAR_SOCKET || part == BAR_OTHER;
}

static int64_t integer_in(struct table_value value)
{
	return value.known && value.kind == TABLE_INTEGER ? value.integer : 0;
}

static const char *text_in(struct table_value value)
{
	return value.known && value.kind == TABLE_TEXT ? value.text : "";
}

static int64_t integer_of(const struct table *table, size_t key, unsigned int column)
{
	return integer_in(table__key(table, key, column));
}

/* ---- whose ---- */

/* What a key of the parts belongs to. */
struct owner {
	int64_t id; /* of the process, or of the thread if the parts are of threads */
	struct bar *bar;
};

/* Rows of the table of parts, in order of their IDs. */
struct owners {
	struct owner *all;
	size_t nr;
	bool threads; /* parts are of threads */
	bool ids; /* ...or of processes; else of cgroups */
};

/* Every row of the parts has a process's ID, or none has one but those that ended. */
static void look_at_ids(struct owners *owners, const struct table *parts)
{
	for (size_t key = 0; key < table__keys(parts); key++) {
		owners->threads |= table__key(parts, key, PARTS_TID).known;
		owners->ids |= table__key(parts, key, PARTS_COMM).known;
	}
}

void view_bars__name(const struct table *parts, size_t key, enum lat_by by, uint64_t *id,
		     char name[BAR_NAME])
{
	const char *comm = accounts__text(parts, key, PARTS_COMM);

	*id = 0;
	if (by == LAT_BY_CGROUP) {
		snprintf(name, BAR_NAME, "%s", accounts__text(parts, key, PARTS_CGROUP));
		return;
	}
	*id = (uint64_t)integer_of(parts, key, by == LAT_BY_THREAD ? PARTS_TID : PARTS_PID);
	if (*id)
		snprintf(name, BAR_NAME, "%.*s (%" PRIu64 ")", LAT_COMM_LEN, comm, *id);
	else
		snprintf(name, BAR_NAME, "%.*s (ended)", LAT_COMM_LEN, comm);
}

static int by_id(const void *left, const void *right)
{
	int64_t a = ((const struct owner *)left)->id, b = ((const struct owner *)right)->id;

	return a < b ? -1 : a > b;
}

/* After bars__merge(). */
static int find_owners(struct owners *owners, const struct bars *bars, const struct table *parts,
		       enum lat_by by)
{
	char name[BAR_NAME];
	uint64_t id;

	owners->all = calloc(table__keys(parts) + 1, sizeof(*owners->all));
	if (!owners->all)
		return -ENOMEM;
	for (size_t key = 0; key < table__keys(parts); key++) {
		struct owner *owner = &owners->all[owners->nr++];

		view_bars__name(parts, key, by, &id, name);
		owner->id = integer_of(parts, key, owners->threads ? PARTS_TID : PARTS_PID);
		owner->bar = bars__find(bars, id, name);
	}
	qsort(owners->all, owners->nr, sizeof(*owners->all), by_id);
	return 0;
}

/* NULL: the rows do not say. */
static struct bar *owned_by(const struct owners *owners, int64_t id)
{
	const struct owner key = { .id = id }, *found;

	found = id ? bsearch(&key, owners->all, owners->nr, sizeof(key), by_id) : NULL;
	return found ? found->bar : NULL;
}

/* ---- bars ---- */

static void add_parts(struct bar *bar, const struct table *parts, size_t key)
{
	bar->life_ns = (uint64_t)accounts__sum(parts, key, PARTS_LIFE_NS);
	for (unsigned int state = 0; state < WHERE_STATES; state++) {
		uint64_t ns = (uint64_t)accounts__sum(parts, key, PARTS_STATES + state);

		bar->ns[view_bars__part_of[state]] += ns;
		bar->waits_ns[view_bars__part_of[state]] += where_is_wait(state) ? ns : 0;
	}
}

static int add_bars(struct bars *bars, const struct table *parts, enum lat_by by)
{
	char name[BAR_NAME];
	uint64_t id;

	for (size_t key = 0; key < table__keys(parts); key++) {
		struct bar *bar;

		view_bars__name(parts, key, by, &id, name);
		bar = bars__add(bars, id, name);
		if (!bar)
			return -ENOMEM;
		add_parts(bar, parts, key);
	}
	bars__merge(bars);
	return 0;
}

/* What is no wait that anybody would want to be shorter. */
static void take(struct bar *bar, enum bar_part part, double ns)
{
	uint64_t *waits_ns = &bar->waits_ns[part];

	*waits_ns -= (uint64_t)ns < *waits_ns ? (uint64_t)ns : *waits_ns;
}

/* Takes sleeps that lasted all the time from the waits. */
static void take_whole_sleeps(const struct owners *owners, const struct table *sleeps,
			      uint64_t length_ns)
{
	for (size_t key = 0; sleeps && key < table__keys(sleeps); key++) {
		unsigned int column = owners->threads ? PARTS_TID : PARTS_PID;
		struct bar *bar = owned_by(owners, integer_of(sleeps, key, column));
		int state = where_state(accounts__text(sleeps, key, SLEEPS_STATE));
		double ns = accounts__sum(sleeps, key, SLEEPS_NS), times;

		if (!bar || state < 0 || !may_be_idle(view_bars__part_of[state]))
			continue;
		times = accounts__sum(sleeps, key, SLEEPS_TIMES);
		if (times <= 0 || ns / times >= WHOLE_SHARE * (double)length_ns)
			take(bar, view_bars__part_of[state], ns);
	}
}

/* Nobody ended these waits: they took as long as the program asked for at most. */
static void take_timeout(struct bar *bar, const char *state, const char *cause, double ns)
{
	int which = where_state(state);

	if (bar && which >= 0 && may_be_idle(view_bars__part_of[which]) && !strcmp(cause, "timer"))
		take(bar, view_bars__part_of[which], ns);
}

static void offer_cause(struct bar *bar, const char *state, const char *cause, double ns)
{
	int which = where_state(state);

	if (!bar || !cause[0] || which < 0 || view_bars__part_of[which] != bar__largest(bar) ||
	    ns <= (double)bar->cause_ns)
		return;
	bar->cause_ns = (uint64_t)ns;
	snprintf(bar->cause, sizeof(bar->cause), "%s", cause);
}

typedef void use_cause(struct bar *bar, const char *state, const char *cause, double ns);

/* By thread, only the longest waits have an owner. */
static void each_cause(const struct owners *owners, const struct run_probe *probe, use_cause *use)
{
	const struct table *causes = probe->more[RUN_CAUSES];
	const struct table *waits = probe->more[RUN_WAITS];

	for (size_t key = 0; !owners->threads && causes && key < table__keys(causes); key++)
		use(owned_by(owners, integer_of(causes, key, CAUSES_PID)),
		    accounts__text(causes, key, CAUSES_STATE),
		    accounts__text(causes, key, CAUSES_CAUSE),
		    accounts__sum(causes, key, CAUSES_NS));
	for (size_t key = 0; owners->threads && waits && key < table__keys(waits); key++)
		use(owned_by(owners, integer_of(waits, key, WAITS_TID)),
		    accounts__text(waits, key, WAITS_STATE),
		    accounts__text(waits, key, WAITS_CHAIN), accounts__sum(waits, key, WAITS_NS));
}

int view_bars__make(struct bars *bars, const struct run_probe *probe, enum lat_by by,
		    uint64_t length_ns)
{
	struct owners owners = { 0 };
	int err;

	look_at_ids(&owners, probe->table);
	bars->splits = 1U << LAT_BY_CGROUP;
	if (owners.ids)
		bars->splits |= 1U << LAT_BY_PROCESS;
	if (owners.threads)
		bars->splits |= 1U << LAT_BY_THREAD;
	if (!(bars->splits & 1U << by))
		return 0;
	err = add_bars(bars, probe->table, by);
	if (!err)
		err = find_owners(&owners, bars, probe->table, by);
	if (!err) {
		take_whole_sleeps(&owners, probe->more[RUN_SLEEPS], length_ns);
		each_cause(&owners, probe, take_timeout);
		each_cause(&owners, probe, offer_cause);
	}
	free(owners.all);
	return err;
}

/* ---- one of them ---- */

/* Adds a row with the keys of this one and its sums. A wait is not summed with others. */
static int copy_key(struct table *to, const struct table *from, size_t key, bool waits)
{
	int err = table__add_row(to, 0);

	for (unsigned int i = 0; !err && i < table__columns(from); i++) {
		const struct table_aggregate *sum = table__aggregate(from, key, i);
		struct table_value value = table__key(from, key, i);

		if (value.known && value.kind == TABLE_TEXT)
			err = table__set_text(to, i, value.text);
		else if (value.kind == TABLE_INTEGER && sum->rows)
			table__set_integer(to, i, (int64_t)(waits ? sum->high : sum->sum));
		else if (value.kind == TABLE_INTEGER && value.known)
			table__set_integer(to, i, value.integer);
	}
	return err;
}

/* Rows whose column has the ID of an owner of the bar. */
static int copy_owned(struct table *to, const struct table *from, unsigned int column,
		      const struct owners *owners, bool waits)
{
	int err = 0, failed;

	if (!to || !from)
		return 0;
	for (size_t key = 0; !err && key < table__keys(from); key++)
		if (owned_by(owners, integer_of(from, key, column)))
			err = copy_key(to, from, key, waits);
	failed = table__fold(to);
	return err ? err : failed;
}

static int copy_parts(struct table *to, const struct table *from, enum lat_by by,
		      const struct bar *bar)
{
	char name[BAR_NAME];
	uint64_t id;
	int err = 0, failed;

	for (size_t key = 0; !err && key < table__keys(from); key++) {
		view_bars__name(from, key, by, &id, name);
		if (id == bar->id && !strcmp(name, bar->name))
			err = copy_key(to, from, key, false);
	}
	failed = table__fold(to);
	return err ? err : failed;
}

static int copy_more(struct run_probe *to, const struct run_probe *from,
		     const struct owners *owners)
{
	int err = copy_owned(to->more[RUN_SLEEPS], from->more[RUN_SLEEPS],
			     owners->threads ? PARTS_TID : PARTS_PID, owners, false);

	if (!err)
		err = copy_owned(to->more[RUN_WAITS], from->more[RUN_WAITS],
				 owners->threads ? WAITS_TID : WAITS_PID, owners, true);
	if (!err && !owners->threads)
		err = copy_owned(to->more[RUN_CAUSES], from->more[RUN_CAUSES], CAUSES_PID, owners,
				 false);
	return err;
}

int view_bars__select(struct run_probe *to, const struct run_probe *from, enum lat_by by,
		      const struct bar *bar)
{
	const struct bars one = { .bars = (struct bar *)bar, .nr = 1 };
	struct owners owners = { 0 };
	int err;

	look_at_ids(&owners, from->table);
	err = find_owners(&owners, &one, from->table, by);
	if (!err)
		err = copy_parts(to->table, from->table, by, bar);
	if (!err)
		err = copy_more(to, from, &owners);
	free(owners.all);
	return err;
}

/* ---- long waits ---- */

bool view_bars__wait(const struct run_probe *probe, size_t row, struct bar_wait *wait)
{
	const struct table *waits = probe->more[RUN_WAITS];
	int state;

	if (!waits || row >= table__rows(waits))
		return false;
	state = where_state(text_in(table__value(waits, row, WAITS_STATE)));
	*wait = (struct bar_wait){
		.time_ns = table__time_ns(waits, row),
		.ns = (uint64_t)integer_in(table__value(waits, row, WAITS_NS)),
		.part = state >= 0 ? view_bars__part_of[state] : BAR_OTHER,
		.pid = integer_in(table__value(waits, row, WAITS_PID)),
		.tid = integer_in(table__value(waits, row, WAITS_TID)),
		.comm = text_in(table__value(waits, row, WAITS_COMM)),
		.call = text_in(table__value(waits, row, WAITS_CALL)),
		.chain = text_in(table__value(waits, row, WAITS_CHAIN)),
	};
	return true;
}

/* "79.0 ms", as units__ns() prints it. */
static uint64_t read_ns(const char *text)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { " ns", 1 }, { " us", 1e3 }, { " ms", 1e6 }, { " s", 1e9 } };
	char *end;
	double value = strtod(text, &end);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(end, units[i].name) && value >= 0 && value < 1e9)
			return (uint64_t)(value * units[i].ns + 0.5);
	return 0;
}

/* See chain__text(). */
const char *view_bars__link(const char *chain, struct bar_link *link)
{
	const char *end = strstr(chain, " < ");
	int length = (int)(end ? end - chain : (ptrdiff_t)strlen(chain));
	char state[RUN_NAME] = "", *at;
	int which;

	if (!*chain)
		return NULL;
	snprintf(link->text, sizeof(link->text), "%.*s", length, chain);
	link->part = BAR_OTHER;
	link->ns = 0;
	at = strstr(link->text, "): ");
	if (at && sscanf(at + 3, "%15[a-z]", state) == 1) {
		which = where_state(state);
		link->part = which >= 0 ? view_bars__part_of[which] : BAR_OTHER;
		link->ns = read_ns(at + 3 + strlen(state));
	}
	return end ? end + 3 : chain + length;
}
