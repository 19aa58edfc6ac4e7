// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdio.h>

#include <core/summary.h>
#include <core/units.h>
#include <store/csv.h>
#include <store/json.h>
#include <store/writer.h>

#include "probe_view.h"
#include "streams.h"
#include "text.h"

/* writer->state is the stream; stdout unless it was set before open(). */
static FILE *stream_of(struct writer *writer)
{
	if (!writer->state)
		writer->state = stdout;
	return writer->state;
}

/*
 * Every interval is flushed at once for the user who watches. An error of stdout does not end the
 * window; main reports it.
 */
static int pass_on(FILE *stream)
{
	if (stream != stdout)
		return fflush(stream) ? -errno : 0;
	streams__flush();
	return 0;
}

static bool has_metrics(const struct run *run)
{
	for (unsigned int i = 0; i < run->nr_probes; i++) {
		if (run->probes[i].nr_metrics)
			return true;
	}
	return false;
}

static int live__open(struct writer *writer, const struct run *run)
{
	FILE *out = stream_of(writer);

	if (!has_metrics(run))
		return pass_on(out);
	fprintf(out, "%10s  %-10s %12s %9s %9s %9s %9s\n", "time", "probe", "events/s", "p50",
		"p99", "max", "tail");
	return pass_on(out);
}

static void live_row(FILE *out, const char *name, const struct run_interval *interval,
		     const struct lat_hist *hist)
{
	struct summary summary;
	char text[UNITS_TEXT];

	summary__of(&summary, hist);
	fprintf(out, "%8.3f s  %-10.10s", (double)interval->end_ns / 1e9, name);
	fprintf(out, " %12s",
		units__rate(text,
			    summary__rate(summary.events, interval->end_ns - interval->start_ns)));
	if (!summary.events) {
		fprintf(out, " %9s %9s %9s %9s\n", "-", "-", "-", "-");
		return;
	}
	fprintf(out, " %9s", units__ns(text, (double)summary.quantiles_ns[SUMMARY_P50]));
	fprintf(out, " %9s", units__ns(text, (double)summary.quantiles_ns[SUMMARY_P99]));
	fprintf(out, " %9s", units__ns(text, (double)summary.max_ns));
	fprintf(out, " %9s\n", units__share(text, summary.tail, summary.events));
}

static int live_probe(const struct writer *writer, const struct run *run, unsigned int at,
		      const struct run_interval *interval)
{
	const struct run_probe *probe = &run->probes[at];
	const struct probe_view *view = probe->table ? probe_view__of(probe) : NULL;

	if (probe->refused[0])
		return 0;
	if (view && view->print_interval)
		return view->print_interval(writer->state, probe, interval, writer->top);
	if (probe->nr_metrics)
		live_row(writer->state, probe->name, interval,
			 &interval->delta[at].metrics[0].hist);
	if (probe->table)
		table__text_rows(writer->state, probe->name, probe->table);
	return 0;
}

static int live__interval(struct writer *writer, const struct run *run,
			  const struct run_interval *interval)
{
	FILE *out = stream_of(writer);
	int err = 0;

	for (unsigned int i = 0; !err && i < run->nr_probes; i++)
		err = live_probe(writer, run, i, interval);
	return err ? err : pass_on(out);
}

const struct writer_ops writer_live = {
	.name = "live",
	.open = live__open,
	.interval = live__interval,
};

static int live_json__interval(struct writer *writer, const struct run *run,
			       const struct run_interval *interval)
{
	int err;

	err = json__print(json__interval(run, interval), stream_of(writer), false);
	return err ? err : pass_on(stream_of(writer));
}

const struct writer_ops writer_live_json = {
	.name = "live_json",
	.interval = live_json__interval,
};

/* NULL: the probe has none. */
static const struct table *csv_table(const struct writer *writer, const struct run_probe *probe)
{
	const struct probe_view *view = probe->table ? probe_view__of(probe) : NULL;

	return view && view->table ? view->table(probe, writer->more_by) : probe->table;
}

static int live_csv__open(struct writer *writer, const struct run *run)
{
	const struct table *table;

	for (unsigned int i = 0; i < run->nr_probes; i++)
		if ((table = csv_table(writer, &run->probes[i])))
			table__csv_head(stream_of(writer), table);
	return pass_on(stream_of(writer));
}

static int live_csv__interval(struct writer *writer, const struct run *run,
			      const struct run_interval *interval)
{
	const struct table *table;

	(void)interval;
	for (unsigned int i = 0; i < run->nr_probes; i++)
		if ((table = csv_table(writer, &run->probes[i])))
			table__csv_rows(stream_of(writer), table);
	return pass_on(stream_of(writer));
}

const struct writer_ops writer_live_csv = {
	.name = "live_csv",
	.open = live_csv__open,
	.interval = live_csv__interval,
};
