/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the columns of a row of run.db with their expected types. 0, -EUCLEAN: another type, or
 * -ENOMEM.
 */
#ifndef LATSCOPE_STORE_RUNDB_ROW_H
#define LATSCOPE_STORE_RUNDB_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

/* In an undamaged file, numbers are present and not negative. */
int rundb_row__number(sqlite3_stmt *row, int column, uint64_t *value);

/* A text that is null or too long is shortened, not refused. */
void rundb_row__text(sqlite3_stmt *row, int column, char *text, size_t size);

/* Replaces *text by an allocated copy, which the caller must free. */
int rundb_row__owned(sqlite3_stmt *row, int column, char **text);

int rundb_row__flag(sqlite3_stmt *row, int column, bool *flag);

#endif
