// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <core/units.h>
#include <print/probe_view.h>
#include <print/text.h>
#include <print/wrap.h>

#include "columns.h"
#include "view_rising.h"
#include "view_totals.h"

/* More columns after the fixed ones, as many as fit. */
#define FIELD 12
#define FIELDS 3

struct field {
	const char *title;
	int column, over; /* quotient of two sums; over -1: see `mean` */
	bool mean; /* mean of the rows that have it; else per second */
};

/* What is printed: the processes of a table, in this time. */
struct process_view {
	const struct table *table;
	struct rmid_totals processes;
	uint64_t duration_ns;
	bool whole; /* the whole window; otherwise one interval */
};

static unsigned int choose_fields(const struct process_view *view, struct field fields[FIELDS])
{
	const struct table *table = view->table;
	int cycles = table__find_column(table, "cycles"),
	    instructions = table__find_column(table, "instructions");
	const struct field wanted[] = {
		{ "LLC B", table__find_column(table, "llc_bytes"), -1, true },
		{ "memory B/s", table__find_column(table, "mbm_total_bytes"), -1, false },
		{ "IPC", cycles < 0 ? -1 : instructions, cycles, false },
		{ "LLC miss/s", table__find_column(table, "llc_misses"), -1, false },
		{ "faults/s", table__find_column(table, "page_faults"), -1, false },
		{ "switches/s", ROWS_SWITCHES, -1, false },
		{ "LLC ref/s", table__find_column(table, "llc_references"), -1, false },
		{ "br.miss/s", table__find_column(table, "branch_misses"), -1, false },
		{ "cycles/s", instructions < 0 ? cycles : -1, -1, false },
		{ "instr/s", cycles < 0 ? instructions : -1, -1, false },
	};
	unsigned int nr = 0;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]) && nr < FIELDS; i++)
		if (wanted[i].column >= 0 && view->processes.known[wanted[i].column])
			fields[nr++] = wanted[i];
	return nr;
}

/* "+": some rows of the process have no value, so the sum is a lower bound. */
static void print_field(FILE *out, const struct rmid_total *process, const struct field *field,
			double seconds)
{
	uint64_t known = process->known[field->column];
	double sum = process->sum[field->column];
	char text[UNITS_TEXT], marked[UNITS_TEXT + 1];

	if (!known || (field->over >= 0 && !(process->sum[field->over] > 0))) {
		fprintf(out, " %*s", FIELD, "-");
		return;
	}
	if (field->over >= 0) {
		fprintf(out, " %*.2f", FIELD, sum / process->sum[field->over]);
		return;
	}
	sum /= field->mean ? (double)known : seconds;
	units__short_count(text, (uint64_t)(sum + 0.5));
	snprintf(marked, sizeof(marked), "%s%s", text,
		 known < process->rows && !field->mean ? "+" : "");
	fprintf(out, " %*s", FIELD, marked);
}

static void print_cpu(FILE *out, const struct process_view *view, const char *comm, double ns)
{
	fprintf(out, "  %-15.15s %12.3f", comm, ns / 1e6);
	fprintf(out, " %6.1f%%", 100.0 * ns / (double)view->duration_ns);
}

static void print_process(FILE *out, const struct process_view *view,
			  const struct rmid_total *process, const struct field *fields,
			  unsigned int nr)
{
	if (process->pid.known && process->pid.integer)
		fprintf(out, "%9lld", (long long)process->pid.integer);
	else
		fprintf(out, "%9s", "-");
	print_cpu(out, view, process->comm, process->sum[ROWS_CPU_NS]);
	for (unsigned int i = 0; i < nr && process->process; i++)
		print_field(out, process, &fields[i], (double)view->duration_ns / 1e9);
	fputc('\n', out);
}

/* The keys that were evicted from the sketch. */
static void print_others(FILE *out, const struct process_view *view)
{
	if (!view->whole || !table__others_keys(view->table))
		return;
	fprintf(out, "%9s", "-");
	print_cpu(out, view, "(other)", table__others(view->table, ROWS_CPU_NS)->sum);
	fputc('\n', out);
}

static void print_processes(FILE *out, const struct process_view *view, unsigned int top)
{
	struct field fields[FIELDS];
	unsigned int nr = choose_fields(view, fields), left = 0;

	fprintf(out, "%9s  %-15s %12s %7s", "pid", "name", "CPU ms", "of CPU");
	for (unsigned int i = 0; i < nr; i++)
		fprintf(out, " %*s", FIELD, fields[i].title);
	fputc('\n', out);
	for (size_t i = 0; i < view->processes.nr; i++) {
		if (top && i >= top && view->processes.list[i].process)
			left++;
		else
			print_process(out, view, &view->processes.list[i], fields, nr);
	}
	print_others(out, view);
	if (left)
		fprintf(out, "%9s  %u more processes\n", "", left);
}

static int print_interval(FILE *out, const struct run_probe *probe,
			  const struct run_interval *interval, unsigned int top)
{
	struct process_view view = { .table = probe->table,
				     .duration_ns = interval->end_ns - interval->start_ns };
	int err;

	if (!view.duration_ns)
		return 0;
	err = rmid_totals__of(&view.processes, probe->table, false);
	if (!err) {
		fprintf(out, "%.3f s\n", (double)interval->end_ns / 1e9);
		print_processes(out, &view, top);
		fputc('\n', out);
	}
	rmid_totals__clear(&view.processes);
	return err;
}

static void tell_others(FILE *out, const struct table *table)
{
	if (!table__others_keys(table))
		return;
	wrap__line(out, 2, 2,
		   "(other): %llu processes with little CPU time; a process above may have had up "
		   "to %.3f ms more, which are counted here",
		   (unsigned long long)table__others_keys(table), table__others_most(table) / 1e6);
}

static int print_window(FILE *out, const struct run *run, const struct run_probe *probe,
			const struct text_style *style)
{
	struct process_view view = { .table = probe->table,
				     .duration_ns = run->duration_ns,
				     .whole = true };
	char time[UNITS_TEXT], rows[UNITS_TEXT];
	int err = 0;

	if (run->duration_ns)
		err = rmid_totals__of(&view.processes, probe->table, true);
	if (err)
		goto clear_processes;
	fprintf(out, "%s: %s, %s rows of 1 ms\n\n", probe->name,
		units__duration(time, run->duration_ns),
		units__count(rows, table__folded_rows(probe->table)));
	print_processes(out, &view, style->top);
	fputc('\n', out);
	tell_others(out, probe->table);
	wrap__line(out, 2, 2, "method: %s: %s", probe->method, probe->mechanism);
clear_processes:
	rmid_totals__clear(&view.processes);
	return err;
}

static int read_rising(void **more, const struct timeline *timeline, struct rundb *db)
{
	struct rising *rising = calloc(1, sizeof(*rising));

	*more = rising;
	return rising ? rising__read(rising, timeline, db) : -ENOMEM;
}

static void free_rising(void *more)
{
	if (more)
		rising__clear(more);
	free(more);
}

static void add_rising(struct json_object *to, const void *more)
{
	rising__add_json(to, more);
}

static void print_rising(FILE *out, const struct run *run, const void *more)
{
	(void)run;
	if (more)
		rising__print(out, more);
}

const struct probe_view rmid_view = {
	.knows = rmid_totals__know,
	.print = print_window,
	.prints_recordings = true,
	.print_interval = print_interval,
	.read = read_rising,
	.add_json = add_rising,
	.free = free_rising,
	.print_end = print_rising,
};
