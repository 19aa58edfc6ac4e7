/* SPDX-License-Identifier: BSD-2-Clause */
/* The screen of a live window or a recording: draws a model. */
#ifndef LATSCOPE_TUI_VIEW_H
#define LATSCOPE_TUI_VIEW_H

#include <stdbool.h>

#include <print/bars.h>

#include "model.h"
#include "terminal.h"

#define VIEW_FILTER 64

enum view_sort {
	SORT_WAITED,
	SORT_EVENTS,
	SORT_P50,
	SORT_P99,
	SORT_P999,
	SORT_MAX,
	SORT_NAME,
	SORTS,
};

enum view_page {
	PAGE_BARS, /* the first one, of the probe that divides the time of threads */
	PAGE_BAR, /* a row of it */
	PAGE_TABLE, /* of a probe that has histograms */
	PAGE_DETAIL,
	PAGE_HELP,
};

/* The first screen. */
struct view_bars {
	struct bars bars; /* owned; of the last drawing: those that are shown */
	size_t nr_idle; /* that are not shown */
	uint64_t ns[BAR_PARTS]; /* of all: on a CPU, and waits */
	unsigned int by; /* split, as enum lat_by */
	unsigned int sort; /* 0: by waits; 1 + enum bar_part; BARS_SORTS - 1: by name */
	struct bar chosen; /* of PAGE_BAR */
};
#define BARS_SORTS (BAR_PARTS + 2)

/* A row of the table of keys. */
struct view_row {
	const struct run_key *key;
	double weight; /* by which rows are sorted */
};

struct view {
	struct model model;
	struct terminal terminal;
	const char *loading; /* what is said until there are probes; NULL: they are there */
	bool replay; /* a recording, not a live window */
	bool running; /* replay: still being written */
	bool paused; /* live: the frame stays; replay: does not play */
	uint64_t interval_ns; /* live: length of a frame */
	uint64_t per_frame; /* replay: intervals in a frame */
	uint64_t nr_frames; /* replay: in the recording */
	const char *source; /* replay: path of the recording; live: NULL */
	double cost; /* of this process: share of a CPU; negative: not known yet */
	char note[RUN_TEXT]; /* what happened; empty: nothing */
	bool recording; /* live: a recording runs */

	unsigned int probe; /* whose keys are shown: index in the run */
	unsigned int by; /* split, as enum lat_by */
	enum view_sort sort;
	enum view_page page;
	enum view_page before; /* PAGE_HELP: the page that it goes back to */
	struct view_bars bars;
	char filter[VIEW_FILTER]; /* part of a name; empty: all */
	bool typing; /* the filter */
	struct view_row *rows; /* owned; of the last drawing */
	size_t nr_rows;
	size_t cursor, first; /* row of the cursor, and first row shown */
	size_t lines; /* rows that fit */
	size_t scroll; /* first line of the detail */
	struct lat_key key; /* of the detail */
	char name[RUN_NAME];
};

/* Opens the terminal. 0 or -errno; the caller must call view__close() in either case. */
int view__open(struct view *view);
void view__close(struct view *view);

/* Chooses the first screen: bars, or the first probe that measures, and its first split. */
void view__begin(struct view *view);

/* Shows a probe of the run; false: it has nothing to show here. */
bool view__choose_probe(struct view *view, unsigned int probe);

void view__draw(struct view *view);

/* The heat maps: how many frames they show, and the last one. */
uint64_t view__columns(void);
uint64_t view__last_column(const struct view *view);

/* The next split of the probe that has one; the first, if `next` is false and it lacks this one. */
void view__choose_split(struct view *view, bool next);

/* ---- bars.c ---- */

/* Does a probe of the run divide the time of threads? */
bool bars_view__has(const struct view *view);

/* The next split. */
void bars_view__choose_split(struct view *view);

/* The machine, and a row for each process, in `lines` lines from y. 0 or -ENOMEM. */
int bars_view__draw(struct view *view, int y, int lines);

/* The row of the cursor in a sentence. */
void bars_view__say(const struct view *view, int y);

/* Opens the row of the cursor; draws it. 0 or -ENOMEM. */
void bars_view__open(struct view *view);
int bars_view__draw_one(struct view *view, int y, int lines);

/* ---- table.c ---- */

/* Fills in the rows, and draws them in `lines` lines from y. 0 or -ENOMEM. */
int table_view__draw(struct view *view, int y, int lines);

/* ---- detail.c ---- */

/* Everything about the key of the detail. */
void detail__draw(struct view *view, int y, int lines);

/*
 * The slow events of the frame: on PAGE_BAR those of its row, of all probes; on PAGE_TABLE those of
 * its probe. The first one is line `at` of what scrolls; returns the line after the last one.
 */
size_t detail__draw_slow(const struct view *view, int y, int lines, size_t at);

/* ---- heat.c ---- */

/*
 * The heat map of a probe: a column for each frame, the newest on the right; latency upwards on a
 * logarithmic axis; the colour by the square root of the number of events.
 */
#define HEAT_AXIS 8 /* columns of the axis' labels */

/* For curses: makes the colours. */
void heat__begin(enum terminal_heat mode);

/* Where it is drawn, the axis included. */
struct heat_place {
	int y, x, lines, columns;
};

/* The frame in the last column is `last`; the current frame is marked if it is not that one. */
void heat__draw(const struct model *model, unsigned int probe, uint64_t last,
		const struct heat_place *place);

/* ---- keys.c ---- */

/* What a key asks of the source of the data. */
enum view_action {
	ACTION_NONE, /* only the screen changes */
	ACTION_QUIT,
	ACTION_PAUSE,
	ACTION_LONGER, /* interval, or frame */
	ACTION_SHORTER,
	ACTION_RECORD,
	ACTION_BACK, /* in time */
	ACTION_FORWARD,
	ACTION_FAR_BACK,
	ACTION_FAR_FORWARD,
	ACTION_FIRST,
	ACTION_LAST,
};

enum view_action keys__press(struct view *view, int key);

/* The length after `now` in an ascending list, or before it; `now` at the end of the list. */
uint64_t keys__step(const uint64_t *lengths, size_t nr, uint64_t now, bool longer);

#endif
