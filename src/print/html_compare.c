// SPDX-License-Identifier: BSD-2-Clause
/*
 * Both groups of a comparison over time. The recordings of a group are added up, from the start of
 * each.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include <store/json_print.h>
#include <store/rundb.h>

#include "compare.h"
#include "html.h"
#include "html_page.h"

#define METRICS (RUN_PROBES * RUN_METRICS)

/* A metric of the comparison. */
struct wanted {
	const struct run_probe *probe;
	unsigned int metric;
};

/* One group, in columns of the same length. */
struct grid {
	const struct group *group;
	size_t columns; /* that the recordings cover */
	struct sparse *cells; /* by metric and column */
};

struct both {
	const struct comparison *comparison;
	struct wanted wanted[METRICS];
	unsigned int nr_wanted;
	size_t columns;
	uint64_t width_ns; /* of a column */
	struct grid grids[2];
};

static struct sparse *cell_at(const struct both *both, const struct grid *grid, unsigned int metric,
			      size_t column)
{
	return &grid->cells[metric * both->columns + column];
}

static bool is_known(const struct both *both, const struct comparison_row *row)
{
	for (unsigned int i = 0; i < both->nr_wanted; i++) {
		if (both->wanted[i].probe == row->probe && both->wanted[i].metric == row->metric)
			return true;
	}
	return false;
}

/* Metrics that are compared, and columns as long as the longest recording needs. */
static int start(struct both *both)
{
	uint64_t longest_ns = 1;
	unsigned int most = 1;

	for (size_t i = 0; i < both->comparison->nr; i++) {
		const struct comparison_row *row = &both->comparison->rows[i];

		if (both->nr_wanted < METRICS && !is_known(both, row))
			both->wanted[both->nr_wanted++] =
				(struct wanted){ row->probe, row->metric };
	}
	for (unsigned int side = 0; side < 2; side++) {
		const struct group *group = both->grids[side].group =
			&both->comparison->groups[side];

		for (size_t i = 0; i < group->nr; i++) {
			if (longest_ns < group->recordings[i].run->duration_ns)
				longest_ns = group->recordings[i].run->duration_ns;
			if (most < group->recordings[i].intervals)
				most = group->recordings[i].intervals;
		}
	}
	both->columns = most < HTML_COLUMNS / 2 ? most : HTML_COLUMNS / 2;
	both->width_ns = (longest_ns + both->columns - 1) / both->columns;
	for (unsigned int side = 0; side < 2; side++) {
		both->grids[side].cells = calloc(both->nr_wanted * both->columns + 1,
						 sizeof(*both->grids[side].cells));
		if (!both->grids[side].cells)
			return -ENOMEM;
	}
	return 0;
}

static void finish(struct both *both)
{
	for (unsigned int side = 0; side < 2; side++) {
		for (size_t i = 0; both->grids[side].cells && i < both->nr_wanted * both->columns;
		     i++)
			sparse__clear(&both->grids[side].cells[i]);
		free(both->grids[side].cells);
	}
}

/* The histogram of a metric in an interval of this run; NULL: it has none of that name. */
static const struct lat_hist *find_hist(const struct run *run, const struct run_interval *interval,
					const struct wanted *wanted)
{
	const struct run_probe *probe = run__probe(run, wanted->probe->name);

	if (!probe)
		return NULL;
	for (unsigned int i = 0; i < probe->nr_metrics; i++) {
		if (!strcmp(probe->metrics[i].name, wanted->probe->metrics[wanted->metric].name))
			return &interval->delta[probe - run->probes].metrics[i].hist;
	}
	return NULL;
}

static int add_interval(const struct both *both, struct grid *grid, const struct run *run,
			const struct run_interval *interval, struct sparse *some)
{
	uint64_t middle_ns = interval->start_ns + (interval->end_ns - interval->start_ns) / 2;
	size_t column = (size_t)(middle_ns / both->width_ns);
	const struct lat_hist *hist;
	int err = 0;

	if (column >= both->columns)
		column = both->columns - 1;
	if (grid->columns <= column)
		grid->columns = column + 1;
	for (unsigned int i = 0; !err && i < both->nr_wanted; i++) {
		hist = find_hist(run, interval, &both->wanted[i]);
		if (!hist)
			continue;
		err = sparse__set(some, hist);
		if (!err)
			err = sparse__add(cell_at(both, grid, i, column), some);
	}
	return err;
}

static int read_recording(const struct both *both, struct grid *grid, const char *path,
			  struct run *run)
{
	struct run_interval interval;
	struct sparse some = { 0 };
	struct rundb *db;
	int err, got;

	err = rundb__open(&db, path, run);
	if (err)
		return err;
	rundb__rewind(db, false);
	while (!err && (got = rundb__next(db, &interval))) {
		err = got < 0 ? got : add_interval(both, grid, run, &interval, &some);
	}
	sparse__clear(&some);
	rundb__close(db);
	run__clear(run);
	return err;
}

static int read_group(const struct both *both, struct grid *grid)
{
	struct run *run = malloc(sizeof(*run));
	int err = 0;

	if (!run)
		return -ENOMEM;
	for (size_t i = 0; !err && i < grid->group->nr; i++)
		err = read_recording(both, grid, grid->group->recordings[i].path, run);
	free(run);
	return err;
}

/* ---- JSON ---- */

static struct json_object *cells_json(const struct both *both, const struct grid *grid,
				      unsigned int metric)
{
	struct html_series series = { 0 };
	struct json_object *text = NULL;

	if (!html_series__open(&series)) {
		for (size_t i = 0; i < grid->columns; i++)
			html_series__hist(&series, cell_at(both, grid, metric, i), NULL);
		text = html_series__json(&series);
	}
	html_series__clear(&series);
	return text;
}

static struct json_object *group_json(const struct both *both, unsigned int side)
{
	const struct grid *grid = &both->grids[side];
	struct json_object *object = json_object_new_object();
	struct json_object *metrics = json_object_new_array();

	fields__text(object, "name", judge__groups[side]);
	fields__count(object, "recordings", grid->group->nr);
	fields__count(object, "columns", grid->columns);
	for (unsigned int i = 0; i < both->nr_wanted; i++) {
		const struct wanted *wanted = &both->wanted[i];
		struct json_object *metric = json_object_new_object();

		fields__text(metric, "probe", wanted->probe->name);
		fields__text(metric, "name", wanted->probe->metrics[wanted->metric].name);
		fields__text(metric, "what", wanted->probe->metrics[wanted->metric].what);
		fields__put(metric, "cells", cells_json(both, grid, i));
		json_object_array_add(metrics, metric);
	}
	fields__put(object, "metrics", metrics);
	return object;
}

static struct json_object *data_json(const struct both *both)
{
	struct json_object *object = json_object_new_object();
	struct json_object *groups = json_object_new_array();
	struct json_object *compare = compare__json(both->comparison);

	compare__add_why(compare, both->comparison);
	fields__text(object, "kind", "compare");
	fields__count(object, "columns", both->columns);
	fields__count(object, "width_ns", both->width_ns);
	for (unsigned int side = 0; side < 2; side++)
		json_object_array_add(groups, group_json(both, side));
	fields__put(object, "groups", groups);
	fields__put(object, "compare", compare);
	return object;
}

/* ---- without the script ---- */

static int print_pictures(FILE *out, const struct both *both, unsigned int metric)
{
	const struct wanted *wanted = &both->wanted[metric];
	struct lat_hist *hist = malloc(sizeof(*hist));
	struct html_svg *svg = calloc(2, sizeof(*svg));
	int err = hist && svg ? 0 : -ENOMEM;

	for (unsigned int side = 0; !err && side < 2; side++) {
		for (size_t i = 0; i < both->grids[side].columns; i++)
			html_svg__add(&svg[side], i, both->columns,
				      sparse__expand(cell_at(both, &both->grids[side], metric, i),
						     hist));
		fputs("<h3>", out);
		html_page__format(out, "%s %s, %s", wanted->probe->name,
				  wanted->probe->metrics[wanted->metric].name, judge__groups[side]);
		fputs("</h3>\n", out);
		html_svg__print(out, &svg[side], wanted->probe->name, 0,
				both->width_ns * both->grids[side].columns);
	}
	free(hist);
	free(svg);
	return err;
}

static int print_page(FILE *out, const struct both *both, const char *text)
{
	int err = 0;

	html_page__begin(out, "latscope compare");
	for (unsigned int i = 0; !err && i < both->nr_wanted; i++)
		err = print_pictures(out, both, i);
	html_page__end_static(out);
	return err ? err : html_page__end(out, data_json(both), text);
}

int html__compare(FILE *out, const struct comparison *comparison, const char *text)
{
	struct both *both = calloc(1, sizeof(*both));
	int err;

	if (!both)
		return -ENOMEM;
	both->comparison = comparison;
	err = start(both);
	for (unsigned int side = 0; !err && side < 2; side++)
		err = read_group(both, &both->grids[side]);
	if (!err)
		err = print_page(out, both, text);
	finish(both);
	free(both);
	return err;
}
