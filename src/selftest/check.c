// SPDX-License-Identifier: BSD-2-Clause
#include "check.h"

#include <inttypes.h>
#include <stdio.h>

#include <core/hist.h>
#include <core/units.h>

static void report(const struct validate *validate, struct check *check, const char *name,
		   bool pass)
{
	check->probe = validate->probe;
	check->method = validate->used_method;
	check->part = validate->part;
	check->name = name;
	if (check->verdict == CHECK_PASS && !pass)
		check->verdict = CHECK_FAIL;
	if (check->verdict <= CHECK_FAIL && validate->doubt) {
		check->verdict = CHECK_DISTURBED;
		snprintf(check->why, RUN_TEXT, "%s", validate->doubt);
	}
	validate->report(validate->arg, check);
}

void check__count(const struct validate *validate, const char *name, uint64_t low, uint64_t high,
		  uint64_t got)
{
	char one[UNITS_TEXT], two[UNITS_TEXT];
	struct check check = { 0 };

	if (low == high)
		snprintf(check.expected, RUN_NAME, "%s", units__count(one, low));
	else
		snprintf(check.expected, RUN_NAME, "%s .. %s", units__count(one, low),
			 units__count(two, high));
	snprintf(check.got, RUN_NAME, "%s", units__count(one, got));
	report(validate, &check, name, low <= got && got <= high);
}

void check__time(const struct validate *validate, const char *name, uint64_t low, uint64_t high,
		 uint64_t got)
{
	char one[UNITS_TEXT], two[UNITS_TEXT];
	struct check check = { 0 };

	if (low == high)
		snprintf(check.expected, RUN_NAME, "%s ns", units__count(one, low));
	else if (!low)
		snprintf(check.expected, RUN_NAME, "<= %s", units__ns(one, (double)high));
	else if (high == UINT64_MAX)
		snprintf(check.expected, RUN_NAME, ">= %s", units__ns(one, (double)low));
	else
		snprintf(check.expected, RUN_NAME, "%s .. %s", units__ns(one, (double)low),
			 units__ns(two, (double)high));
	if (low == high)
		snprintf(check.got, RUN_NAME, "%s ns", units__count(one, got));
	else
		snprintf(check.got, RUN_NAME, "%s", units__ns(one, (double)got));
	report(validate, &check, name, low <= got && got <= high);
}

void check__rise(const struct validate *validate, const char *name, double base, double factor,
		 double got, const char *(*format)(char *, double))
{
	struct check check = { 0 };
	char text[UNITS_TEXT];

	snprintf(check.expected, RUN_NAME, ">= %.3g x %s", factor, format(text, base));
	snprintf(check.got, RUN_NAME, "%s", format(text, got));
	report(validate, &check, name, got > 0 && got >= factor * base);
}

void check__number(const struct validate *validate, const char *name, double low, double high,
		   double got)
{
	struct check check = { 0 };

	snprintf(check.expected, RUN_NAME, "%.3g .. %.3g", low, high);
	snprintf(check.got, RUN_NAME, "%.3g", got);
	report(validate, &check, name, low <= got && got <= high);
}

static void report_why(const struct validate *validate, enum check_verdict verdict,
		       const char *name, const char *why)
{
	struct check check = { .verdict = verdict };

	snprintf(check.why, RUN_TEXT, "%s", why);
	report(validate, &check, name, true);
}

void check__skip(const struct validate *validate, const char *name, const char *why)
{
	report_why(validate, CHECK_SKIP, name, why);
}

void check__error(const struct validate *validate, const char *name, const char *why)
{
	report_why(validate, CHECK_ERROR, name, why);
}

void check__note(const struct validate *validate, const char *name, const char *got)
{
	struct check check = { .verdict = CHECK_NOTE };

	snprintf(check.got, RUN_NAME, "%s", got);
	report(validate, &check, name, true);
}

uint64_t check__between(const struct lat_hist *hist, uint64_t low_ns, uint64_t high_ns)
{
	uint64_t count = 0;

	for (uint32_t slot = hist_slot(low_ns); slot <= hist_slot(high_ns); slot++)
		count += hist->slots[slot];
	return count;
}

/* The sum of the samples is between the sums of the lower and the upper edges of their slots. */
static bool slots_agree(const struct lat_hist *hist)
{
	uint64_t low = 0, high = 0;

	for (uint32_t slot = 0; slot < HIST_OVERFLOW_SLOT; slot++) {
		low += hist->slots[slot] * hist_slot_low_ns(slot);
		high += hist->slots[slot] * hist_slot_low_ns(slot + 1);
	}
	return hist->slots[HIST_OVERFLOW_SLOT] ? hist->sum_ns >= low
					       : hist->sum_ns >= low && hist->sum_ns <= high;
}

static const char *name_of(const struct run_probe *probe, const struct run_key *key, bool *agree)
{
	struct lat_hist hist;

	*agree = slots_agree(sparse__expand(&key->hist, &hist));
	return probe->metrics[key->key.metric].name;
}

void check__sound(const struct validate *validate, const struct run_probe *probe)
{
	struct check balance = { .expected = "balances", .got = "balances" };
	struct check slots = { .expected = "agree", .got = "agree" };
	const struct run_data *data = &probe->total;
	bool agree;

	for (unsigned int i = 0; i < probe->nr_metrics; i++) {
		int64_t missing = run__imbalance(&data->metrics[i]);

		if (missing)
			snprintf(balance.got, RUN_NAME, "%s: %" PRId64, probe->metrics[i].name,
				 -missing);
		if (!slots_agree(&data->metrics[i].hist))
			snprintf(slots.got, RUN_NAME, "not in %s", probe->metrics[i].name);
	}
	for (size_t i = 0; i < data->nr_keys; i++) {
		const char *name = name_of(probe, &data->keys[i], &agree);

		if (!agree)
			snprintf(slots.got, RUN_NAME, "not in %s", name);
	}
	report(validate, &balance, "  every event seen is accounted for", balance.got[0] == 'b');
	report(validate, &slots, "  histogram and sum agree", slots.got[0] == 'a');
}
