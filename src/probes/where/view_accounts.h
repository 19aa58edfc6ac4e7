/* SPDX-License-Identifier: BSD-2-Clause */
/* The accounts of processes, threads or cgroups over a whole window, as rows that a view shows. */
#ifndef LATSCOPE_PROBES_WHERE_VIEW_ACCOUNTS_H
#define LATSCOPE_PROBES_WHERE_VIEW_ACCOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <core/run.h>
#include <core/units.h>

#include "types.h"

#define ACCOUNT_NAME (RUN_NAME + 32)

/* Times in ns. */
struct where_account {
	char name[ACCOUNT_NAME]; /* "mysqld (1234)", "cc1 (20 tasks)", "/system.slice" */
	const char *comm; /* NULL: of a cgroup */
	const char *cgroup; /* NULL: unknown */
	int64_t pid, tid; /* 0: several, or unknown */
	size_t place; /* among the rows before they were sorted */
	uint64_t processes; /* whose IDs are known */
	uint64_t threads, ended; /* that lived at the end; that ended in the window */
	double life_ns, ns[WHERE_STATES];
	double user_ns, system_ns, run_ns, queue_ns;
	double io_ns, kernel_io_ns; /* of those for which the kernel keeps it, too */
	/* Waits for what was short: those of futexes and sockets only as far as chains tell. */
	double waited_ns[WHERE_STATES], all_waited_ns;
};

/* A key of the table of parts. */
struct account_key {
	int64_t pid; /* 0: unknown */
	size_t key;
};

struct accounts {
	struct where_account *rows; /* those that waited longest first */
	size_t nr;
	struct where_account all;
	size_t *row_of; /* by key of the table */
	struct account_key *keys; /* of the table, in order of their IDs */
	size_t nr_keys;
};

/*
 * Reads the tables of a run. `by_name`: processes of one name and cgroup are one row. 0 or -ENOMEM;
 * the caller must call accounts__free() in either case.
 */
int accounts__read(struct accounts *accounts, const struct run_probe *probe, bool by_name);
void accounts__free(struct accounts *accounts);

/* The row of a process, or of a thread of this name; NULL: none. */
struct where_account *accounts__find(const struct accounts *accounts, struct table_value pid,
				     const char *comm);

/* Is it a row of the same process, and of the same name? With --by thread there are several. */
bool accounts__are_twins(const struct where_account *one, const struct where_account *other);

/* part / whole; 0 if that is 0. */
double accounts__share(double part, double whole);

/* "57 %", "0.9 %", "0.04 %": of a share. Returns out. */
const char *accounts__percent(char out[UNITS_TEXT], double share);

/* Of a key of a table: the sum of a number; a text, which is empty if it is unknown. */
double accounts__sum(const struct table *table, size_t key, unsigned int column);
const char *accounts__text(const struct table *table, size_t key, unsigned int column);

#endif
