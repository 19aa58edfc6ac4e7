// SPDX-License-Identifier: BSD-2-Clause
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiment/plan.h"
#include "stats/sequential.h"

#define ALPHA 0.05

/* ---- looks ---- */

static double all_levels(size_t planned)
{
	struct sequential plan = { .planned = planned, .alpha = ALPHA };

	for (size_t runs = 1; runs <= planned; runs++)
		if (sequential__is_look(&plan, runs))
			plan.spent += sequential__level(&plan, runs);
	return plan.spent;
}

static void looks_spend_all(void **state)
{
	(void)state;
	for (size_t planned = 1; planned < 60; planned++)
		assert_true(fabs(all_levels(planned) - ALPHA) < 1e-9);
}

/* 2 - 2 Phi(1.95996 / sqrt(1/2)) = 0.005575: Lan and DeMets' table for two looks has 0.0056. */
static void half_spends_little(void **state)
{
	struct sequential plan = { .planned = 10, .alpha = ALPHA };

	(void)state;
	assert_true(sequential__is_look(&plan, 5));
	assert_false(sequential__is_look(&plan, 4));
	assert_false(sequential__is_look(&plan, 9));
	assert_true(fabs(sequential__level(&plan, 5) - 0.005575) < 1e-5);
	plan.planned = 4; /* half of them cannot measure their spread */
	assert_false(sequential__is_look(&plan, 2));
	assert_true(sequential__is_look(&plan, 4));
}

/* A textbook case: a difference of one standard deviation, 5 %, 80 %: 17 on each side. */
static void runs_for_an_effect(void **state)
{
	(void)state;
	assert_int_equal(sequential__needed(log(1.5), 0.5, ALPHA), 17);
	assert_int_equal(sequential__needed(0, 0.1, ALPHA), 3);
	assert_int_equal(sequential__needed(3, 0.001, ALPHA), SEQUENTIAL_MOST_RUNS);
	for (size_t runs = 3; runs < 100; runs += 7) {
		double effect = sequential__effect(0.2, runs, ALPHA);

		assert_int_equal(sequential__needed(0.2, effect * 1.0001, ALPHA), runs);
	}
}

static void planning_again_stays_in_bounds(void **state)
{
	struct sequential plan = { .planned = 40, .most = 40, .effect = 0.1, .alpha = ALPHA };

	(void)state;
	assert_false(sequential__plans_again(&plan, 2));
	assert_true(sequential__plans_again(&plan, 3));
	assert_false(sequential__plans_again(&plan, 4));
	assert_true(sequential__plans_again(&plan, 20));
	sequential__plan(&plan, 3, 12);
	assert_int_equal(plan.planned, 12);
	sequential__plan(&plan, 6, 4);
	assert_int_equal(plan.planned, 6);
	sequential__plan(&plan, 6, 1000);
	assert_int_equal(plan.planned, 40);
	sequential__plan(&plan, 6, 0);
	assert_int_equal(plan.planned, 40);
	plan.effect = 0;
	assert_false(sequential__plans_again(&plan, 3));
}

static void order_is_random_and_repeatable(void **state)
{
	struct plan plan = { .seed = 1 }, same = { .seed = 1 }, other = { .seed = 2 };
	unsigned int first = 0, differ = 0, changes = 0;

	(void)state;
	for (size_t i = 0; i < 10000; i++) {
		first += plan__first(&plan, i);
		assert_int_equal(plan__first(&plan, i), plan__first(&same, i));
		differ += plan__first(&plan, i) != plan__first(&other, i);
		changes += plan__first(&plan, i) != plan__first(&plan, i + 1);
	}
	/* Six standard deviations. */
	assert_in_range(first, 4700, 5300);
	assert_in_range(differ, 4700, 5300);
	assert_in_range(changes, 4700, 5300);
}

/* ---- the plan's file ---- */

static int at;

static int make_dir(void **state)
{
	unit_make_dir(state);
	at = open(dir, O_RDONLY | O_DIRECTORY);
	return at < 0 ? -1 : 0;
}

static int remove_dir(void **state)
{
	close(at);
	return unit_remove_dir(state);
}

static char off[] = "echo \"off\" | cat >'a b'", on[] = "\033[31m\n\tset -e", one[] = "./run",
	    two[] = "--name=\xc3\xa9 \"x\"", probe[] = "runqlat";

static struct plan example(char **words, char **record)
{
	words[0] = one;
	words[1] = two;
	words[2] = NULL;
	record[0] = NULL;
	return (struct plan){ .commands = { off, on },
			      .workload = words,
			      .record = record,
			      .probe = probe,
			      .rules = { .confidence = 0.95,
					 .min_effect = 0.1,
					 .statistics = 7,
					 .run_spread = 1 },
			      .seed = INT64_MAX,
			      .most = 20,
			      .effect = 0.125,
			      .planned = 12,
			      .looks = { { 6, 0.005 } },
			      .nr_looks = 1 };
}

static void plan_is_read_back(void **state)
{
	char *words[3], *record[1];
	struct plan plan = example(words, record), back;

	(void)state;
	assert_int_equal(plan__write(&plan, dir), 0);
	assert_int_equal(plan__read(&back, at, getuid()), 0);
	assert_string_equal(back.commands[0], off);
	assert_string_equal(back.commands[1], on);
	assert_string_equal(back.workload[0], one);
	assert_string_equal(back.workload[1], two);
	assert_null(back.workload[2]);
	assert_null(back.record[0]);
	assert_string_equal(back.probe, probe);
	assert_true(back.seed == plan.seed && back.most == 20 && back.planned == 12);
	assert_true(fabs(back.effect - 0.125) < 1e-12 && !back.concluded);
	assert_true(fabs(back.rules.confidence - 0.95) < 1e-12 && back.rules.statistics == 7);
	assert_int_equal(back.nr_looks, 1);
	assert_int_equal(back.looks[0].runs, 6);
	assert_true(fabs(plan__spent(&back) - 0.005) < 1e-12);
	plan__clear(&back);
}

/* Replaces each byte, cuts after each byte: an error, or a plan within its bounds. */
static void broken_plans_are_refused(void **state)
{
	static const char bad[] = { '\0', '9', '-', '"', '}', '[', (char)0xff };
	char *words[3], *record[1], text[4096];
	struct plan plan = example(words, record), back;
	ssize_t size;
	int fd, err;

	(void)state;
	assert_int_equal(plan__write(&plan, dir), 0);
	fd = openat(at, "plan.json", O_RDWR);
	size = read(fd, text, sizeof(text));
	assert_true(size > 100 && size < (ssize_t)sizeof(text));
	for (ssize_t i = 0; i < size; i++) {
		for (size_t j = 0; j < sizeof(bad); j++) {
			assert_int_equal(pwrite(fd, &bad[j], 1, i), 1);
			err = plan__read(&back, at, getuid());
			if (!err)
				assert_true(back.most <= PLAN_MOST_RUNS && back.commands[1] &&
					    back.nr_looks <= PLAN_LOOKS &&
					    back.planned <= PLAN_MOST_RUNS);
			else
				assert_true(err == -EBADMSG || err == -EPROTONOSUPPORT);
			plan__clear(&back);
		}
		assert_int_equal(pwrite(fd, &text[i], 1, i), 1);
	}
	for (ssize_t i = size - 3; i > 0; i -= 7) {
		assert_int_equal(ftruncate(fd, i), 0);
		assert_int_equal(plan__read(&back, at, getuid()), -EBADMSG);
		plan__clear(&back);
	}
	close(fd);
}

static void plan_of_others_is_refused(void **state)
{
	char *words[3], *record[1];
	struct plan plan = example(words, record), back;

	(void)state;
	assert_int_equal(plan__write(&plan, dir), 0);
	assert_int_equal(fchmodat(at, "plan.json", 0620, 0), 0);
	assert_int_equal(plan__read(&back, at, getuid()), -EPERM);
	plan__clear(&back);
	assert_int_equal(fchmodat(at, "plan.json", 0644, 0), 0);
	assert_int_equal(plan__read(&back, at, getuid() + 1), getuid() ? -EPERM : 0);
	plan__clear(&back);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(looks_spend_all),
		cmocka_unit_test(half_spends_little),
		cmocka_unit_test(runs_for_an_effect),
		cmocka_unit_test(planning_again_stays_in_bounds),
		cmocka_unit_test(order_is_random_and_repeatable),
		cmocka_unit_test(plan_is_read_back),
		cmocka_unit_test(broken_plans_are_refused),
		cmocka_unit_test(plan_of_others_is_refused),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
