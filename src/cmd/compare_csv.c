// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>

#include <base/by.h>
#include <base/csv.h>

#include "compare_print.h"

double compare__scale(unsigned int figure)
{
	return figure == JUDGE_TAIL || judge__is_rate(figure) ? 1 : 1e-3;
}

/* Empty if it is not there. */
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

static void print_figure(FILE *out, const struct comparison *comparison,
			 const struct comparison_row *row, unsigned int figure)
{
	const struct judged *judged = &row->figures[figure];
	double scale = compare__scale(figure);
	bool wanted = comparison->rules.judge.figures & 1U << figure;

	csv__field(out, row->module->name);
	text(out, row->module->metrics[row->metric].name);
	text(out, row->by == SIDE_WHOLE ? "" : by__name((unsigned int)row->by));
	text(out, row->key);
	text(out, judge__name(figure));
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
	fputs("module,metric,by,key,figure,off,on,ratio,ratio_low,ratio_high,p,p_adjusted,verdict,"
	      "reason\n",
	      out);
	for (size_t i = 0; i < comparison->nr * JUDGE_FIGURES; i++)
		print_figure(out, comparison, &comparison->rows[i / JUDGE_FIGURES],
			     i % JUDGE_FIGURES);
}
