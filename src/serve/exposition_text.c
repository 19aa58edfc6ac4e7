// SPDX-License-Identifier: BSD-2-Clause
/* Text 0.0.4 and OpenMetrics 1.0, which differ in the names of counters and in the end. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <core/hist.h>

#include "exposition.h"

static const char *const types[] = {
	[EXPOSITION_COUNTER] = "counter",
	[EXPOSITION_GAUGE] = "gauge",
	[EXPOSITION_HISTOGRAM] = "histogram",
};

/* In OpenMetrics the family of a counter lacks the suffix of its samples. */
static int name_length(const struct exposition *to)
{
	size_t len = strlen(to->name), suffix = strlen("_total");

	if (to->format == EXPOSITION_OPENMETRICS && to->type == EXPOSITION_COUNTER && len > suffix)
		len -= suffix;
	return (int)len;
}

static void begin_family(struct exposition *to, const char *help)
{
	int len = name_length(to);

	bytes__printf(&to->out, "# HELP %.*s %s\n# TYPE %.*s %s\n", len, to->name, help, len,
		      to->name, types[to->type]);
}

static void put_escaped(struct bytes *out, const char *text)
{
	for (size_t plain; *text; text += plain) {
		plain = strcspn(text, "\\\"\n");
		bytes__add(out, text, plain);
		if (!text[plain])
			return;
		bytes__text(out, text[plain] == '\n'  ? "\\n"
				 : text[plain] == '"' ? "\\\""
						      : "\\\\");
		plain++;
	}
}

/* Without braces, so that a bucket can add its edge. Returns whether there are any. */
static bool put_labels(struct bytes *out, const struct exposition_label *labels)
{
	bool any = false;

	for (; labels && labels->name; labels++) {
		if (!labels->value || !labels->value[0])
			continue;
		bytes__printf(out, "%s%s=\"", any ? "," : "", labels->name);
		put_escaped(out, labels->value);
		bytes__text(out, "\"");
		any = true;
	}
	return any;
}

static void put_number(struct bytes *out, double value)
{
	if (fabs(value) < 1e15 && value == floor(value))
		bytes__printf(out, " %.0f\n", value);
	else
		bytes__printf(out, " %.15g\n", value);
}

static void put_value(struct exposition *to, const struct exposition_label *labels, double value)
{
	size_t start;

	bytes__text(&to->out, to->name);
	start = to->out.len;
	bytes__text(&to->out, "{");
	if (put_labels(&to->out, labels))
		bytes__text(&to->out, "}");
	else if (!to->out.failed)
		to->out.len = start;
	put_number(&to->out, value);
}

/* A line of a histogram, with labels that were written before. */
static void put_line(struct exposition *to, const char *suffix, const struct bytes *labels,
		     const char *edge)
{
	struct bytes *out = &to->out;

	bytes__text(out, to->name);
	bytes__text(out, suffix);
	if (!labels->len && !edge)
		return;
	bytes__text(out, "{");
	bytes__add(out, labels->at ? labels->at : "", labels->len);
	if (edge) {
		bytes__text(out, labels->len ? ",le=\"" : "le=\"");
		bytes__text(out, edge);
		bytes__text(out, "\"");
	}
	bytes__text(out, "}");
}

static void put_count(struct bytes *out, uint64_t count)
{
	char digits[24];
	size_t at = sizeof(digits);

	digits[--at] = '\n';
	do {
		digits[--at] = (char)('0' + count % 10);
		count /= 10;
	} while (count);
	digits[--at] = ' ';
	bytes__add(out, digits + at, sizeof(digits) - at);
}

static void put_histogram(struct exposition *to, const struct exposition_label *labels,
			  const struct lat_hist *hist, bool coarse)
{
	const struct exposition_edge *edges;
	unsigned int nr = exposition__edges(coarse, &edges);
	struct bytes text = { 0 };
	uint64_t count = 0;
	uint32_t slot = 0;

	put_labels(&text, labels);
	for (unsigned int i = 0; i < nr; i++) {
		while (slot < edges[i].slots)
			count += hist->slots[slot++];
		put_line(to, "_bucket", &text, edges[i].text);
		put_count(&to->out, count);
	}
	while (slot < HIST_SLOTS)
		count += hist->slots[slot++];
	put_line(to, "_bucket", &text, "+Inf");
	put_count(&to->out, count);
	put_line(to, "_sum", &text, NULL);
	bytes__printf(&to->out, " %" PRIu64 ".%09" PRIu64 "\n", (uint64_t)hist->sum_ns / 1000000000,
		      (uint64_t)hist->sum_ns % 1000000000);
	put_line(to, "_count", &text, NULL);
	put_count(&to->out, count);
	to->out.failed |= text.failed;
	bytes__free(&text);
}

const struct exposition_ops exposition_text = {
	.family = begin_family,
	.value = put_value,
	.histogram = put_histogram,
};
