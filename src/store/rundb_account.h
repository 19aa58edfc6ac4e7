/* SPDX-License-Identifier: BSD-2-Clause */
/* Table `kernel_check` of run.db: the probes' sums and the kernel's own. */
#ifndef LATSCOPE_STORE_RUNDB_ACCOUNT_H
#define LATSCOPE_STORE_RUNDB_ACCOUNT_H

#include <sqlite3.h>

#include <core/run.h>

#define RUNDB_ACCOUNT_SCHEMA                                                             \
	"CREATE TABLE kernel_check(probe INTEGER, sum TEXT, source TEXT, why TEXT,"      \
	" ours_low INTEGER, ours_high INTEGER, kernel_low INTEGER, kernel_high INTEGER," \
	" tolerance INTEGER, PRIMARY KEY(probe, sum)) WITHOUT ROWID;"

/* All return 0 or -errno. */
int rundb_account__write(sqlite3 *db, int64_t probe, const struct run_check *check);
int rundb_account__read(sqlite3 *db, int64_t probe, struct run_check *check);

#endif
