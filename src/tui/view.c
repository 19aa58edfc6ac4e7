// SPDX-License-Identifier: BSD-2-Clause
#include "view.h"

#include <curses.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <core/counts.h>
#include <core/hist.h>
#include <core/summary.h>
#include <core/units.h>
#include <print/probe_view.h>
#include <print/wrap.h>

#include "paint.h"

#define NUMBERS 41 /* columns of a probe's numbers */
#define FOOTER 3
#define LEAST_ROWS 5 /* of the table, with its head */
#define MOST_LINES 8 /* of a probe */

static const char *const help[] = {
	"Enter        of a row: its parts, who made it wait, slow events",
	"Tab          next view: time of all, each probe; Shift-Tab back",
	"1 to 8       view of this probe",
	"b            next split: process, cgroup, disk ...",
	"s            next sort: waited, a part or a percentile, name",
	"/            filter by part of a name; Enter ends, Escape clears",
	"up, down     choose a row; also Page Up, Page Down, j, k",
	"space        pause; in a recording: play",
	"+ -          longer or shorter interval, or step of a recording",
	"left, right  step in a recording; [ ] by ten, Home and End",
	"r            record from now on; r again ends the recording",
	"Ctrl-L       draw everything again",
	"h, q         this help, any key goes back; quit",
	"",
	"waited, of bars: share of its threads' time; a sleep for a futex, socket or",
	"pipe that lasted all the interval does not count. Of probes: sum of all",
	"latencies; ms/s: of each second. Heat map: a column for each interval, latency",
	"upwards, colour by the square root of the events; dark (text: a dot): none.",
};

int view__open(struct view *view)
{
	int err = terminal__open(&view->terminal);

	if (err)
		return err;
	heat__begin(view->terminal.heat);
	paint__begin(view->terminal.color, view->terminal.utf8);
	view->cost = -1;
	return 0;
}

void view__close(struct view *view)
{
	terminal__close(&view->terminal);
	free(view->rows);
	view->rows = NULL;
	bars__clear(&view->bars.bars);
	model__clear(&view->model);
}

void view__choose_split(struct view *view, bool next)
{
	uint32_t by = view->model.run->probes[view->probe].by;
	unsigned int at = view->by;

	if (!by || (!next && by & 1U << at))
		return;
	do
		at = (at + 1) % LAT_BY_COUNT;
	while (!(by & 1U << at));
	view->by = at;
	view->page = PAGE_TABLE;
}

bool view__choose_probe(struct view *view, unsigned int probe)
{
	const struct run *run = view->model.run;

	if (probe >= run->nr_probes)
		return false;
	view->cursor = view->first = 0;
	if (&run->probes[probe] == probe_view__of_bars(run)) {
		view->page = PAGE_BARS;
		return true;
	}
	view->probe = probe;
	view->page = PAGE_TABLE;
	view__choose_split(view, false);
	return run->probes[probe].nr_metrics && !run->probes[probe].refused[0];
}

void view__begin(struct view *view)
{
	const struct run *run = view->model.run;

	for (unsigned int i = run->nr_probes; i; i--)
		if (run->probes[i - 1].nr_metrics && !run->probes[i - 1].refused[0])
			view->probe = i - 1;
	view__choose_split(view, false);
	view->bars.by = view->by <= LAT_BY_CGROUP ? view->by : LAT_BY_PROCESS;
	view->page = bars_view__has(view) ? PAGE_BARS : PAGE_TABLE;
}

/* ---- title ---- */

static void draw_title(const struct view *view)
{
	const struct model *model = &view->model;
	char text[RUN_TEXT], length[UNITS_TEXT];
	struct tm local;
	time_t now = time(NULL);

	paint__line(0, 0, COLS, PAINT_BAR);
	if (view->loading) {
		paint__text(0, 0, COLS, PAINT_BAR, "latscope top");
		return;
	}
	if (view->replay) {
		paint__format(0, 0, COLS - 24, PAINT_BAR, "latscope top  %s  %.3f s to %.3f s",
			      model->run->start_utc, (double)model->start_ns / 1e9,
			      (double)model->end_ns / 1e9);
		snprintf(text, sizeof(text), "%llu/%llu%s%s",
			 (unsigned long long)(view->nr_frames ? model->frame + 1 : 0),
			 (unsigned long long)view->nr_frames, view->running ? " recording" : "",
			 view->paused ? "" : " playing");
		paint__right(0, COLS - 24, 24, PAINT_BAR, text);
		return;
	}
	localtime_r(&now, &local);
	strftime(text, sizeof(text), "%H:%M:%S", &local);
	paint__format(0, 0, COLS - 30, PAINT_BAR, "latscope top  %s  up %.0f s  interval %s", text,
		      (double)model->end_ns / 1e9, units__duration(length, view->interval_ns));
	snprintf(text, sizeof(text), "%s%s", view->recording ? "recording " : "",
		 view->paused ? "paused" : "");
	paint__right(0, COLS - 30, 30, PAINT_BAR, text);
}

/* ---- one block for each probe ---- */

uint64_t view__columns(void)
{
	int columns = COLS - NUMBERS - HEAT_AXIS;

	return columns > MODEL_COLUMNS ? MODEL_COLUMNS : columns > 0 ? (uint64_t)columns : 1;
}

uint64_t view__last_column(const struct view *view)
{
	uint64_t columns = view__columns(), last = view->model.frame;

	if (!view->replay)
		return last;
	last = last + columns / 2 > columns - 1 ? last + columns / 2 : columns - 1;
	return last < view->nr_frames ? last : view->nr_frames ? view->nr_frames - 1 : 0;
}

static const char *quantile(const struct summary *summary, enum summary_quantile which,
			    char text[UNITS_TEXT])
{
	return summary->events ? units__ns(text, (double)summary->quantiles_ns[which]) : "-";
}

static void draw_numbers(const struct view *view, unsigned int at, int y, int lines)
{
	const struct model *model = &view->model;
	const struct run_probe *probe = &model->run->probes[at];
	const struct lat_hist *hist = &model->data[at].metrics[0].hist;
	char one[UNITS_TEXT], two[UNITS_TEXT], three[UNITS_TEXT];
	struct summary summary;

	summary__of(&summary, hist);
	paint__format(y, 10, 31, PAINT_PLAIN, "%13s   max %s",
		      units__rate(one,
				  summary__rate(summary.events, model->end_ns - model->start_ns)),
		      summary.events ? units__ns(two, (double)summary.max_ns) : "-");
	if (lines < 2)
		return;
	paint__format(y + 1, 2, NUMBERS - 2, PAINT_PLAIN, "p50 %s  p99 %s  p99.9 %s",
		      quantile(&summary, SUMMARY_P50, one), quantile(&summary, SUMMARY_P99, two),
		      quantile(&summary, SUMMARY_P999, three));
	if (lines < 3)
		return;
	paint__format(y + 2, 2, NUMBERS - 2, PAINT_DIM, "%s, %s, %s > %s", probe->metrics[0].name,
		      probe->method,
		      summary.events ? units__share(one, summary.tail, summary.events) : "-",
		      units__duration(two, probe->tail_ns));
}

static void draw_probe(const struct view *view, unsigned int at, int y, int lines)
{
	const struct run_probe *probe = &view->model.run->probes[at];
	enum paint_style style = at == view->probe ? PAINT_CHOSEN : PAINT_STRONG;

	paint__format(y, 0, 10, style, "%u %s", at + 1, probe->name);
	if (probe->refused[0]) {
		paint__format(y, 11, COLS - 11, PAINT_ALERT, "cannot measure: %s", probe->refused);
		return;
	}
	if (!probe->nr_metrics) {
		paint__text(y, 11, COLS - 11, PAINT_DIM,
			    probe == probe_view__of_bars(view->model.run)
				    ? "where the time went: Tab"
				    : "a table, no histogram; see report");
		return;
	}
	if (!view->model.has_frame)
		return;
	draw_numbers(view, at, y, lines);
	heat__draw(&view->model, at, view__last_column(view),
		   &(struct heat_place){ y, NUMBERS, lines, COLS - NUMBERS });
}

static bool has_heat(const struct run_probe *probe)
{
	return probe->nr_metrics && !probe->refused[0];
}

/* Lines of each probe that has a heat map; the others have one. */
static int lines_of_heat(const struct run *run)
{
	int room = LINES - 1 - FOOTER - LEAST_ROWS, probes = 0, lines;

	for (unsigned int i = 0; i < run->nr_probes; i++) {
		if (has_heat(&run->probes[i]))
			probes++;
		else
			room--;
	}
	if (!probes)
		return 1;
	lines = LINES * 2 / 5 / probes;
	if (lines < 3)
		lines = 3;
	if (lines > MOST_LINES)
		lines = MOST_LINES;
	if (lines * probes > room)
		lines = room / probes;
	return lines < 1 ? 1 : lines;
}

/* ---- footer ---- */

static void draw_accounting(const struct view *view, int y)
{
	const struct lat_cell *cell = &view->model.data[view->probe].metrics[0];
	const struct run_probe *probe = &view->model.run->probes[view->probe];
	struct wrap line = { 0 };
	char count[UNITS_TEXT];

	if (!probe->nr_metrics || probe->refused[0])
		return;
	wrap__add(&line, "%s: %s seen", probe->name, units__count(count, cell->counts[LAT_SEEN]));
	wrap__add(&line, " = %s recorded", units__count(count, run__recorded(cell)));
	for (unsigned int i = 0; i < LAT_TERMS; i++)
		if (counts__is_term(i) && cell->counts[i])
			wrap__add(&line, " + %s %s", units__count(count, cell->counts[i]),
				  counts__name(i));
	if (run__imbalance(cell))
		wrap__add(&line, "; sum is off by %lld", (long long)run__imbalance(cell));
	if (probe->recursion_missed)
		wrap__add(&line, "; %s not seen (all)",
			  units__count(count, probe->recursion_missed));
	paint__text(y, 0, COLS, PAINT_PLAIN, line.text);
}

/* Of this process, and of the programs in the kernel. */
static void draw_cost(const struct view *view, int y)
{
	struct summary_cost price;
	struct wrap line = { 0 };
	char share[UNITS_TEXT];
	double programs = 0;
	bool known = false;

	for (unsigned int i = 0; i < view->model.run->nr_probes; i++) {
		summary__of_cost(&price, view->model.run, &view->model.run->probes[i]);
		if (!price.known)
			continue;
		known = true;
		programs += price.cpu_share;
	}
	if (view->cost >= 0)
		wrap__add(&line, "cost: top %s of a CPU", units__ratio(share, view->cost));
	if (known)
		wrap__add(&line, "%sprobes %s of a CPU",
			  line.len ? ", " : "cost: ", units__ratio(share, programs));
	paint__text(y, 0, COLS, PAINT_DIM, line.text);
}

/* The keys that matter most, as many as there is room for; the last ones always. */
static void draw_keys(const struct view *view, int y)
{
	bool scrolls = view->page == PAGE_BAR || view->page == PAGE_DETAIL;
	const char *const keys[] = {
		view->replay ? "<- -> step  " : "",
		scrolls ? "Enter back  " : "Enter why  ",
		"Tab next view  ",
		scrolls ? "" : "b split  ",
		scrolls ? "" : "/ filter  ",
	};
	const char last[] = "h help  q quit";
	struct wrap line = { 0 };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (line.len + strlen(keys[i]) + sizeof(last) - 1 <= (size_t)COLS)
			wrap__add(&line, "%s", keys[i]);
	wrap__add(&line, "%s", last);
	paint__text(y, 0, COLS, PAINT_BAR, line.text);
}

/* How it is measured, or on the first screen what that costs. */
static void draw_method(const struct view *view, int y)
{
	const struct run_probe *probe = &view->model.run->probes[view->probe];

	if (view->page == PAGE_BARS || view->page == PAGE_BAR)
		draw_cost(view, y);
	else if (!probe->refused[0])
		paint__format(y, 0, COLS, PAINT_DIM, "method %s: %s", probe->method,
			      probe->mechanism);
}

static void draw_footer(const struct view *view, int y)
{
	if (view->page == PAGE_BARS || view->page == PAGE_BAR)
		bars_view__say(view, y);
	else
		draw_accounting(view, y);
	if (view->note[0])
		paint__text(y + 1, 0, COLS, PAINT_ALERT, view->note);
	else
		draw_method(view, y + 1);
	paint__line(y + 2, 0, COLS, PAINT_BAR);
	if (view->typing)
		paint__format(y + 2, 0, COLS, PAINT_CHOSEN, "/%s_", view->filter);
	else if (view->filter[0])
		paint__format(y + 2, 0, COLS, PAINT_CHOSEN, "filter: %s", view->filter);
	else
		draw_keys(view, y + 2);
}

static void draw_help(int y, int lines)
{
	paint__line(y, 0, COLS, PAINT_BAR);
	paint__text(y, 0, COLS, PAINT_BAR, "Keys");
	for (int i = 0; i < (int)(sizeof(help) / sizeof(help[0])) && i + 1 < lines; i++)
		paint__text(y + 1 + i, 1, COLS - 1, PAINT_PLAIN, help[i]);
}

/* The blocks of all probes, and the table of one. */
static int draw_probes(struct view *view, int y)
{
	const struct run *run = view->model.run;
	int heat = lines_of_heat(run), lines;

	for (unsigned int i = 0; i < run->nr_probes; i++, y += lines) {
		lines = has_heat(&run->probes[i]) ? heat : 1;
		draw_probe(view, i, y, lines);
	}
	if (view->page == PAGE_TABLE)
		return table_view__draw(view, y, LINES - y - FOOTER);
	detail__draw(view, y, LINES - y - FOOTER);
	return 0;
}

static void draw_all(struct view *view)
{
	int y = 1, lines = LINES - y - FOOTER, err = 0;

	draw_title(view);
	if (view->page == PAGE_HELP)
		draw_help(y, lines);
	else if (view->page == PAGE_BARS)
		err = bars_view__draw(view, y, lines);
	else if (view->page == PAGE_BAR)
		err = bars_view__draw_one(view, y, lines);
	else
		err = draw_probes(view, y);
	if (err)
		paint__text(y, 0, COLS, PAINT_ALERT, "out of memory");
	draw_footer(view, LINES - FOOTER);
}

void view__draw(struct view *view)
{
	erase();
	if (terminal__is_large_enough())
		draw_all(view);
	else
		paint__format(0, 0, COLS, PAINT_PLAIN, "too small: %dx%d; latscope top needs %dx%d",
			      COLS, LINES, TERMINAL_COLUMNS, TERMINAL_LINES);
	refresh();
}
