// SPDX-License-Identifier: BSD-2-Clause
#include <core/split.h>
#include <store/csv.h>

#include "compare.h"

double compare__scale(unsigned int statistic)
{
	return statistic == JUDGE_TAIL || judge__is_rate(statistic) ? 1 : 1e-3;
}

void compare__csv_statistic(FILE *out, const struct judge_rules *rules, const struct judged *judged,
			    unsigned int statistic)
{
	double scale = compare__scale(statistic);
	bool wanted = rules->statistics & 1U << statistic;

	csv__next_field(out, judge__name(statistic));
	csv__next_number(out, judged->off * scale);
	csv__next_number(out, judged->on * scale);
	csv__next_number(out, judged->ratio);
	csv__next_number(out, judged->low);
	csv__next_number(out, judged->high);
	csv__next_number(out, judged->p);
	csv__next_number(out, judged->adjusted);
	csv__next_field(out, wanted ? judge__verdict(judged) : "");
	csv__next_field(out, judged->why);
	fputc('\n', out);
}

static void print_statistic(FILE *out, const struct comparison *comparison,
			    const struct comparison_row *row, unsigned int statistic)
{
	csv__field(out, row->probe->name);
	csv__next_field(out, row->probe->metrics[row->metric].name);
	csv__next_field(out, row->by == GROUP_WHOLE ? "" : split__name((unsigned int)row->by));
	csv__next_field(out, row->key);
	compare__csv_statistic(out, &comparison->rules.judge, &row->statistics[statistic],
			       statistic);
}

/* Counts, and the ratio of the shares. */
static void print_bucket(FILE *out, const struct comparison_row *row, unsigned int bucket)
{
	const struct comparison_total *off = &row->total[0], *on = &row->total[1];
	double ratio = ((double)on->buckets[bucket] / (double)on->events) /
		       ((double)off->buckets[bucket] / (double)off->events);

	csv__field(out, row->probe->name);
	csv__next_field(out, row->probe->metrics[row->metric].name);
	csv__next_field(out, row->by == GROUP_WHOLE ? "" : split__name((unsigned int)row->by));
	csv__next_field(out, row->key);
	fprintf(out, ",bucket %u", bucket);
	csv__next_number(out, (double)off->buckets[bucket]);
	csv__next_number(out, (double)on->buckets[bucket]);
	csv__next_number(out, ratio);
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
