// SPDX-License-Identifier: BSD-2-Clause
#include "view.h"

static void summary_line(FILE *out, const struct ring_result *result,
			 const struct ring_count *count, unsigned int way)
{
	uint64_t khz = result->tsc_khz;
	struct ring_summary summary;

	ring_summary__of(&summary, &count->ways[way], ring_count__baseline(result, count, way));
	fprintf(out, "%s,%s,%s,%llu,%llu", result->method->name, count->event->name,
		ring_count__way(count, way), (unsigned long long)count->attempted,
		(unsigned long long)count->kept);
	fprintf(out, ",%.1f,%.1f,%.1f,%.1f,%.1f,%.1f", summary.baseline, summary.min, summary.p50,
		summary.mean, summary.p99, summary.max);
	fprintf(out, ",%.2f,%.2f,%.2f,%.2f,%.2f\n", ring__ns(summary.min, khz),
		ring__ns(summary.p50, khz), ring__ns(summary.mean, khz), ring__ns(summary.p99, khz),
		ring__ns(summary.max, khz));
}

/* Edges as counted: the baseline is not subtracted, it has its own column. */
static void bucket_lines(FILE *out, const struct ring_result *result,
			 const struct ring_count *count, unsigned int way)
{
	double baseline = ring_count__baseline(result, count, way);
	struct ring_bucket bucket = { 0 };

	while (ring_hist__next(&count->ways[way], &bucket))
		fprintf(out, "%s,%s,%s,%.1f,%llu,%llu,%llu\n", result->method->name,
			count->event->name, ring_count__way(count, way), baseline,
			(unsigned long long)bucket.low, (unsigned long long)bucket.high,
			(unsigned long long)bucket.count);
}

void ringlat__print_csv(FILE *out, const struct ring_result *result, bool histogram)
{
	if (histogram)
		fputs("method,event,way,baseline_cycles,lo_cycles,hi_cycles,count\n", out);
	else
		fputs("method,event,way,attempted,kept,baseline_cycles,min_cycles,p50_cycles,"
		      "mean_cycles,p99_cycles,max_cycles,min_ns,p50_ns,mean_ns,p99_ns,max_ns\n",
		      out);
	for (unsigned int i = 0; i < result->nr_events; i++) {
		const struct ring_count *count = &result->events[i];

		for (unsigned int way = 0; way < count->nr_ways; way++) {
			if (histogram)
				bucket_lines(out, result, count, way);
			else
				summary_line(out, result, count, way);
		}
	}
}
