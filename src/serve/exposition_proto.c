// SPDX-License-Identifier: BSD-2-Clause
/*
 * Messages of io.prometheus.client (metrics.proto of prometheus/client_model), written by hand: the
 * few fields that are needed are less code than a generator and its library.
 */
#include <math.h>
#include <string.h>

#include <core/hist.h>

#include "exposition.h"

enum wire { WIRE_VARINT = 0, WIRE_DOUBLE = 1, WIRE_BYTES = 2 };

enum field {
	FAMILY_NAME = 1,
	FAMILY_HELP = 2,
	FAMILY_TYPE = 3,
	FAMILY_METRIC = 4,
	METRIC_LABEL = 1,
	METRIC_GAUGE = 2,
	METRIC_COUNTER = 3,
	METRIC_HISTOGRAM = 7,
	LABEL_NAME = 1,
	LABEL_VALUE = 2,
	VALUE = 1, /* of a gauge and of a counter */
	HISTOGRAM_COUNT = 1,
	HISTOGRAM_SUM = 2,
	HISTOGRAM_BUCKET = 3,
	HISTOGRAM_SCHEMA = 5,
	HISTOGRAM_ZERO_THRESHOLD = 6,
	HISTOGRAM_ZERO_COUNT = 7,
	HISTOGRAM_SPAN = 12,
	HISTOGRAM_DELTA = 13,
	BUCKET_COUNT = 1,
	BUCKET_EDGE = 2,
	SPAN_OFFSET = 1,
	SPAN_LENGTH = 2,
};

static const unsigned int types[] = {
	[EXPOSITION_COUNTER] = 0,
	[EXPOSITION_GAUGE] = 1,
	[EXPOSITION_HISTOGRAM] = 4,
};

#define SCHEMA 3
#define MOST_VARINT 10

static size_t encode(unsigned char *out, uint64_t value)
{
	size_t len = 0;

	for (; value > 127; value >>= 7)
		out[len++] = (unsigned char)(value | 128);
	out[len++] = (unsigned char)value;
	return len;
}

static void put_varint(struct bytes *out, uint64_t value)
{
	unsigned char text[MOST_VARINT];

	bytes__add(out, text, encode(text, value));
}

static uint64_t zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

static void put_tag(struct bytes *out, enum field field, enum wire wire)
{
	put_varint(out, (uint64_t)field << 3 | wire);
}

static void put_number(struct bytes *out, enum field field, uint64_t value)
{
	put_tag(out, field, WIRE_VARINT);
	put_varint(out, value);
}

static void put_double(struct bytes *out, enum field field, double value)
{
	unsigned char text[sizeof(value)];
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	for (size_t i = 0; i < sizeof(text); i++, bits >>= 8)
		text[i] = (unsigned char)bits;
	put_tag(out, field, WIRE_DOUBLE);
	bytes__add(out, text, sizeof(text));
}

static void put_text(struct bytes *out, enum field field, const char *text)
{
	put_tag(out, field, WIRE_BYTES);
	put_varint(out, strlen(text));
	bytes__text(out, text);
}

/* A message within a message: its length is known, and inserted, at its end. */
static size_t begin(struct bytes *out, enum field field)
{
	put_tag(out, field, WIRE_BYTES);
	return out->len;
}

static void end(struct bytes *out, size_t start)
{
	unsigned char text[MOST_VARINT];

	if (!out->failed)
		bytes__insert(out, start, text, encode(text, out->len - start));
}

static void begin_family(struct exposition *to, const char *help)
{
	to->family = to->out.len;
	put_text(&to->out, FAMILY_NAME, to->name);
	put_text(&to->out, FAMILY_HELP, help);
	put_number(&to->out, FAMILY_TYPE, types[to->type]);
}

static void end_family(struct exposition *to)
{
	end(&to->out, to->family);
}

static void put_labels(struct bytes *out, const struct exposition_label *labels)
{
	size_t start;

	for (; labels && labels->name; labels++) {
		if (!labels->value || !labels->value[0])
			continue;
		start = begin(out, METRIC_LABEL);
		put_text(out, LABEL_NAME, labels->name);
		put_text(out, LABEL_VALUE, labels->value);
		end(out, start);
	}
}

static void put_value(struct exposition *to, const struct exposition_label *labels, double value)
{
	bool counts = to->type == EXPOSITION_COUNTER;
	size_t metric = begin(&to->out, FAMILY_METRIC), inner;

	put_labels(&to->out, labels);
	inner = begin(&to->out, counts ? METRIC_COUNTER : METRIC_GAUGE);
	put_double(&to->out, VALUE, value);
	end(&to->out, inner);
	end(&to->out, metric);
}

static void put_classic(struct bytes *out, const struct lat_hist *hist)
{
	const struct exposition_edge *edges;
	unsigned int nr = exposition__edges(false, &edges);
	uint64_t count = 0;
	uint32_t slot = 0;
	size_t start;

	for (unsigned int i = 0; i < nr; i++) {
		while (slot < edges[i].slots)
			count += hist->slots[slot++];
		start = begin(out, HISTOGRAM_BUCKET);
		put_number(out, BUCKET_COUNT, count);
		put_double(out, BUCKET_EDGE, edges[i].seconds);
		end(out, start);
	}
}

/*
 * Bucket i holds (2^((i-1)/8), 2^(i/8)] seconds. The overflow slot has no upper edge: it is counted
 * one bucket above the slot below it.
 */
int exposition_proto__bucket(uint32_t slot)
{
	static int16_t buckets[HIST_SLOTS];
	static bool known;

	for (uint32_t i = 0; !known && i < HIST_SLOTS; i++) {
		double edge = (double)hist_slot_scaled_low(i + 1) / HIST_SUB / 1e6;

		buckets[i] = i == HIST_OVERFLOW_SLOT ? (int16_t)(buckets[i - 1] + 1)
						     : (int16_t)ceil(log2(edge) * (1 << SCHEMA));
	}
	known = true;
	return buckets[slot];
}

/*
 * A span is a row of buckets; its offset is the distance from the end of the one before. The spans
 * come first, then the counts of all buckets as differences.
 */
static void put_native(struct bytes *out, const struct lat_hist *hist)
{
	struct bytes deltas = { 0 };
	int64_t before = 0;
	int next = 0; /* the first bucket behind the last span */
	uint32_t slot = 1;
	size_t start;

	put_number(out, HISTOGRAM_SCHEMA, zigzag(SCHEMA));
	put_double(out, HISTOGRAM_ZERO_THRESHOLD, 1e-6 / HIST_SUB);
	put_number(out, HISTOGRAM_ZERO_COUNT, hist->slots[0]);
	while (slot < HIST_SLOTS) {
		int first = exposition_proto__bucket(slot), bucket = first;

		if (!hist->slots[slot]) {
			slot++;
			continue;
		}
		for (int64_t count; slot < HIST_SLOTS; bucket++, before = count) {
			count = 0;
			while (slot < HIST_SLOTS && exposition_proto__bucket(slot) == bucket)
				count += (int64_t)hist->slots[slot++];
			if (!count)
				break;
			put_number(&deltas, HISTOGRAM_DELTA, zigzag(count - before));
		}
		start = begin(out, HISTOGRAM_SPAN);
		put_number(out, SPAN_OFFSET, zigzag(first - next));
		put_number(out, SPAN_LENGTH, (uint64_t)(bucket - first));
		end(out, start);
		next = bucket;
	}
	bytes__add(out, deltas.at ? deltas.at : "", deltas.len);
	out->failed |= deltas.failed;
	bytes__free(&deltas);
}

static void put_histogram(struct exposition *to, const struct exposition_label *labels,
			  const struct lat_hist *hist, bool coarse)
{
	size_t metric = begin(&to->out, FAMILY_METRIC), inner;

	put_labels(&to->out, labels);
	inner = begin(&to->out, METRIC_HISTOGRAM);
	put_number(&to->out, HISTOGRAM_COUNT, hist__count(hist));
	put_double(&to->out, HISTOGRAM_SUM, (double)hist->sum_ns / 1e9);
	if (!coarse)
		put_classic(&to->out, hist);
	put_native(&to->out, hist);
	end(&to->out, inner);
	end(&to->out, metric);
}

const struct exposition_ops exposition_proto = {
	.family = begin_family,
	.end_family = end_family,
	.value = put_value,
	.histogram = put_histogram,
};
