// SPDX-License-Identifier: BSD-2-Clause
#include "trigger.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <core/hist.h>
#include <core/units.h>

#define LONGEST 256

/* "p99", "p99.9" */
static int parse_quantile(struct trigger *trigger, const char *text)
{
	double share;

	if (text[0] != 'p' || units__parse_percent(text + 1, 1, 99.9999, &share))
		return -ENOENT;
	trigger->what = TRIGGER_QUANTILE;
	trigger->quantile = share;
	return 0;
}

static int parse_what(struct trigger *trigger, const char *text)
{
	static const char *const names[] = {
		[TRIGGER_MAX] = "max", [TRIGGER_MEAN] = "mean", [TRIGGER_RATE] = "rate"
	};

	for (unsigned int i = TRIGGER_MAX; i <= TRIGGER_RATE; i++) {
		if (strcmp(names[i], text))
			continue;
		trigger->what = i;
		return 0;
	}
	return parse_quantile(trigger, text);
}

/* PROBE.WHAT or PROBE.METRIC.WHAT; WHAT may have a point, too. */
static int parse_subject(struct trigger *trigger, char *text)
{
	char *point = strchr(text, '.'), *second;

	if (!point || point == text)
		return -EINVAL;
	*point++ = '\0';
	if (strlen(text) >= sizeof(trigger->probe))
		return -EINVAL;
	strcpy(trigger->probe, text);
	if (!parse_what(trigger, point))
		return 0;
	second = strchr(point, '.');
	if (!second || (size_t)(second - point) >= sizeof(trigger->metric))
		return -ENOENT;
	*second++ = '\0';
	strcpy(trigger->metric, point);
	return parse_what(trigger, second);
}

static int parse_limit(struct trigger *trigger, const char *text)
{
	uint64_t value;

	if (trigger->what == TRIGGER_RATE) {
		if (units__parse_count(text, 0, UINT32_MAX, &value))
			return -EINVAL;
	} else if (units__parse_duration(text, &value)) {
		return -EINVAL;
	}
	trigger->above = (double)value;
	return 0;
}

/* Removes the blanks at both ends. */
static char *trim(char *text)
{
	size_t len;

	while (isspace((unsigned char)*text))
		text++;
	len = strlen(text);
	while (len && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
	return text;
}

int trigger__parse(struct trigger *trigger, const char *text)
{
	char copy[LONGEST], *limit, *until;
	int err;

	memset(trigger, 0, sizeof(*trigger));
	trigger->text = text;
	if (strlen(text) >= sizeof(copy))
		return -EINVAL;
	strcpy(copy, text);
	limit = strchr(copy, '>');
	if (!limit)
		return -EINVAL;
	*limit++ = '\0';
	until = strstr(limit, " for ");
	if (until) {
		*until = '\0';
		if (units__parse_duration(trim(until + 5), &trigger->for_ns))
			return -EINVAL;
	}
	err = parse_subject(trigger, trim(copy));
	return err ? err : parse_limit(trigger, trim(limit));
}

/* -1: there is none. */
static int find(const struct trigger *trigger, const struct run *run, unsigned int *metric)
{
	for (unsigned int i = 0; i < run->nr_probes; i++) {
		const struct run_probe *probe = &run->probes[i];

		if (strcmp(probe->name, trigger->probe) || probe->refused[0])
			continue;
		for (*metric = 0; *metric < probe->nr_metrics; ++*metric)
			if (!trigger->metric[0] ||
			    !strcmp(probe->metrics[*metric].name, trigger->metric))
				return (int)i;
	}
	return -1;
}

bool trigger__applies(const struct trigger *trigger, const struct run *run)
{
	unsigned int metric;

	return find(trigger, run, &metric) >= 0;
}

static double value_of(const struct trigger *trigger, const struct lat_hist *hist,
		       uint64_t length_ns)
{
	switch (trigger->what) {
	case TRIGGER_QUANTILE:
		return (double)hist__quantile_ns(hist, trigger->quantile);
	case TRIGGER_MAX:
		return (double)hist->max_ns;
	case TRIGGER_MEAN:
		return hist__mean_ns(hist);
	case TRIGGER_RATE:
		return (double)hist__count(hist) * 1e9 / (double)(length_ns ? length_ns : 1);
	}
	return 0;
}

bool trigger__test(struct trigger *trigger, const struct run *run, const struct run_data *delta,
		   uint64_t length_ns)
{
	unsigned int metric;
	int probe = find(trigger, run, &metric);
	const struct lat_hist *hist = probe < 0 ? NULL : &delta[probe].metrics[metric].hist;

	if (!hist || !hist__count(hist) || value_of(trigger, hist, length_ns) <= trigger->above) {
		trigger->met_ns = 0;
		return false;
	}
	trigger->met_ns += length_ns;
	if (trigger->met_ns < trigger->for_ns)
		return false;
	trigger->met_ns = 0;
	return true;
}
