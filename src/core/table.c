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
#define KEPT (TABLE_KEYS / 2) /* keys that stay when some make room */

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
	unsigned int weight; /* the column whose sum says what a key counts for; nr_columns: none */
	struct rows rows; /* of the interval in flight */
	struct rows keys; /* of the digest: a row a key, of which only the key columns are set */
	struct table_aggregate *figures; /* nr_columns of each key */
	size_t figures_room; /* in keys */
	size_t heads[HEADS]; /* the first key of a hash, plus 1 */
	size_t next[TABLE_KEYS]; /* of the same hash, plus 1 */
	struct table_aggregate others[TABLE_COLUMNS]; /* of the keys that made room */
	uint64_t others_keys;
	double others_most;
	double lacks[TABLE_KEYS]; /* what others_most was when the key began */
	uint64_t folded;
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

/* Nothing is known yet. */
static void clear_figures(struct table_aggregate *figures, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		figures[i] = (struct table_aggregate){ .low = DBL_MAX, .high = -DBL_MAX };
}

static unsigned int find_weight(const struct table *table)
{
	unsigned int i = 0;

	while (i < table->nr_columns &&
	       (table->columns[i].key || table->columns[i].kind == TABLE_TEXT))
		i++;
	return i;
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
	made->weight = find_weight(made);
	clear_figures(made->others, TABLE_COLUMNS);
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

bool table__is_number(const struct table *table, unsigned int column)
{
	const struct table_column *of = table__column(table, column);

	return !of->key && of->kind != TABLE_TEXT;
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
static size_t hash_of(const struct table *table, const struct rows *rows, size_t row)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (unsigned int i = 0; i < table->nr_columns; i++) {
		struct table_value value;

		if (!table->columns[i].key)
			continue;
		value = value_of(table, rows, row, i);
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
	size_t head = table->heads[hash_of(table, &table->rows, row)];

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

static void link_key(struct table *table, size_t key)
{
	size_t *head = &table->heads[hash_of(table, &table->keys, key)];

	table->next[key] = *head;
	*head = key + 1;
}

static struct table_aggregate *figures_of(const struct table *table, size_t key)
{
	return &table->figures[key * table->nr_columns];
}

static int add_key(struct table *table, size_t row)
{
	int err;

	err = add_row(&table->keys, table->nr_columns, 0);
	if (!err && table->figures_room < table->keys.room) {
		err = grow(&table->figures, table->nr_columns * sizeof(*table->figures),
			   table->keys.room);
		if (!err)
			table->figures_room = table->keys.room;
	}
	if (!err)
		err = copy_key(table, row);
	if (err)
		return err;
	clear_figures(figures_of(table, table->keys.nr - 1), table->nr_columns);
	link_key(table, table->keys.nr - 1);
	table->lacks[table->keys.nr - 1] = table->others_most;
	return 0;
}

static void add_figures(struct table *table, size_t key, size_t row)
{
	for (unsigned int i = 0; i < table->nr_columns; i++) {
		struct table_aggregate *figure = &figures_of(table, key)[i];
		struct table_value value = table__value(table, row, i);
		double number = value.kind == TABLE_REAL ? value.real : (double)value.integer;

		if (!value.known || value.kind == TABLE_TEXT)
			continue;
		figure->rows++;
		figure->sum += number;
		figure->last = number;
		figure->low = fmin(figure->low, number);
		figure->high = fmax(figure->high, number);
	}
}

/* The most that a key can count for: if it had to make room before, it lacks what it had then. */
static double weight_of(const struct table *table, size_t key)
{
	double sum = table->lacks[key];

	if (table->weight < table->nr_columns)
		sum += figures_of(table, key)[table->weight].sum;
	return isnan(sum) ? 0 : sum;
}

/* The same for who stays: a key of which a part is unknown is no single one and stays longest. */
static double rank_of(const struct table *table, size_t key)
{
	for (unsigned int i = 0; i < table->nr_columns; i++)
		if (table->columns[i].key && !cell_at(table, &table->keys, key, i)->known)
			return INFINITY;
	return weight_of(table, key);
}

/* Those above stay, and of those of just that rank all but the oldest. */
struct sieve {
	double rank;
	size_t oldest; /* how many of these go */
};

static int compare_ranks(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static int choose_sieve(const struct table *table, struct sieve *sieve)
{
	size_t nr = table->keys.nr, below = 0;
	double *ranks = malloc(nr * sizeof(*ranks));

	if (!ranks)
		return -ENOMEM;
	for (size_t key = 0; key < nr; key++)
		ranks[key] = rank_of(table, key);
	qsort(ranks, nr, sizeof(*ranks), compare_ranks);
	sieve->rank = ranks[nr - KEPT];
	while (ranks[below] < sieve->rank)
		below++;
	sieve->oldest = nr - KEPT - below;
	free(ranks);
	return 0;
}

static bool stays(struct sieve *sieve, double rank)
{
	if (rank != sieve->rank)
		return rank > sieve->rank;
	if (!sieve->oldest)
		return true;
	sieve->oldest--;
	return false;
}

/* A key comes to stand further in front; so do its texts, which are in the order of the keys. */
static void move_key(struct table *table, size_t from, size_t to)
{
	struct rows *keys = &table->keys;
	struct cell *cells = cell_at(table, keys, to, 0);

	memmove(cells, cell_at(table, keys, from, 0), table->nr_columns * sizeof(*cells));
	memmove(figures_of(table, to), figures_of(table, from),
		table->nr_columns * sizeof(*table->figures));
	table->lacks[to] = table->lacks[from];
	for (unsigned int i = 0; i < table->nr_columns; i++) {
		const char *text = keys->texts + cells[i].text;
		size_t size;

		if (table->columns[i].kind != TABLE_TEXT || !cells[i].known)
			continue;
		size = strlen(text) + 1;
		memmove(keys->texts + keys->texts_len, text, size);
		cells[i].text = keys->texts_len;
		keys->texts_len += size;
	}
}

static void add_to_others(struct table *table, size_t key)
{
	for (unsigned int i = 0; i < table->nr_columns; i++) {
		const struct table_aggregate *figure = &figures_of(table, key)[i];
		struct table_aggregate *others = &table->others[i];

		others->rows += figure->rows;
		others->sum += figure->sum;
		others->low = fmin(others->low, figure->low);
		others->high = fmax(others->high, figure->high);
	}
	table->others_keys++;
}

/*
 * Half of the keys go into the others, those that count for least. A new key may be one that went
 * before, and lack as much as any that went could count for; taken to have had that much, it can
 * not go again and again and be missed. The weights of the keys that stay never add up to more than
 * all that was folded (what comes with a new key is less than what went with an old one), and none
 * is less than others_most: so that is a KEPT-th of the whole at most.
 */
static int make_room(struct table *table)
{
	size_t nr = table->keys.nr, kept = 0;
	struct sieve sieve;
	int err;

	err = choose_sieve(table, &sieve);
	if (err)
		return err;
	table->keys.texts_len = 0;
	for (size_t key = 0; key < nr; key++) {
		if (stays(&sieve, rank_of(table, key))) {
			move_key(table, key, kept++);
			continue;
		}
		table->others_most = fmax(table->others_most, weight_of(table, key));
		add_to_others(table, key);
	}
	table->keys.nr = kept;
	memset(table->heads, 0, sizeof(table->heads));
	for (size_t key = 0; key < kept; key++)
		link_key(table, key);
	return 0;
}

static int fold_row(struct table *table, size_t row)
{
	size_t key = find_key(table, row);
	int err = 0;

	table->folded++;
	if (key == NO_KEY) {
		if (table->keys.nr == TABLE_KEYS)
			err = make_room(table);
		if (!err)
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

uint64_t table__others_keys(const struct table *table)
{
	return table->others_keys;
}

double table__others_most(const struct table *table)
{
	return table->others_most;
}

const struct table_aggregate *table__others(const struct table *table, unsigned int column)
{
	assert(column < table->nr_columns);
	return &table->others[column];
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

const struct table_aggregate *table__aggregate(const struct table *table, size_t key,
					       unsigned int column)
{
	assert(key < table->keys.nr && column < table->nr_columns);
	return &figures_of(table, key)[column];
}
