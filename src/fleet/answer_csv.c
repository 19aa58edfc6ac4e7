// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>

#include <store/csv.h>

#include "answer.h"

static void print_key(FILE *out, const struct fleet_answer *answer, const struct fleet_row *row)
{
	for (size_t i = 0; i < answer->question->nr_by; i++) {
		csv__field(out, row->group->values[i]);
		fputc(',', out);
	}
}

static void print_estimate(FILE *out, const struct fleet_row *row, double quantile,
			   const struct hosts_interval *interval)
{
	fprintf(out, ",%zu,%llu", row->hosts[0], (unsigned long long)row->events[0]);
	csv__next_number(out, fleet_answer__us(row, 0, quantile));
	csv__next_number(out, interval->low / 1e3);
	csv__next_number(out, interval->high / 1e3);
	csv__next_number(out, row->events[0] ? (double)row->hists[0].max_ns / 1e3 : NAN);
	csv__next_number(out, (double)row->hists[0].sum_ns / 1e3);
	csv__next_field(out, interval->why);
}

static void print_judged(FILE *out, const struct fleet_row *row, const struct judged *judged)
{
	for (unsigned int i = 0; i < 2; i++)
		fprintf(out, ",%zu,%llu", row->hosts[i], (unsigned long long)row->events[i]);
	csv__next_number(out, judged->off / 1e3);
	csv__next_number(out, judged->on / 1e3);
	csv__next_number(out, judged->ratio);
	csv__next_number(out, judged->low);
	csv__next_number(out, judged->high);
	csv__next_number(out, judged->p);
	csv__next_number(out, judged->adjusted);
	csv__next_field(out, judge__verdict(judged));
	csv__next_field(out, judged->why);
}

static void print_shares(FILE *out, const struct fleet_answer *answer)
{
	fputs("state,hosts,share,us,of_us,highest,highest_host\n", out);
	for (size_t i = 0; i < answer->nr; i++) {
		const struct fleet_row *row = &answer->rows[i];
		const struct fleet_cell *most = row->highest;

		print_key(out, answer, row);
		fprintf(out, "%s,%zu", answer->question->metric, row->hosts[0]);
		csv__next_number(out, fleet_answer__share(row->ns, row->life_ns));
		csv__next_number(out, (double)row->ns / 1e3);
		csv__next_number(out, (double)row->life_ns / 1e3);
		csv__next_number(out, most ? fleet_answer__share(most->ns, most->life_ns) : NAN);
		csv__next_field(out, most ? answer->data->hosts[most->host].name : "");
		fputc('\n', out);
	}
}

void fleet_answer__csv(FILE *out, const struct fleet_answer *answer)
{
	const struct fleet_question *question = answer->question;
	bool compares = question->kind == FLEET_COMPARE;
	char name[RUN_NAME];

	for (size_t i = 0; i < question->nr_by; i++) {
		csv__field(out, question->by[i]);
		fputc(',', out);
	}
	if (question->kind == FLEET_SHARE) {
		print_shares(out, answer);
		return;
	}
	fputs(compares ? "statistic,where_hosts,where_events,against_hosts,against_events,where_us,"
			 "against_us,ratio,ratio_low,ratio_high,p,p_adjusted,verdict,reason\n"
		       : "statistic,hosts,events,us,low_us,high_us,max_us,sum_us,reason\n",
	      out);
	for (size_t i = 0; i < answer->nr * question->nr_quantiles; i++) {
		const struct fleet_row *row = &answer->rows[i / question->nr_quantiles];
		size_t at = i % question->nr_quantiles;

		print_key(out, answer, row);
		fputs(fleet_question__name(question->quantiles[at], name), out);
		if (compares)
			print_judged(out, row, &row->judged[at]);
		else
			print_estimate(out, row, question->quantiles[at], &row->intervals[at]);
		fputc('\n', out);
	}
}
