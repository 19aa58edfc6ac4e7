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

void compare__print_csv(FILE *out, const struct comparison *comparison)
{
	fputs("probe,metric,by,key,statistic,off,on,ratio,ratio_low,ratio_high,p,p_adjusted,"
	      "verdict,reason\n",
	      out);
	for (size_t i = 0; i < comparison->nr * JUDGE_STATISTICS; i++)
		print_statistic(out, comparison, &comparison->rows[i / JUDGE_STATISTICS],
				i % JUDGE_STATISTICS);
}
