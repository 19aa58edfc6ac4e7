// SPDX-License-Identifier: BSD-2-Clause
#include "rundb_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <core/sanitize.h>

int rundb_row__number(sqlite3_stmt *row, int column, uint64_t *value)
{
	int64_t number = sqlite3_column_int64(row, column);

	if (sqlite3_column_type(row, column) != SQLITE_INTEGER || number < 0)
		return -EUCLEAN;
	*value = (uint64_t)number;
	return 0;
}

void rundb_row__text(sqlite3_stmt *row, int column, char *text, size_t size)
{
	const char *value = (const char *)sqlite3_column_text(row, column);

	sanitize__text(text, size, value ? value : "");
}

int rundb_row__owned(sqlite3_stmt *row, int column, char **text)
{
	const char *value = (const char *)sqlite3_column_text(row, column);

	if (!value)
		return -EUCLEAN;
	free(*text);
	*text = strdup(value);
	return *text ? 0 : -ENOMEM;
}

int rundb_row__flag(sqlite3_stmt *row, int column, bool *flag)
{
	uint64_t value = 0;
	int err;

	err = rundb_row__number(row, column, &value);
	*flag = value;
	return err;
}
