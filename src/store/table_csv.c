// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "atomic_file.h"
#include "csv.h"
#include "writer.h"

void table__csv_head(FILE *out, const struct table *table)
{
	fputs("time_ns", out);
	for (unsigned int i = 0; i < table__columns(table); i++)
		fprintf(out, ",%s", table__column(table, i)->name);
	fputc('\n', out);
}

static void csv_value(FILE *out, const struct table_value *value)
{
	fputc(',', out);
	if (!value->known)
		return;
	switch (value->kind) {
	case TABLE_INTEGER:
		fprintf(out, "%lld", (long long)value->integer);
		break;
	case TABLE_REAL:
		fprintf(out, TABLE_PRECISION, value->real);
		break;
	default:
		csv__field(out, value->text);
	}
}

void table__csv_rows(FILE *out, const struct table *table)
{
	for (size_t row = 0; row < table__rows(table); row++) {
		fprintf(out, "%llu", (unsigned long long)table__time_ns(table, row));
		for (unsigned int i = 0; i < table__columns(table); i++) {
			struct table_value value = table__value(table, row, i);

			csv_value(out, &value);
		}
		fputc('\n', out);
	}
}

/* The rows are written at the end of each interval, because a table keeps only one interval. */
struct rows {
	struct outfile files[RUN_PROBES * RUN_TABLES]; /* stream NULL: there is no such table */
};

static int open_one(struct outfile *file, const char *dir, const char *table_name,
		    const struct table *table)
{
	char name[RUN_NAME + 8];
	int err;

	snprintf(name, sizeof(name), "%s.csv", table_name);
	err = outfile__open(file, dir, name);
	if (!err)
		table__csv_head(file->stream, table);
	return err;
}

static void abort_all(struct rows *rows)
{
	for (unsigned int i = 0; i < RUN_PROBES * RUN_TABLES; i++) {
		if (rows->files[i].stream)
			outfile__abort(&rows->files[i]);
	}
	free(rows);
}

static int rows__open(struct writer *writer, const struct run *run)
{
	char name[RUN_NAME];
	struct rows *rows;
	int err = 0;

	if (!writer->dir)
		return -EINVAL;
	rows = calloc(1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	for (unsigned int i = 0; !err && i < run->nr_probes * RUN_TABLES; i++) {
		const struct run_probe *probe = &run->probes[i / RUN_TABLES];
		const struct table *table = run__table(probe, i % RUN_TABLES, name);

		if (table && !probe->refused[0])
			err = open_one(&rows->files[i], writer->dir, name, table);
	}
	if (err)
		abort_all(rows);
	else
		writer->state = rows;
	return err;
}

static int rows__interval(struct writer *writer, const struct run *run,
			  const struct run_interval *interval)
{
	struct rows *rows = writer->state;
	char name[RUN_NAME];

	(void)interval;
	for (unsigned int i = 0; i < run->nr_probes * RUN_TABLES; i++) {
		FILE *stream = rows->files[i].stream;

		if (!stream)
			continue;
		table__csv_rows(stream,
				run__table(&run->probes[i / RUN_TABLES], i % RUN_TABLES, name));
		if (ferror(stream))
			return -EIO;
	}
	return 0;
}

static int rows__close(struct writer *writer, const struct run *run)
{
	struct rows *rows = writer->state;
	int err = 0, failed;

	(void)run;
	for (unsigned int i = 0; i < RUN_PROBES * RUN_TABLES; i++) {
		if (!rows->files[i].stream)
			continue;
		failed = outfile__commit(&rows->files[i]);
		err = err ? err : failed;
	}
	free(rows);
	writer->state = NULL;
	return err;
}

const struct writer_ops writer_rows = {
	.name = "rows",
	.open = rows__open,
	.interval = rows__interval,
	.close = rows__close,
};
