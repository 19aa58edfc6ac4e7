// SPDX-License-Identifier: BSD-2-Clause
/* Where the time of threads went, over time: the bars of bars.h for each column of a page. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include <core/split.h>
#include <core/units.h>
#include <store/json_print.h>

#include "html_data.h"
#include "probe_view.h"

#define LINKS 8 /* of a chain */

/* ---- start ---- */

static int open_series(struct html_bar *bar)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < BAR_PARTS; i++)
		err = html_series__open(&bar->parts[i]);
	return err;
}

/* The bar of the page that has the times of this one. Bars of one rank are one. */
static struct html_bar *shown_as(struct html_bar_split *split, const struct bar *bar)
{
	for (size_t i = 0; i < split->nr; i++) {
		const struct bar *whole = &split->bars[i].whole;

		if (bar->rank ? whole->rank == bar->rank
			      : whole->id == bar->id && !strcmp(whole->name, bar->name))
			return &split->bars[i];
	}
	return &split->bars[HTML_BARS];
}

#define SMALL_PER 1000 /* of the recording one part: less has no bar of its own */

static bool has_bar(const struct bar *bar, uint64_t duration_ns)
{
	return !bar__is_idle(bar) && bar->ns[BAR_CPU] + bar__waited(bar) > duration_ns / SMALL_PER;
}

static int start_bar(struct html_bar *to, const struct bar *bar)
{
	to->whole = (struct bar){ .rank = bar->rank, .id = bar->id, .is_culprit = bar->is_culprit };
	strcpy(to->whole.name, bar->group[0] ? bar->group : bar->name);
	strcpy(to->whole.cause, bar->cause);
	return open_series(to);
}

/* Takes all bars of the whole recording. */
static int start_split(struct html_bar_split *split, struct bars *all, unsigned int by,
		       uint64_t duration_ns)
{
	struct html_bar *others = &split->bars[HTML_BARS];
	int err = open_series(others);

	split->by = by;
	bars__sort(all);
	for (size_t i = 0; !err && i < all->nr && split->nr < HTML_BARS; i++)
		if (has_bar(&all->bars[i], duration_ns) && shown_as(split, &all->bars[i]) == others)
			err = start_bar(&split->bars[split->nr++], &all->bars[i]);
	for (size_t i = 0; i < all->nr; i++) {
		struct html_bar *to = shown_as(split, &all->bars[i]);

		bar__add(&to->whole, &all->bars[i]);
		split->nr_others += to == others;
	}
	split->all = *all;
	*all = (struct bars){ 0 };
	bars__merge(&split->all); /* bars__find() needs their order */
	return err;
}

int html_bars__start(struct html_bars *bars, const struct run *run)
{
	static const enum lat_by splits[HTML_BAR_SPLITS] = { LAT_BY_PROCESS, LAT_BY_CGROUP,
							     LAT_BY_THREAD };
	const struct probe_view *view;
	int err = 0;

	bars->probe = probe_view__of_bars(run);
	if (!bars->probe)
		return 0;
	view = probe_view__of(bars->probe);
	bars->rows = calloc(1, sizeof(*bars->rows));
	bars->waits = calloc((size_t)HTML_SLOW_SPANS * HTML_SLOW_EACH, sizeof(*bars->waits));
	if (!bars->rows || !bars->waits)
		return -ENOMEM;
	for (unsigned int i = 0; !err && i < HTML_BAR_SPLITS; i++) {
		struct bars all = { 0 };

		err = view->bars(&all, bars->probe, splits[i], run->duration_ns);
		if (!err && view->rank)
			err = view->rank(&all, run, bars->probe, splits[i]);
		if (!err && all.splits & 1U << splits[i])
			err = start_split(&bars->splits[bars->nr_splits++], &all, splits[i],
					  run->duration_ns);
		bars__clear(&all);
	}
	return err;
}

static void clear_wait(struct html_wait *wait)
{
	free(wait->comm);
	free(wait->call);
	free(wait->chain);
	*wait = (struct html_wait){ 0 };
}

void html_bars__clear(struct html_bars *bars)
{
	for (size_t i = 0; i < bars->nr_splits; i++)
		for (size_t bar = 0; bar <= HTML_BARS; bar++)
			for (unsigned int part = 0; part < BAR_PARTS; part++)
				html_series__clear(&bars->splits[i].bars[bar].parts[part]);
	for (size_t i = 0; i < bars->nr_splits; i++)
		bars__clear(&bars->splits[i].all);
	for (size_t i = 0; bars->waits && i < (size_t)HTML_SLOW_SPANS * HTML_SLOW_EACH; i++)
		clear_wait(&bars->waits[i]);
	if (bars->rows)
		bars__free_rows(bars->rows);
	free(bars->waits);
	free(bars->rows);
}

/* ---- intervals ---- */

/* The longest waits of each span, in any order. */
static int add_wait(struct html_wait *longest, const struct bar_wait *wait)
{
	struct html_wait *least = longest;

	for (unsigned int i = 1; i < HTML_SLOW_EACH; i++)
		if (longest[i].wait.ns < least->wait.ns)
			least = &longest[i];
	if (wait->ns <= least->wait.ns)
		return 0;
	clear_wait(least);
	least->comm = strdup(wait->comm);
	least->call = strdup(wait->call);
	least->chain = strdup(wait->chain);
	if (!least->comm || !least->call || !least->chain)
		return -ENOMEM;
	least->wait = *wait;
	return 0;
}

int html_bars__add(struct html_bars *bars, size_t column, size_t columns)
{
	size_t span = columns > HTML_SLOW_SPANS ? column * HTML_SLOW_SPANS / columns : column;
	const struct probe_view *view;
	struct bar_wait wait;
	int err = 0;

	if (!bars->probe)
		return 0;
	view = probe_view__of(bars->probe);
	for (size_t row = 0; !err && view->wait(bars->probe, row, &wait); row++)
		err = add_wait(bars->waits + span * HTML_SLOW_EACH, &wait);
	return err ? err : bars__keep_rows(bars->rows, bars->probe);
}

static void put_parts(struct html_bar *bar, const uint64_t ns[BAR_PARTS])
{
	for (unsigned int i = 0; i < BAR_PARTS; i++)
		html_series__value(&bar->parts[i],
				   (ns[i] + HTML_BAR_UNIT_NS / 2) / HTML_BAR_UNIT_NS);
}

static void put_column(struct html_bar_split *split, const struct bars *all)
{
	uint64_t ns[HTML_BARS + 1][BAR_PARTS] = { 0 };

	for (size_t i = 0; i < all->nr; i++) {
		const struct bar *bar = &all->bars[i];
		const struct bar *whole = bars__find(&split->all, bar->id, bar->name);
		size_t at = whole ? (size_t)(shown_as(split, whole) - split->bars) : HTML_BARS;

		for (unsigned int part = 0; part < BAR_PARTS; part++)
			ns[at][part] += bar->ns[part];
	}
	for (size_t i = 0; i < split->nr; i++)
		put_parts(&split->bars[i], ns[i]);
	put_parts(&split->bars[HTML_BARS], ns[HTML_BARS]);
}

/*
 * A thread that sleeps in a read all the time may just have no work: only the share of each part
 * that is waits which ended, known of the whole recording.
 */
static void add_machine(const struct html_bars *bars, const struct bars *column,
			uint64_t machine[BAR_PARTS])
{
	for (size_t i = 0; i < column->nr; i++) {
		const struct bar *bar = &column->bars[i];
		const struct bar *whole = bars__find(&bars->splits[0].all, bar->id, bar->name);

		for (unsigned int part = 0; part < BAR_PARTS; part++) {
			double share = part == BAR_CPU ? 1 : 0;
			uint64_t ns;

			if (whole && whole->waits_ns[part])
				share = (double)whole->waits_ns[part] / (double)whole->ns[part];
			/* A double can round it up. */
			ns = (uint64_t)((double)bar->ns[part] * share);
			ns = ns < bar->ns[part] ? ns : bar->ns[part];
			machine[part] += ns;
			machine[BAR_IDLE] += bar->ns[part] - ns;
		}
	}
}

int html_bars__end_column(struct html_bars *bars, uint64_t length_ns, uint64_t machine[BAR_PARTS])
{
	int err = 0;

	if (!bars->probe || !bars->rows->table)
		return 0;
	for (size_t i = 0; !err && i < bars->nr_splits; i++) {
		struct bars all = { 0 };

		err = probe_view__of(bars->probe)
			      ->bars(&all, bars->rows, bars->splits[i].by, length_ns);
		if (!err)
			put_column(&bars->splits[i], &all);
		if (!err && !i)
			add_machine(bars, &all, machine);
		bars__clear(&all);
	}
	bars__free_rows(bars->rows);
	return err;
}

/* ---- JSON ---- */

static struct json_object *make_part(const void *unused, size_t at)
{
	struct json_object *object = json_object_new_object();

	(void)unused;
	fields__text(object, "name", bar_looks[at].name);
	fields__text(object, "what", bar_looks[at].what);
	fields__count(object, "color", bar_looks[at].color);
	return object;
}

static struct json_object *bar_json(struct html_bar *bar)
{
	struct json_object *object = json_object_new_object();
	struct json_object *parts = json_object_new_array(), *waits = json_object_new_array();

	fields__text(object, "name", *bar->whole.name ? bar->whole.name : NULL);
	fields__text(object, "cause", *bar->whole.cause ? bar->whole.cause : NULL);
	fields__put(object, "culprit", json_object_new_boolean(bar->whole.is_culprit));
	for (unsigned int i = 0; i < BAR_PARTS; i++)
		json_object_array_add(parts, html_series__json(&bar->parts[i]));
	for (unsigned int i = 0; i < BAR_PARTS; i++)
		json_object_array_add(waits, json_object_new_uint64(bar->whole.waits_ns[i] / 1000));
	fields__put(object, "parts", parts);
	fields__put(object, "waits_us", waits);
	return object;
}

static struct json_object *make_split(const void *splits, size_t at)
{
	/* The series ends what it has when it becomes JSON. */
	struct html_bar_split *split = (struct html_bar_split *)splits + at;
	struct json_object *object = json_object_new_object();
	struct json_object *bars = json_object_new_array();

	fields__text(object, "by", split__name(split->by));
	fields__count(object, "nr_others", split->nr_others);
	for (size_t i = 0; i < split->nr; i++)
		json_object_array_add(bars, bar_json(&split->bars[i]));
	fields__put(object, "bars", bars);
	fields__put(object, "others", bar_json(&split->bars[HTML_BARS]));
	return object;
}

static struct json_object *chain_json(const struct probe_view *view, const char *chain)
{
	struct json_object *array = json_object_new_array();
	struct bar_link link;

	for (int i = 0; i < LINKS && (chain = view->link(chain, &link)); i++) {
		struct json_object *object = json_object_new_object();

		fields__text(object, "text", link.text);
		fields__count(object, "part", link.part);
		fields__count(object, "ns", link.ns);
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *wait_json(const struct probe_view *view, const struct html_wait *from)
{
	struct json_object *object = json_object_new_object();

	fields__count(object, "time_ns", from->wait.time_ns);
	fields__count(object, "ns", from->wait.ns);
	fields__count(object, "part", from->wait.part);
	fields__put(object, "tid", json_object_new_int64(from->wait.tid));
	fields__text(object, "comm", from->comm);
	fields__text(object, "call", *from->call ? from->call : NULL);
	fields__put(object, "chain", chain_json(view, from->chain));
	return object;
}

struct json_object *html_bars__json(struct html_bars *bars)
{
	struct json_object *object, *waits;

	if (!bars->probe)
		return NULL;
	object = json_object_new_object();
	waits = json_object_new_array();
	fields__list(object, "parts", BAR_PARTS, make_part, NULL);
	fields__list(object, "splits", bars->nr_splits, make_split, bars->splits);
	for (size_t i = 0; i < (size_t)HTML_SLOW_SPANS * HTML_SLOW_EACH; i++)
		if (bars->waits[i].wait.ns)
			json_object_array_add(waits, wait_json(probe_view__of(bars->probe),
							       &bars->waits[i]));
	fields__put(object, "waits", waits);
	return object;
}

/* ---- without the script ---- */

static void print_bar(FILE *out, const struct bar *bar)
{
	char text[UNITS_TEXT];

	fputs("<tr>", out);
	html_page__cell(out, *bar->name ? bar->name : "others");
	html_page__cell(out, units__ns(text, (double)bar->life_ns));
	for (unsigned int i = 0; i < BAR_PARTS; i++)
		html_page__cell(out, units__share(text, bar->ns[i], bar->life_ns));
	fputs("</tr>\n", out);
}

void html_bars__print(FILE *out, const struct html_bars *bars)
{
	const struct html_bar_split *split = &bars->splits[0];

	if (!bars->nr_splits)
		return;
	fprintf(out, "<h2>Where the time went</h2>\n<table><thead><tr><th>%s</th><th>life</th>",
		split__name(split->by));
	for (unsigned int i = 0; i < BAR_PARTS; i++)
		fprintf(out, "<th>%s</th>", bar_looks[i].name);
	fputs("</tr></thead>\n<tbody>\n", out);
	for (size_t i = 0; i < split->nr; i++)
		print_bar(out, &split->bars[i].whole);
	if (split->nr_others)
		print_bar(out, &split->bars[HTML_BARS].whole);
	fputs("</tbody></table>\n", out);
}
