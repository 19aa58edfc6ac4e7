// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <string.h>

#include <core/split.h>
#include <store/csv.h>

#include "compare.h"

const struct compare_number compare__numbers[COMPARE_NUMBERS] = {
	{ "off", true },   { "on", true },	   { "difference", false }, { "relative", false },
	{ "ratio", true }, { "ratio_low", true },  { "ratio_high", true },  { "odds_ratio", false },
	{ "p", true },	   { "p_adjusted", true },
};

void compare__values(const struct judged *judged, unsigned int statistic,
		     double values[COMPARE_NUMBERS])
{
	bool is_latency = statistic < JUDGE_LATENCIES && statistic != JUDGE_TAIL;
	double scale = is_latency ? 1e-3 : 1, off = judged->off, on = judged->on;
	double odds = statistic == JUDGE_TAIL ? share__odds_ratio(off, on) : NAN;
	const double all[COMPARE_NUMBERS] = {
		off * scale,   on * scale,	 (on - off) * scale, judged->ratio - 1,
		judged->ratio, judged->low,	 judged->high,	     odds,
		judged->p,     judged->adjusted,
	};

	memcpy(values, all, sizeof(all));
}

void compare__csv_head(FILE *out, const char *before, const char *off, const char *on)
{
	fprintf(out, "%s,statistic,%s,%s", before, off, on);
	for (unsigned int i = 2; i < COMPARE_NUMBERS; i++)
		if (compare__numbers[i].in_csv)
			fprintf(out, ",%s", compare__numbers[i].name);
	fputs(",verdict,reason\n", out);
}

void compare__csv_statistic(FILE *out, const struct judge_rules *rules, const struct judged *judged,
			    unsigned int statistic)
{
	bool wanted = rules->statistics & 1U << statistic;
	double values[COMPARE_NUMBERS];

	compare__values(judged, statistic, values);
	csv__next_field(out, judge__name(statistic));
	for (unsigned int i = 0; i < COMPARE_NUMBERS; i++)
		if (compare__numbers[i].in_csv)
			csv__next_number(out, values[i]);
	csv__next_field(out, wanted ? judge__verdict(judged) : "");
	csv__next_field(out, judged->why);
	fputc('\n', out);
}

/* The fields before those of a statistic or a bucket. */
static void print_key(FILE *out, const struct comparison_row *row)
{
	csv__field(out, row->probe->name);
	csv__next_field(out, row->probe->metrics[row->metric].name);
	csv__next_field(out, row->by == GROUP_WHOLE ? "" : split__name((unsigned int)row->by));
	csv__next_field(out, row->key);
}

/* Counts, and the ratio of the shares. */
static void print_bucket(FILE *out, const struct comparison_row *row, unsigned int bucket)
{
	const struct comparison_total *off = &row->total[0], *on = &row->total[1];
	double ratio = ((double)on->buckets[bucket] / (double)on->events) /
		       ((double)off->buckets[bucket] / (double)off->events);

	print_key(out, row);
	fprintf(out, ",bucket %u", bucket);
	csv__next_number(out, (double)off->buckets[bucket]);
	csv__next_number(out, (double)on->buckets[bucket]);
	csv__next_number(out, ratio);
	fputs(",,,,,,\n", out);
}

static void print_row(FILE *out, const struct comparison *comparison,
		      const struct comparison_row *row)
{
	for (unsigned int i = 0; i < JUDGE_STATISTICS; i++) {
		print_key(out, row);
		compare__csv_statistic(out, &comparison->rules.judge, &row->statistics[i], i);
	}
	for (unsigned int i = 0; i < HIST_LOG2_BUCKETS; i++)
		if (row->total[0].buckets[i] || row->total[1].buckets[i])
			print_bucket(out, row, i);
}

/* The part is in place of the metric. */
static void print_share(FILE *out, const struct comparison *comparison,
			const struct share_change *change)
{
	const struct shares_key *key = change->key;
	char part[RUN_NAME];

	csv__field(out, key->probe);
	csv__next_field(out, share_change__part(change, part));
	csv__next_field(out, key->by == GROUP_WHOLE ? "" : split__name((unsigned int)key->by));
	csv__next_field(out, key->name);
	compare__csv_statistic(out, &comparison->rules.judge, &change->judged, JUDGE_SHARE);
}

void compare__print_csv(FILE *out, const struct comparison *comparison)
{
	compare__csv_head(out, "probe,metric,by,key", "off", "on");
	for (size_t i = 0; i < comparison->nr; i++)
		print_row(out, comparison, &comparison->rows[i]);
	for (size_t i = 0; i < comparison->shares.nr; i++)
		print_share(out, comparison, &comparison->shares.changes[i]);
}
