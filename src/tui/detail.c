// SPDX-License-Identifier: BSD-2-Clause
/* Everything about one key: percentiles, parts, culprits, slow events. */
#include "view.h"

#include <curses.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/split.h>
#include <core/summary.h>
#include <core/units.h>
#include <print/why.h>
#include <print/wrap.h>
#include <stats/why.h>

#include "paint.h"

#define WHOLE_PAIRS 8 /* of the whole window that are shown */
#define FRAMES 8 /* of a stack that are shown */
#define MOST_LINE 1024

/* Lines before `skip` and after `lines` are not drawn. */
struct detail {
	const struct view *view;
	const struct run_probe *probe;
	int y, lines;
	size_t skip, at;
};

static void put(struct detail *detail, enum paint_style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void put(struct detail *detail, enum paint_style style, const char *format, ...)
{
	size_t line = detail->at++;
	char text[MOST_LINE];
	va_list args;

	if (line < detail->skip || line - detail->skip >= (size_t)detail->lines)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (style == PAINT_BAR)
		paint__line(detail->y + (int)(line - detail->skip), 0, COLS, style);
	paint__text(detail->y + (int)(line - detail->skip), 0, COLS, style, text);
}

static void put_percentiles(struct detail *detail)
{
	const struct view *view = detail->view;
	const struct run_key *key = run__find_key(&view->model.data[view->probe], &view->key);
	char one[UNITS_TEXT], two[UNITS_TEXT], three[UNITS_TEXT];
	struct summary summary;
	struct wrap line = { 0 };
	struct lat_hist hist;

	if (!key || !key->hist.nr) {
		put(detail, PAINT_DIM, "no events in this interval");
		return;
	}
	summary__of(&summary, sparse__expand(&key->hist, &hist));
	put(detail, PAINT_PLAIN, "waited %s in %s events   mean %s   max %s",
	    units__ns(one, (double)summary.sum_ns), units__count(two, summary.events),
	    units__ns(three, summary.mean_ns),
	    units__ns((char[UNITS_TEXT]){ 0 }, (double)summary.max_ns));
	for (unsigned int i = 0; i < SUMMARY_QUANTILES; i++)
		wrap__add(&line, "%s%s %s", i ? "   " : "", summary__labels[i],
			  units__ns(one, (double)summary.quantiles_ns[i]));
	put(detail, PAINT_PLAIN, "%s", line.text);
}

static int most_first(const void *left, const void *right)
{
	const struct model_pair *a = *(const struct model_pair *const *)left;
	const struct model_pair *b = *(const struct model_pair *const *)right;

	return a->ns > b->ns ? -1 : a->ns < b->ns;
}

static bool is_victim(const struct view *view, const struct model_pair *pair)
{
	return (uint64_t)pair->victim_id == view->key.id && !strcmp(pair->victim, view->name);
}

static bool is_culprit(const struct view *view, const struct model_pair *pair)
{
	return !strcmp(pair->culprit, view->name);
}

typedef bool choose_pair(const struct view *view, const struct model_pair *pair);

/* The pairs that are chosen, the largest first; the caller frees *pairs. */
static size_t choose(const struct detail *detail, choose_pair *chosen,
		     const struct model_pair ***pairs)
{
	const struct model_why *why = &detail->view->model.why[detail->view->probe];
	size_t nr = 0;

	*pairs = calloc(why->nr_pairs + 1, sizeof(*pairs));
	for (size_t i = 0; *pairs && i < why->nr_pairs; i++)
		if (chosen(detail->view, &why->pairs[i]))
			(*pairs)[nr++] = &why->pairs[i];
	if (nr)
		qsort(*pairs, nr, sizeof(**pairs), most_first);
	return nr;
}

static void put_parts(struct detail *detail, const struct model_pair *const *pairs, size_t nr)
{
	uint64_t part_ns[WHY_PARTS] = { 0 }, total = 0;
	char share[UNITS_TEXT], time[UNITS_TEXT];

	for (size_t i = 0; i < nr; i++) {
		part_ns[pairs[i]->part] += pairs[i]->ns;
		total += pairs[i]->ns;
	}
	put(detail, PAINT_BAR, "%-46s %9s %11s", "where its slow time went", "share", "time");
	for (unsigned int i = 1; i <= WHY_PARTS; i++) {
		unsigned int part = i % WHY_PARTS; /* what is unknown comes last */
		const char *what = why__part(detail->probe->name, part)->what;

		if (what && part_ns[part])
			put(detail, PAINT_PLAIN, "%-46.46s %9s %11s", what,
			    units__share(share, part_ns[part], total),
			    units__ns(time, (double)part_ns[part]));
	}
	put(detail, PAINT_BAR, "%-37s %-8s %9s %11s %8s", "culprit", "part", "share", "time",
	    "samples");
	for (size_t i = 0; i < nr; i++)
		put(detail, PAINT_PLAIN, "%-37.37s %-8.8s %9s %11s %8llu",
		    pairs[i]->culprit[0] ? pairs[i]->culprit : "-",
		    why__part(detail->probe->name, pairs[i]->part)->name,
		    units__share(share, pairs[i]->ns, total), units__ns(time, (double)pairs[i]->ns),
		    (unsigned long long)pairs[i]->events);
}

static void put_victims(struct detail *detail, const struct model_pair *const *pairs, size_t nr)
{
	char time[UNITS_TEXT];

	put(detail, PAINT_BAR, "%-37s %-8s %9s %11s", "whom it made wait", "part", "", "time");
	for (size_t i = 0; i < nr; i++)
		put(detail, PAINT_PLAIN, "%-37.37s %-8.8s %9s %11s", pairs[i]->victim,
		    why__part(detail->probe->name, pairs[i]->part)->name, "",
		    units__ns(time, (double)pairs[i]->ns));
}

static bool is_event_of(const struct why_slow *slow, unsigned int by, uint64_t id, const char *name)
{
	switch (by) {
	case LAT_BY_PROCESS:
		return (uint64_t)slow->pid == id;
	case LAT_BY_THREAD:
		return (uint64_t)slow->tid == id;
	case LAT_BY_CGROUP:
		return !strcmp(slow->cgroup, name);
	case LAT_BY_DISK:
		return !strcmp(slow->disk, name);
	default:
		return false;
	}
}

static void put_stack(struct detail *detail, uint64_t pid, const char *stack)
{
	const struct frames *frames = &detail->view->model.run->frames;
	struct frames_walk walk = frames__walk(frames, pid, stack, FRAMES);
	const char *frame, *before = "";
	struct wrap line = { 0 };
	char text[FRAME_TEXT];

	if (!*stack || !frames->nr)
		return;
	wrap__add(&line, "    %s", pid ? "user:" : "kernel:");
	for (; (frame = frames__walk_next(&walk, text)); before = " <")
		wrap__add(&line, "%s %.60s", before, frame);
	put(detail, PAINT_DIM, "%s", line.text);
}

static void put_owner(struct detail *detail, const struct why_slow *slow)
{
	struct wrap line = { 0 };

	why_text__add_owner(&line, detail->probe, slow);
	put(detail, PAINT_DIM, "    %s", line.text);
}

static void put_event(struct detail *detail, const struct why_slow *slow)
{
	struct wrap line = { 0 };
	char time[UNITS_TEXT];

	wrap__add(&line, "%.6f s %s %s", (double)slow->time_ns / 1e9,
		  units__ns(time, (double)slow->ns), slow->process);
	if (slow->tid != slow->pid)
		wrap__add(&line, "/%s (%lld)", slow->comm, (long long)slow->tid);
	wrap__add(&line, " CPU %lld:", (long long)slow->cpu);
	for (unsigned int i = 0; i < WHY_PARTS; i++)
		if (slow->part_ns[i])
			wrap__add(&line, " %s %s", why__part(detail->probe->name, i)->name,
				  units__ns(time, (double)slow->part_ns[i]));
	for (unsigned int i = 0; i < WHY_CULPRITS && slow->culprits[i].ns; i++)
		wrap__add(&line, "%s %s %s", i ? "," : ";", slow->culprits[i].name,
			  units__ns(time, (double)slow->culprits[i].ns));
	put(detail, PAINT_PLAIN, "%s", line.text);
	if (slow->stack_tid && detail->view->model.run->frames.nr)
		put_owner(detail, slow);
	put_stack(detail, 0, slow->kernel_stack);
	put_stack(detail, (uint64_t)slow->stack_pid, slow->user_stack);
}

/* Those of a probe in this frame that are of the key; NULL: all. */
static void put_events(struct detail *detail, unsigned int probe, unsigned int by, uint64_t id,
		       const char *name)
{
	const struct model_why *why = &detail->view->model.why[probe];
	bool has_title = false;

	detail->probe = &detail->view->model.run->probes[probe];
	for (unsigned int i = 0; i < why->nr_events; i++) {
		if (name && !is_event_of(&why->events[i], by, id, name))
			continue;
		if (!has_title)
			put(detail, PAINT_BAR, "%s: %s", detail->probe->name,
			    "slow events: time, latency, parts; who made it wait");
		has_title = true;
		put_event(detail, &why->events[i]);
	}
}

static void put_events_of_key(struct detail *detail)
{
	const struct view *view = detail->view;

	put_events(detail, view->probe, view->by, view->key.id, view->name);
}

size_t detail__draw_slow(const struct view *view, int y, int lines, size_t at)
{
	const struct bar *bar = &view->bars.chosen;
	struct detail detail = {
		.view = view, .y = y, .lines = lines, .skip = view->scroll, .at = at
	};

	if (view->page == PAGE_TABLE)
		put_events(&detail, view->probe, 0, 0, NULL);
	for (unsigned int i = 0; view->page == PAGE_BAR && i < view->model.run->nr_probes; i++)
		put_events(&detail, i, view->bars.by, bar->id, bar->name);
	return detail.at;
}

/* The pairs of the whole window. */
static void put_whole(struct detail *detail)
{
	struct why_summary summary;
	char share[UNITS_TEXT], time[UNITS_TEXT];
	uint64_t total = 0;
	unsigned int shown = 0;

	if (!why_summary__of(&summary, detail->probe, NULL)) {
		for (size_t i = 0; i < summary.nr_lines; i++)
			if (!strcmp(summary.lines[i].victim, detail->view->name))
				total += summary.lines[i].ns;
		if (total)
			put(detail, PAINT_BAR, "%-37s %-8s %9s %11s",
			    detail->view->replay ? "culprit in the whole recording"
						 : "culprit since the start",
			    "part", "share", "time");
		for (size_t i = 0; i < summary.nr_lines && shown < WHOLE_PAIRS; i++) {
			const struct why_line *line = &summary.lines[i];

			if (strcmp(line->victim, detail->view->name))
				continue;
			shown++;
			put(detail, PAINT_PLAIN, "%-37.37s %-8.8s %9s %11s",
			    line->culprit ? line->culprit : "-", line->part,
			    units__share(share, line->ns, total),
			    units__ns(time, (double)line->ns));
		}
	}
	why_summary__clear(&summary);
}

static void put_why(struct detail *detail)
{
	const struct model_why *why = &detail->view->model.why[detail->view->probe];
	uint32_t run_by = detail->view->model.run->why_by;
	const struct model_pair **pairs;
	char over[UNITS_TEXT];
	size_t nr;

	put(detail, PAINT_PLAIN, "%s", "");
	if (!detail->probe->why) {
		put(detail, PAINT_DIM, "%s",
		    detail->view->replay
			    ? "no parts of slow samples; record with --why"
			    : "no parts of slow samples: this probe cannot explain them");
		return;
	}
	if (run_by && run_by - 1 != detail->view->by) {
		put(detail, PAINT_DIM, "slow samples are explained by %s, not by %s",
		    split__name(run_by - 1), split__name(detail->view->by));
		put_events_of_key(detail);
		return;
	}
	nr = choose(detail, is_victim, &pairs);
	if (nr)
		put_parts(detail, pairs, nr);
	else
		put(detail, PAINT_DIM, "none of its samples was slow in this interval%s%s",
		    why->over_ns ? "; threshold " : "",
		    why->over_ns ? units__ns(over, (double)why->over_ns) : "");
	free(pairs);
	nr = choose(detail, is_culprit, &pairs);
	if (nr)
		put_victims(detail, pairs, nr);
	free(pairs);
	put_events_of_key(detail);
	put_whole(detail);
}

void detail__draw(struct view *view, int y, int lines)
{
	struct detail detail = { .view = view,
				 .probe = &view->model.run->probes[view->probe],
				 .y = y + 1,
				 .lines = lines - 1,
				 .skip = view->scroll };

	paint__line(y, 0, COLS, PAINT_BAR);
	paint__format(y, 0, COLS, PAINT_BAR, "%s %s: %s   (arrows scroll, Enter goes back)",
		      detail.probe->name, split__name(view->by), view->name);
	view->lines = (size_t)detail.lines;
	put_percentiles(&detail);
	put_why(&detail);
	/* Only now the number of lines is known. */
	if (detail.at > (size_t)detail.lines && view->scroll > detail.at - (size_t)detail.lines)
		view->scroll = detail.at - (size_t)detail.lines;
	else if (detail.at <= (size_t)detail.lines)
		view->scroll = 0;
}
