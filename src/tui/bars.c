// SPDX-License-Identifier: BSD-2-Clause
/* The first screen: who waited, for what and because of whom; a bar of its time for each. */
#include "view.h"

#include <curses.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/split.h>
#include <core/summary.h>
#include <core/units.h>
#include <print/probe_view.h>
#include <print/text.h>

#include "paint.h"

#define HEADER 4 /* lines */
#define NARROW 78 /* columns: fewer leave out numbers */
#define WIDE 130 /* columns: as many show percentiles, and causes in words */
#define LEAST_LEGEND 80
#define WAITED 7 /* columns, with a space before it */
#define P99 12 /* the same */
#define LEAST_NAME 14
#define MOST_NAME 36
#define MOST_BAR 60
#define TEXT (RUN_TEXT + BAR_NAME)

static uint64_t length_ns(const struct model *model)
{
	return model->end_ns - model->start_ns;
}

static const struct run_probe *probe_of(const struct view *view)
{
	return probe_view__of_bars(view->model.run);
}

bool bars_view__has(const struct view *view)
{
	return probe_of(view) != NULL;
}

/* ---- what is shown ---- */

static double weight_of(const struct bar *bar, unsigned int sort)
{
	return (double)(sort ? bar->ns[sort - 1] : bar__waited(bar));
}

static unsigned int sort_of_comparison;

static int heaviest_first(const void *left, const void *right)
{
	double a = weight_of(left, sort_of_comparison), b = weight_of(right, sort_of_comparison);

	return a < b   ? 1
	       : a > b ? -1
		       : strcmp(((const struct bar *)left)->name,
				((const struct bar *)right)->name);
}

static int by_name(const void *left, const void *right)
{
	return strcmp(((const struct bar *)left)->name, ((const struct bar *)right)->name);
}

static void sort(struct view_bars *of)
{
	sort_of_comparison = of->sort;
	if (!of->sort)
		bars__sort(&of->bars);
	else if (of->bars.nr)
		qsort(of->bars.bars, of->bars.nr, sizeof(*of->bars.bars),
		      of->sort > BAR_PARTS ? by_name : heaviest_first);
}

/* Removes what the filter does not choose; without one, what did nothing. */
static void choose(struct view *view)
{
	struct view_bars *of = &view->bars;
	size_t kept = 0;

	of->nr_idle = 0;
	for (size_t i = 0; i < of->bars.nr; i++) {
		const struct bar *bar = &of->bars.bars[i];

		if (view->filter[0] ? !strcasestr(bar->name, view->filter) : bar__is_idle(bar)) {
			of->nr_idle += !view->filter[0];
			continue;
		}
		of->bars.bars[kept++] = *bar;
	}
	of->bars.nr = kept;
}

static void add_up(struct view_bars *of)
{
	memset(of->ns, 0, sizeof(of->ns));
	for (size_t i = 0; i < of->bars.nr; i++)
		for (unsigned int part = 0; part < BAR_PARTS; part++)
			of->ns[part] += part == BAR_CPU ? of->bars.bars[i].ns[part]
							: of->bars.bars[i].waits_ns[part];
}

static int make(struct view *view)
{
	const struct run_probe *probe = probe_of(view), *rows = view->model.rows;
	struct view_bars *of = &view->bars;
	int err;

	bars__clear(&of->bars);
	if (!probe || !rows || !rows->table)
		return 0;
	err = probe_view__of(probe)->bars(&of->bars, rows, of->by, length_ns(&view->model));
	if (!err && !(of->bars.splits & 1U << of->by)) {
		bars_view__choose_split(view);
		err = probe_view__of(probe)->bars(&of->bars, rows, of->by, length_ns(&view->model));
	}
	add_up(of);
	choose(view);
	sort(of);
	return err;
}

void bars_view__choose_split(struct view *view)
{
	struct view_bars *of = &view->bars;

	if (!of->bars.splits)
		return;
	do
		of->by = (of->by + 1) % LAT_BY_COUNT;
	while (!(of->bars.splits & 1U << of->by));
}

/* ---- header ---- */

/* Columns of the pressure, and of the probes' numbers. */
static int pressure_at(void)
{
	return COLS < NARROW ? 21 : 31;
}

static int probes_at(void)
{
	return COLS < NARROW ? 37 : 47;
}

static void draw_pressure(const struct view *view, int y, enum model_resource resource)
{
	const struct model *model = &view->model;
	double share = (double)model->stalled_ns[resource] / (double)length_ns(model);
	char text[UNITS_TEXT];

	if (model->stalls_known[resource])
		paint__format(y, pressure_at(), probes_at() - pressure_at() - 1, PAINT_PLAIN,
			      "pressure %s", units__ratio(text, share < 1 ? share : 1));
}

/* After the point: fewer of large numbers, so that they take as many columns. */
static int decimals(double value, int most)
{
	for (double next = 10; most && value >= next; next *= 10)
		most--;
	return most;
}

/* How many threads waited, on average. */
static void draw_waiting(const struct view *view, int y, const char *name, uint64_t waited_ns)
{
	double waiting = (double)waited_ns / (double)length_ns(&view->model);

	paint__text(y, 0, 8, PAINT_STRONG, name);
	paint__format(y, 8, pressure_at() - 8, PAINT_PLAIN, "%4.*f waiting", decimals(waiting, 2),
		      waiting);
}

/* A probe that has histograms: in one unit, so that the probes can be compared. */
static void draw_probe(const struct view *view, int y, unsigned int at)
{
	const struct run_probe *probe = &view->model.run->probes[at];
	int x = probes_at(), room = COLS - x;
	char rate[UNITS_TEXT], p99[UNITS_TEXT];
	struct summary summary;
	double waited;

	summary__of(&summary, &view->model.data[at].metrics[0].hist);
	waited = 1e3 * (double)summary.sum_ns / (double)length_ns(&view->model);
	paint__format(y, x, room, PAINT_PLAIN, "%u %-7.7s %6.*f ms/s", at + 1, probe->name,
		      waited < 1e4, waited);
	if (COLS >= NARROW)
		paint__format(y, x + 22, room - 22, PAINT_DIM, "p99 %s",
			      summary.events
				      ? units__ns(p99, (double)summary.quantiles_ns[SUMMARY_P99])
				      : "-");
	if (COLS >= WIDE)
		paint__format(y, x + 36, room - 36, PAINT_DIM, "%s, %s",
			      units__rate(rate,
					  summary__rate(summary.events, length_ns(&view->model))),
			      probe->metrics[0].what);
}

static void draw_probes(const struct view *view, int y)
{
	const struct run *run = view->model.run;
	int line = 0;

	for (unsigned int i = 0; i < run->nr_probes && line < HEADER; i++) {
		if (run->probes[i].refused[0])
			paint__format(y + line++, probes_at(), COLS - probes_at(), PAINT_ALERT,
				      "%u %-7.7s cannot run", i + 1, run->probes[i].name);
		else if (run->probes[i].nr_metrics)
			draw_probe(view, y + line++, i);
	}
}

static void draw_header(const struct view *view, int y)
{
	const uint64_t *ns = view->bars.ns;
	double run = (double)ns[BAR_CPU] / (double)length_ns(&view->model);

	draw_waiting(view, y, "CPU", ns[BAR_READY]);
	if (COLS >= NARROW)
		paint__format(y, 20, pressure_at() - 21, PAINT_PLAIN, ", %.*f run",
			      decimals(run, 2), run);
	draw_waiting(view, y + 1, "memory", ns[BAR_MEMORY]);
	draw_waiting(view, y + 2, "disk", ns[BAR_DISK]);
	draw_waiting(view, y + 3, "locks", ns[BAR_LOCK] + ns[BAR_FUTEX]);
	draw_pressure(view, y, MODEL_CPU);
	draw_pressure(view, y + 1, MODEL_MEMORY);
	draw_pressure(view, y + 2, MODEL_IO);
	draw_probes(view, y);
}

/* Returns the lines that it takes. */
static int draw_legend(int y)
{
	int x = 0, lines = COLS < LEAST_LEGEND ? 2 : 1;

	for (unsigned int i = 0; i < BAR_PARTS; i++) {
		if (lines == 2 && i == BAR_PARTS / 2) {
			y++;
			x = 0;
		}
		paint__part(y, x, 1, i);
		x += 2 + paint__text(y, x + 2, COLS - x - 2, PAINT_PLAIN, bar_looks[i].name) + 2;
	}
	return lines;
}

/* ---- rows ---- */

struct columns {
	int name, bar, p99, text; /* widths */
};

/* Has it a histogram of each row? */
static bool has_p99(const struct view *view, unsigned int probe)
{
	const struct run_probe *of = &view->model.run->probes[probe];

	return COLS >= WIDE && of->nr_metrics && !of->refused[0] && of->by & 1U << view->bars.by;
}

static struct columns columns_of(const struct view *view)
{
	struct columns columns = { .bar = COLS * (COLS < WIDE ? 4 : 3) / 10,
				   .name = COLS * 9 / 40 };

	columns.bar = columns.bar > MOST_BAR ? MOST_BAR : columns.bar;
	columns.name = columns.name < LEAST_NAME  ? LEAST_NAME
		       : columns.name > MOST_NAME ? MOST_NAME
						  : columns.name;
	for (unsigned int i = 0; i < view->model.run->nr_probes; i++)
		columns.p99 += has_p99(view, i) ? P99 : 0;
	columns.text = COLS - columns.name - 1 - columns.bar - WAITED - columns.p99 - 1;
	return columns;
}

/*
 * Who had the CPU or the disk most while it waited for one, by the probe that knows; NULL: unknown,
 * or it was itself.
 */
static const char *culprit_of(const struct view *view, const struct bar *bar, bool of_disk)
{
	const struct run *run = view->model.run;
	const struct model_pair *most = NULL;
	bool is_quota = false; /* it often has no name */

	if (!run->why_by || run->why_by - 1 != view->bars.by)
		return NULL;
	for (unsigned int i = 0; i < run->nr_probes; i++) {
		const struct model_why *why = &view->model.why[i];
		const struct why_words *words = why__words(run->probes[i].name);

		for (size_t at = 0;
		     (of_disk ? words->requests : words->of_cpu) && at < why->nr_pairs; at++) {
			const struct model_pair *pair = &why->pairs[at];
			bool of_quota = why_words__part(words, pair->part)->of_quota;

			if ((!pair->culprit[0] && !of_quota) || strcmp(pair->victim, bar->name) ||
			    (most && pair->ns <= most->ns))
				continue;
			most = pair;
			is_quota = of_quota;
		}
	}
	if (is_quota)
		return "its CPU quota";
	return most && strcmp(most->culprit, bar->name) ? most->culprit : NULL;
}

static const char *cause_of(const struct view *view, const struct bar *bar)
{
	enum bar_part largest = bar__largest(bar);

	if (largest == BAR_READY || largest == BAR_DISK)
		return culprit_of(view, bar, largest == BAR_DISK);
	return bar->cause[0] ? bar->cause : NULL;
}

/* "50.0 % for a futex, ended by holder (101)": most of its waits. */
static void describe_wait(const struct view *view, const struct bar *bar, char text[TEXT])
{
	enum bar_part largest = bar__largest(bar);
	const char *cause = cause_of(view, bar), *before = "";
	char share[UNITS_TEXT];

	if (cause)
		before = largest == BAR_READY || largest == BAR_DISK ? ", behind " : ", ended by ";
	snprintf(text, TEXT, "%s %s%s%s", units__share(share, bar->waits_ns[largest], bar->life_ns),
		 strstr(bar_looks[largest].what, "for"), before, cause ? cause : "");
}

/* The row of a probe that is of the same process, thread or cgroup. */
static const struct run_key *key_of(const struct run_data *data, unsigned int by,
				    const struct bar *bar)
{
	for (size_t i = 0; i < data->nr_keys; i++) {
		const struct run_key *key = &data->keys[i];

		if (key->key.by == by && !key->key.metric &&
		    (by == LAT_BY_CGROUP ? !strcmp(key->name, bar->name) : key->key.id == bar->id))
			return key;
	}
	return NULL;
}

static int draw_p99(const struct view *view, const struct bar *bar, int y, int x,
		    enum paint_style style)
{
	struct summary summary;
	struct lat_hist hist;
	char text[UNITS_TEXT];

	for (unsigned int i = 0; i < view->model.run->nr_probes; i++) {
		const struct run_key *key;

		if (!has_p99(view, i))
			continue;
		key = key_of(&view->model.data[i], view->bars.by, bar);
		if (key && key->hist.nr) {
			summary__of(&summary, sparse__expand(&key->hist, &hist));
			paint__right(y, x, P99, style,
				     units__ns(text, (double)summary.quantiles_ns[SUMMARY_P99]));
		}
		x += P99;
	}
	return x;
}

static void draw_row(const struct view *view, const struct bar *bar, int y,
		     const struct columns *columns, bool chosen)
{
	enum paint_style style = chosen ? PAINT_CHOSEN : PAINT_PLAIN;
	unsigned int cells[BAR_PARTS];
	int x = columns->name + 1;
	const char *cause = cause_of(view, bar);
	enum bar_part largest = bar__largest(bar);
	char text[TEXT], share[UNITS_TEXT];

	if (chosen)
		paint__line(y, 0, COLS, style);
	paint__name(y, 0, columns->name, style, bar->name);
	bar__cells(bar, (unsigned int)columns->bar, cells);
	for (unsigned int i = 0; i < BAR_PARTS; x += (int)cells[i++])
		paint__part(y, x, (int)cells[i], i);
	x = columns->name + 1 + columns->bar;
	paint__right(y, x, WAITED, style, units__share(share, bar__waited(bar), bar->life_ns));
	x = draw_p99(view, bar, y, x + WAITED, style) + 1;
	if (largest == BAR_IDLE)
		return;
	if (COLS >= WIDE)
		describe_wait(view, bar, text);
	else
		snprintf(text, sizeof(text), "%s%s%s", bar_looks[largest].name, cause ? " < " : "",
			 cause ? cause : "");
	paint__text(y, x, columns->text, style, text);
}

static void draw_head(const struct view *view, int y, const struct columns *columns)
{
	unsigned int sort = view->bars.sort;
	int x = columns->name + 1 + columns->bar;
	char title[RUN_NAME + 8];

	paint__line(y, 0, COLS, PAINT_BAR);
	paint__format(y, 0, columns->name, PAINT_BAR, "%s%s", split__name(view->bars.by),
		      sort > BAR_PARTS ? " *" : "");
	paint__format(y, columns->name + 1, columns->bar, PAINT_BAR, "its time%s%s",
		      sort && sort <= BAR_PARTS ? ", sorted by " : "",
		      sort && sort <= BAR_PARTS ? bar_looks[sort - 1].name : "");
	paint__right(y, x, WAITED, PAINT_BAR, sort ? "waited" : "*waited");
	x += WAITED;
	for (unsigned int i = 0; i < view->model.run->nr_probes; i++) {
		if (!has_p99(view, i))
			continue;
		snprintf(title, sizeof(title), "%.7s p99", view->model.run->probes[i].name);
		paint__right(y, x, P99, PAINT_BAR, title);
		x += P99;
	}
	paint__text(y, x + 1, columns->text, PAINT_BAR,
		    COLS < WIDE ? "most for < because of" : "most of it, and because of");
}

static const char *why_empty(const struct view *view)
{
	if (view->loading)
		return view->loading;
	if (!view->model.has_frame)
		return "waiting for the first interval";
	return view->filter[0] ? "no name contains the filter" : "nothing ran or waited";
}

static void keep_cursor_in_view(struct view *view)
{
	size_t nr = view->bars.bars.nr;

	if (view->cursor >= nr)
		view->cursor = nr ? nr - 1 : 0;
	if (view->cursor < view->first)
		view->first = view->cursor;
	if (view->cursor >= view->first + view->lines)
		view->first = view->cursor - view->lines + 1;
}

static void draw_table(struct view *view, int y, int lines)
{
	const struct columns columns = columns_of(view);
	const struct bars *bars = &view->bars.bars;
	size_t i;

	view->lines = lines > 2 ? (size_t)lines - 2 : 1;
	keep_cursor_in_view(view);
	draw_head(view, y, &columns);
	if (!bars->nr)
		paint__text(y + 1, 0, COLS, PAINT_DIM, why_empty(view));
	for (i = 0; i < view->lines && view->first + i < bars->nr; i++)
		draw_row(view, &bars->bars[view->first + i], y + 1 + (int)i, &columns,
			 view->first + i == view->cursor);
	if (view->bars.nr_idle)
		paint__format(y + 1 + (int)(bars->nr ? i : 1), 0, COLS, PAINT_DIM,
			      "%zu more were idle", view->bars.nr_idle);
}

int bars_view__draw(struct view *view, int y, int lines)
{
	int err = make(view), taken = HEADER;

	if (err)
		return err;
	if (view->model.has_frame)
		draw_header(view, y);
	taken += draw_legend(y + taken);
	draw_table(view, y + taken, lines - taken);
	return 0;
}

/* The row of the cursor in words. */
void bars_view__say(const struct view *view, int y)
{
	const struct bars *bars = &view->bars.bars;
	const struct bar *bar = view->cursor < bars->nr ? &bars->bars[view->cursor] : NULL;
	char waited[UNITS_TEXT], text[TEXT];

	if (!bar)
		return;
	if (bar__largest(bar) == BAR_IDLE) {
		paint__format(y, 0, COLS, PAINT_PLAIN, "%s did not wait", bar->name);
		return;
	}
	describe_wait(view, bar, text);
	paint__format(y, 0, COLS, PAINT_PLAIN, "%s waited %s of its time, %s", bar->name,
		      units__share(waited, bar__waited(bar), bar->life_ns), text);
}

/* ---- one row ---- */

void bars_view__open(struct view *view)
{
	const struct bars *bars = &view->bars.bars;

	if (view->cursor >= bars->nr)
		return;
	view->bars.chosen = bars->bars[view->cursor];
	view->scroll = 0;
	view->page = PAGE_BAR;
}

/* What the probe's command prints with a filter for it. */
static int print_one(const struct view *view, FILE *out)
{
	const struct run_probe *probe = probe_of(view), *rows = view->model.rows;
	struct run_probe *one = calloc(1, sizeof(*one));
	struct run *run = malloc(sizeof(*run));
	const struct text_style style = { 0 };
	char filter[TEXT];
	int err = one && run ? 0 : -ENOMEM;

	if (!err)
		err = bars__new_rows(one, rows);
	if (!err)
		err = probe_view__of(probe)->select(one, rows, view->bars.by, &view->bars.chosen);
	if (!err) {
		snprintf(filter, sizeof(filter), "%s %s", split__name(view->bars.by),
			 view->bars.chosen.name);
		*run = *view->model.run;
		one->filter = filter;
		err = probe_view__of(probe)->print(out, run, one, &style);
	}
	if (one)
		bars__free_rows(one);
	free(one);
	free(run);
	return err;
}

/* The text, then its slow events. */
static void draw_text(struct view *view, int y, const char *text)
{
	size_t at = 0, lines = 0, nr;

	for (const char *end = text; (end = strchr(end, '\n')); end++)
		lines++;
	nr = detail__draw_slow(view, y, 0, lines);
	if (nr <= view->lines)
		view->scroll = 0;
	else if (view->scroll > nr - view->lines)
		view->scroll = nr - view->lines;
	detail__draw_slow(view, y, (int)view->lines, lines);
	for (; *text && at < view->scroll + view->lines; at++) {
		size_t length = strcspn(text, "\n");

		if (at >= view->scroll)
			paint__format(y + (int)(at - view->scroll), 0, COLS, PAINT_PLAIN, "%.*s",
				      (int)length, text);
		text += length + (text[length] == '\n');
	}
}

int bars_view__draw_one(struct view *view, int y, int lines)
{
	char *text = NULL;
	size_t size;
	FILE *out;
	int err;

	paint__line(y, 0, COLS, PAINT_BAR);
	paint__format(y, 0, COLS, PAINT_BAR, "%s: %s   (arrows scroll, Enter goes back)",
		      split__name(view->bars.by), view->bars.chosen.name);
	view->lines = (size_t)lines - 1;
	if (!view->model.rows || !view->model.rows->table)
		return 0;
	out = open_memstream(&text, &size);
	if (!out)
		return -ENOMEM;
	err = print_one(view, out);
	if (fclose(out))
		err = -ENOMEM;
	if (!err)
		draw_text(view, y + 1, text);
	free(text);
	return err;
}
