// SPDX-License-Identifier: BSD-2-Clause
#include "cells.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int cells__grow(void *array, size_t size, size_t room)
{
	void **at = array, *grown = reallocarray(*at, room, size);

	if (!grown)
		return -ENOMEM;
	*at = grown;
	return 0;
}

int cells__add_row(struct cells *rows, uint64_t time_ns)
{
	size_t row_size = rows->nr_columns * sizeof(*rows->cells);
	size_t room = rows->room ? 2 * rows->room : 64;

	if (rows->nr == rows->room) {
		if (cells__grow(&rows->cells, row_size, room) ||
		    cells__grow(&rows->times, sizeof(*rows->times), room))
			return -ENOMEM;
		rows->room = room;
	}
	memset(&rows->cells[rows->nr * rows->nr_columns], 0, row_size);
	rows->times[rows->nr++] = time_ns;
	return 0;
}

int cells__add_text(struct cells *rows, struct cell *cell, const char *text)
{
	size_t size = strlen(text) + 1, room = rows->texts_room ? rows->texts_room : 1024;

	while (room - rows->texts_len < size)
		room *= 2;
	if (room != rows->texts_room) {
		if (cells__grow(&rows->texts, 1, room))
			return -ENOMEM;
		rows->texts_room = room;
	}
	cell->text = rows->texts_len;
	cell->known = true;
	memcpy(rows->texts + rows->texts_len, text, size);
	rows->texts_len += size;
	return 0;
}

struct cell *cells__at(const struct cells *rows, size_t row, unsigned int column)
{
	assert(row < rows->nr && column < rows->nr_columns);
	return &rows->cells[row * rows->nr_columns + column];
}

struct table_value cells__value(const struct cells *rows, size_t row, unsigned int column)
{
	const struct cell *cell = cells__at(rows, row, column);
	struct table_value value = { .known = cell->known, .kind = rows->columns[column].kind };

	if (value.kind == TABLE_INTEGER)
		value.integer = cell->integer;
	else if (value.kind == TABLE_REAL)
		value.real = cell->real;
	else if (cell->known)
		value.text = rows->texts + cell->text;
	return value;
}

void cells__clear(struct cells *rows)
{
	free(rows->cells);
	free(rows->times);
	free(rows->texts);
}
