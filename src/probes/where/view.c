// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <core/units.h>
#include <print/probe_view.h>
#include <print/text.h>
#include <print/wrap.h>

#include "columns.h"
#include "view_bars.h"
#include "view_states.h"
#include "waits.h"

#define CALLS_SHOWN 3 /* of a part */
#define WAITS_SHOWN 5
#define SHOWN_SHARE 0.0005 /* of life: a smaller part is not shown as a line */
#define NAME_COLUMNS 22 /* of a part */

/* As a user reads it; enum where_state. */
static const char *const labels[WHERE_STATES] = {
	[WHERE_CPU] = "on a CPU",
	[WHERE_READY] = "waited for a CPU",
	[WHERE_DISK] = "waited for a disk",
	[WHERE_MEMORY] = "waited for memory",
	[WHERE_FAULT] = "waited in page faults",
	[WHERE_LOCK] = "waited for kernel lock",
	[WHERE_FUTEX] = "waited for a futex",
	[WHERE_SOCKET] = "socket or pipe",
	[WHERE_WORK] = "waited for work",
	[WHERE_TIMER] = "timer",
	[WHERE_CHILD] = "waited for a child",
	[WHERE_STOPPED] = "stopped",
	[WHERE_OTHER] = "other",
	[WHERE_UNKNOWN] = "unknown",
};

/* What is no wait that anyone would want to be shorter. */
static bool is_idle(unsigned int state)
{
	return state == WHERE_WORK || state == WHERE_TIMER || state == WHERE_CHILD ||
	       state == WHERE_STOPPED;
}

struct account {
	const char *comm;
	const char *cgroup;
	int64_t pid, tid; /* 0: several, or unknown */
	double life_ns, ns[WHERE_STATES], user_ns, system_ns, run_ns, queue_ns;
	double busy_ns; /* all but idle parts: what rows are ordered by */
	uint64_t ended;
};

static double sum_of(const struct table *table, size_t key, unsigned int column)
{
	const struct table_aggregate *aggregate = table__aggregate(table, key, column);

	return aggregate ? aggregate->sum : 0;
}

static void add(struct account *to, const struct table *table, size_t key)
{
	for (unsigned int i = 0; i < WHERE_STATES; i++) {
		double ns = sum_of(table, key, PARTS_STATES + i);

		to->ns[i] += ns;
		to->busy_ns += is_idle(i) ? 0 : ns;
	}
	to->life_ns += sum_of(table, key, PARTS_LIFE_NS);
	to->user_ns += sum_of(table, key, PARTS_USER_NS);
	to->system_ns += sum_of(table, key, PARTS_SYSTEM_NS);
	to->run_ns += sum_of(table, key, PARTS_RUN_NS);
	to->queue_ns += sum_of(table, key, PARTS_QUEUE_NS);
	to->ended += (uint64_t)sum_of(table, key, PARTS_ENDED);
}

/* ---- the parts ---- */

static double share(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

/*
 * User and system time are sampled by the kernel's ticks: the interval is that of a share of so
 * many ticks, 95 %.
 */
static void say_modes(struct wrap *wrap, const struct account *account)
{
	double ticked = account->user_ns + account->system_ns, user, half;
	char text[UNITS_TEXT], error[UNITS_TEXT];

	if (ticked <= 0)
		return;
	user = share(account->user_ns, ticked);
	half = 1.96 * sqrt(user * (1 - user) / (ticked / 4e6)) * account->ns[WHERE_CPU];
	wrap__add(wrap, "user %s", units__ns(text, user * account->ns[WHERE_CPU]));
	wrap__add(wrap, ", system %s +- %s", units__ns(text, (1 - user) * account->ns[WHERE_CPU]),
		  units__ns(error, half));
}

struct call {
	const char *name;
	double ns;
};

static int longest_first(const void *left, const void *right)
{
	double a = ((const struct call *)left)->ns, b = ((const struct call *)right)->ns;

	return a < b ? 1 : a > b ? -1 : 0;
}

/* The system calls of a part, of all processes in the table: "fdatasync 40 s, read 1.2 s". */
static void say_calls(struct wrap *wrap, const struct table *sleeps, unsigned int state)
{
	size_t nr = 0, keys = table__keys(sleeps);
	struct call *calls = calloc(keys + 1, sizeof(*calls));
	char text[UNITS_TEXT];

	for (size_t key = 0; calls && key < keys; key++) {
		const char *name = table__key(sleeps, key, SLEEPS_CALL).text;
		size_t at = 0;

		if (!name || !name[0] ||
		    strcmp(table__key(sleeps, key, SLEEPS_STATE).text, where_states[state]))
			continue;
		while (at < nr && strcmp(calls[at].name, name))
			at++;
		calls[at].name = name;
		calls[at].ns += sum_of(sleeps, key, SLEEPS_NS);
		nr += at == nr;
	}
	if (nr)
		qsort(calls, nr, sizeof(*calls), longest_first);
	for (size_t i = 0; i < nr && i < CALLS_SHOWN; i++)
		wrap__add(wrap, "%s%s %s", i ? ", " : "", calls[i].name,
			  units__ns(text, calls[i].ns));
	free(calls);
}

static void print_part(FILE *out, const struct account *account, const struct table *sleeps,
		       unsigned int state)
{
	double part = share(account->ns[state], account->life_ns);
	struct wrap wrap = { 0 };
	char time[UNITS_TEXT];

	if (part < SHOWN_SHARE && state != WHERE_CPU)
		return;
	if (state == WHERE_CPU)
		say_modes(&wrap, account);
	else if (sleeps)
		say_calls(&wrap, sleeps, state);
	fprintf(out, "  %-*s %9s %6.1f %%%s%s\n", NAME_COLUMNS, labels[state],
		units__ns(time, account->ns[state]), 100 * part, wrap.len ? "  " : "", wrap.text);
}

static void print_parts(FILE *out, const struct account *account, const struct table *sleeps)
{
	double small = 0;
	char time[UNITS_TEXT];

	for (unsigned int state = 0; state < WHERE_STATES; state++) {
		print_part(out, account, sleeps, state);
		if (state != WHERE_CPU && share(account->ns[state], account->life_ns) < SHOWN_SHARE)
			small += account->ns[state];
	}
	if (small > 0)
		fprintf(out, "  %-*s %9s %6.1f %%\n", NAME_COLUMNS, "other parts",
			units__ns(time, small), 100 * share(small, account->life_ns));
}

/* ---- processes ---- */

static const struct {
	const char *title;
	uint32_t states; /* mask of 1 << enum where_state */
} shown[] = {
	{ "CPU", 1U << WHERE_CPU },
	{ "ready", 1U << WHERE_READY },
	{ "disk", 1U << WHERE_DISK },
	{ "memory", 1U << WHERE_MEMORY | 1U << WHERE_FAULT },
	{ "lock", 1U << WHERE_LOCK },
	{ "futex", 1U << WHERE_FUTEX },
	{ "socket", 1U << WHERE_SOCKET },
	{ "idle", 1U << WHERE_WORK | 1U << WHERE_TIMER | 1U << WHERE_CHILD | 1U << WHERE_STOPPED },
	{ "other", 1U << WHERE_OTHER | 1U << WHERE_UNKNOWN },
};

static void print_row(FILE *out, const struct account *row)
{
	char name[RUN_NAME], life[UNITS_TEXT];

	if (!row->comm)
		snprintf(name, sizeof(name), "%.60s", row->cgroup);
	else if (row->pid)
		snprintf(name, sizeof(name), "%s (%" PRId64 ")", row->comm,
			 row->tid ? row->tid : row->pid);
	else
		snprintf(name, sizeof(name), "%s (ended)", row->comm);
	text__key_name(out, name);
	fprintf(out, " %7s", units__ns(life, row->life_ns));
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		double ns = 0;

		for (unsigned int state = 0; state < WHERE_STATES; state++)
			ns += shown[i].states & 1U << state ? row->ns[state] : 0;
		fprintf(out, " %5.1f", 100 * share(ns, row->life_ns));
	}
	fputc('\n', out);
}

static int busiest_first(const void *left, const void *right)
{
	double a = ((const struct account *)left)->busy_ns;
	double b = ((const struct account *)right)->busy_ns;

	return a < b ? 1 : a > b ? -1 : 0;
}

static int print_processes(FILE *out, const struct table *table, unsigned int top)
{
	size_t keys = table__keys(table);
	struct account *rows = calloc(keys + 1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	for (size_t key = 0; key < keys; key++) {
		const struct table_value pid = table__key(table, key, PARTS_PID);
		const struct table_value tid = table__key(table, key, PARTS_TID);
		const struct table_value comm = table__key(table, key, PARTS_COMM);

		rows[key].comm = comm.known ? comm.text : NULL;
		rows[key].cgroup = table__key(table, key, PARTS_CGROUP).text;
		rows[key].pid = pid.known ? pid.integer : 0;
		rows[key].tid = tid.known ? tid.integer : 0;
		add(&rows[key], table, key);
	}
	qsort(rows, keys, sizeof(*rows), busiest_first);
	fprintf(out, "\n%-*s %7s", TEXT_NAME_COLUMNS, "% of life", "life");
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		fprintf(out, " %5.5s", shown[i].title);
	fputc('\n', out);
	for (size_t i = 0; i < keys && (!top || i < top); i++)
		print_row(out, &rows[i]);
	if (top && keys > top)
		fprintf(out, "%zu more with less\n", keys - top);
	free(rows);
	return 0;
}

/* ---- the longest waits ---- */

struct wait {
	size_t key;
	double ns;
};

static int slowest_first(const void *left, const void *right)
{
	double a = ((const struct wait *)left)->ns, b = ((const struct wait *)right)->ns;

	return a < b ? 1 : a > b ? -1 : 0;
}

static void print_wait(FILE *out, const struct table *table, const struct wait *wait)
{
	const char *call = table__key(table, wait->key, WAITS_CALL).text;
	const char *chain = table__key(table, wait->key, WAITS_CHAIN).text;
	char ns[UNITS_TEXT];

	wrap__line(out, 2, 4, "%s: %s (%" PRId64 ") waited: %s%s%s%s%s", units__ns(ns, wait->ns),
		   table__key(table, wait->key, WAITS_COMM).text,
		   table__key(table, wait->key, WAITS_TID).integer,
		   table__key(table, wait->key, WAITS_STATE).text, call && call[0] ? " in " : "",
		   call ? call : "", chain && chain[0] ? " < " : "", chain ? chain : "");
}

static int print_waits(FILE *out, const struct table *table)
{
	size_t keys = table ? table__keys(table) : 0;
	struct wait *waits = calloc(keys + 1, sizeof(*waits));

	if (!waits)
		return -ENOMEM;
	for (size_t key = 0; key < keys; key++)
		waits[key] = (struct wait){ key, table__aggregate(table, key, WAITS_NS)->high };
	qsort(waits, keys, sizeof(*waits), slowest_first);
	if (keys)
		fprintf(out,
			"\nlongest waits, and what ended them (A < B: B ended the wait of A)\n");
	for (size_t i = 0; i < keys && i < WAITS_SHOWN; i++)
		print_wait(out, table, &waits[i]);
	free(waits);
	return 0;
}

/* ---- an interval ---- */

/* A line: how long the threads lived, and the parts that are not idle, as shares. */
static int print_interval(FILE *out, const struct run_probe *probe,
			  const struct run_interval *interval, unsigned int top)
{
	const struct table *table = probe->table;
	double life = 0, ns[WHERE_STATES] = { 0 };
	struct wrap wrap = { 0 };
	char text[UNITS_TEXT];

	(void)top;
	for (size_t row = 0; row < table__rows(table); row++) {
		life += (double)table__value(table, row, PARTS_LIFE_NS).integer;
		for (unsigned int i = 0; i < WHERE_STATES; i++)
			ns[i] += (double)table__value(table, row, PARTS_STATES + i).integer;
	}
	wrap__add(&wrap, "%.1f s: where: %s of threads:", (double)interval->end_ns / 1e9,
		  units__ns(text, life));
	for (unsigned int i = 0; i < WHERE_STATES; i++)
		if (share(ns[i], life) >= SHOWN_SHARE)
			wrap__add(&wrap, " %s %.1f %%", where_states[i], 100 * share(ns[i], life));
	wrap__print(&wrap, out, 0, 2);
	return 0;
}

/* ---- all ---- */

static bool knows(const struct run_probe *probe)
{
	return probe->table && table__columns(probe->table) == PARTS_COLUMNS &&
	       !strcmp(table__column(probe->table, PARTS_STATES)->name, "cpu_ns");
}

static void print_check(FILE *out, const struct account *all, const struct run_probe *probe)
{
	const struct run_checked *time = &probe->check.time;
	char ran[UNITS_TEXT], waited[UNITS_TEXT];

	if (time->known)
		wrap__line(out, 0, 2,
			   "check: life by the kernel's stamps minus the parts: %" PRId64 " ns",
			   (int64_t)(time->kernel_low - time->ours_low));
	wrap__line(out, 0, 2,
		   "checked against /proc/PID/schedstat: on a CPU %s, waited for a CPU "
		   "%s",
		   units__ns(ran, all->run_ns), units__ns(waited, all->queue_ns));
}

static int print(FILE *out, const struct run *run, const struct run_probe *probe, unsigned int top)
{
	struct account all = { 0 };
	char life[UNITS_TEXT];
	int err = 0;

	for (size_t key = 0; key < table__keys(probe->table); key++)
		add(&all, probe->table, key);
	wrap__line(out, 0, 2, "where: threads of %s lived %s; the parts below are all of it",
		   run->filter ? run->filter : "the machine", units__ns(life, all.life_ns));
	print_parts(out, &all, probe->more[RUN_SLEEPS]);
	if (table__keys(probe->table) > 1)
		err = print_processes(out, probe->table, top);
	if (!err)
		err = print_waits(out, probe->more[RUN_WAITS]);
	print_check(out, &all, probe);
	return err;
}

const struct probe_view where_view = {
	.knows = knows,
	.print = print,
	.prints_recordings = true,
	.print_interval = print_interval,
	.bars = view_bars__make,
	.select = view_bars__select,
	.wait = view_bars__wait,
	.link = view_bars__link,
};
