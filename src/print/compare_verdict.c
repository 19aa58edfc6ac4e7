// SPDX-License-Identifier: BSD-2-Clause
/* The head of a comparison: what is worse or better, and which differences could not be seen. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <core/units.h>
#include <stats/inference.h>
#include <stats/sequential.h>

#include "compare.h"
#include "wrap.h"

#define TEXT UNITS_TEXT
#define MOST_ROWS 5 /* of one verdict */
#define SMALL_EFFECT 1 /* a difference by a factor of two is seen: then no verdict means the same */

struct head {
	FILE *out;
	const struct comparison *comparison;
	bool color;
	bool begun;
};

/* A row with a verdict, and the statistics that have it. */
struct found {
	const struct comparison_row *row;
	int first, second; /* second -1: only one has it */
	double size; /* of the first, as logarithm */
};

/* What a reader wants to know first. */
static const int preferred[] = {
	JUDGE_MEAN,
	JUDGE_QUANTILE + SUMMARY_P99,
	JUDGE_QUANTILE + SUMMARY_P50,
	JUDGE_QUANTILE + SUMMARY_P90,
	JUDGE_TAIL,
	JUDGE_QUANTILE + SUMMARY_P999,
	JUDGE_QUANTILE + SUMMARY_P9999,
	JUDGE_RATE,
	JUDGE_TAIL_RATE,
};
#define PREFERRED (sizeof(preferred) / sizeof(preferred[0]))

static void begin_line(const struct head *head, struct wrap *wrap, const char *word,
		       const char *code)
{
	if (head->color)
		fprintf(head->out, "\033[%sm", code);
	wrap__add(wrap, "%s: ", word);
}

/* The first line also has how many runs there are. */
static void end_line(struct head *head, struct wrap *wrap)
{
	const struct comparison *comparison = head->comparison;
	size_t off = comparison->groups[0].nr, on = comparison->groups[1].nr;

	if (!head->begun)
		wrap__add(wrap, " (%zu run%s against %zu%s)", off, off == 1 ? "" : "s", on,
			  comparison->rules.judge.batches && comparison->family
				  ? ": how much runs differ is assumed"
				  : "");
	head->begun = true;
	wrap__print(wrap, head->out, 0, 2);
	if (head->color)
		fputs("\033[0m", head->out);
}

static void add_what(struct wrap *wrap, const struct comparison_row *row)
{
	const char *what = row->probe->metrics[row->metric].what;

	wrap__add(wrap, "%.*s", (int)strcspn(what, ",:"), what);
}

/* "shop's wait for a CPU", "block request (device)". */
static void add_name(struct wrap *wrap, const struct comparison_row *row)
{
	if (row->by != GROUP_WHOLE)
		wrap__add(wrap, "%s's ", row->key);
	add_what(wrap, row);
	if (row->probe->nr_metrics > 1)
		wrap__add(wrap, " (%s)", row->probe->metrics[row->metric].name);
}

/* Two digits: "4.5", "11", "0.22". */
static const char *brief(char buf[TEXT], double ratio)
{
	if (ratio > 99999)
		snprintf(buf, TEXT, ">99999");
	else if (ratio < 0.095)
		snprintf(buf, TEXT, ratio < 0.001 ? "<0.001" : "%.1g", ratio);
	else
		snprintf(buf, TEXT, "%.*f", ratio < 0.95 ? 2 : ratio < 9.5 ? 1 : 0, ratio);
	return buf;
}

static void add_factor(struct wrap *wrap, const struct judged *judged)
{
	char low[TEXT], high[TEXT], text[TEXT];

	if (isnan(judged->ratio))
		return;
	wrap__add(wrap, " x%s", brief(text, judged->ratio));
	if (!isnan(judged->low))
		wrap__add(wrap, " [%s, %s]", brief(low, judged->low), brief(high, judged->high));
}

static void add_values(struct wrap *wrap, const struct judged *judged, int statistic)
{
	char off[TEXT], on[TEXT];

	wrap__add(wrap, " %s -> %s", compare__value(off, judged->off, (unsigned int)statistic),
		  compare__value(on, judged->on, (unsigned int)statistic));
}

static void print_found(struct head *head, const struct found *found, const char *word,
			const char *code)
{
	const struct judged *first = &found->row->statistics[found->first];
	struct wrap wrap = { 0 };

	begin_line(head, &wrap, word, code);
	add_name(&wrap, found->row);
	wrap__add(&wrap, ", %s", judge__name((unsigned int)found->first));
	add_factor(&wrap, first);
	if (found->second < 0) {
		wrap__add(&wrap, ",");
		add_values(&wrap, first, found->first);
	} else {
		wrap__add(&wrap, ", %s", judge__name((unsigned int)found->second));
		add_values(&wrap, &found->row->statistics[found->second], found->second);
	}
	end_line(head, &wrap);
}

static int largest_first(const void *left, const void *right)
{
	const struct found *a = left, *b = right;

	return a->size > b->size ? -1 : a->size < b->size;
}

static bool find(struct found *found, const struct comparison_row *row, enum judge_verdict verdict)
{
	*found = (struct found){ .row = row, .first = -1, .second = -1 };
	for (size_t i = 0; i < PREFERRED; i++) {
		if (row->statistics[preferred[i]].verdict != verdict)
			continue;
		if (found->first < 0)
			found->first = preferred[i];
		else if (found->second < 0)
			found->second = preferred[i];
	}
	if (found->first < 0)
		return false;
	found->size = fabs(log(row->statistics[found->first].ratio));
	return true;
}

static void print_verdict(struct head *head, struct found *room, enum judge_verdict verdict,
			  const char *word, const char *code)
{
	const struct comparison *comparison = head->comparison;
	size_t nr = 0;

	for (size_t i = 0; i < comparison->nr; i++)
		nr += find(&room[nr], &comparison->rows[i], verdict);
	qsort(room, nr, sizeof(*room), largest_first);
	for (size_t i = 0; i < nr && i < MOST_ROWS; i++)
		print_found(head, &room[i], word, code);
	if (nr > MOST_ROWS)
		fprintf(head->out, "%s: %zu more, see the end\n", word, nr - MOST_ROWS);
}

static void print_shares(struct head *head, enum judge_verdict verdict, const char *word)
{
	const struct share_changes *shares = &head->comparison->shares;
	char part[RUN_NAME], off[TEXT], on[TEXT];
	struct wrap wrap = { 0 };
	size_t shown = 0;

	for (size_t i = 0; i < shares->nr && shown < MOST_ROWS; i++) {
		const struct share_change *change = &shares->changes[i];
		const char *name = change->key->name[0] ? change->key->name : "all threads";

		if (change->judged.verdict != verdict)
			continue;
		begin_line(head, &wrap, word, "0");
		wrap__add(&wrap, "%s: %s %s -> %s of the time", name,
			  share_change__part(change, part),
			  compare__value(off, change->judged.off, JUDGE_TAIL),
			  compare__value(on, change->judged.on, JUDGE_TAIL));
		end_line(head, &wrap);
		shown++;
	}
}

/* ---- no verdict ---- */

/* The smallest difference that the test of this statistic would probably have shown. */
static double visible(const struct comparison *comparison, const struct judged *judged)
{
	const struct group *groups = comparison->groups;
	double confidence = comparison->rules.judge.confidence, half;
	double level = (1 - confidence) / fmax((double)comparison->family, 1);

	if (!isnan(judged->spread))
		return sequential__effect(judged->spread,
					  groups[0].nr < groups[1].nr ? groups[0].nr : groups[1].nr,
					  level);
	if (isnan(judged->low))
		return INFINITY;
	half = log(judged->high / judged->low) / 2 / dist__normal_quantile(0.5 + confidence / 2);
	return expm1(half * (dist__normal_quantile(1 - level / 2) +
			     dist__normal_quantile(SEQUENTIAL_POWER)));
}

/* The first statistic that was tested; NULL: none, or one has a verdict. */
static const struct judged *find_same(const struct comparison_row *row)
{
	const struct judged *same = NULL;

	for (size_t i = 0; i < PREFERRED; i++) {
		const struct judged *judged = &row->statistics[preferred[i]];

		if (judged->tested && judged->verdict != JUDGE_NO_DIFFERENCE)
			return NULL;
		same = same ? same : judged->tested ? judged : NULL;
	}
	return same;
}

/* Is it a part of the same thing, such as of a request? */
static bool same_what(const struct comparison_row *one, const struct comparison_row *other)
{
	const char *a = one->probe->metrics[one->metric].what;
	const char *b = other->probe->metrics[other->metric].what;
	size_t len = strcspn(a, ",:");

	return len == strcspn(b, ",:") && !strncmp(a, b, len);
}

/* Adds a row to a list: "page fault, block request (device, queued". */
static void add_to_list(struct wrap *wrap, const struct comparison_row *row,
			const struct comparison_row *last)
{
	const struct run_metric *metric = &row->probe->metrics[row->metric];

	if (last && last->probe == row->probe && same_what(last, row)) {
		wrap__add(wrap, ", %s", metric->name);
		return;
	}
	if (last)
		wrap__add(wrap, "%s, ", last->probe->nr_metrics > 1 ? ")" : "");
	add_what(wrap, row);
	if (row->probe->nr_metrics > 1)
		wrap__add(wrap, " (%s", metric->name);
}

static void end_list(struct wrap *wrap, const struct comparison_row *last)
{
	if (last->probe->nr_metrics > 1)
		wrap__add(wrap, ")");
}

/* Whole latencies without a difference; `small`: those in which a small one would be seen. */
static void print_same(struct head *head, bool small)
{
	const struct comparison *comparison = head->comparison;
	const struct comparison_row *last = NULL;
	const char *name = NULL, *statistic;
	struct wrap wrap = { 0 };
	double most = 0, effect;
	bool one = true;
	char text[TEXT];

	for (size_t i = 0; i < comparison->nr; i++) {
		const struct comparison_row *row = &comparison->rows[i];
		const struct judged *judged = row->by == GROUP_WHOLE ? find_same(row) : NULL;

		effect = judged ? visible(comparison, judged) : 0;
		if (!judged || (effect <= SMALL_EFFECT) != small)
			continue;
		if (!last)
			begin_line(head, &wrap, small ? "SAME" : "UNCLEAR", "0");
		add_to_list(&wrap, row, last);
		last = row;
		statistic = judge__name((unsigned int)(judged - row->statistics));
		one = one && (!name || name == statistic);
		name = statistic;
		most = fmax(most, effect);
	}
	if (!last)
		return;
	end_list(&wrap, last);
	wrap__add(&wrap, small ? " (" : ": no difference shown (");
	if (one)
		wrap__add(&wrap, "%s: ", name);
	if (small)
		wrap__add(&wrap, "differences over %.2g %%", most * 100);
	else
		wrap__add(&wrap, "only differences over x%s", brief(text, 1 + most));
	wrap__add(&wrap, " would have been seen)");
	end_line(head, &wrap);
}

/* Why no statistic of it could be tested; NULL: one was, or none should be. */
static const char *why_untested(const struct comparison *comparison,
				const struct comparison_row *row)
{
	const char *why = NULL;

	for (size_t i = 0; i < JUDGE_STATISTICS; i++) {
		if (row->statistics[i].tested)
			return NULL;
		if (!why && comparison->rules.judge.statistics & 1U << i)
			why = row->statistics[i].why;
	}
	return why;
}

/* Their reasons are alike: the tables have the others. */
static void print_untested(struct head *head)
{
	const struct comparison *comparison = head->comparison;
	const struct comparison_row *last = NULL;
	const char *reason = NULL, *why;
	struct wrap wrap = { 0 };

	for (size_t i = 0; i < comparison->nr; i++) {
		const struct comparison_row *row = &comparison->rows[i];

		why = row->by == GROUP_WHOLE ? why_untested(comparison, row) : NULL;
		if (!why)
			continue;
		if (!last)
			begin_line(head, &wrap, "CANNOT TELL", "0");
		add_to_list(&wrap, row, last);
		last = row;
		reason = reason ? reason : why;
	}
	if (!last)
		return;
	end_list(&wrap, last);
	wrap__add(&wrap, "%s%s", *reason ? ": " : "", reason);
	if (comparison->rules.judge.batches)
		wrap__add(&wrap, "; compare groups of %d recordings or more",
			  JUDGE_LEAST_OBSERVATIONS);
	end_line(head, &wrap);
}

static void print_rest(struct head *head)
{
	struct wrap wrap = { 0 };

	print_same(head, true);
	print_same(head, false);
	print_untested(head);
	if (head->begun)
		return;
	begin_line(head, &wrap, "SAME", "0");
	wrap__add(&wrap, "what threads did with their time");
	end_line(head, &wrap);
}

void compare__print_verdict(FILE *out, const struct comparison *comparison, bool color)
{
	struct head head = { .out = out, .comparison = comparison, .color = color };
	struct found *room = calloc(comparison->nr + 1, sizeof(*room));

	if (!room)
		return;
	print_verdict(&head, room, JUDGE_WORSE, "WORSE", "31");
	print_verdict(&head, room, JUDGE_BETTER, "BETTER", "32");
	print_verdict(&head, room, JUDGE_MORE, "MORE", "0");
	print_verdict(&head, room, JUDGE_FEWER, "FEWER", "0");
	print_shares(&head, JUDGE_MORE, "MORE");
	print_shares(&head, JUDGE_LESS, "LESS");
	print_rest(&head);
	free(room);
}
