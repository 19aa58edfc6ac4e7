// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <string.h>

#include <core/hist.h>
#include <core/sanitize.h>
#include <core/units.h>
#include <print/wrap.h>

#include "answer.h"

#define OTHERS 46 /* columns of a line after those of the key */
#define LEAST_WIDTH 8
#define COLUMNS 80

/* The width of each column of the key: of its longest value, if there is room. */
struct widths {
	unsigned int of[FLEET_BY];
};

static unsigned int columns_of(const char *text)
{
	return (unsigned int)sanitize__columns(text, strlen(text));
}

static struct widths find_widths(const struct fleet_answer *answer)
{
	const struct fleet_question *question = answer->question;
	struct widths widths = { { 0 } };
	unsigned int most = LEAST_WIDTH;

	if (question->nr_by && (COLUMNS - OTHERS) / question->nr_by > most)
		most = (COLUMNS - OTHERS) / (unsigned int)question->nr_by - 1;
	for (size_t i = 0; i < question->nr_by; i++) {
		widths.of[i] = columns_of(question->by[i]);
		for (size_t j = 0; j < answer->nr; j++) {
			unsigned int width = columns_of(answer->rows[j].group->values[i]);

			widths.of[i] = width > widths.of[i] ? width : widths.of[i];
		}
		widths.of[i] = widths.of[i] > most ? most : widths.of[i];
	}
	return widths;
}

/* Bytes of the first characters of a text. */
static size_t bytes_of(const char *text, unsigned int columns)
{
	size_t len = 0, all = strlen(text);

	while (len < all && sanitize__columns(text, len + 1) <= columns)
		len++;
	return len;
}

/* Cut at the end, where it is too long. */
static void print_value(FILE *out, const char *value, unsigned int width)
{
	char safe[FLEET_VALUE];
	size_t len;

	sanitize__text(safe, sizeof(safe), value[0] ? value : "-");
	len = bytes_of(safe, width);
	if (safe[len])
		len = bytes_of(safe, width - 1);
	fprintf(out, "%.*s%s%*s", (int)len, safe, safe[len] ? "~" : "",
		(int)(width - sanitize__columns(safe, len) - (safe[len] ? 1 : 0)) + 1, "");
}

static void print_key(FILE *out, const struct fleet_answer *answer, const struct widths *widths,
		      const struct fleet_row *row)
{
	for (size_t i = 0; i < answer->question->nr_by; i++)
		print_value(out, row ? row->group->values[i] : answer->question->by[i],
			    widths->of[i]);
}

static const char *latency(char text[UNITS_TEXT], const struct fleet_row *row, unsigned int side,
			   double quantile)
{
	if (!row->events[side])
		return "-";
	return units__ns(text, (double)hist__quantile_ns(&row->hists[side], quantile));
}

/* ---- quantiles ---- */

static void print_interval(FILE *out, const struct hosts_interval *interval)
{
	char low[UNITS_TEXT], high[UNITS_TEXT];

	if (interval->why[0])
		fprintf(out, "  %s\n", interval->why);
	else
		fprintf(out, "  [%s, %s]\n", units__ns(low, interval->low),
			units__ns(high, interval->high));
}

static void print_quantile(FILE *out, const struct fleet_answer *answer,
			   const struct widths *widths, size_t which)
{
	double quantile = answer->question->quantiles[which];
	char name[RUN_NAME], text[UNITS_TEXT];

	print_key(out, answer, widths, NULL);
	fprintf(out, "%5s %9s %8s  %.4g %% interval\n", "hosts", "events",
		fleet_question__name(quantile, name), answer->question->confidence * 100);
	for (size_t i = 0; i < answer->nr; i++) {
		const struct fleet_row *row = &answer->rows[i];

		print_key(out, answer, widths, row);
		fprintf(out, "%5zu %9s ", row->hosts[0], units__short_count(text, row->events[0]));
		fprintf(out, "%8s", latency(text, row, 0, quantile));
		print_interval(out, &row->intervals[which]);
	}
}

/* ---- top ---- */

static void print_top(FILE *out, const struct fleet_answer *answer, const struct widths *widths)
{
	const struct fleet_question *question = answer->question;
	char name[RUN_NAME], text[UNITS_TEXT];

	print_key(out, answer, widths, NULL);
	fprintf(out, "%5s", "hosts");
	for (size_t i = 0; i < question->nr_quantiles; i++)
		fprintf(out, " %8s", fleet_question__name(question->quantiles[i], name));
	fprintf(out, " %8s\n", "total");
	for (size_t i = 0; i < answer->nr; i++) {
		const struct fleet_row *row = &answer->rows[i];

		print_key(out, answer, widths, row);
		fprintf(out, "%5zu", row->hosts[0]);
		for (size_t j = 0; j < question->nr_quantiles; j++)
			fprintf(out, " %8s", latency(text, row, 0, question->quantiles[j]));
		fprintf(out, " %8s\n", units__ns(text, (double)row->hists[0].sum_ns));
	}
}

/* ---- share ---- */

static void print_shares(FILE *out, const struct fleet_answer *answer, const struct widths *widths)
{
	char share[UNITS_TEXT], time[UNITS_TEXT], whole[UNITS_TEXT], host[FLEET_VALUE];

	print_key(out, answer, widths, NULL);
	fprintf(out, "%5s %8s %8s %8s  %s\n", "hosts", "share", "time", "of", "highest");
	for (size_t i = 0; i < answer->nr; i++) {
		const struct fleet_row *row = &answer->rows[i];
		const struct fleet_cell *most = row->highest;

		print_key(out, answer, widths, row);
		fprintf(out, "%5zu %8s %8s %8s", row->hosts[0],
			units__share(share, row->ns, row->life_ns),
			units__ns(time, (double)row->ns), units__ns(whole, (double)row->life_ns));
		if (most && most->ns && row->hosts[0] > 1)
			fprintf(out, "  %s, %s", units__share(share, most->ns, most->life_ns),
				sanitize__text(host, sizeof(host),
					       answer->data->hosts[most->host].name));
		fputc('\n', out);
	}
}

/* ---- compare ---- */

static const char *percent(char text[UNITS_TEXT], double ratio)
{
	if (ratio >= 10)
		snprintf(text, UNITS_TEXT, "x%.3g", ratio);
	else
		snprintf(text, UNITS_TEXT, "%+.3g %%", (ratio - 1) * 100);
	return text;
}

static void print_judged(FILE *out, const char *name, const struct judged *judged)
{
	char texts[3][UNITS_TEXT], range[2 * UNITS_TEXT + 8] = "";

	fprintf(out, "%-7s", name);
	fprintf(out, " %8s", isnan(judged->off) ? "-" : units__ns(texts[0], judged->off));
	fprintf(out, " %8s", isnan(judged->on) ? "-" : units__ns(texts[0], judged->on));
	fprintf(out, " %8s", isnan(judged->ratio) ? "-" : percent(texts[0], judged->ratio));
	if (!isnan(judged->low))
		snprintf(range, sizeof(range), "[%s, %s]", percent(texts[1], judged->low),
			 percent(texts[2], judged->high));
	fprintf(out, "  %-21s %s\n", range, judge__verdict(judged));
}

/* Statistics with the same reason share a line. */
static void print_reasons(FILE *out, const struct fleet_question *question,
			  const struct fleet_row *row)
{
	bool printed[FLEET_QUANTILES] = { false };
	char name[RUN_NAME];
	struct wrap wrap = { 0 };

	for (size_t i = 0; i < question->nr_quantiles; i++) {
		const char *why = row->judged[i].why;

		if (!why[0] || printed[i])
			continue;
		for (size_t j = i; j < question->nr_quantiles; j++) {
			if (strcmp(row->judged[j].why, why) != 0)
				continue;
			wrap__add(&wrap, "%s%s", j == i ? "" : ", ",
				  fleet_question__name(question->quantiles[j], name));
			printed[j] = true;
		}
		wrap__add(&wrap, ": %s", why);
		wrap__print(&wrap, out, 0, 2);
	}
}

static void print_comparison(FILE *out, const struct fleet_answer *answer,
			     const struct fleet_row *row)
{
	const struct fleet_question *question = answer->question;
	char name[RUN_NAME], events[2][UNITS_TEXT];
	struct wrap wrap = { 0 };

	for (size_t i = 0; i < question->nr_by; i++)
		wrap__add(&wrap, "%s%s=%s", i ? ", " : "", question->by[i], row->group->values[i]);
	wrap__add(&wrap, "%s%zu hosts, %s events against %zu hosts, %s events",
		  question->nr_by ? ": " : "", row->hosts[0],
		  units__short_count(events[0], row->events[0]), row->hosts[1],
		  units__short_count(events[1], row->events[1]));
	wrap__print(&wrap, out, 0, 2);
	fprintf(out, "%-7s %8s %8s %8s  %-21s %s\n", "", "where", "against", "change", "interval",
		"verdict");
	for (size_t i = 0; i < question->nr_quantiles; i++)
		print_judged(out, fleet_question__name(question->quantiles[i], name),
			     &row->judged[i]);
	print_reasons(out, question, row);
}

static void print_verdicts(FILE *out, const struct fleet_answer *answer)
{
	fprintf(out, "%zu worse, %zu better, %zu no difference shown, %zu cannot tell\n",
		answer->verdicts[JUDGE_WORSE], answer->verdicts[JUDGE_BETTER],
		answer->verdicts[JUDGE_NO_DIFFERENCE],
		answer->nr * answer->question->nr_quantiles - answer->tests);
}

/* ---- */

static void add_side(struct wrap *wrap, const struct fleet_side *side)
{
	for (size_t i = 0; i < side->nr; i++)
		wrap__add(wrap, "%s%s=%s", i ? ", " : " ", side->conditions[i].name,
			  side->conditions[i].value);
}

static void print_head(FILE *out, const struct fleet_answer *answer)
{
	const struct fleet_question *question = answer->question;
	struct wrap wrap = { 0 };

	wrap__add(&wrap, "%s %s of %zu host%s", question->probe, answer->data->metric,
		  answer->hosts, answer->hosts == 1 ? "" : "s");
	if (question->sides[0].nr || question->kind == FLEET_COMPARE)
		wrap__add(&wrap, ", where");
	add_side(&wrap, &question->sides[0]);
	if (question->kind == FLEET_COMPARE) {
		wrap__add(&wrap, " (%zu hosts) against", answer->sides[0]);
		add_side(&wrap, &question->sides[1]);
		wrap__add(&wrap, " (%zu hosts); %.4g %% confidence; %zu tests", answer->sides[1],
			  question->confidence * 100, answer->tests);
	}
	sanitize__in_place(wrap.text);
	wrap__print(&wrap, out, 0, 2);
	fputc('\n', out);
}

static void print_notes(FILE *out, const struct fleet_answer *answer)
{
	struct wrap wrap = { 0 };

	if (answer->more) {
		wrap__add(&wrap, "%zu more groups with %s; raise --top", answer->more,
			  answer->question->kind == FLEET_SHARE ? "smaller shares" : "less time");
		wrap__print(&wrap, out, 0, 2);
	}
	if (answer->notes.nr)
		fputc('\n', out);
	for (size_t i = 0; i < answer->notes.nr; i++) {
		wrap__add(&wrap, "note: %s", answer->notes.lines[i]);
		sanitize__in_place(wrap.text);
		wrap__print(&wrap, out, 0, 2);
	}
}

void fleet_answer__text(FILE *out, const struct fleet_answer *answer)
{
	const struct fleet_question *question = answer->question;
	struct widths widths = find_widths(answer);

	print_head(out, answer);
	if (question->kind == FLEET_TOP)
		print_top(out, answer, &widths);
	if (question->kind == FLEET_SHARE)
		print_shares(out, answer, &widths);
	for (size_t i = 0; question->kind == FLEET_QUANTILE && i < question->nr_quantiles; i++) {
		fputs(i ? "\n" : "", out);
		print_quantile(out, answer, &widths, i);
	}
	for (size_t i = 0; question->kind == FLEET_COMPARE && i < answer->nr; i++) {
		fputs(i ? "\n" : "", out);
		print_comparison(out, answer, &answer->rows[i]);
	}
	if (question->kind == FLEET_COMPARE) {
		fputc('\n', out);
		print_verdicts(out, answer);
	}
	print_notes(out, answer);
}
