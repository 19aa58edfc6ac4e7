// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <core/sparse.h>
#include <core/vec.h>

#include "exposition.h"

#define SCALE 3
#define DELTA 1
#define CUMULATIVE 2

/* A counter or a histogram, as it was sent last. */
struct before {
	char *key; /* name and attributes; owned */
	uint64_t time_ns;
	double value;
	struct sparse hist;
	bool is_used; /* since the last end */
};

struct otlp_past {
	struct before *all; /* owned; in the order in which they are asked for */
	size_t nr, next;
};

struct otlp_past *otlp_past__new(void)
{
	return calloc(1, sizeof(struct otlp_past));
}

static void clear(struct before *before)
{
	free(before->key);
	sparse__clear(&before->hist);
}

void otlp_past__free(struct otlp_past *past)
{
	if (!past)
		return;
	for (size_t i = 0; i < past->nr; i++)
		clear(&past->all[i]);
	free(past->all);
	free(past);
}

static struct before *add(struct otlp_past *past, const char *key, uint64_t start_ns)
{
	struct before *grown = vec__grow(past->all, past->nr, sizeof(*grown));

	if (!grown)
		return NULL;
	past->all = grown;
	grown[past->nr] = (struct before){ .key = strdup(key), .time_ns = start_ns };
	return grown[past->nr].key ? &grown[past->nr++] : NULL;
}

/* They come in nearly the same order each time. A new one was 0 when counting began. */
static struct before *find(struct exposition *to, const char *key)
{
	struct otlp_past *past = to->past;
	struct before *before = NULL;

	for (size_t i = 0; i < past->nr && !before; i++) {
		size_t at = (past->next + i) % past->nr;

		if (!strcmp(past->all[at].key, key)) {
			before = &past->all[at];
			past->next = at + 1;
		}
	}
	if (!before)
		before = add(past, key, to->start_ns);
	if (before)
		before->is_used = true;
	else
		to->out.failed = true;
	return before;
}

/* What is gone will not come back, or begin at 0. */
static void forget_unused(struct otlp_past *past)
{
	size_t kept = 0;

	for (size_t i = 0; i < past->nr; i++) {
		if (!past->all[i].is_used) {
			clear(&past->all[i]);
			continue;
		}
		past->all[kept] = past->all[i];
		past->all[kept++].is_used = false;
	}
	past->nr = kept;
	past->next = 0;
}

/* ---- texts ---- */

static void put_string(struct bytes *out, const char *text)
{
	bytes__text(out, "\"");
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			bytes__printf(out, "\\%c", *text);
		else if ((unsigned char)*text < ' ')
			bytes__printf(out, "\\u%04x", *text);
		else
			bytes__add(out, text, 1);
	}
	bytes__text(out, "\"");
}

static void put_attribute(struct bytes *out, const char *name, const char *value)
{
	bytes__text(out, "{\"key\":");
	put_string(out, name);
	bytes__text(out, ",\"value\":{\"stringValue\":");
	put_string(out, value);
	bytes__text(out, "}}");
}

void exposition_otlp__begin(struct exposition *to, const char *host)
{
	bytes__text(&to->out, "{\"resourceMetrics\":[{\"resource\":{\"attributes\":[");
	put_attribute(&to->out, "service.name", "latscope");
	bytes__text(&to->out, ",");
	put_attribute(&to->out, "service.version", LATSCOPE_VERSION);
	bytes__text(&to->out, ",");
	put_attribute(&to->out, "host.name", host);
	bytes__text(&to->out, "]},\"scopeMetrics\":[{\"scope\":{\"name\":\"latscope\",\"version\":"
			      "\"" LATSCOPE_VERSION "\"},\"metrics\":[");
}

void exposition_otlp__end(struct exposition *to)
{
	if (!to->out.failed && to->out.at[to->out.len - 1] == ',')
		to->out.len--;
	bytes__text(&to->out, "]}]}]}");
	if (to->past)
		forget_unused(to->past);
}

/* ---- families ---- */

static const char *unit_of(const char *name)
{
	if (strstr(name, "_seconds"))
		return "s";
	return strstr(name, "_bytes") ? "By" : "1";
}

static void begin_family(struct exposition *to, const char *help)
{
	static const char *const kinds[] = {
		[EXPOSITION_COUNTER] = "sum",
		[EXPOSITION_GAUGE] = "gauge",
		[EXPOSITION_HISTOGRAM] = "exponentialHistogram",
	};

	to->family = to->out.len;
	to->has_points = false;
	bytes__text(&to->out, "{\"name\":");
	put_string(&to->out, to->name);
	bytes__text(&to->out, ",\"description\":");
	put_string(&to->out, help);
	bytes__printf(&to->out, ",\"unit\":\"%s\",\"%s\":{", unit_of(to->name), kinds[to->type]);
	if (to->type != EXPOSITION_GAUGE)
		bytes__printf(&to->out, "\"aggregationTemporality\":%d,",
			      to->past ? DELTA : CUMULATIVE);
	if (to->type == EXPOSITION_COUNTER)
		bytes__text(&to->out, "\"isMonotonic\":true,");
	bytes__text(&to->out, "\"dataPoints\":[");
}

/* A family without points is not sent. */
static void end_family(struct exposition *to)
{
	if (to->has_points)
		bytes__text(&to->out, "]}},");
	else if (!to->out.failed)
		to->out.len = to->family;
}

/* ---- points ---- */

/* The attributes, which also are what the point is found by, with the name. */
static void make_attributes(const struct exposition *to, const struct exposition_label *labels,
			    struct bytes *text)
{
	bool any = false;

	bytes__text(text, to->name);
	bytes__text(text, "\"attributes\":[");
	for (; labels && labels->name; labels++) {
		if (!labels->value || !labels->value[0])
			continue;
		bytes__text(text, any ? "," : "");
		put_attribute(text, labels->name, labels->value);
		any = true;
	}
	bytes__add(text, "],", sizeof("],"));
}

static void begin_point(struct exposition *to, const struct bytes *attributes, uint64_t start_ns)
{
	bytes__text(&to->out, to->has_points ? ",{" : "{");
	bytes__text(&to->out, attributes->at + strlen(to->name));
	if (start_ns)
		bytes__printf(&to->out, "\"startTimeUnixNano\":\"%" PRIu64 "\",", start_ns);
	bytes__printf(&to->out, "\"timeUnixNano\":\"%" PRIu64 "\",", to->time_ns);
	to->has_points = true;
}

static void put_value(struct exposition *to, const struct exposition_label *labels, double value)
{
	bool counts = to->type == EXPOSITION_COUNTER;
	struct bytes attributes = { 0 };
	uint64_t start_ns = counts ? to->start_ns : 0;
	struct before *before = NULL;
	double total = value;

	make_attributes(to, labels, &attributes);
	to->out.failed |= attributes.failed;
	if (counts && to->past && !to->out.failed)
		before = find(to, attributes.at);
	if (before) {
		value -= before->value <= value ? before->value : 0; /* else it began again */
		start_ns = before->time_ns;
		before->value = total;
		before->time_ns = to->time_ns;
	}
	if (!to->out.failed) {
		begin_point(to, &attributes, start_ns);
		bytes__printf(&to->out, "\"asDouble\":%.17g}", value);
	}
	bytes__free(&attributes);
}

/* Their bucket i holds (2^(i/8), 2^((i+1)/8)] seconds, Prometheus' bucket i+1. */
static void put_buckets(struct bytes *out, const struct lat_hist *hist)
{
	uint32_t slot = 1, end = HIST_SLOTS;

	while (slot < HIST_SLOTS && !hist->slots[slot])
		slot++;
	while (end > slot && !hist->slots[end - 1])
		end--;
	if (slot == end)
		return;
	bytes__printf(out, ",\"positive\":{\"offset\":%d,\"bucketCounts\":[",
		      exposition_proto__bucket(slot) - 1);
	for (int bucket = exposition_proto__bucket(slot); slot < end; bucket++) {
		uint64_t count = 0;

		while (slot < end && exposition_proto__bucket(slot) == bucket)
			count += hist->slots[slot++];
		bytes__printf(out, "\"%" PRIu64 "\"%s", count, slot < end ? "," : "]}");
	}
}

static void put_point(struct exposition *to, const struct bytes *attributes, uint64_t start_ns,
		      const struct lat_hist *hist)
{
	uint64_t count = 0;

	for (uint32_t slot = 0; slot < HIST_SLOTS; slot++)
		count += hist->slots[slot];
	if (!count && to->past)
		return;
	begin_point(to, attributes, start_ns);
	bytes__printf(&to->out,
		      "\"count\":\"%" PRIu64 "\",\"sum\":%" PRIu64 ".%09" PRIu64
		      ",\"scale\":%d,\"zeroCount\":\"%" PRIu64 "\",\"zeroThreshold\":%.9g",
		      count, (uint64_t)hist->sum_ns / 1000000000,
		      (uint64_t)hist->sum_ns % 1000000000, SCALE, (uint64_t)hist->slots[0],
		      1e-6 / HIST_SUB);
	if (!to->past)
		bytes__printf(&to->out, ",\"max\":%.9g", (double)hist->max_ns / 1e9);
	put_buckets(&to->out, hist);
	bytes__text(&to->out, "}");
}

/* One that has fewer samples in a slot than before began again. */
static bool grew(const struct lat_hist *now, const struct lat_hist *before)
{
	for (uint32_t slot = 0; slot < HIST_SLOTS; slot++)
		if (now->slots[slot] < before->slots[slot])
			return false;
	return now->sum_ns >= before->sum_ns;
}

static void put_gain(struct exposition *to, const struct bytes *attributes,
		     const struct lat_hist *hist)
{
	struct before *before = find(to, attributes->at);
	struct lat_hist old, gained = *hist;

	if (!before)
		return;
	sparse__expand(&before->hist, &old);
	if (grew(hist, &old)) {
		for (uint32_t slot = 0; slot < HIST_SLOTS; slot++)
			gained.slots[slot] -= old.slots[slot];
		gained.sum_ns -= old.sum_ns;
	}
	put_point(to, attributes, before->time_ns, &gained);
	before->time_ns = to->time_ns;
	if (sparse__set(&before->hist, hist))
		to->out.failed = true;
}

static void put_histogram(struct exposition *to, const struct exposition_label *labels,
			  const struct lat_hist *hist, bool coarse)
{
	struct bytes attributes = { 0 };

	(void)coarse;
	make_attributes(to, labels, &attributes);
	to->out.failed |= attributes.failed;
	if (!to->out.failed && to->past)
		put_gain(to, &attributes, hist);
	else if (!to->out.failed)
		put_point(to, &attributes, to->start_ns, hist);
	bytes__free(&attributes);
}

const struct exposition_ops exposition_otlp = {
	.family = begin_family,
	.end_family = end_family,
	.value = put_value,
	.histogram = put_histogram,
};
