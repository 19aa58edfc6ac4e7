// SPDX-License-Identifier: BSD-2-Clause
/* The table of keys. */
#include "view.h"

#include <curses.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <core/hist.h>
#include <core/split.h>
#include <core/summary.h>
#include <core/units.h>

#include "paint.h"

#define NUMBER 10 /* columns of a number, with a space before it */
#define LEAST_NAME 18

static const struct {
	const char *title;
	enum view_sort sort;
} number_columns[] = {
	{ "waited", SORT_WAITED }, { "events", SORT_EVENTS }, { "p50", SORT_P50 },
	{ "p99", SORT_P99 },	   { "p99.9", SORT_P999 },    { "max", SORT_MAX },
};
#define NUMBERS (sizeof(number_columns) / sizeof(number_columns[0]))

/* Those that fit. */
static int numbers(void)
{
	int fit = (COLS - LEAST_NAME) / NUMBER;

	return fit < (int)NUMBERS ? fit : (int)NUMBERS;
}

static double value_of(const struct summary *summary, enum view_sort sort)
{
	switch (sort) {
	case SORT_EVENTS:
		return (double)summary->events;
	case SORT_P50:
		return (double)summary->quantiles_ns[SUMMARY_P50];
	case SORT_P99:
		return (double)summary->quantiles_ns[SUMMARY_P99];
	case SORT_P999:
		return (double)summary->quantiles_ns[SUMMARY_P999];
	case SORT_MAX:
		return (double)summary->max_ns;
	case SORT_WAITED:
	case SORT_NAME:
	case SORTS:
		break;
	}
	return (double)summary->sum_ns;
}

static void summarize(struct summary *summary, const struct run_key *key)
{
	struct lat_hist hist;

	summary__of(summary, sparse__expand(&key->hist, &hist));
}

/* (other) stays last, as in every table. */
static int compare_weights(const void *left, const void *right)
{
	const struct view_row *a = left, *b = right;
	bool a_other = a->key->key.id == RUN_OTHER_ID, b_other = b->key->key.id == RUN_OTHER_ID;

	if (a_other != b_other)
		return a_other - b_other;
	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return strcmp(a->key->name, b->key->name);
}

static int compare_names(const void *left, const void *right)
{
	const struct view_row *a = left, *b = right;

	return strcmp(a->key->name, b->key->name);
}

static int collect_rows(struct view *view)
{
	const struct run_data *data = &view->model.data[view->probe];
	const struct run_key **ranked;
	ssize_t nr = run__ranked_keys(data, view->by, 0, &ranked);
	bool needs_summary = view->sort != SORT_WAITED && view->sort != SORT_NAME;
	struct summary summary = { 0 };
	struct view_row *rows;

	view->nr_rows = 0;
	if (nr < 0)
		return (int)nr;
	rows = reallocarray(view->rows, (size_t)nr + 1, sizeof(*rows));
	if (!rows) {
		free(ranked);
		return -ENOMEM;
	}
	view->rows = rows;
	for (ssize_t i = 0; i < nr; i++) {
		if (view->filter[0] && !strcasestr(ranked[i]->name, view->filter))
			continue;
		if (needs_summary)
			summarize(&summary, ranked[i]);
		rows[view->nr_rows++] =
			(struct view_row){ ranked[i], value_of(&summary, view->sort) };
	}
	free(ranked);
	if (view->sort != SORT_WAITED) /* by which they are ranked */
		qsort(rows, view->nr_rows, sizeof(*rows),
		      needs_summary ? compare_weights : compare_names);
	return 0;
}

static void keep_cursor_in_view(struct view *view)
{
	if (view->cursor >= view->nr_rows)
		view->cursor = view->nr_rows ? view->nr_rows - 1 : 0;
	if (view->cursor < view->first)
		view->first = view->cursor;
	if (view->cursor >= view->first + view->lines)
		view->first = view->cursor - view->lines + 1;
	if (view->first + view->lines > view->nr_rows)
		view->first = view->nr_rows > view->lines ? view->nr_rows - view->lines : 0;
}

static void draw_head(const struct view *view, int y, int name)
{
	char title[RUN_NAME];

	paint__line(y, 0, COLS, PAINT_BAR);
	paint__format(y, 0, name, PAINT_BAR, "%s%s", split__name(view->by),
		      view->sort == SORT_NAME ? " *" : "");
	for (int i = 0; i < numbers(); i++) {
		snprintf(title, sizeof(title), "%s%s",
			 view->sort == number_columns[i].sort ? "*" : "", number_columns[i].title);
		paint__right(y, name + NUMBER * i, NUMBER, PAINT_BAR, title);
	}
}

static void draw_row(const struct run_key *key, int y, int name, enum paint_style style)
{
	char text[UNITS_TEXT];
	struct summary summary;

	summarize(&summary, key);
	if (style == PAINT_CHOSEN)
		paint__line(y, 0, COLS, style);
	paint__name(y, 0, name, style, key->name);
	for (int i = 0; i < numbers(); i++) {
		enum view_sort column = number_columns[i].sort;
		double value = value_of(&summary, column);

		paint__right(y, name + NUMBER * i, NUMBER, style,
			     column == SORT_EVENTS ? units__short_count(text, summary.events)
						   : units__ns(text, value));
	}
}

static const char *why_empty(const struct view *view)
{
	const struct run_probe *probe = &view->model.run->probes[view->probe];

	if (probe->refused[0])
		return probe->refused;
	if (!probe->nr_metrics)
		return "this probe has a table, not a histogram; see report";
	if (!view->model.has_frame)
		return "waiting for the first interval";
	if (!probe->by)
		return "not split; record it with --by process";
	return view->filter[0] ? "no name contains the filter" : "no events";
}

int table_view__draw(struct view *view, int y, int lines)
{
	int name = COLS - NUMBER * numbers(), err;

	view->lines = lines > 1 ? (size_t)lines - 1 : 1;
	err = collect_rows(view);
	if (err)
		return err;
	keep_cursor_in_view(view);
	draw_head(view, y, name);
	if (!view->nr_rows)
		paint__text(y + 1, 0, COLS, PAINT_DIM, why_empty(view));
	if (!view->model.run->probes[view->probe].by)
		detail__draw_slow(view, y + 2, lines - 2, 0);
	for (size_t i = 0; i < view->lines && view->first + i < view->nr_rows; i++)
		draw_row(view->rows[view->first + i].key, y + 1 + (int)i, name,
			 view->first + i == view->cursor ? PAINT_CHOSEN : PAINT_PLAIN);
	return 0;
}
