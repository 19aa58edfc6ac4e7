/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Of what was open when the window closed the sum of the ages, which recordings of earlier
 * versions lack.
 */
#ifndef LATSCOPE_BASE_RUNDB_CHECK_H
#define LATSCOPE_BASE_RUNDB_CHECK_H

#include <sqlite3.h>

#include "run.h"

/* All return 0 or -errno. */
int rundb_check__write(sqlite3 *db, int64_t module, const struct run_module *from);
int rundb_check__read(sqlite3 *db, int64_t module, struct run_module *to);

#endif
