// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include <core/summary.h>
#include <core/units.h>
#include <stats/why.h>
#include <store/json.h>

#include "html.h"
#include "html_data.h"
#include "html_page.h"
#include "html_picture.h"
#include "report.h"
#include "why.h"

/* ---- without the script ---- */

static void time_cell(FILE *out, const struct summary *summary, double ns)
{
	char text[UNITS_TEXT];

	html_page__cell(out, summary->events ? units__ns(text, ns) : "-");
}

static void print_summary(FILE *out, const char *name, const struct lat_hist *hist)
{
	struct summary summary;
	char text[UNITS_TEXT];

	summary__of(&summary, hist);
	fprintf(out, "<tr>");
	html_page__cell(out, name);
	html_page__cell(out, units__count(text, summary.events));
	for (unsigned int i = 0; i < SUMMARY_QUANTILES; i++)
		time_cell(out, &summary, (double)summary.quantiles_ns[i]);
	time_cell(out, &summary, (double)summary.max_ns);
	time_cell(out, &summary, summary.mean_ns);
	fprintf(out, "</tr>\n");
}

static void print_head(FILE *out, const char *first)
{
	fprintf(out, "<table><thead><tr><th>%s</th><th>events</th>", first);
	for (unsigned int i = 0; i < SUMMARY_QUANTILES; i++)
		fprintf(out, "<th>%s</th>", summary__labels[i]);
	fprintf(out, "<th>max</th><th>mean</th></tr></thead>\n<tbody>\n");
}

static int print_keys(FILE *out, const struct html_data *data, unsigned int index)
{
	const struct run_probe *probe = &data->run->probes[index];
	struct lat_hist *hist = malloc(sizeof(*hist));

	if (!hist)
		return -ENOMEM;
	if (data->probes[index].nr_keys)
		print_head(out, "key");
	for (size_t i = 0; i < data->probes[index].nr_keys; i++) {
		const struct run_key *key = &probe->total.keys[data->probes[index].keys[i].index];

		print_summary(out, key->name, sparse__expand(&key->hist, hist));
	}
	if (data->probes[index].nr_keys)
		fprintf(out, "</tbody></table>\n");
	free(hist);
	return 0;
}

static void print_pairs(FILE *out, const struct html_why *why)
{
	char text[UNITS_TEXT];

	if (!why->used || !why->nr_shown)
		return;
	fprintf(out, "<p>");
	html_page__text(out, why->summary.sentence);
	fprintf(out, "</p>\n<table><thead><tr><th>victim</th><th>culprit</th><th>part</th>"
		     "<th>share</th><th>time</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < why->summary.nr_lines && i < HTML_PAIRS; i++) {
		const struct why_line *line = &why->summary.lines[i];

		fprintf(out, "<tr>");
		html_page__cell(out, line->victim);
		html_page__cell(out, line->culprit ? line->culprit : "-");
		html_page__cell(out, line->part);
		html_page__cell(out, units__share(text, line->ns, why->summary.total_ns));
		html_page__cell(out, units__ns(text, (double)line->ns));
		fprintf(out, "</tr>\n");
	}
	fprintf(out, "</tbody></table>\n");
}

static int print_probe(FILE *out, const struct html_data *data, unsigned int index)
{
	const struct run_probe *probe = &data->run->probes[index];

	fprintf(out, "<h2>");
	html_page__text(out, probe->name);
	fprintf(out, "</h2>\n");
	if (probe->refused[0]) {
		fprintf(out, "<p>");
		html_page__format(out, "Not measured: %s", probe->refused);
		fprintf(out, "</p>\n");
		return 0;
	}
	html_svg__print(out, &data->pictures[index], probe->name, data->first_ns, data->end_ns);
	if (probe->nr_metrics)
		print_head(out, "metric");
	for (unsigned int i = 0; i < probe->nr_metrics; i++)
		print_summary(out, probe->metrics[i].name, &probe->total.metrics[i].hist);
	if (probe->nr_metrics)
		fprintf(out, "</tbody></table>\n");
	print_pairs(out, &data->probes[index].why);
	return print_keys(out, data, index);
}

/* A paragraph for each line. */
static void print_sentences(FILE *out, const char *sentences)
{
	for (const char *at = sentences; at && *at; at += strcspn(at, "\n"), at += *at == '\n') {
		fputs("<p>", out);
		html_page__format(out, "%.*s", (int)strcspn(at, "\n"), at);
		fputs("</p>\n", out);
	}
}

/* ---- with the script ---- */

/* One digit for each column: 0 no, 1 in some of its intervals. */
static struct json_object *flags(const struct html_data *data, const bool *by_interval)
{
	char *text = malloc(data->columns + 1);
	struct json_object *object;

	if (!text)
		return NULL;
	for (size_t i = 0; i < data->columns; i++)
		text[i] = '0';
	for (size_t i = 0; i < data->nr; i++) {
		if (by_interval[i])
			text[i / data->per] = '1';
	}
	object = json_object_new_string_len(text, (int)data->columns);
	free(text);
	return object;
}

/* What the series have too, or what would make the page large. */
static void shorten(struct json_object *report)
{
	struct json_object *found, *probe;

	json_object_object_del(report, "processes");
	json_object_object_del(report, "contributors");
	if (json_object_object_get_ex(report, "timeline", &found))
		json_object_object_del(found, "intervals");
	json_object_object_get_ex(report, "probes", &found);
	for (size_t i = 0; found && i < json_object_array_length(found); i++) {
		probe = json_object_array_get_idx(found, i);
		json_object_object_del(probe, "keys");
		json_object_object_del(probe, "why");
		json_object_object_del(probe, "top_k");
		json_object_object_del(probe, "others");
	}
}

static struct json_object *data_json(struct html_data *data, const struct html_report *of)
{
	struct json_object *object = json_object_new_object();
	struct json_object *report = json__run(of->run);

	report__add_timeline(report, of->timeline);
	report__add_correlation(report, of->correlation);
	report__add_pressure_pairs(report, of->correlation);
	shorten(report);
	fields__text(object, "kind", "report");
	html_data__json(data, object);
	fields__put(object, "correlated", flags(data, of->timeline->correlated));
	fields__put(object, "report", report);
	return object;
}

static int read_intervals(struct html_data *data, struct rundb *db)
{
	struct run_interval interval;
	int err = 0, got;

	rundb__rewind(db, true);
	while (!err && data->nr < data->intervals) {
		got = rundb__next(db, &interval);
		if (got > 0)
			err = html_data__add(data, &interval);
		else
			err = got ? got : -EUCLEAN;
	}
	return err;
}

static int print_page(FILE *out, struct html_data *data, const struct html_report *report)
{
	char title[2 * RUN_NAME];
	int err = 0;

	snprintf(title, sizeof(title), "latscope report %s", report->run->start_utc);
	html_page__begin(out, title);
	print_sentences(out, data->sentences);
	html_bars__print(out, &data->bars);
	for (unsigned int i = 0; !err && i < report->run->nr_probes; i++)
		err = print_probe(out, data, i);
	html_page__end_static(out);
	html_actions__print(out, &data->actions, data->first_ns, data->end_ns);
	return err ? err : html_page__end(out, data_json(data, report), report->text);
}

/* Reads all intervals first. */
static int print_as(int (*print)(FILE *, struct html_data *, const struct html_report *), FILE *out,
		    const struct html_report *report)
{
	struct html_data *data = calloc(1, sizeof(*data));
	int err;

	if (!data)
		return -ENOMEM;
	err = html_data__start(data, report->run, report->timeline->nr, report->top)
		      ?: read_intervals(data, report->db);
	if (!err)
		html_data__add_pressure(data, report->correlation);
	if (!err)
		err = print(out, data, report);
	html_data__clear(data);
	free(data);
	return err;
}

int html__report(FILE *out, const struct html_report *report)
{
	return print_as(print_page, out, report);
}

int html__picture(FILE *out, const struct html_report *report)
{
	return print_as(html_picture__print, out, report);
}
