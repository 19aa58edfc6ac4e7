// SPDX-License-Identifier: BSD-2-Clause
#include "unit.h"

#include "fleet/answer.h"
#include "fleet/sql.h"

static struct fleet_question question; /* without anything at the beginning of a test */
static struct sparse hist;
static struct fleet_data data;

static void end(void)
{
	sparse__clear(&hist);
	memset(&hist, 0, sizeof(hist));
	memset(&question, 0, sizeof(question));
}

TEST(test_percentiles_are_a_list)
{
	char name[RUN_NAME];

	assert_int_equal(fleet_question__quantiles(&question, "p50,p99.9"), 0);
	assert_int_equal(question.nr_quantiles, 2);
	assert_string_equal(fleet_question__name(question.quantiles[0], name), "p50");
	assert_string_equal(fleet_question__name(question.quantiles[1], name), "p99.9");
}

TEST(test_wrong_percentiles_are_refused)
{
	static const char *const wrong[] = { "",     "50",  "p",    "p0",    "p100", "p-1",  "p50,",
					     ",p50", "p5x", "p1e1", "p0x10", "pnan", "p50,p" };

	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		memset(&question, 0, sizeof(question));
		assert_int_equal(fleet_question__quantiles(&question, wrong[i]), -EINVAL);
	}
}

TEST(test_too_much_is_refused)
{
	char text[FLEET_VALUE + 16] = "x=";

	assert_int_equal(fleet_question__quantiles(&question, "p1,p2,p3,p4,p5,p6,p7,p8"), 0);
	assert_int_equal(fleet_question__quantiles(&question, "p9"), -E2BIG);
	assert_int_equal(fleet_question__by(&question, "a,b,c,d"), 0);
	assert_int_equal(fleet_question__by(&question, "a,b,c,d,e"), -E2BIG);
	assert_int_equal(fleet_question__by(&question, "a,b,a"), -EEXIST);
	memset(text + 2, 'y', FLEET_VALUE);
	assert_int_equal(fleet_question__condition(&question.sides[0], text), -E2BIG);
	for (unsigned int i = 0; i < FLEET_CONDITIONS; i++)
		assert_int_equal(fleet_question__condition(&question.sides[0], "x=y"), 0);
	assert_int_equal(fleet_question__condition(&question.sides[0], "x=y"), -E2BIG);
}

static bool holds(const char *condition, const char *value)
{
	struct fleet_side side = { .nr = 0 };

	assert_int_equal(fleet_question__condition(&side, condition), 0);
	return fleet_condition__holds(&side.conditions[0], value);
}

TEST(test_a_version_of_the_kernel_has_those_below_it)
{
	assert_true(holds("kernel=6.1", "6.1"));
	assert_true(holds("kernel=6.1", "6.1.0-27-amd64"));
	assert_true(holds("kernel=6.1", "6.1-rc3"));
	assert_false(holds("kernel=6.1", "6.12.3"));
	assert_false(holds("kernel=6.12", "6.1.0"));
	assert_false(holds("kernel=6.1.0-27", "6.1.0"));
	assert_true(holds("host=web", "web"));
	assert_false(holds("host=web", "web.example"));
	assert_true(holds("role=a=b", "a=b"));
}

TEST(test_only_services_need_services)
{
	assert_int_equal(fleet_question__by(&question, "host,kernel"), 0);
	assert_false(fleet_question__needs_services(&question));
	assert_int_equal(fleet_question__condition(&question.sides[1], "service=a"), 0);
	assert_true(fleet_question__needs_services(&question));
}

/* The text of a literal, as ClickHouse reads it. */
static void read_literal(const char *sql, char *out)
{
	size_t len = strlen(sql);

	assert_true(len >= 2 && sql[0] == '\'' && sql[len - 1] == '\'');
	for (size_t i = 1; i < len - 1; i++) {
		unsigned int byte = (unsigned char)sql[i];

		assert_true(byte >= ' ' && byte <= '~' && byte != '\'');
		if (byte == '\\') {
			assert_int_equal(sscanf(sql + i, "\\x%2X", &byte), 1);
			i += 3;
		}
		*out++ = (char)byte;
	}
	*out = '\0';
}

TEST(test_every_byte_is_escaped_in_sql)
{
	char text[256], back[1024];
	struct bytes sql = { 0 };

	for (unsigned int i = 1; i < 256; i++)
		text[i - 1] = (char)i;
	text[255] = '\0';
	fleet_sql__text(&sql, text);
	bytes__add(&sql, "", 1);
	read_literal(sql.at, back);
	assert_string_equal(back, text);
	bytes__free(&sql);
}

/* A state took 3 of 4 s on one host and 1 of 6 s on another. */
TEST(test_a_share_is_of_the_time_of_all_hosts_and_names_the_highest)
{
	static const char *const big[] = { "big" }, *const small[] = { "small" };
	struct fleet_answer answer;

	question = (struct fleet_question){ .kind = FLEET_SHARE, .metric = "disk" };
	assert_int_equal(fleet_question__by(&question, "service"), 0);
	fleet_data__begin(&data, &question);
	assert_int_equal(fleet_data__add_time(&data, "b", small, 900, 9000), 0);
	assert_int_equal(fleet_data__add_time(&data, "b", big, 1, 6), 0);
	assert_int_equal(fleet_data__add_time(&data, "a", big, 1, 1), 0);
	assert_int_equal(fleet_data__add_time(&data, "a", big, 2, 3), 0);
	assert_int_equal(fleet_answer__make(&answer, &data), 0);
	assert_int_equal(answer.nr, 2);
	assert_string_equal(answer.rows[0].group->values[0], "big");
	assert_int_equal(answer.rows[0].ns, 4);
	assert_int_equal(answer.rows[0].life_ns, 10);
	assert_int_equal(answer.rows[0].hosts[0], 2);
	assert_string_equal(data.hosts[answer.rows[0].highest->host].name, "a");
	assert_string_equal(answer.rows[1].group->values[0], "small");
	fleet_answer__clear(&answer);
	fleet_data__clear(&data);
}

TEST(test_no_time_has_no_share)
{
	assert_true(isnan(fleet_answer__share(0, 0)));
	assert_float_equal(fleet_answer__share(1, 4), 0.25, 0);
}

/* Two hosts, each with one sample in a slot, in three groups. */
static void fill(void)
{
	static const char *const groups[] = { "few", "many", "most" };

	fleet_data__begin(&data, &question);
	for (unsigned int i = 0; i < 6; i++) {
		const char *values[] = { groups[i % 3] };

		hist.nr = 0;
		assert_int_equal(sparse__add_slot(&hist, 100 + i / 3, 1 + i % 3), 0);
		hist.sum_ns = 1000 * (1 + i % 3);
		hist.max_ns = 10000 + i;
		assert_int_equal(fleet_data__add(&data, i < 3 ? "a" : "b", "run_queue", values, 0,
						 &hist),
				 0);
	}
}

TEST(test_groups_are_merged_slot_by_slot_and_ranked_by_time)
{
	struct fleet_answer answer;

	question = (struct fleet_question){ .kind = FLEET_TOP, .confidence = 0.95, .top = 2 };
	assert_int_equal(fleet_question__quantiles(&question, "p50"), 0);
	assert_int_equal(fleet_question__by(&question, "service"), 0);
	fill();
	assert_int_equal(fleet_answer__make(&answer, &data), 0);
	assert_int_equal(answer.nr, 2);
	assert_int_equal(answer.more, 1);
	assert_int_equal(answer.hosts, 2);
	assert_string_equal(answer.rows[0].group->values[0], "most");
	assert_string_equal(answer.rows[1].group->values[0], "many");
	assert_int_equal(answer.rows[0].hists[0].slots[100], 3);
	assert_int_equal(answer.rows[0].hists[0].slots[101], 3);
	assert_int_equal(answer.rows[0].events[0], 6);
	assert_int_equal(answer.rows[0].hosts[0], 2);
	assert_int_equal(answer.rows[0].hists[0].max_ns, 10005);
	fleet_answer__clear(&answer);
	fleet_data__clear(&data);
}

TEST(test_a_second_metric_is_refused)
{
	question.kind = FLEET_QUANTILE;
	strcpy(question.probe, "iolat");
	fleet_data__begin(&data, &question);
	assert_int_equal(fleet_data__add(&data, "a", "device", NULL, 0, &hist), 0);
	assert_int_equal(fleet_data__add(&data, "b", "total", NULL, 0, &hist), -ENOTUNIQ);
	assert_string_equal(data.why, "iolat has the metrics device and total");
	fleet_data__clear(&data);
}

TEST(test_counts_that_do_not_fit_are_not_added)
{
	question.kind = FLEET_QUANTILE;
	fleet_data__begin(&data, &question);
	assert_int_equal(sparse__add_slot(&hist, 100, UINT64_MAX), 0);
	assert_int_equal(fleet_data__add(&data, "a", "wait", NULL, 0, &hist), 0);
	assert_int_equal(fleet_data__add(&data, "a", "wait", NULL, 0, &hist), -EOVERFLOW);
	sparse__clear(&hist);
	fleet_data__clear(&data);
}

TEST(test_what_cannot_be_true_is_doubted)
{
	const uint64_t minute = 60000000000;

	assert_int_equal(sparse__add_slot(&hist, hist_slot(1000000), 1000000), 0);
	hist.sum_ns = 1000000ULL * 1000000;
	assert_null(fleet_data__doubt(&hist, minute));
	/* Half an event may be missing on each CPU. */
	hist.sum_ns -= 1000000000;
	assert_null(fleet_data__doubt(&hist, minute));
	hist.tail = 1000500;
	assert_null(fleet_data__doubt(&hist, minute));
	hist.tail = 1002000;
	assert_string_equal(fleet_data__doubt(&hist, minute), "counts");
	hist.tail = 0;
	hist.sum_ns = 5000000ULL * 1000000;
	assert_string_equal(fleet_data__doubt(&hist, minute), "sum");
	assert_string_equal(fleet_data__doubt(&hist, 999999), "more events than ns");
	hist.slots[0].slot = HIST_SLOTS;
	assert_string_equal(fleet_data__doubt(&hist, minute), "counts");
}

UNIT_FIXTURES(.each = { .tear_down = end })
