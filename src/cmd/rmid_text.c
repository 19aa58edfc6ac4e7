// SPDX-License-Identifier: BSD-2-Clause
#include "rmid_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <base/grow.h>
#include <base/streams.h>
#include <base/units.h>
#include <base/wrap.h>
#include <base/options.h>
#include <rmid/rows.h>

/* What one process had, in all. */
struct line {
	int64_t process;
	int64_t pid; /* 0: none */
	char comm[RMID_COMM_LEN * 4];
	uint64_t rows;
	double sum[TABLE_COLUMNS];
	uint64_t known[TABLE_COLUMNS]; /* rows in which it is */
};

struct lines {
	const struct table *table;
	struct line *all;
	size_t nr;
	uint64_t duration_ns;
};

/* One that was renamed meanwhile is the same, and has its last name. */
static struct line *line_of(struct lines *lines, const struct table_value *process,
			    const struct table_value *pid, const struct table_value *comm)
{
	struct line *line = lines->all;
	struct line *all;

	while (line < lines->all + lines->nr &&
	       (line->process != process->integer ||
		(!line->process && strcmp(line->comm, comm->known ? comm->text : ""))))
		line++;
	if (line == lines->all + lines->nr) {
		all = grow__one(lines->all, lines->nr, sizeof(*all));
		if (!all)
			return NULL;
		lines->all = all;
		line = &all[lines->nr++];
		memset(line, 0, sizeof(*line));
		line->process = process->integer;
		line->pid = pid->known ? pid->integer : 0;
	}
	snprintf(line->comm, sizeof(line->comm), "%s", comm->known ? comm->text : "");
	return line;
}

/* The rows of the interval in flight. */
static int take_rows(struct lines *lines)
{
	const struct table *table = lines->table;

	for (size_t row = 0; row < table__rows(table); row++) {
		struct table_value process = table__value(table, row, ROWS_PROCESS);
		struct table_value pid = table__value(table, row, ROWS_PID);
		struct table_value comm = table__value(table, row, ROWS_COMM);
		struct line *line = line_of(lines, &process, &pid, &comm);

		if (!line)
			return -ENOMEM;
		line->rows++;
		for (unsigned int i = ROWS_CPU_NS; i < table__columns(table); i++) {
			struct table_value value = table__value(table, row, i);

			line->sum[i] += value.known ? (double)value.integer : 0;
			line->known[i] += value.known;
		}
	}
	return 0;
}

/* The digest of all rows so far. */
static int take_digest(struct lines *lines)
{
	const struct table *table = lines->table;

	for (size_t key = 0; key < table__keys(table); key++) {
		struct table_value process = table__key(table, key, ROWS_PROCESS);
		struct table_value pid = table__key(table, key, ROWS_PID);
		struct table_value comm = table__key(table, key, ROWS_COMM);
		struct line *line = line_of(lines, &process, &pid, &comm);

		if (!line)
			return -ENOMEM;
		line->rows += table__figure(table, key, ROWS_CPU_NS)->rows;
		for (unsigned int i = ROWS_CPU_NS; i < table__columns(table); i++) {
			line->sum[i] += table__figure(table, key, i)->sum;
			line->known[i] += table__figure(table, key, i)->rows;
		}
	}
	return 0;
}

/* The busiest first; what is no process stands last. */
static int compare(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	if (!a->process != !b->process)
		return !a->process - !b->process;
	return (a->sum[ROWS_CPU_NS] < b->sum[ROWS_CPU_NS]) -
	       (a->sum[ROWS_CPU_NS] > b->sum[ROWS_CPU_NS]);
}

/* Columns beside the fixed ones, as many as fit. */
#define FIELD 12
#define FIELDS 3

struct field {
	const char *title;
	int column, over; /* sum of the one over that of the other; over -1: see `mean` */
	bool mean; /* of the rows where it is known; else a second */
};

static int column_of(const struct table *table, const char *name)
{
	for (unsigned int i = 0; i < table__columns(table); i++)
		if (!strcmp(table__column(table, i)->name, name))
			return (int)i;
	return -1;
}

/* Is there any figure in it? */
static bool is_known(const struct lines *lines, int column)
{
	for (size_t i = 0; i < lines->nr; i++)
		if (lines->all[i].known[column])
			return true;
	return false;
}

static unsigned int choose_fields(const struct lines *lines, struct field fields[FIELDS])
{
	const struct table *table = lines->table;
	int cycles = column_of(table, "cycles"), instructions = column_of(table, "instructions");
	const struct field wanted[] = {
		{ "LLC B", column_of(table, "llc_bytes"), -1, true },
		{ "memory B/s", column_of(table, "mbm_total_bytes"), -1, false },
		{ "IPC", cycles < 0 ? -1 : instructions, cycles, false },
		{ "LLC miss/s", column_of(table, "llc_misses"), -1, false },
		{ "faults/s", column_of(table, "page_faults"), -1, false },
		{ "switches/s", ROWS_SWITCHES, -1, false },
		{ "LLC ref/s", column_of(table, "llc_references"), -1, false },
		{ "br.miss/s", column_of(table, "branch_misses"), -1, false },
		{ "cycles/s", instructions < 0 ? cycles : -1, -1, false },
		{ "instr/s", cycles < 0 ? instructions : -1, -1, false },
	};
	unsigned int nr = 0;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]) && nr < FIELDS; i++)
		if (wanted[i].column >= 0 && is_known(lines, wanted[i].column))
			fields[nr++] = wanted[i];
	return nr;
}

/* "+": rows of the process lack it, so it is this much at least. */
static void print_field(FILE *out, const struct lines *lines, const struct line *line,
			const struct field *field)
{
	uint64_t known = line->known[field->column];
	double sum = line->sum[field->column];
	char text[UNITS_TEXT], marked[UNITS_TEXT + 1];

	if (!known || (field->over >= 0 && !(line->sum[field->over] > 0))) {
		fprintf(out, " %*s", FIELD, "-");
		return;
	}
	if (field->over >= 0) {
		fprintf(out, " %*.2f", FIELD, sum / line->sum[field->over]);
		return;
	}
	sum /= field->mean ? (double)known : (double)lines->duration_ns / 1e9;
	units__short_count(text, (uint64_t)(sum + 0.5));
	snprintf(marked, sizeof(marked), "%s%s", text,
		 known < line->rows && !field->mean ? "+" : "");
	fprintf(out, " %*s", FIELD, marked);
}

static void print_line(FILE *out, const struct lines *lines, const struct line *line,
		       const struct field *fields, unsigned int nr)
{
	double ns = line->sum[ROWS_CPU_NS];

	if (line->pid)
		fprintf(out, "%9lld", (long long)line->pid);
	else
		fprintf(out, "%9s", "-");
	fprintf(out, "  %-15.15s %12.3f", line->comm, ns / 1e6);
	fprintf(out, " %6.1f%%", 100.0 * ns / (double)lines->duration_ns);
	for (unsigned int i = 0; i < nr && line->process; i++)
		print_field(out, lines, line, &fields[i]);
	fputc('\n', out);
}

static void print_lines(FILE *out, struct lines *lines, unsigned int top)
{
	struct field fields[FIELDS];
	unsigned int nr = choose_fields(lines, fields), left = 0;

	qsort(lines->all, lines->nr, sizeof(*lines->all), compare);
	fprintf(out, "%9s  %-15s %12s %7s", "pid", "name", "CPU ms", "of one");
	for (unsigned int i = 0; i < nr; i++)
		fprintf(out, " %*s", FIELD, fields[i].title);
	fputc('\n', out);
	for (size_t i = 0; i < lines->nr; i++) {
		if (top && i >= top && lines->all[i].process)
			left++;
		else
			print_line(out, lines, &lines->all[i], fields, nr);
	}
	if (left)
		fprintf(out, "%9s  %u more processes\n", "", left);
}

static int live__open(struct writer *writer, const struct run *run)
{
	(void)writer;
	(void)run;
	return 0;
}

static int live__interval(struct writer *writer, const struct run *run,
			  const struct run_interval *interval)
{
	struct lines lines = { .duration_ns = interval->end_ns - interval->start_ns };
	int err;

	(void)writer;
	lines.table = run->modules[0].table;
	if (!lines.duration_ns)
		return 0;
	err = take_rows(&lines);
	if (!err) {
		printf("%.3f s\n", (double)interval->end_ns / 1e9);
		print_lines(stdout, &lines, OPTIONS_TOP);
		putchar('\n');
		streams__flush();
	}
	free(lines.all);
	return err;
}

static int live__close(struct writer *writer, const struct run *run)
{
	(void)writer;
	(void)run;
	return 0;
}

const struct writer_ops writer_live_rmid = {
	.name = "live_rmid",
	.open = live__open,
	.interval = live__interval,
	.close = live__close,
};

bool rmid__has_rows(const struct run_module *module)
{
	static const char *const names[ROWS_COLUMNS] = {
		[ROWS_PROCESS] = "process",   [ROWS_PID] = "pid",
		[ROWS_COMM] = "comm",	      [ROWS_CPU_NS] = "cpu_ns",
		[ROWS_SWITCHES] = "switches", [ROWS_INCOMPLETE] = "incomplete",
	};
	const struct table *table = module->table;
	bool are = table && !strcmp(module->name, "rmid") && table__columns(table) >= ROWS_COLUMNS;

	for (unsigned int i = 0; are && i < table__columns(table); i++) {
		const struct table_column *column = table__column(table, i);

		are = column->kind == (i == ROWS_COMM ? TABLE_TEXT : TABLE_INTEGER) &&
		      (i >= ROWS_COLUMNS || !strcmp(column->name, names[i]));
	}
	return are;
}

int rmid__print(FILE *out, const struct run *run, const struct run_module *module, unsigned int top)
{
	struct lines lines = { .table = module->table, .duration_ns = run->duration_ns };
	char time[UNITS_TEXT], rows[UNITS_TEXT];
	struct wrap wrap = { 0 };
	int err;

	err = run->duration_ns ? take_digest(&lines) : 0;
	if (err)
		return err;
	fprintf(out, "%s: %s, %s rows of 1 ms\n\n", module->name,
		units__duration(time, run->duration_ns),
		units__count(rows, table__folded_rows(module->table)));
	print_lines(out, &lines, top);
	fputc('\n', out);
	wrap__add(&wrap, "how: %s: %s", module->rung, module->mechanism);
	wrap__print(&wrap, out, 2, 2);
	free(lines.all);
	return 0;
}
