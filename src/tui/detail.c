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
#include <stats/why.h>

#include "paint.h"

#define WHOLE_PAIRS 8 /* of the whole window that are shown */
#define FRAMES 8 /* of a stack that are shown */
#define MOST_LINE 1024

/* Lines before `skip` and after `lines` are not drawn. */
struct page {
	const struct view *view;
	const struct run_probe *probe;
	int y, lines;
	size_t skip, at;
};

static void put(struct page *page, enum paint_style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void put(struct page *page, enum paint_style style, const char *format, ...)
{
	size_t line = page->at++;
	char text[MOST_LINE];
	va_list args;

	if (line < page->skip || line - page->skip >= (size_t)page->lines)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (style == PAINT_BAR)
		paint__line(page->y + (int)(line - page->skip), 0, COLS, style);
	paint__text(page->y + (int)(line - page->skip), 0, COLS, style, text);
}

const struct run_key *detail__key(const struct view *view)
{
	const struct run_key *key = run__find_key(&view->model.data[view->probe], &view->key);

	return key && key->hist.nr ? key : NULL;
}

static void put_percentiles(struct page *page)
{
	const struct run_key *key = detail__key(page->view);
	char one[UNITS_TEXT], two[UNITS_TEXT], three[UNITS_TEXT], line[MOST_LINE] = "";
	struct summary summary;
	struct lat_hist hist;
	size_t used = 0;

	if (!key) {
		put(page, PAINT_DIM, "no events in this interval");
		return;
	}
	summary__of(&summary, sparse__expand(&key->hist, &hist));
	put(page, PAINT_PLAIN, "waited %s in %s events   mean %s   max %s",
	    units__ns(one, (double)summary.sum_ns), units__count(two, summary.events),
	    units__ns(three, summary.mean_ns),
	    units__ns((char[UNITS_TEXT]){ 0 }, (double)summary.max_ns));
	for (unsigned int i = 0; i < SUMMARY_QUANTILES; i++)
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%s %s",
					 i ? "   " : "", summary__labels[i],
					 units__ns(one, (double)summary.quantiles_ns[i]));
	put(page, PAINT_PLAIN, "%s", line);
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
static size_t choose(const struct page *page, choose_pair *chosen, const struct model_pair ***pairs)
{
	const struct model_why *why = &page->view->model.why[page->view->probe];
	size_t nr = 0;

	*pairs = calloc(why->nr_pairs + 1, sizeof(*pairs));
	for (size_t i = 0; *pairs && i < why->nr_pairs; i++)
		if (chosen(page->view, &why->pairs[i]))
			(*pairs)[nr++] = &why->pairs[i];
	if (nr)
		qsort(*pairs, nr, sizeof(**pairs), most_first);
	return nr;
}

static void put_parts(struct page *page, const struct model_pair *const *pairs, size_t nr)
{
	uint64_t part_ns[WHY_PARTS] = { 0 }, total = 0;
	char share[UNITS_TEXT], time[UNITS_TEXT];

	for (size_t i = 0; i < nr; i++) {
		part_ns[pairs[i]->part] += pairs[i]->ns;
		total += pairs[i]->ns;
	}
	put(page, PAINT_BAR, "%-46s %9s %11s", "where its slow time went", "share", "time");
	for (unsigned int i = 1; i <= WHY_PARTS; i++) {
		unsigned int part = i % WHY_PARTS; /* what is unknown comes last */
		const char *what = why__part(page->probe->name, part)->what;

		if (what && part_ns[part])
			put(page, PAINT_PLAIN, "%-46.46s %9s %11s", what,
			    units__share(share, part_ns[part], total),
			    units__ns(time, (double)part_ns[part]));
	}
	put(page, PAINT_BAR, "%-37s %-8s %9s %11s %8s", "culprit", "part", "share", "time",
	    "samples");
	for (size_t i = 0; i < nr; i++)
		put(page, PAINT_PLAIN, "%-37.37s %-8.8s %9s %11s %8llu",
		    pairs[i]->culprit[0] ? pairs[i]->culprit : "-",
		    why__part(page->probe->name, pairs[i]->part)->name,
		    units__share(share, pairs[i]->ns, total), units__ns(time, (double)pairs[i]->ns),
		    (unsigned long long)pairs[i]->events);
}

static void put_victims(struct page *page, const struct model_pair *const *pairs, size_t nr)
{
	char time[UNITS_TEXT];

	put(page, PAINT_BAR, "%-37s %-8s %9s %11s", "whom it made wait", "part", "", "time");
	for (size_t i = 0; i < nr; i++)
		put(page, PAINT_PLAIN, "%-37.37s %-8.8s %9s %11s", pairs[i]->victim,
		    why__part(page->probe->name, pairs[i]->part)->name, "",
		    units__ns(time, (double)pairs[i]->ns));
}

static bool is_event_of(const struct view *view, const struct why_slow *slow)
{
	switch (view->by) {
	case LAT_BY_PROCESS:
		return (uint64_t)slow->pid == view->key.id;
	case LAT_BY_THREAD:
		return (uint64_t)slow->tid == view->key.id;
	case LAT_BY_CGROUP:
		return !strcmp(slow->cgroup, view->name);
	case LAT_BY_DISK:
		return !strcmp(slow->disk, view->name);
	default:
		return false;
	}
}

static void put_stack(struct page *page, uint64_t pid, const char *stack)
{
	const struct frames *frames = &page->view->model.run->frames;
	struct frames_walk walk = frames__walk(frames, pid, stack, FRAMES);
	char line[MOST_LINE], text[FRAME_TEXT];
	const char *frame, *before = "";
	size_t used;

	if (!*stack || !frames->nr)
		return;
	used = (size_t)snprintf(line, sizeof(line), "    %s", pid ? "user:" : "kernel:");
	for (; (frame = frames__walk_next(&walk, text)); before = " <")
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s %.60s", before,
					 frame);
	put(page, PAINT_DIM, "%s", line);
}

static void put_event(struct page *page, const struct why_slow *slow)
{
	char time[UNITS_TEXT], line[MOST_LINE];
	size_t used;

	used = (size_t)snprintf(line, sizeof(line), "%.6f s %s %s", (double)slow->time_ns / 1e9,
				units__ns(time, (double)slow->ns), slow->process);
	if (slow->tid != slow->pid)
		used += (size_t)snprintf(line + used, sizeof(line) - used, "/%s (%lld)", slow->comm,
					 (long long)slow->tid);
	used += (size_t)snprintf(line + used, sizeof(line) - used,
				 " CPU %lld:", (long long)slow->cpu);
	for (unsigned int i = 0; i < WHY_PARTS; i++)
		if (slow->part_ns[i])
			used += (size_t)snprintf(line + used, sizeof(line) - used, " %s %s",
						 why__part(page->probe->name, i)->name,
						 units__ns(time, (double)slow->part_ns[i]));
	for (unsigned int i = 0; i < WHY_CULPRITS && slow->culprits[i].ns; i++)
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s %s %s",
					 i ? "," : ";", slow->culprits[i].name,
					 units__ns(time, (double)slow->culprits[i].ns));
	put(page, PAINT_PLAIN, "%s", line);
	if (slow->stack_tid && page->view->model.run->frames.nr)
		put(page, PAINT_DIM, "    stack of thread %lld", (long long)slow->stack_tid);
	put_stack(page, 0, slow->kernel_stack);
	put_stack(page, (uint64_t)slow->stack_pid, slow->user_stack);
}

static void put_events(struct page *page)
{
	const struct model_why *why = &page->view->model.why[page->view->probe];
	bool any = false;

	for (unsigned int i = 0; i < why->nr_events; i++) {
		if (!is_event_of(page->view, &why->events[i]))
			continue;
		if (!any)
			put(page, PAINT_BAR, "%s",
			    "slow events: time, latency, parts; who made it wait");
		any = true;
		put_event(page, &why->events[i]);
	}
}

/* The pairs of the whole window. */
static void put_whole(struct page *page)
{
	struct why_summary summary;
	char share[UNITS_TEXT], time[UNITS_TEXT];
	uint64_t total = 0;
	unsigned int shown = 0;

	if (!why_summary__of(&summary, page->probe, NULL)) {
		for (size_t i = 0; i < summary.nr_lines; i++)
			if (!strcmp(summary.lines[i].victim, page->view->name))
				total += summary.lines[i].ns;
		if (total)
			put(page, PAINT_BAR, "%-37s %-8s %9s %11s",
			    page->view->replay ? "culprit in the whole recording"
					       : "culprit since the start",
			    "part", "share", "time");
		for (size_t i = 0; i < summary.nr_lines && shown < WHOLE_PAIRS; i++) {
			const struct why_line *line = &summary.lines[i];

			if (strcmp(line->victim, page->view->name))
				continue;
			shown++;
			put(page, PAINT_PLAIN, "%-37.37s %-8.8s %9s %11s",
			    line->culprit ? line->culprit : "-", line->part,
			    units__share(share, line->ns, total),
			    units__ns(time, (double)line->ns));
		}
	}
	why_summary__clear(&summary);
}

static void put_why(struct page *page)
{
	const struct model_why *why = &page->view->model.why[page->view->probe];
	uint32_t run_by = page->view->model.run->why_by;
	const struct model_pair **pairs;
	char over[UNITS_TEXT];
	size_t nr;

	put(page, PAINT_PLAIN, "%s", "");
	if (!page->probe->why) {
		put(page, PAINT_DIM, "%s",
		    page->view->replay
			    ? "no parts of slow samples; record with --why"
			    : "no parts of slow samples: this probe cannot explain them");
		return;
	}
	if (run_by && run_by - 1 != page->view->by) {
		put(page, PAINT_DIM, "slow samples are explained by %s, not by %s",
		    split__name(run_by - 1), split__name(page->view->by));
		put_events(page);
		return;
	}
	nr = choose(page, is_victim, &pairs);
	if (nr)
		put_parts(page, pairs, nr);
	else
		put(page, PAINT_DIM, "none of its samples was slow in this interval%s%s",
		    why->over_ns ? "; threshold " : "",
		    why->over_ns ? units__ns(over, (double)why->over_ns) : "");
	free(pairs);
	nr = choose(page, is_culprit, &pairs);
	if (nr)
		put_victims(page, pairs, nr);
	free(pairs);
	put_events(page);
	put_whole(page);
}

void detail__draw(struct view *view, int y, int lines)
{
	struct page page = { .view = view,
			     .probe = &view->model.run->probes[view->probe],
			     .y = y + 1,
			     .lines = lines - 1,
			     .skip = view->scroll };

	paint__line(y, 0, COLS, PAINT_BAR);
	paint__format(y, 0, COLS, PAINT_BAR, "%s %s: %s   (arrows scroll, Enter goes back)",
		      page.probe->name, split__name(view->by), view->name);
	view->lines = (size_t)page.lines;
	put_percentiles(&page);
	put_why(&page);
	/* Only now the number of lines is known. */
	if (page.at > (size_t)page.lines && view->scroll > page.at - (size_t)page.lines)
		view->scroll = page.at - (size_t)page.lines;
	else if (page.at <= (size_t)page.lines)
		view->scroll = 0;
}
