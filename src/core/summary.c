// SPDX-License-Identifier: BSD-2-Clause
#include "summary.h"

#include <string.h>

#include "hist.h"

const char *const summary__labels[SUMMARY_QUANTILES] = { "p50", "p90", "p99", "p99.9", "p99.99" };
const char *const summary__fields[SUMMARY_QUANTILES] = { "p50", "p90", "p99", "p99_9", "p99_99" };

static const double quantiles[SUMMARY_QUANTILES] = { 0.5, 0.9, 0.99, 0.999, 0.9999 };

void summary__of(struct summary *summary, const struct lat_hist *hist)
{
	summary->events = hist__count(hist);
	summary->tail = hist->tail;
	summary->sum_ns = hist->sum_ns;
	summary->max_ns = hist->max_ns;
	summary->mean_ns = hist__mean_ns(hist);
	summary->top_bucket = hist__top_bucket(hist);
	for (unsigned int i = 0; i < SUMMARY_QUANTILES; i++)
		summary->quantiles_ns[i] = hist__quantile_ns(hist, quantiles[i]);
}

bool summary__is_timed(uint64_t elapsed_ns, unsigned int probes, unsigned int enough)
{
	if (elapsed_ns < SUMMARY_TIMED_NS)
		return false;
	return enough == probes || (enough && elapsed_ns >= SUMMARY_TIMED_MOST_NS);
}

void summary__of_cost(struct summary_cost *price, const struct run *run,
		      const struct run_probe *probe)
{
	const struct run_cost *cost = &probe->cost;

	memset(price, 0, sizeof(*price));
	price->timed = cost->timed_ns;
	price->known = cost->timed_events >= SUMMARY_COST_EVENTS && run->duration_ns;
	if (!price->known)
		return;
	price->ns_per_event = (double)cost->run_ns / (double)cost->timed_events;
	price->cpu_share = price->ns_per_event * (double)probe->total.metrics[0].counts[LAT_SEEN] /
			   (double)run->duration_ns;
}

double summary__rate(uint64_t events, uint64_t ns)
{
	return ns ? (double)events / ((double)ns / 1e9) : 0;
}
