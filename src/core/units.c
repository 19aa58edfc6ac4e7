// SPDX-License-Identifier: BSD-2-Clause
#include "units.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <latscope/hist.h>

struct unit {
	const char *name;
	uint64_t ns;
};

static const struct unit durations[] = {
	{ "", 1000000000 },
	{ "ns", 1 },
	{ "us", 1000 },
	{ "ms", 1000000 },
	{ "s", 1000000000 },
	{ "m", 60 * 1000000000ULL },
	{ "min", 60 * 1000000000ULL },
	{ "h", 3600 * 1000000000ULL },
	{ "d", 24 * 3600 * 1000000000ULL },
};

static const struct unit *find_unit(const char *name)
{
	for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]); i++) {
		if (!strcmp(durations[i].name, name))
			return &durations[i];
	}
	return NULL;
}

/* Stops at the first digit beyond `most`, so nothing overflows. */
static const char *read_digits(const char *text, uint64_t most, uint64_t *value, uint64_t *scale)
{
	for (; *text >= '0' && *text <= '9'; text++) {
		if (*value > most || *scale > most * 10)
			continue;
		*value = *value * 10 + (uint64_t)(*text - '0');
		*scale *= 10;
	}
	return text;
}

struct decimal {
	uint64_t whole, fraction, scale; /* whole + fraction / scale */
};

/* Reads "12" or "1.5". Returns the end of the number, or NULL if there is none. */
static const char *read_decimal(const char *text, uint64_t most, struct decimal *number)
{
	uint64_t unused = 1;
	const char *at, *after;

	*number = (struct decimal){ 0, 0, 1 };
	at = read_digits(text, most, &number->whole, &unused);
	after = at;
	if (*at == '.')
		after = read_digits(at + 1, 1000000000, &number->fraction, &number->scale);
	return at == text || after == at + 1 ? NULL : after;
}

static double value_of(const struct decimal *number)
{
	return (double)number->whole + (double)number->fraction / (double)number->scale;
}

int units__parse_duration(const char *text, uint64_t *ns)
{
	const struct unit *unit;
	struct decimal number;
	const char *after;
	double total;

	after = read_decimal(text, UNITS_MAX_NS, &number);
	unit = after ? find_unit(after) : NULL;
	if (!unit)
		return -EINVAL;
	total = value_of(&number) * (double)unit->ns;
	if (total > (double)UNITS_MAX_NS || total < 1)
		return -ERANGE;
	*ns = number.whole * unit->ns +
	      (uint64_t)((double)number.fraction / (double)number.scale * (double)unit->ns + 0.5);
	return 0;
}

int units__parse_count(const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
	uint64_t result = 0;

	if (!*text)
		return -EINVAL;
	for (const char *at = text; *at; at++) {
		if (*at < '0' || *at > '9')
			return -EINVAL;
	}
	for (; *text; text++) {
		if (__builtin_mul_overflow(result, 10, &result) ||
		    __builtin_add_overflow(result, (uint64_t)(*text - '0'), &result))
			return -ERANGE;
	}
	if (result < low || result > high)
		return -ERANGE;
	*value = result;
	return 0;
}

int units__parse_percent(const char *text, double low, double high, double *share)
{
	struct decimal number;
	const char *after;

	after = read_decimal(text, 1000000000, &number);
	if (!after || (strcmp(after, "") && strcmp(after, "%")))
		return -EINVAL;
	if (value_of(&number) < low || value_of(&number) > high)
		return -ERANGE;
	*share = value_of(&number) / 100;
	return 0;
}

/* Three significant digits for numbers below 1000. */
static int decimals(double value)
{
	if (value < 9.995)
		return 2;
	return value < 99.95 ? 1 : 0;
}

/* Uses seconds up to 9,999 s, which are easy to compare. */
const char *units__ns(char buf[UNITS_TEXT], double ns)
{
	static const struct {
		double below_ns, unit_ns;
		const char *name;
	} steps[] = {
		{ 999.5e3, 1e3, "us" },		 { 999.5e6, 1e6, "ms" },
		{ 999.5e9, 1e9, "s" },		 { 9999.5e9, 1e9, "s" },
		{ 999.5 * 3600e9, 3600e9, "h" }, { 999.5 * 86400e9, 86400e9, "d" },
		{ 1e30, 365.25 * 86400e9, "y" },
	};
	unsigned int step = 0;
	char count[UNITS_TEXT];
	double value;

	if (ns < 999.5) {
		snprintf(buf, UNITS_TEXT, "%.0f ns", ns);
		return buf;
	}
	while (ns >= steps[step].below_ns)
		step++;
	value = ns / steps[step].unit_ns;
	if (value < 999.5)
		snprintf(buf, UNITS_TEXT, "%.*f %s", decimals(value), value, steps[step].name);
	else
		snprintf(buf, UNITS_TEXT, "%.27s s", units__count(count, (uint64_t)(value + 0.5)));
	return buf;
}

const char *units__duration(char buf[UNITS_TEXT], uint64_t ns)
{
	static const struct {
		double below_ns, unit_ns;
		const char *name;
	} steps[] = {
		{ 1e3, 1, "ns" },    { 1e6, 1e3, "us" },      { 1e9, 1e6, "ms" },
		{ 120e9, 1e9, "s" }, { 7200e9, 60e9, "min" }, { 1e30, 3600e9, "h" },
	};
	unsigned int step = 0;

	while ((double)ns >= steps[step].below_ns)
		step++;
	snprintf(buf, UNITS_TEXT, "%.4g %s", (double)ns / steps[step].unit_ns, steps[step].name);
	return buf;
}

const char *units__count(char buf[UNITS_TEXT], uint64_t count)
{
	char digits[UNITS_TEXT];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
	size_t out = 0;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf[out++] = ',';
		buf[out++] = digits[i];
	}
	buf[out] = '\0';
	return buf;
}

const char *units__short_count(char buf[UNITS_TEXT], uint64_t count)
{
	static const char names[] = "MGTPE";
	double value = (double)count / 1e6;
	unsigned int unit = 0;

	if (count < 10000000)
		return units__count(buf, count);
	for (; value >= 999.5; unit++)
		value /= 1000;
	snprintf(buf, UNITS_TEXT, "%.*f %c", decimals(value), value, names[unit]);
	return buf;
}

const char *units__rate(char buf[UNITS_TEXT], double per_second)
{
	char count[UNITS_TEXT];

	if (per_second < 99.95)
		snprintf(buf, UNITS_TEXT, "%.*f/s", per_second ? decimals(per_second) : 0,
			 per_second);
	else
		snprintf(buf, UNITS_TEXT, "%.27s/s",
			 units__count(count, (uint64_t)(per_second + 0.5)));
	return buf;
}

const char *units__ratio(char buf[UNITS_TEXT], double ratio)
{
	double percent = ratio * 100;

	if (percent <= 0)
		snprintf(buf, UNITS_TEXT, "0 %%");
	else if (percent < 0.01)
		snprintf(buf, UNITS_TEXT, "<0.01 %%");
	else if (percent > 99.9 && percent < 100)
		snprintf(buf, UNITS_TEXT, ">99.9 %%");
	else
		snprintf(buf, UNITS_TEXT, "%.*f %%", decimals(percent), percent);
	return buf;
}

const char *units__share(char buf[UNITS_TEXT], uint64_t part, uint64_t whole)
{
	return units__ratio(buf, whole ? (double)part / (double)whole : 0);
}

const char *units__confidence(char buf[UNITS_TEXT], double confidence)
{
	snprintf(buf, UNITS_TEXT, confidence < 0.99 ? "%.0f %%" : "%.5g %%", confidence * 100);
	return buf;
}

#define MAX_SIZE (1ULL << 60)

static const char prefixes[] = "KMGT";

/*
 * Parses the unit after the number: "", "K", "KB", "KiB" ... Returns its power of 1024, or -EINVAL.
 */
static int size_unit(const char *text)
{
	const char *prefix = *text ? strchr(prefixes, *text) : NULL;

	if (!*text || !strcmp(text, "B"))
		return 0;
	if (!prefix || (text[1] && strcmp(text + 1, "B") && strcmp(text + 1, "iB")))
		return -EINVAL;
	return (int)(prefix - prefixes) + 1;
}

int units__parse_size(const char *text, uint64_t *bytes)
{
	struct decimal number;
	const char *after;
	double total;
	int power;

	after = read_decimal(text, MAX_SIZE, &number);
	power = after ? size_unit(after) : -EINVAL;
	if (power < 0)
		return -EINVAL;
	total = value_of(&number) * (double)(1ULL << (10 * power));
	if (total > (double)MAX_SIZE)
		return -ERANGE;
	*bytes = (uint64_t)total;
	return 0;
}

const char *units__size(char buf[UNITS_TEXT], uint64_t bytes)
{
	double value = (double)bytes;
	int power = 0;

	for (; value >= 1024 && power < 4; power++)
		value /= 1024;
	if (power)
		snprintf(buf, UNITS_TEXT, "%.4g %ciB", value, prefixes[power - 1]);
	else
		snprintf(buf, UNITS_TEXT, "%.0f B", value);
	return buf;
}

/* 512, 1K, 2K ... 64G */
static const char *edge(char buf[UNITS_TEXT], unsigned int bucket)
{
	static const char scale[] = " KMG";

	if (bucket > HIST_OCTAVES)
		return "inf";
	snprintf(buf, UNITS_TEXT, "%u", 1U << bucket % 10);
	if (bucket >= 10)
		snprintf(buf + strlen(buf), 2, "%c", scale[bucket / 10]);
	return buf;
}

const char *units__bucket(char buf[UNITS_TEXT], unsigned int bucket)
{
	char low[UNITS_TEXT], high[UNITS_TEXT];

	snprintf(buf, UNITS_TEXT, "[%.8s, %.8s)", bucket ? edge(low, bucket) : "0",
		 edge(high, bucket + 1));
	return buf;
}
