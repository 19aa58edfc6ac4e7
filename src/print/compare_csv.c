// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>

#include <core/split.h>
#include <store/csv.h>

#include "compare.h"

double compare__scale(unsigned int statistic)
{
	return statistic == JUDGE_TAIL || judge__is_rate(statistic) ? 1 : 1e-3;
}

/* An unknown value is an empty field. */
static void number(FILE *out, double value)
{
	fputc(',', out);
	if (isfinite(value))
		fprintf(out, "%.6g", value);
}

static void text(FILE *out, const char *value)
{
	fputc(',', out);
	csv__field(out, value);
}

static void print_statistic(FILE *out, const struct comparison *comparison,
			    const struct comparison_row *row, unsigned int statistic)
{
	const struct judged *judged = &row->statistics[statistic];
	double scale = compare__scale(statistic);
	bool wanted = comparison->rules.judge.statistics & 1U << statistic;

	csv__field(out, row->probe->name);
	text(out, row->probe->metrics[row->metric].name);
	text(out, row->by == GROUP_WHOLE ? "" : split__name((unsigned int)row->by));
	text(out, row->key);
	text(out, judge__name(statistic));
	number(out, judged->off * scale);
	number(out, judged->on * scale);
	number(out, judged->ratio);
	number(out, judged->low);
	number(out, judged->high);
	number(out, judged->p);
	number(out, judged->adjusted);
	text(out, wanted ? judge__verdict(judged) : "");
	text(out, judged->why);
	fputc('\n', out);
}

/* Counts, and the ratio of the shares. */
static void print_bucket(FILE *out, const struct comparison_row *row, unsigned int bucket)
{
	const struct comparison_total *off = &row->total[0], *on = &row->total[1];
	double ratio = ((double)on->buckets[bucket] / (double)on->events) /
		       ((double)off->buckets[bucket] / (double)off->events);

	csv__field(out, row->probe->name);
	text(out, row->probe->metrics[row->metric].name);
	text(out, row->by == GROUP_WHOLE ? "" : split__name((unsigned int)row->by));
	text(out, row->key);
	fprintf(out, ",bucket %u", bucket);
	number(out, (double)off->buckets[bucket]);
	number(out, (double)on->buckets[bucket]);
	number(out, ratio);
	fputs(",,,,,,\n", out);
}

static void print_row(FILE *out, const struct comparison *comparison,
		      const struct comparison_row *row)
{
	for (unsigned int i = 0; i < JUDGE_STATISTICS; i++)
		print_statistic(out, comparison, row, i);
	for (unsigned int i = 0; i < HIST_LOG2_BUCKETS; i++)
		if (row->total[0].buckets[i] || row->total[1].buckets[i])
			print_bucket(out, row, i);
}

void compare__print_csv(FILE *out, const struct comparison *comparison)
{
	fputs("probe,metric,by,key,statistic,off,on,ratio,ratio_low,ratio_high,p,p_adjusted,"
	      "verdict,reason\n",
	      out);
	for (size_t i = 0; i < comparison->nr; i++)
		print_row(out, comparison, &comparison->rows[i]);
}
