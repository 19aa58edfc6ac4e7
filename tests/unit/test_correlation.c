// SPDX-License-Identifier: BSD-2-Clause
#include "bursts.h"
#include "fields.h"
#include "sheet.h"

static const struct table_column columns[] = {
	[0] = { "socket", "", "package", TABLE_INTEGER, true },
	[1] = { "tier", "", "tier", TABLE_TEXT, true },
	[2] = { "rate", "1/s", "requests", TABLE_REAL, false },
	[3] = { "latency_ns", "ns", "latency", TABLE_REAL, false },
};

static void add_row(struct table *table, unsigned int interval, const char *tier, double latency)
{
	assert_int_equal(table__add_row(table, (interval + 1) * RECORDING_INTERVAL_NS), 0);
	table__set_integer(table, 0, 1);
	assert_int_equal(table__set_text(table, 1, tier), 0);
	table__set_real(table, 2, 1e6 * (double)(unit_random() % 100));
	table__set_real(table, 3, latency);
}

/* The latency of the tier "slow" rises with the probe's bursts; that of "even" is independent. */
static void fill(struct run_data *delta, unsigned int interval, const void *arg)
{
	struct table *table = *(struct table *const *)arg;
	unsigned int slow = bursts_record(delta, interval);
	double noise = (double)(unit_random() % 1000) / 1000;

	if (!table)
		return;
	add_row(table, interval, "slow", (slow ? 200 : 90) + noise);
	add_row(table, interval, "even", 100 + 10 * (double)(unit_random() % 1000) / 1000);
	/* Unknown in all intervals but these. */
	add_row(table, interval, "seldom", interval % 20 ? NAN : 300);
	/* Known in all intervals without slow events, and in 4 with them. */
	add_row(table, interval, "calm", interval < 20 || !slow ? 100 + noise : NAN);
	/* Known in 9, of which 6 are slow. */
	add_row(table, interval, "few",
		interval < 3 || (slow && interval < 24) ? 100 + slow + noise : NAN);
}

static void make(bool with_table)
{
	struct run *run = recording_begin("memlat", "fentry", "fault");
	struct table *table = NULL;

	if (with_table) {
		assert_int_equal(table__new(&table, columns, 4), 0);
		sample_probe(run, "tierlat", "perf", "for tests")->table = table;
	}
	bursts_correlate(run, fill, &table);
}

static void begin(void)
{
	make(true);
}

static const struct correlation_pair *pair_of(unsigned int series)
{
	return &correlation.series[series].pairs[0];
}

TEST(the_slow_tier_is_correlation_the_tail)
{
	const struct correlation_pair *pair = pair_of(0);

	assert_int_equal(correlation.nr, 5);
	assert_string_equal(correlation.series[0].name, "socket 1, tier slow");
	assert_int_equal(pair->worst_nr + pair->other_nr, INTERVALS);
	assert_true(fabs(pair->worst - 200.5) < 0.5 && fabs(pair->other - 90.5) < 0.5);
	assert_int_equal(pair->verdict, TIMELINE_POSITIVE);
	assert_true(pair->found.rho > 0.5);
}

TEST(unrelated_series_are_not_shown)
{
	const struct correlation_pair *pair = pair_of(1);

	assert_true(fabs(pair->worst - pair->other) < 5);
	assert_int_equal(pair->verdict, TIMELINE_NOT_SHOWN);
	assert_false(isnan(pair->adjusted));
	assert_true(pair->adjusted >= pair->found.p);
}

/* Three intervals: not 57 zeros and three values. */
TEST(rarely_known_covariates_are_not_judged)
{
	const struct correlation_pair *pair = pair_of(2);

	assert_int_equal(pair->worst_nr + pair->other_nr, 3);
	assert_true(isnan(pair->found.p) && isnan(pair->adjusted));
	assert_true(pair->other == 300);
	assert_int_equal(pair->verdict, TIMELINE_NOT_SHOWN);
}

/* Though enough of them are slow. */
TEST(covariates_of_too_few_intervals_are_not_judged)
{
	const struct correlation_pair *pair = pair_of(4);

	assert_int_equal(pair->worst_nr, 6);
	assert_int_equal(pair->other_nr, 3);
	assert_true(isnan(pair->found.p) && isnan(pair->adjusted));
}

TEST(covariates_of_too_few_slow_intervals_are_not_judged)
{
	assert_string_equal(pair_of(3)->why, "memlat has slow events in 4 intervals, 5 are needed");
}

TEST(it_is_printed)
{
	struct json_object *object = json_object_new_object();

	report__print_correlation(unit_print(), &correlation);
	assert_has(sheet(), "memlat and socket 1, tier slow of tierlat: 20",
		   "positive correlation");
	report__add_correlation(object, &correlation);
	assert_int_equal(field_length(object, "covariates"), 5);
	json_object_put(object);
}

TEST(without_a_table_there_is_nothing, NULL, bursts_end)
{
	make(false);
	assert_int_equal(correlation.nr, 0);
	report__print_correlation(unit_print(), &correlation);
	assert_string_equal(sheet(), "");
}

UNIT_FIXTURES(.each = { begin, bursts_end })
