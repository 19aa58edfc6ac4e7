// SPDX-License-Identifier: BSD-2-Clause
#include "answer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <core/hist.h>

/* Groups, in order of their share, or of their time on both sides. */
struct ranked {
	size_t group;
	uint64_t sum_ns, life_ns; /* without life_ns: it is no share */
	const struct fleet_group *of;
};

double fleet_answer__share(uint64_t ns, uint64_t life_ns)
{
	return life_ns ? (double)ns / (double)life_ns : NAN;
}

static int most_first(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;
	double more = a->life_ns && b->life_ns ? fleet_answer__share(b->sum_ns, b->life_ns) -
							 fleet_answer__share(a->sum_ns, a->life_ns)
					       : 0;
	int order = (more > 0) - (more < 0);

	if (order)
		return order;
	if (a->sum_ns != b->sum_ns)
		return a->sum_ns < b->sum_ns ? 1 : -1;
	for (size_t i = 0; !order && i < FLEET_BY && a->of->values[i]; i++)
		order = strcmp(a->of->values[i], b->of->values[i]);
	return order;
}

static struct ranked *rank_groups(const struct fleet_data *data)
{
	struct ranked *ranked = calloc(data->nr_groups + 1, sizeof(*ranked));

	if (!ranked)
		return NULL;
	for (size_t i = 0; i < data->nr_groups; i++)
		ranked[i] = (struct ranked){ i, 0, 0, &data->groups[i] };
	for (size_t i = 0; i < data->nr; i++) {
		const struct fleet_cell *cell = &data->cells[i];

		ranked[cell->group].sum_ns += cell->hist.sum_ns + cell->ns;
		ranked[cell->group].life_ns += cell->life_ns;
	}
	qsort(ranked, data->nr_groups, sizeof(*ranked), most_first);
	return ranked;
}

/* The histograms by row, side and host, of the hosts with data. */
struct layout {
	const struct sparse **hists;
	unsigned char *in; /* of these hosts */
	size_t *host_at; /* by position in data->hosts; SIZE_MAX: it has no data */
	size_t hosts;
};

static const struct sparse **hists_of(const struct layout *layout, size_t row, unsigned int side)
{
	return layout->hists + (2 * row + side) * layout->hosts;
}

static void clear_layout(struct layout *layout)
{
	free(layout->hists);
	free(layout->in);
	free(layout->host_at);
}

static int by_host_name(const void *left, const void *right)
{
	return strcmp((*(const struct fleet_host *const *)left)->name,
		      (*(const struct fleet_host *const *)right)->name);
}

/* In the order of their names, so that the answer does not depend on the source. */
static int lay_out_hosts(const struct fleet_answer *answer, struct layout *layout)
{
	const struct fleet_data *data = answer->data;
	const struct fleet_host **sorted = calloc(data->nr_hosts + 1, sizeof(*sorted));

	layout->in = calloc(data->nr_hosts + 1, 1);
	layout->host_at = calloc(data->nr_hosts + 1, sizeof(*layout->host_at));
	if (!sorted || !layout->in || !layout->host_at) {
		free(sorted);
		return -ENOMEM;
	}
	for (size_t i = 0; i < data->nr_hosts; i++)
		sorted[i] = &data->hosts[i];
	qsort(sorted, data->nr_hosts, sizeof(*sorted), by_host_name);
	for (size_t i = 0; i < data->nr_hosts; i++) {
		layout->host_at[sorted[i] - data->hosts] = sorted[i]->in ? layout->hosts : SIZE_MAX;
		if (sorted[i]->in)
			layout->in[layout->hosts++] = sorted[i]->in;
	}
	free(sorted);
	layout->hists = calloc(2 * answer->nr * layout->hosts + 1, sizeof(*layout->hists));
	return layout->hists ? 0 : -ENOMEM;
}

static void add_time(const struct fleet_data *data, struct fleet_row *row,
		     const struct fleet_cell *cell)
{
	double before =
		row->highest ? fleet_answer__share(row->highest->ns, row->highest->life_ns) : -1;
	double share = fleet_answer__share(cell->ns, cell->life_ns);

	if (!cell->life_ns)
		return;
	row->ns += cell->ns;
	row->life_ns += cell->life_ns;
	row->hosts[0]++;
	if (share > before || (share == before && strcmp(data->hosts[cell->host].name,
							 data->hosts[row->highest->host].name) < 0))
		row->highest = cell;
}

/* `row_of`: by group, its row, or SIZE_MAX. */
static void lay_out_cells(const struct fleet_answer *answer, const size_t *row_of,
			  const struct layout *layout)
{
	for (size_t i = 0; i < answer->data->nr; i++) {
		const struct fleet_cell *cell = &answer->data->cells[i];
		size_t row = row_of[cell->group];

		if (row == SIZE_MAX)
			continue;
		hists_of(layout, row, cell->side)[layout->host_at[cell->host]] = &cell->hist;
		add_time(answer->data, &answer->rows[row], cell);
	}
}

static int choose_rows(struct fleet_answer *answer, struct layout *layout)
{
	const struct fleet_data *data = answer->data;
	size_t top = answer->question->top, *row_of;
	struct ranked *ranked = rank_groups(data);
	int err;

	row_of = calloc(data->nr_groups + 1, sizeof(*row_of));
	answer->nr = top && top < data->nr_groups ? top : data->nr_groups;
	answer->more = data->nr_groups - answer->nr;
	answer->rows = calloc(answer->nr + 1, sizeof(*answer->rows));
	err = ranked && row_of && answer->rows ? lay_out_hosts(answer, layout) : -ENOMEM;
	for (size_t i = 0; !err && i < data->nr_groups; i++) {
		row_of[ranked[i].group] = i < answer->nr ? i : SIZE_MAX;
		if (i < answer->nr)
			answer->rows[i].group = ranked[i].of;
	}
	if (!err)
		lay_out_cells(answer, row_of, layout);
	free(ranked);
	free(row_of);
	return err;
}

static int add_up(struct fleet_row *row, const struct layout *layout, size_t at)
{
	row->hists = calloc(2, sizeof(*row->hists));
	if (!row->hists)
		return -ENOMEM;
	for (unsigned int side = 0; side < 2; side++) {
		for (size_t i = 0; i < layout->hosts; i++) {
			const struct sparse *hist = hists_of(layout, at, side)[i];

			if (!hist || !sparse__count(hist))
				continue;
			sparse__add_to(&row->hists[side], hist);
			row->hosts[side]++;
		}
		row->events[side] = hist__count(&row->hists[side]);
	}
	return 0;
}

static int compare(struct fleet_answer *answer, const struct layout *layout)
{
	const struct fleet_question *question = answer->question;
	const struct hosts_rules rules = { .confidence = question->confidence,
					   .min_effect = question->min_effect,
					   .quantiles = question->quantiles,
					   .nr_quantiles = question->nr_quantiles };
	struct hosts_latency *latencies = calloc(answer->nr + 1, sizeof(*latencies));
	struct judged *judged = calloc(answer->nr * rules.nr_quantiles + 1, sizeof(*judged));
	ssize_t tests = latencies && judged ? 0 : -ENOMEM;

	for (size_t i = 0; !tests && i < answer->nr; i++)
		latencies[i] = (struct hosts_latency){ { hists_of(layout, i, 0),
							 hists_of(layout, i, 1) } };
	if (!tests)
		tests = hosts__compare(&rules, layout->in, layout->hosts, latencies, answer->nr,
				       judged);
	for (size_t i = 0; tests >= 0 && i < answer->nr * rules.nr_quantiles; i++) {
		answer->rows[i / rules.nr_quantiles].judged[i % rules.nr_quantiles] = judged[i];
		answer->verdicts[judged[i].verdict] += judged[i].tested;
	}
	free(latencies);
	free(judged);
	if (tests < 0)
		return (int)tests;
	answer->tests = (size_t)tests;
	return 0;
}

static void estimate(struct fleet_answer *answer, const struct layout *layout)
{
	const struct fleet_question *question = answer->question;

	for (size_t i = 0; i < answer->nr; i++)
		for (size_t j = 0; j < question->nr_quantiles; j++)
			answer->rows[i].intervals[j] =
				hosts__interval(hists_of(layout, i, 0), layout->hosts,
						question->quantiles[j], question->confidence);
}

static void count_hosts(struct fleet_answer *answer, const struct layout *layout)
{
	answer->hosts = layout->hosts;
	for (size_t i = 0; i < layout->hosts; i++) {
		answer->sides[0] += layout->in[i] & 1;
		answer->sides[1] += layout->in[i] >> 1;
		answer->both += layout->in[i] == 3;
	}
}

int fleet_answer__make(struct fleet_answer *answer, const struct fleet_data *data)
{
	struct layout layout = { 0 };
	int err;

	*answer = (struct fleet_answer){ .question = data->question, .data = data };
	err = choose_rows(answer, &layout);
	for (size_t i = 0; !err && i < answer->nr; i++)
		err = add_up(&answer->rows[i], &layout, i);
	if (!err)
		count_hosts(answer, &layout);
	if (!err && answer->question->kind == FLEET_COMPARE)
		err = compare(answer, &layout);
	else if (!err)
		estimate(answer, &layout);
	clear_layout(&layout);
	return err ? err : fleet_answer__add_notes(answer);
}

void fleet_answer__clear(struct fleet_answer *answer)
{
	for (size_t i = 0; answer->rows && i < answer->nr; i++)
		free(answer->rows[i].hists);
	free(answer->rows);
	notes__clear(&answer->notes);
	memset(answer, 0, sizeof(*answer));
}

double fleet_answer__us(const struct fleet_row *row, unsigned int side, double quantile)
{
	if (!row->events[side])
		return NAN;
	return (double)hist__quantile_ns(&row->hists[side], quantile) / 1e3;
}
