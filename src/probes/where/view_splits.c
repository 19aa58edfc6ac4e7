// SPDX-License-Identifier: BSD-2-Clause
#include "view_splits.h"

#include <store/csv.h>

#include "columns.h"

const struct table *splits__table(const struct run_probe *probe, uint32_t more_by)
{
	return more_by && probe->more[RUN_SLEEPS] ? probe->more[RUN_SLEEPS] : probe->table;
}

/* Times add up, and so do counts, but not the threads that lived at the end. */
static double total(const struct table *table, size_t key, unsigned int column, bool is_gauge)
{
	const struct table_aggregate *aggregate = table__aggregate(table, key, column);

	return is_gauge ? aggregate->last : aggregate->sum;
}

static void print_key(FILE *out, const struct table *table, size_t key, bool has_parts)
{
	for (unsigned int i = 0; i < table__columns(table); i++) {
		const struct table_value value = table__key(table, key, i);

		if (i)
			fputc(',', out);
		if (!table__column(table, i)->key)
			fprintf(out, "%.0f", total(table, key, i, has_parts && i == PARTS_THREADS));
		else if (value.known && value.kind == TABLE_TEXT)
			csv__field(out, value.text);
		else if (value.known)
			fprintf(out, "%lld", (long long)value.integer);
	}
	fputc('\n', out);
}

void splits__print_csv(FILE *out, const struct run_probe *probe, uint32_t more_by)
{
	const struct table *table = splits__table(probe, more_by);

	for (unsigned int i = 0; i < table__columns(table); i++)
		fprintf(out, "%s%s", i ? "," : "", table__column(table, i)->name);
	fputc('\n', out);
	for (size_t key = 0; key < table__keys(table); key++)
		print_key(out, table, key, table == probe->table);
}
