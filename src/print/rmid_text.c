// SPDX-License-Identifier: BSD-2-Clause
#include "rmid_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <core/units.h>
#include <probes/rmid/columns.h>

#include "streams.h"
#include "wrap.h"

/* Indices into the rows of a table or the keys of its sketch, sorted by process. */
struct line {
	int64_t process;
	double cpu_ns;
	size_t first, nr; /* length of `order` */
};

struct view {
	const struct table *table;
	bool top_k; /* else: the rows of the current interval */
	uint64_t duration_ns;
	size_t nr;
	uint32_t *order; /* rows or keys: by process, then in their original order */
	struct line *lines;
	size_t nr_lines;
	bool known[TABLE_COLUMNS]; /* does any row have a value? */
};

/* The sums of one line. */
struct sums {
	uint64_t rows;
	double sum[TABLE_COLUMNS];
	uint64_t known[TABLE_COLUMNS]; /* rows that have it */
};

static struct table_value identity(const struct view *view, uint32_t at, unsigned int column)
{
	return view->top_k ? table__key(view->table, at, column)
			   : table__value(view->table, at, column);
}

static const char *comm_of(const struct view *view, uint32_t at)
{
	struct table_value comm = identity(view, at, ROWS_COMM);

	return comm.known ? comm.text : "";
}

/* What is not a process has only a name. A process that changed its name remains the same one. */
static int compare_owners(const struct view *view, uint32_t a, uint32_t b)
{
	int64_t left = identity(view, a, ROWS_PROCESS).integer;
	int64_t right = identity(view, b, ROWS_PROCESS).integer;

	if (left != right)
		return left < right ? -1 : 1;
	return left ? 0 : strcmp(comm_of(view, a), comm_of(view, b));
}

static int compare_places(const void *left, const void *right, void *view)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int order = compare_owners(view, a, b);

	return order ? order : (a > b) - (a < b);
}

static void add_figure(struct sums *sums, unsigned int column, const struct table_aggregate *figure)
{
	sums->sum[column] += figure->sum;
	sums->known[column] += figure->rows;
}

static void add_value(struct sums *sums, unsigned int column, const struct table_value *value)
{
	sums->sum[column] += value->known ? (double)value->integer : 0;
	sums->known[column] += value->known;
}

static void add_place(const struct view *view, uint32_t at, struct sums *sums)
{
	const struct table *table = view->table;

	for (unsigned int i = ROWS_CPU_NS; i < table__columns(table); i++) {
		struct table_value value = { 0 };

		if (view->top_k) {
			add_figure(sums, i, table__aggregate(table, at, i));
		} else {
			value = table__value(table, at, i);
			add_value(sums, i, &value);
		}
	}
	sums->rows += view->top_k ? table__aggregate(table, at, ROWS_CPU_NS)->rows : 1;
}

static struct sums sums_of(const struct view *view, const struct line *line)
{
	struct sums sums = { 0 };

	for (size_t i = 0; i < line->nr; i++)
		add_place(view, view->order[line->first + i], &sums);
	return sums;
}

/* The busiest process first; (idle), (kernel) and such last. */
static int compare_lines(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	if (!a->process != !b->process)
		return !a->process - !b->process;
	return (a->cpu_ns < b->cpu_ns) - (a->cpu_ns > b->cpu_ns);
}

static size_t count_lines(const struct view *view)
{
	size_t nr = 0;

	for (size_t i = 0; i < view->nr; i++)
		nr += !i || compare_owners(view, view->order[i - 1], view->order[i]);
	return nr;
}

static void fill_lines(struct view *view)
{
	struct line *line = view->lines - 1;

	for (size_t i = 0; i < view->nr; i++) {
		uint32_t at = view->order[i];

		if (!i || compare_owners(view, view->order[i - 1], at))
			*++line =
				(struct line){ identity(view, at, ROWS_PROCESS).integer, 0, i, 0 };
		line->nr++;
	}
	for (size_t i = 0; i < view->nr_lines; i++) {
		struct sums sums = sums_of(view, &view->lines[i]);

		view->lines[i].cpu_ns = sums.sum[ROWS_CPU_NS];
		for (unsigned int j = 0; j < TABLE_COLUMNS; j++)
			view->known[j] |= sums.known[j] > 0;
	}
}

static void clear_view(struct view *view)
{
	free(view->order);
	free(view->lines);
}

/* Makes the view of the table's sketch, or of its rows. Call clear_view(), also after -ENOMEM. */
static int read_view(struct view *view)
{
	view->nr = view->top_k ? table__keys(view->table) : table__rows(view->table);
	view->order = calloc(view->nr + 1, sizeof(*view->order));
	if (!view->order)
		return -ENOMEM;
	for (size_t i = 0; i < view->nr; i++)
		view->order[i] = (uint32_t)i;
	qsort_r(view->order, view->nr, sizeof(*view->order), compare_places, view);
	view->nr_lines = count_lines(view);
	view->lines = calloc(view->nr_lines + 1, sizeof(*view->lines));
	if (!view->lines)
		return -ENOMEM;
	fill_lines(view);
	qsort(view->lines, view->nr_lines, sizeof(*view->lines), compare_lines);
	return 0;
}

/* More columns after the fixed ones, as many as fit. */
#define FIELD 12
#define FIELDS 3

struct field {
	const char *title;
	int column, over; /* quotient of two sums; over -1: see `mean` */
	bool mean; /* mean of the rows that have it; else per second */
};

static int column_of(const struct table *table, const char *name)
{
	for (unsigned int i = 0; i < table__columns(table); i++)
		if (!strcmp(table__column(table, i)->name, name))
			return (int)i;
	return -1;
}

static unsigned int choose_fields(const struct view *view, struct field fields[FIELDS])
{
	const struct table *table = view->table;
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
		if (wanted[i].column >= 0 && view->known[wanted[i].column])
			fields[nr++] = wanted[i];
	return nr;
}

/* "+": some rows of the process have no value, so the sum is a lower bound. */
static void print_field(FILE *out, const struct view *view, const struct sums *sums,
			const struct field *field)
{
	uint64_t known = sums->known[field->column];
	double sum = sums->sum[field->column];
	char text[UNITS_TEXT], marked[UNITS_TEXT + 1];

	if (!known || (field->over >= 0 && !(sums->sum[field->over] > 0))) {
		fprintf(out, " %*s", FIELD, "-");
		return;
	}
	if (field->over >= 0) {
		fprintf(out, " %*.2f", FIELD, sum / sums->sum[field->over]);
		return;
	}
	sum /= field->mean ? (double)known : (double)view->duration_ns / 1e9;
	units__short_count(text, (uint64_t)(sum + 0.5));
	snprintf(marked, sizeof(marked), "%s%s", text,
		 known < sums->rows && !field->mean ? "+" : "");
	fprintf(out, " %*s", FIELD, marked);
}

static void print_cpu(FILE *out, const struct view *view, const char *comm, double ns)
{
	fprintf(out, "  %-15.15s %12.3f", comm, ns / 1e6);
	fprintf(out, " %6.1f%%", 100.0 * ns / (double)view->duration_ns);
}

static void print_line(FILE *out, const struct view *view, const struct line *line,
		       const struct field *fields, unsigned int nr)
{
	uint32_t last = view->order[line->first + line->nr - 1];
	struct table_value pid = identity(view, last, ROWS_PID);
	struct sums sums = sums_of(view, line);

	if (pid.known && pid.integer)
		fprintf(out, "%9lld", (long long)pid.integer);
	else
		fprintf(out, "%9s", "-");
	print_cpu(out, view, comm_of(view, last), line->cpu_ns);
	for (unsigned int i = 0; i < nr && line->process; i++)
		print_field(out, view, &sums, &fields[i]);
	fputc('\n', out);
}

/* The keys that were evicted from the sketch. */
static void print_others(FILE *out, const struct view *view)
{
	if (!view->top_k || !table__others_keys(view->table))
		return;
	fprintf(out, "%9s", "-");
	print_cpu(out, view, "(others)", table__others(view->table, ROWS_CPU_NS)->sum);
	fputc('\n', out);
}

static void print_lines(FILE *out, const struct view *view, unsigned int top)
{
	struct field fields[FIELDS];
	unsigned int nr = choose_fields(view, fields), left = 0;

	fprintf(out, "%9s  %-15s %12s %7s", "pid", "name", "CPU ms", "of CPU");
	for (unsigned int i = 0; i < nr; i++)
		fprintf(out, " %*s", FIELD, fields[i].title);
	fputc('\n', out);
	for (size_t i = 0; i < view->nr_lines; i++) {
		if (top && i >= top && view->lines[i].process)
			left++;
		else
			print_line(out, view, &view->lines[i], fields, nr);
	}
	print_others(out, view);
	if (left)
		fprintf(out, "%9s  %u more processes\n", "", left);
}

static int live__open(struct writer *writer, const struct run *run)
{
	struct writer live = { .ops = &writer_live };

	(void)writer;
	return live.ops->open(&live, run);
}

static int print_interval(const struct table *table, const struct run_interval *interval,
			  unsigned int top)
{
	struct view view = { .table = table, .duration_ns = interval->end_ns - interval->start_ns };
	int err;

	if (!view.duration_ns)
		return 0;
	err = read_view(&view);
	if (!err) {
		printf("%.3f s\n", (double)interval->end_ns / 1e9);
		print_lines(stdout, &view, top);
		putchar('\n');
	}
	clear_view(&view);
	return err;
}

static int live__interval(struct writer *writer, const struct run *run,
			  const struct run_interval *interval)
{
	const unsigned int *top = writer->state;
	int err = 0;

	for (unsigned int i = 0; i < run->nr_probes && !err; i++) {
		if (rmid__has_rows(&run->probes[i]))
			err = print_interval(run->probes[i].table, interval, *top);
		else
			writer__live_probe(stdout, run, i, interval);
	}
	streams__flush();
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

bool rmid__has_rows(const struct run_probe *probe)
{
	static const char *const names[ROWS_COLUMNS] = {
		[ROWS_PROCESS] = "process",   [ROWS_PID] = "pid",
		[ROWS_COMM] = "comm",	      [ROWS_CPU_NS] = "cpu_ns",
		[ROWS_SWITCHES] = "switches", [ROWS_INCOMPLETE] = "incomplete",
	};
	const struct table *table = probe->table;
	bool are = table && !strcmp(probe->name, "rmid") && table__columns(table) >= ROWS_COLUMNS;

	for (unsigned int i = 0; are && i < table__columns(table); i++) {
		const struct table_column *column = table__column(table, i);

		are = column->kind == (i == ROWS_COMM ? TABLE_TEXT : TABLE_INTEGER) &&
		      (i >= ROWS_COLUMNS || !strcmp(column->name, names[i]));
	}
	return are;
}

static void tell_others(FILE *out, const struct table *table)
{
	struct wrap wrap = { 0 };

	if (!table__others_keys(table))
		return;
	wrap__add(&wrap,
		  "(others): %llu processes with little CPU time; a process above may have had up "
		  "to %.3f ms more, which are counted here",
		  (unsigned long long)table__others_keys(table), table__others_most(table) / 1e6);
	wrap__print(&wrap, out, 2, 2);
}

int rmid__print(FILE *out, const struct run *run, const struct run_probe *probe, unsigned int top)
{
	struct view view = { .table = probe->table,
			     .duration_ns = run->duration_ns,
			     .top_k = true };
	char time[UNITS_TEXT], rows[UNITS_TEXT];
	struct wrap wrap = { 0 };
	int err;

	err = run->duration_ns ? read_view(&view) : 0;
	if (err)
		goto clear_view;
	fprintf(out, "%s: %s, %s rows of 1 ms\n\n", probe->name,
		units__duration(time, run->duration_ns),
		units__count(rows, table__folded_rows(probe->table)));
	print_lines(out, &view, top);
	fputc('\n', out);
	tell_others(out, probe->table);
	wrap__add(&wrap, "method: %s: %s", probe->method, probe->mechanism);
	wrap__print(&wrap, out, 2, 2);
clear_view:
	clear_view(&view);
	return err;
}
