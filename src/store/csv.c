// SPDX-License-Identifier: BSD-2-Clause
#include "csv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <core/hist.h>
#include <core/split.h>
#include <core/summary.h>

#include "atomic_file.h"
#include "writer.h"

void csv__histogram(FILE *out, const struct lat_hist *hist)
{
	uint64_t buckets[HIST_LOG2_BUCKETS];
	int top = hist__top_bucket(hist);

	fputs("bucket,lo_us,hi_us,count\n", out);
	hist__log2(hist, buckets);
	for (int i = 0; i <= top; i++) {
		fprintf(out, "%d,%llu,", i, i ? 1ULL << i : 0);
		if (i < HIST_OCTAVES)
			fprintf(out, "%llu,", 2ULL << i);
		else
			fputs("inf,", out);
		fprintf(out, "%llu\n", (unsigned long long)buckets[i]);
	}
}

/* Would a spreadsheet treat this as a formula, which may run a command there? */
static bool is_formula(const char *text)
{
	return *text && strchr("=+-@\t\r", *text);
}

void csv__field(FILE *out, const char *text)
{
	if (is_formula(text)) {
		fputs("\"'", out);
	} else if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	} else {
		fputc('"', out);
	}
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

void csv__next_field(FILE *out, const char *text)
{
	fputc(',', out);
	csv__field(out, text);
}

void csv__next_number(FILE *out, double value)
{
	fputc(',', out);
	if (isfinite(value))
		fprintf(out, "%.6g", value);
}

static void key_row(FILE *out, const struct run_key *key)
{
	struct summary summary;
	struct lat_hist hist;

	summary__of(&summary, sparse__expand(&key->hist, &hist));
	csv__field(out, key->name);
	fprintf(out, ",%llu,%.3f,%.3f,%.3f,%.3f,%.3f,%llu,%.3f\n",
		(unsigned long long)summary.events, summary.mean_ns / 1e3,
		(double)summary.quantiles_ns[SUMMARY_P50] / 1e3,
		(double)summary.quantiles_ns[SUMMARY_P99] / 1e3,
		(double)summary.quantiles_ns[SUMMARY_P999] / 1e3, (double)summary.max_ns / 1e3,
		(unsigned long long)summary.tail, (double)summary.sum_ns / 1e3);
}

int csv__split(FILE *out, const struct run_data *data, enum lat_by by, unsigned int metric)
{
	const struct run_key **ranked;
	ssize_t nr;

	nr = run__ranked_keys(data, by, metric, &ranked);
	if (nr < 0)
		return (int)nr;
	fputs("key,events,mean_us,p50_us,p99_us,p999_us,max_us,tail_events,sum_us\n", out);
	for (ssize_t i = 0; i < nr; i++)
		key_row(out, ranked[i]);
	free(ranked);
	return 0;
}

/* A file of one metric; by -1: of its histogram. */
struct part {
	const struct run_probe *probe;
	unsigned int metric;
	int by;
};

static int print_part(FILE *stream, const void *of)
{
	const struct part *part = of;
	const struct run_data *total = &part->probe->total;

	if (part->by >= 0)
		return csv__split(stream, total, (enum lat_by)part->by, part->metric);
	csv__histogram(stream, &total->metrics[part->metric].hist);
	return 0;
}

/* <probe>[-<metric>][-by-<dim>].csv; the first metric is not in the name. */
static int write_part(const char *dir, const struct part *part)
{
	const struct run_probe *probe = part->probe;
	char name[256];

	snprintf(name, sizeof(name), "%s%s%s%s%s.csv", probe->name, part->metric ? "-" : "",
		 part->metric ? probe->metrics[part->metric].name : "", part->by < 0 ? "" : "-by-",
		 part->by < 0 ? "" : split__name((unsigned int)part->by));
	return outfile__write(dir, name, print_part, part);
}

static int write_metric(const char *dir, const struct run_probe *probe, unsigned int metric)
{
	struct part part = { probe, metric, -1 };
	int err = write_part(dir, &part);

	for (part.by = 0; !err && part.by < LAT_BY_COUNT; part.by++) {
		if (probe->by & 1U << part.by)
			err = write_part(dir, &part);
	}
	return err;
}

int writer__need_dir(struct writer *writer, const struct run *run)
{
	(void)run;
	return writer->dir ? 0 : -EINVAL;
}

static int csv__close(struct writer *writer, const struct run *run)
{
	int err = 0;

	for (unsigned int i = 0; i < run->nr_probes; i++) {
		const struct run_probe *probe = &run->probes[i];

		if (probe->refused[0])
			continue;
		for (unsigned int m = 0; !err && m < probe->nr_metrics; m++)
			err = write_metric(writer->dir, probe, m);
	}
	return err;
}

const struct writer_ops writer_csv = {
	.name = "csv",
	.open = writer__need_dir,
	.close = csv__close,
};
