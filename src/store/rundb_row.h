/* SPDX-License-Identifier: BSD-2-Clause */
/* Columns of a row of run.db, as what they should be. 0, -EUCLEAN: they are not, or -ENOMEM. */
#ifndef LATSCOPE_STORE_RUNDB_ROW_H
#define LATSCOPE_STORE_RUNDB_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

/* Numbers of a file that is not damaged are there and not negative. */
int rundb_row__number(sqlite3_stmt *row, int column, uint64_t *value);

/* What is null, or longer than we write, is cut rather than refused. */
void rundb_row__text(sqlite3_stmt *row, int column, char *text, size_t size);

/* Into memory that the caller owns, in place of what was there. */
int rundb_row__owned(sqlite3_stmt *row, int column, char **text);

int rundb_row__flag(sqlite3_stmt *row, int column, bool *flag);

#endif
