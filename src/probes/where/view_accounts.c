// SPDX-License-Identifier: BSD-2-Clause
#include "view_accounts.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "view_states.h"
#include "waits.h"

double accounts__share(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

const char *accounts__percent(char out[UNITS_TEXT], double share)
{
	double percent = 100 * share;

	snprintf(out, UNITS_TEXT, "%.*f %%",
		 percent >= 9.95    ? 0
		 : percent >= 0.095 ? 1
				    : 2,
		 percent);
	return out;
}

double accounts__sum(const struct table *table, size_t key, unsigned int column)
{
	const struct table_aggregate *aggregate = table__aggregate(table, key, column);

	return aggregate ? aggregate->sum : 0;
}

const char *accounts__text(const struct table *table, size_t key, unsigned int column)
{
	const char *text = table__key(table, key, column).text;

	return text ? text : "";
}

static void add_waited(struct where_account *to, unsigned int state, double ns)
{
	to->waited_ns[state] += ns;
	to->all_waited_ns += ns;
}

typedef const struct table_aggregate *aggregate_of(const struct table *table, size_t key,
						   unsigned int column);

static const struct table_aggregate *of_others(const struct table *table, size_t key,
					       unsigned int column)
{
	(void)key;
	return table__others(table, column);
}

static void add(struct where_account *to, const struct table *table, size_t key, aggregate_of *of)
{
	for (unsigned int i = 0; i < WHERE_STATES; i++) {
		double ns = of(table, key, PARTS_STATES + i)->sum;

		to->ns[i] += ns;
		if (where_is_short(i))
			add_waited(to, i, ns);
	}
	to->life_ns += of(table, key, PARTS_LIFE_NS)->sum;
	to->user_ns += of(table, key, PARTS_USER_NS)->sum;
	to->system_ns += of(table, key, PARTS_SYSTEM_NS)->sum;
	to->run_ns += of(table, key, PARTS_RUN_NS)->sum;
	to->queue_ns += of(table, key, PARTS_QUEUE_NS)->sum;
	if (of(table, key, PARTS_IO_NS)->rows == of(table, key, PARTS_LIFE_NS)->rows) {
		to->kernel_io_ns += of(table, key, PARTS_IO_NS)->sum;
		to->io_ns += of(table, key, PARTS_STATES + WHERE_DISK)->sum;
	}
	to->threads += (uint64_t)of(table, key, PARTS_THREADS)->last;
	to->ended += (uint64_t)of(table, key, PARTS_ENDED)->sum;
}

static struct where_account row_of(const struct table *table, size_t key)
{
	const struct table_value pid = table__key(table, key, PARTS_PID);
	const struct table_value tid = table__key(table, key, PARTS_TID);
	const struct table_value comm = table__key(table, key, PARTS_COMM);
	const struct table_value cgroup = table__key(table, key, PARTS_CGROUP);

	return (struct where_account){
		.comm = comm.known ? comm.text : NULL,
		.cgroup = cgroup.known ? cgroup.text : NULL,
		.pid = pid.known ? pid.integer : 0,
		.tid = tid.known ? tid.integer : 0,
	};
}

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static struct where_account *find(struct accounts *accounts, const struct where_account *wanted,
				  bool by_name)
{
	for (size_t i = 0; by_name && i < accounts->nr; i++)
		if (same(accounts->rows[i].comm, wanted->comm) &&
		    same(accounts->rows[i].cgroup, wanted->cgroup))
			return &accounts->rows[i];
	accounts->rows[accounts->nr] = *wanted;
	return &accounts->rows[accounts->nr++];
}

static void name_row(struct where_account *row)
{
	if (!row->comm)
		snprintf(row->name, sizeof(row->name), "%.80s", row->cgroup ? row->cgroup : "?");
	else if (row->processes > 1)
		snprintf(row->name, sizeof(row->name), "%s (%" PRIu64 " tasks)", row->comm,
			 row->processes);
	else if (row->pid)
		snprintf(row->name, sizeof(row->name), "%s (%" PRId64 ")", row->comm,
			 row->tid ? row->tid : row->pid);
	else
		snprintf(row->name, sizeof(row->name), "%s (ended)", row->comm);
}

static int by_pid(const void *left, const void *right)
{
	const struct account_key *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->key < b->key ? -1 : a->key > b->key;
}

/* The first key of this process, or where it would be. */
static size_t first_of(const struct accounts *accounts, int64_t pid)
{
	size_t low = 0, high = accounts->nr_keys;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (accounts->keys[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct where_account *accounts__find(const struct accounts *accounts, struct table_value pid,
				     const char *comm)
{
	const int64_t ids[] = { pid.known ? pid.integer : 0, 0 }; /* then those without an ID */
	struct where_account *found = NULL;

	for (unsigned int i = 0; i < 2 && !found; i++)
		for (size_t at = first_of(accounts, ids[i]);
		     at < accounts->nr_keys && accounts->keys[at].pid == ids[i]; at++) {
			struct where_account *row =
				&accounts->rows[accounts->row_of[accounts->keys[at].key]];

			if (same(row->comm, comm))
				return row;
			if (ids[i] && !found && !row->tid)
				found = row;
		}
	return found;
}

bool accounts__are_twins(const struct where_account *one, const struct where_account *other)
{
	return one->tid && other->tid && one->pid == other->pid && same(one->comm, other->comm);
}

/* What chains tell of futexes and sockets. */
static void add_causes(struct accounts *accounts, const struct table *causes)
{
	for (size_t key = 0; causes && key < table__keys(causes); key++) {
		double ns = accounts__sum(causes, key, CAUSES_EXPLAINED_NS);
		int state = where_state(accounts__text(causes, key, CAUSES_STATE));
		struct where_account *row;

		if (!ns || (state != WHERE_FUTEX && state != WHERE_SOCKET))
			continue;
		row = accounts__find(accounts, table__key(causes, key, CAUSES_PID),
				     accounts__text(causes, key, CAUSES_COMM));
		add_waited(&accounts->all, (unsigned int)state, ns);
		if (row)
			add_waited(row, (unsigned int)state, ns);
	}
}

/* A kernel thread that sleeps outside of a system call waits for the kernel: for nobody's work. */
static void drop_kernel_sleeps(struct accounts *accounts, const struct table *sleeps)
{
	for (size_t key = 0; sleeps && key < table__keys(sleeps); key++) {
		double ns = accounts__sum(sleeps, key, SLEEPS_NS);
		struct where_account *row;

		if (accounts__text(sleeps, key, SLEEPS_CALL)[0] ||
		    where_state(accounts__text(sleeps, key, SLEEPS_STATE)) != WHERE_OTHER)
			continue;
		row = accounts__find(accounts, table__key(sleeps, key, PARTS_PID),
				     accounts__text(sleeps, key, PARTS_COMM));
		add_waited(&accounts->all, WHERE_OTHER,
			   -fmin(ns, accounts->all.waited_ns[WHERE_OTHER]));
		if (row)
			add_waited(row, WHERE_OTHER, -fmin(ns, row->waited_ns[WHERE_OTHER]));
	}
}

/* Then those with most time that may have been a wait. */
static int longest_first(const void *left, const void *right)
{
	const struct where_account *a = left, *b = right;
	double other_a = a->ns[WHERE_FUTEX] + a->ns[WHERE_SOCKET];
	double other_b = b->ns[WHERE_FUTEX] + b->ns[WHERE_SOCKET];

	if (a->all_waited_ns != b->all_waited_ns)
		return a->all_waited_ns < b->all_waited_ns ? 1 : -1;
	return other_a < other_b ? 1 : other_a > other_b ? -1 : 0;
}

/* 0 or -ENOMEM */
static int sort(struct accounts *accounts)
{
	size_t *sorted = calloc(accounts->nr + 1, sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < accounts->nr; i++)
		accounts->rows[i].place = i;
	qsort(accounts->rows, accounts->nr, sizeof(*accounts->rows), longest_first);
	for (size_t i = 0; i < accounts->nr; i++)
		sorted[accounts->rows[i].place] = i;
	for (size_t key = 0; key < accounts->nr_keys; key++)
		accounts->row_of[key] = sorted[accounts->row_of[key]];
	free(sorted);
	return 0;
}

int accounts__read(struct accounts *accounts, const struct run_probe *probe, bool by_name)
{
	const struct table *table = probe->table;
	size_t keys = table__keys(table);

	*accounts = (struct accounts){ .rows = calloc(keys + 1, sizeof(*accounts->rows)),
				       .row_of = calloc(keys + 1, sizeof(*accounts->row_of)),
				       .keys = calloc(keys + 1, sizeof(*accounts->keys)) };
	if (!accounts->rows || !accounts->row_of || !accounts->keys)
		return -ENOMEM;
	for (size_t key = 0; key < keys; key++) {
		const struct where_account wanted = row_of(table, key);
		struct where_account *row = find(accounts, &wanted, by_name);

		if (row->pid != wanted.pid && wanted.pid)
			row->pid = wanted.pid;
		row->processes += wanted.pid && !wanted.tid;
		add(row, table, key, table__aggregate);
		add(&accounts->all, table, key, table__aggregate);
		accounts->all.processes += wanted.pid && !wanted.tid;
		accounts->row_of[key] = (size_t)(row - accounts->rows);
		accounts->keys[key] = (struct account_key){ wanted.pid, key };
	}
	if (table__others_keys(table))
		add(&accounts->all, table, 0, of_others);
	qsort(accounts->keys, keys, sizeof(*accounts->keys), by_pid);
	accounts->nr_keys = keys;
	add_causes(accounts, probe->more[RUN_CAUSES]);
	drop_kernel_sleeps(accounts, probe->more[RUN_SLEEPS]);
	for (size_t i = 0; i < accounts->nr; i++)
		name_row(&accounts->rows[i]);
	return sort(accounts);
}

void accounts__free(struct accounts *accounts)
{
	free(accounts->rows);
	free(accounts->row_of);
	free(accounts->keys);
	*accounts = (struct accounts){ 0 };
}
