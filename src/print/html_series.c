// SPDX-License-Identifier: BSD-2-Clause
#include "html_page.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include <json-c/json.h>

#include <latscope/event.h>

#define DIGIT_BITS 5
#define DIGIT_MORE (1U << DIGIT_BITS)

int html_series__open(struct html_series *series)
{
	series->stream = open_memstream(&series->text, &series->size);
	return series->stream ? 0 : -ENOMEM;
}

void html_series__clear(struct html_series *series)
{
	if (series->stream)
		fclose(series->stream);
	free(series->text);
	*series = (struct html_series){ 0 };
}

void html_series__number(struct html_series *series, uint64_t value)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

	while (value >= DIGIT_MORE) {
		fputc(digits[DIGIT_MORE | (value & (DIGIT_MORE - 1))], series->stream);
		value >>= DIGIT_BITS;
	}
	fputc(digits[value], series->stream);
}

static void end_empty(struct html_series *series)
{
	if (!series->empty)
		return;
	html_series__number(series, 0);
	html_series__number(series, series->empty);
	series->empty = 0;
}

/* A column without anything. */
static void empty(struct html_series *series)
{
	series->empty++;
}

static void put_counts(struct html_series *series, const uint64_t *counts)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < LAT_COUNTS; i++)
		nr += counts[i] > 0;
	html_series__number(series, nr);
	for (unsigned int i = 0; i < LAT_COUNTS; i++) {
		if (!counts[i])
			continue;
		html_series__number(series, i);
		html_series__number(series, counts[i]);
	}
}

static bool has_counts(const uint64_t *counts)
{
	for (unsigned int i = 0; counts && i < LAT_COUNTS; i++) {
		if (counts[i])
			return true;
	}
	return false;
}

void html_series__hist(struct html_series *series, const struct sparse *hist,
		       const uint64_t *counts)
{
	uint32_t before = 0;

	if (!hist->nr && !has_counts(counts)) {
		empty(series);
		return;
	}
	end_empty(series);
	html_series__number(series, hist->nr + 1);
	for (uint64_t i = 0; i < hist->nr; i++) {
		html_series__number(series, hist->slots[i].slot - before);
		html_series__number(series, hist->slots[i].count);
		before = hist->slots[i].slot;
	}
	html_series__number(series, hist->sum_ns);
	html_series__number(series, hist->max_ns);
	html_series__number(series, hist->tail);
	if (counts)
		put_counts(series, counts);
}

void html_series__sums(struct html_series *series, uint64_t events, uint64_t sum, uint64_t max)
{
	if (!events && !sum) {
		empty(series);
		return;
	}
	end_empty(series);
	html_series__number(series, events + 1);
	html_series__number(series, sum);
	html_series__number(series, max);
}

void html_series__value(struct html_series *series, uint64_t value)
{
	if (!value) {
		empty(series);
		return;
	}
	end_empty(series);
	html_series__number(series, value);
}

struct json_object *html_series__json(struct html_series *series)
{
	end_empty(series);
	if (fflush(series->stream) || ferror(series->stream))
		return NULL;
	return json_object_new_string_len(series->text, (int)series->size);
}
