// SPDX-License-Identifier: BSD-2-Clause
#include "table.h"

#include <assert.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_KEY SIZE_MAX
#define HEADS 1024 /* chains of keys: with TABLE_KEYS, four to a chain */

struct cell {
	bool known;
	union {
		int64_t integer;
		double real;
		size_t text; /* where it begins among the texts: these move when they grow */
	};
};

/* Rows of one length and the texts that stand in them. */
struct rows {
	struct cell *cells;
	uint64_t *times;
	size_t nr, room;
	char *texts;
	size_t texts_len, texts_room;
};

struct table {
	struct table_column columns[TABLE_COLUMNS];
	unsigned int nr_columns;
	struct rows rows; /* of the interval in flight */
	struct rows keys; /* of the digest: a row a key, of which only the key columns are set */
	struct table_figure *figures; /* nr_columns of each key */
	size_t figures_room; /* in keys */
	size_t heads[HEADS]; /* the first key of a hash, plus 1 */
	size_t next[TABLE_KEYS]; /* of the same hash, plus 1 */
	uint64_t folded, undigested;
	uint64_t last_ns;
};

static bool is_name(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
	static const char others[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

	return *name && strchr(letters, *name) && !name[strspn(name, others)];
}

static int copy_column(struct table_column *to, const struct table_column *from)
{
	if (!is_name(from->name) || (unsigned int)from->kind >= TABLE_KINDS)
		return -EINVAL;
	*to = *from;
	to->name = strdup(from->name);
	to->unit = strdup(from->unit);
	to->what = strdup(from->what);
	return to->name && to->unit && to->what ? 0 : -ENOMEM;
}

int table__new(struct table **table, const struct table_column *columns, unsigned int nr)
{
	struct table *made;
	int err = 0;

	if (!nr || nr > TABLE_COLUMNS)
		return -EINVAL;
	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	while (!err && made->nr_columns < nr) {
		err = copy_column(&made->columns[made->nr_columns], &columns[made->nr_columns]);
		if (err != -EINVAL)
			made->nr_columns++;
	}
	if (err) {
		table__free(made);
		return err;
	}
	*table = made;
	return 0;
}

static void free_rows(struct rows *rows)
{
	free(rows->cells);
	free(rows->times);
	free(rows->texts);
}

void table__free(struct table *table)
{
	if (!table)
		return;
	for (unsigned int i = 0; i < table->nr_columns; i++) {
		free((char *)table->columns[i].name);
		free((char *)table->columns[i].unit);
		free((char *)table->columns[i].what);
	}
	free_rows(&table->rows);
	free_rows(&table->keys);
	free(table->figures);
	free(table);
}

unsigned int table__columns(const struct table *table)
{
	return table->nr_columns;
}

const struct table_column *table__column(const struct table *table, unsigned int column)
{
	assert(column < table->nr_columns);
	return &table->columns[column];
}

/* Doubles the room of an array. What it held stays where it fails. */
static int grow(void *array, size_t size, size_t room)
{
	void **at = array, *grown = reallocarray(*at, room, size);

	if (!grown)
		return -ENOMEM;
	*at = grown;
	return 0;
}

static int add_row(struct rows *rows, unsigned int columns, uint64_t time_ns)
{
	size_t room = rows->room ? 2 * rows->room : 64;

	if (rows->nr == rows->room) {
		if (grow(&rows->cells, columns * sizeof(*rows->cells), room) ||
		    grow(&rows->times, sizeof(*rows->times), room))
			return -ENOMEM;
		rows->room = room;
	}
	memset(&rows->cells[rows->nr * columns], 0, columns * sizeof(*rows->cells));
	rows->times[rows->nr++] = time_ns;
	return 0;
}

static int add_text(struct rows *rows, struct cell *cell, const char *text)
{
	size_t size = strlen(text) + 1, room = rows->texts_room ? rows->texts_room : 1024;

	while (room - rows->texts_len < size)
		room *= 2;
	if (room != rows->texts_room) {
		if (grow(&rows->texts, 1, room))
			return -ENOMEM;
		rows->texts_room = room;
	}
	cell->text = rows->texts_len;
	cell->known = true;
	memcpy(rows->texts + rows->texts_len, text, size);
	rows->texts_len += size;
	return 0;
}

int table__add_row(struct table *table, uint64_t time_ns)
{
	int err;

	if (time_ns < table->last_ns)
		return -EINVAL;
	err = add_row(&table->rows, table->nr_columns, time_ns);
	if (!err)
		table->last_ns = time_ns;
	return err;
}

static struct cell *cell_at(const struct table *table, const struct rows *rows, size_t row,
			    unsigned int column)
{
	assert(row < rows->nr && column < table->nr_columns);
	return &rows->cells[row * table->nr_columns + column];
}

static struct cell *newest(struct table *table, unsigned int column, enum table_kind kind)
{
	struct cell *cell = cell_at(table, &table->rows, table->rows.nr - 1, column);

	assert(table->columns[column].kind == kind);
	(void)kind;
	return cell;
}

void table__set_integer(struct table *table, unsigned int column, int64_t value)
{
	struct cell *cell = newest(table, column, TABLE_INTEGER);

	cell->integer = value;
	cell->known = true;
}

void table__set_real(struct table *table, unsigned int column, double value)
{
	struct cell *cell = newest(table, column, TABLE_REAL);

	cell->real = value;
	cell->known = isfinite(value);
}

int table__set_text(struct table *table, unsigned int column, const char *value)
{
	struct cell *cell = newest(table, column, TABLE_TEXT);

	if (value)
		return add_text(&table->rows, cell, value);
	cell->known = false;
	return 0;
}

size_t table__rows(const struct table *table)
{
	return table->rows.nr;
}

uint64_t table__time_ns(const struct table *table, size_t row)
{
	assert(row < table->rows.nr);
	return table->rows.times[row];
}

static struct table_value value_of(const struct table *table, const struct rows *rows, size_t row,
				   unsigned int column)
{
	const struct cell *cell = cell_at(table, rows, row, column);
	struct table_value value = { .known = cell->known, .kind = table->columns[column].kind };

	if (value.kind == TABLE_INTEGER)
		value.integer = cell->integer;
	else if (value.kind == TABLE_REAL)
		value.real = cell->real;
	else if (cell->known)
		value.text = rows->texts + cell->text;
	return value;
}

struct table_value table__value(const struct table *table, size_t row, unsigned int column)
{
	return value_of(table, &table->rows, row, column);
}

static bool same(const struct table_value *a, const struct table_value *b)
{
	if (a->known != b->known)
		return false;
	if (!a->known)
		return true;
	if (a->kind == TABLE_TEXT)
		return !strcmp(a->text, b->text);
	return a->kind == TABLE_INTEGER ? a->integer == b->integer : a->real == b->real;
}

static bool is_key_of(const struct table *table, size_t key, size_t row)
{
	for (unsigned int i = 0; i < table->nr_columns; i++) {
		struct table_value of_key, of_row;

		if (!table->columns[i].key)
			continue;
		of_key = value_of(table, &table->keys, key, i);
		of_row = value_of(table, &table->rows, row, i);
		if (!same(&of_key, &of_row))
			return false;
	}
	return true;
}

/* FNV-1a. */
static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
	for (const unsigned char *at = bytes; size; at++, size--)
		hash = (hash ^ *at) * 0x100000001b3;
	return hash;
}

/* Of the key columns of a row: which chain its key is in. */
static size_t hash_of(const struct table *table, size_t row)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (unsigned int i = 0; i < table->nr_columns; i++) {
		struct table_value value;

		if (!table->columns[i].key)
			continue;
		value = table__value(table, row, i);
		if (!value.known)
			hash = mix(hash, "", 1);
		else if (value.kind == TABLE_TEXT)
			hash = mix(hash, value.text, strlen(value.text) + 1);
		else if (value.kind == TABLE_INTEGER)
			hash = mix(hash, &value.integer, sizeof(value.integer));
		else if (value.real != 0) /* 0 and -0 are the same */
			hash = mix(hash, &value.real, sizeof(value.real));
	}
	return hash % HEADS;
}

static size_t find_key(const struct table *table, size_t row)
{
	size_t head = table->heads[hash_of(table, row)];

	for (; head; head = table->next[head - 1])
		if (is_key_of(table, head - 1, row))
			return head - 1;
	return NO_KEY;
}

static int copy_key(struct table *table, size_t row)
{
	for (unsigned int i = 0; i < table->nr_columns; i++) {
		const struct cell *from = cell_at(table, &table->rows, row, i);
		struct cell *to = cell_at(table, &table->keys, table->keys.nr - 1, i);

		if (!table->columns[i].key || !from->known)
			continue;
		if (table->columns[i].kind != TABLE_TEXT)
			*to = *from;
		else if (add_text(&table->keys, to, table->rows.texts + from->text))
			return -ENOMEM;
	}
	return 0;
}

static int add_key(struct table *table, size_t row)
{
	size_t *head = &table->heads[hash_of(table, row)];
	struct table_figure *figures;
	int err;

	err = add_row(&table->keys, table->nr_columns, 0);
	if (!err && table->figures_room < table->keys.room) {
		err = grow(&table->figures, table->nr_columns * sizeof(*figures), table->keys.room);
		if (!err)
			table->figures_room = table->keys.room;
	}
	if (!err)
		err = copy_key(table, row);
	if (err)
		return err;
	figures = &table->figures[(table->keys.nr - 1) * table->nr_columns];
	for (unsigned int i = 0; i < table->nr_columns; i++)
		figures[i] = (struct table_figure){ .low = DBL_MAX, .high = -DBL_MAX };
	table->next[table->keys.nr - 1] = *head;
	*head = table->keys.nr;
	return 0;
}

static void add_figures(struct table *table, size_t key, size_t row)
{
	for (unsigned int i = 0; i < table->nr_columns; i++) {
		struct table_figure *figure = &table->figures[key * table->nr_columns + i];
		struct table_value value = table__value(table, row, i);
		double number = value.kind == TABLE_REAL ? value.real : (double)value.integer;

		if (!value.known || value.kind == TABLE_TEXT)
			continue;
		figure->rows++;
		figure->sum += number;
		figure->low = fmin(figure->low, number);
		figure->high = fmax(figure->high, number);
	}
}

static int fold_row(struct table *table, size_t row)
{
	size_t key = find_key(table, row);
	int err;

	table->folded++;
	if (key == NO_KEY && table->keys.nr == TABLE_KEYS) {
		table->undigested++;
		return 0;
	}
	if (key == NO_KEY) {
		err = add_key(table, row);
		if (err)
			return err;
		key = table->keys.nr - 1;
	}
	add_figures(table, key, row);
	return 0;
}

static void empty(struct table *table)
{
	table->rows.nr = 0;
	table->rows.texts_len = 0;
}

int table__fold(struct table *table)
{
	int err = 0;

	for (size_t i = 0; !err && i < table->rows.nr; i++)
		err = fold_row(table, i);
	empty(table);
	return err;
}

void table__rewind(struct table *table)
{
	empty(table);
	table->last_ns = 0;
}

uint64_t table__folded_rows(const struct table *table)
{
	return table->folded;
}

uint64_t table__undigested_rows(const struct table *table)
{
	return table->undigested;
}

size_t table__keys(const struct table *table)
{
	return table->keys.nr;
}

struct table_value table__key(const struct table *table, size_t key, unsigned int column)
{
	return value_of(table, &table->keys, key, column);
}

size_t table__key_of(const struct table *table, size_t row)
{
	return find_key(table, row);
}

const struct table_figure *table__figure(const struct table *table, size_t key, unsigned int column)
{
	assert(key < table->keys.nr && column < table->nr_columns);
	return &table->figures[key * table->nr_columns + column];
}
