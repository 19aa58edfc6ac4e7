/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of cells in memory: of a table's interval, and the keys of its sketch. */
#ifndef LATSCOPE_CORE_CELLS_H
#define LATSCOPE_CORE_CELLS_H

#include "table.h"

struct cell {
	bool known;
	union {
		int64_t integer;
		double real;
		size_t text; /* offset in the texts, which move when they grow */
	};
};

/* Zeroed except columns and nr_columns: no rows. To remove all rows, set nr and texts_len to 0. */
struct cells {
	const struct table_column *columns;
	unsigned int nr_columns;
	struct cell *cells;
	uint64_t *times;
	size_t nr, room;
	char *texts;
	size_t texts_len, texts_room;
};

/* Resizes an array. 0, or -ENOMEM and the array is unchanged. */
int cells__grow(void *array, size_t size, size_t room);

/* Appends a row without values. 0 or -ENOMEM. */
int cells__add_row(struct cells *rows, uint64_t time_ns);

/* 0 or -ENOMEM. */
int cells__add_text(struct cells *rows, struct cell *cell, const char *text);

struct cell *cells__at(const struct cells *rows, size_t row, unsigned int column);
struct table_value cells__value(const struct cells *rows, size_t row, unsigned int column);
void cells__clear(struct cells *rows);

#endif
