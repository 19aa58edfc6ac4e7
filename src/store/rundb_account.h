/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What run.db keeps of the kernel's own account: table `kernel_check`, and of what was open when
 * the window closed the sum of the ages. Recordings of earlier versions have neither.
 */
#ifndef LATSCOPE_STORE_RUNDB_ACCOUNT_H
#define LATSCOPE_STORE_RUNDB_ACCOUNT_H

#include <sqlite3.h>

#include <core/run.h>

#define RUNDB_ACCOUNT_SCHEMA                                                             \
	"CREATE TABLE kernel_check(module INTEGER, sum TEXT, source TEXT, why TEXT,"     \
	" ours_low INTEGER, ours_high INTEGER, kernel_low INTEGER, kernel_high INTEGER," \
	" tolerance INTEGER, PRIMARY KEY(module, sum)) WITHOUT ROWID;"

/* All return 0 or -errno. */
int rundb_account__write(sqlite3 *db, int64_t probe, const struct run_probe *from);
int rundb_account__read(sqlite3 *db, int64_t probe, struct run_probe *to);

#endif
