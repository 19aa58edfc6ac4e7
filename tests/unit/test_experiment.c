// SPDX-License-Identifier: BSD-2-Clause
#include "unit.h"

#include "experiment/matrix.h"
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

TEST(looks_spend_all)
{
	for (size_t planned = 1; planned < 60; planned++)
		assert_true(fabs(all_levels(planned) - ALPHA) < 1e-9);
}

/* 2 - 2 Phi(1.95996 / sqrt(1/2)) = 0.005575: Lan and DeMets' table for two looks has 0.0056. */
TEST(half_spends_little)
{
	struct sequential plan = { .planned = 10, .alpha = ALPHA };

	assert_true(sequential__is_look(&plan, 5));
	assert_false(sequential__is_look(&plan, 4));
	assert_false(sequential__is_look(&plan, 9));
	assert_true(fabs(sequential__level(&plan, 5) - 0.005575) < 1e-5);
	plan.planned = 4; /* half of them cannot measure their spread */
	assert_false(sequential__is_look(&plan, 2));
	assert_true(sequential__is_look(&plan, 4));
}

/* A textbook case: a difference of one standard deviation, 5 %, 80 %: 17 on each side. */
TEST(runs_for_an_effect)
{
	assert_int_equal(sequential__needed(log(1.5), 0.5, ALPHA), 17);
	assert_int_equal(sequential__needed(0, 0.1, ALPHA), 3);
	assert_int_equal(sequential__needed(3, 0.001, ALPHA), SEQUENTIAL_MOST_RUNS);
	for (size_t runs = 3; runs < 100; runs += 7) {
		double effect = sequential__effect(0.2, runs, ALPHA);

		assert_int_equal(sequential__needed(0.2, effect * 1.0001, ALPHA), runs);
	}
}

TEST(planning_again_stays_in_bounds)
{
	struct sequential plan = { .planned = 40, .most = 40, .effect = 0.1, .alpha = ALPHA };

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

#define CELLS 5

static size_t next_of(uint64_t seed, size_t nr, const size_t *done)
{
	struct plan plan = { .seed = seed, .nr_sides = nr };

	return plan__next(&plan, done);
}

TEST(order_is_random_and_repeatable)
{
	size_t first = 0, differ = 0, changes = 0;

	for (size_t i = 0; i < 10000; i++) {
		const size_t done[] = { i, i }, more[] = { i + 1, i + 1 };

		first += next_of(1, 2, done);
		assert_int_equal(next_of(1, 2, done), next_of(1, 2, done));
		differ += next_of(1, 2, done) != next_of(2, 2, done);
		changes += next_of(1, 2, done) != next_of(1, 2, more);
	}
	/* Six standard deviations. */
	assert_in_range(first, 4700, 5300);
	assert_in_range(differ, 4700, 5300);
	assert_in_range(changes, 4700, 5300);
}

/* Each round has all cells, and each place of a round has each cell equally often. */
TEST(rounds_have_all_cells_in_random_order)
{
	size_t done[CELLS] = { 0 }, at[CELLS][CELLS] = { 0 }, next;

	for (size_t run = 0; run < 10000 * CELLS; run++) {
		next = next_of(3, CELLS, done);
		assert_int_equal(done[next], run / CELLS);
		done[next]++;
		at[run % CELLS][next]++;
	}
	for (size_t i = 0; i < CELLS * CELLS; i++)
		assert_in_range(at[i / CELLS][i % CELLS], 1760, 2240); /* 2000, standard dev. 40 */
}

/* ---- the file of a matrix ---- */

static struct matrix matrix;
static struct plan product; /* of the matrix */

static void clear_matrix(void)
{
	plan__clear(&product);
	matrix__clear(&matrix);
}

static int parse(const char *text)
{
	clear_matrix();
	return matrix__parse(&matrix, text);
}

static const char cells[] =
	"# comment\n\n"
	"rw: read  write\n"
	"  depth: 1 8 32\n"
	"file: /dev/x\n"
	"reference: depth=8\n"
	"run: fio --rw={rw} -d {depth} {file} ${HOME} {{depth} {} { x; } {a b}\n";

TEST(matrix_is_a_product)
{
	static const char *const names[] = { "rw=read,depth=1",	 "rw=read,depth=8",
					     "rw=read,depth=32", "rw=write,depth=1",
					     "rw=write,depth=8", "rw=write,depth=32" };

	assert_int_equal(parse(cells), 0);
	assert_int_equal(matrix__plan(&matrix, &product), 0);
	assert_int_equal(product.nr_sides, 6);
	for (size_t i = 0; i < 6; i++)
		assert_string_equal(product.sides[i].name, names[i]);
	assert_int_equal(product.reference, 1);
	assert_true(product.matrix);
	assert_string_equal(product.sides[5].command,
			    "fio --rw=write -d 32 /dev/x ${HOME} {depth} {} { x; } {a b}");
}

TEST(only_chosen_cells_are_planned)
{
	assert_int_equal(parse(cells), 0);
	assert_int_equal(matrix__choose(&matrix, "depth=32,depth=1,rw=write"), 0);
	assert_int_equal(matrix__plan(&matrix, &product), 0);
	assert_int_equal(product.nr_sides, 2);
	assert_string_equal(product.sides[0].name, "depth=1");
	assert_string_equal(product.sides[1].name, "depth=32");
	assert_int_equal(product.reference, 0); /* it was not chosen: the first */
	plan__clear(&product);
	assert_int_equal(matrix__choose(&matrix, "depth=2"), -EINVAL);
	assert_string_equal(matrix.error, "'depth=2': the axis depth has no such value");
	assert_int_equal(matrix__choose(&matrix, "dep=1"), -EINVAL);
	assert_int_equal(matrix__choose(&matrix, "depth"), -EINVAL);
	assert_int_equal(matrix__choose(&matrix, ""), -EINVAL);
}

TEST(a_matrix_has_options_of_record)
{
	setenv("MATRIX_DISK", "my disk", 1);
	assert_int_equal(parse("a: 1 2\nrun: x\nrecord: --disk \"${MATRIX_DISK:-x}\" -i 1s"), 0);
	assert_int_equal(matrix__plan(&matrix, &product), 0);
	assert_string_equal(product.record[1], "my disk");
	assert_string_equal(product.record[3], "1s");
	assert_null(product.record[4]);
}

/* What sh makes of a value is the value. */
TEST(values_are_words_of_the_shell)
{
	char got[64] = "";
	FILE *pipe;

	assert_int_equal(parse("x: $(id);`id`|'\"*&> b\nrun: printf %s\\\\n {x}"), 0);
	assert_int_equal(matrix__plan(&matrix, &product), 0);
	pipe = popen(product.sides[0].command, "r");
	assert_non_null(pipe);
	assert_non_null(fgets(got, sizeof(got), pipe));
	pclose(pipe);
	assert_string_equal(got, "$(id);`id`|'\"*&>\n");
}

TEST(wrong_matrices_are_refused)
{
	static const char *const wrong[][2] = {
		{ "a: 1 2\nrun: x {b}", "the command has {b}, but no axis has this name" },
		{ "a:\nrun: x", "the axis a has no values" },
		{ "a: 1\na: 2\nrun: x", "the axis a is there twice" },
		{ "a: 1 2", "no line 'run: COMMAND'" },
		{ "a: 1 2\nrun:", "line 2: run: nothing follows" },
		{ "a: 1 2\nrun: x\nrun: y", "line 3: run: it is there twice" },
		{ "a 1 2\nrun: x", "line 1 is not 'NAME: VALUE...' or 'run: COMMAND'" },
		{ "1: 1 2\nrun: x", "line 1 is not 'NAME: VALUE...' or 'run: COMMAND'" },
		{ "a: 1\nrun: x {a}", "one cell has nothing to be compared with" },
		{ "a: 1 2\nrun: x\nrecord: $(id)", "record: it may not run a command" },
		{ "a: 1 2\nrun: x\nrecord: a'b", "record: these are no words of the shell" },
		{ "run: x", "one cell has nothing to be compared with" },
		{ "a: 1 2\nreference: a=3\nrun: x", "'a=3': the axis a has no such value" },
		{ "a: 1 2 3 4 5 6 7 8\nb: 1 2 3 4 5 6 7 8\nc: 1 2 3 4 5 6 7 8 9\nrun: x",
		  "576 cells; the limit is 512: choose some by --only" },
	};

	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		int err = parse(wrong[i][0]);

		if (!err)
			err = matrix__plan(&matrix, &product);
		assert_int_equal(err, -EINVAL);
		assert_string_equal(matrix.error, wrong[i][1]);
	}
}

TEST(sizes_are_limited)
{
	char text[8192] = "a: 1 2\nrun: ";

	memset(text + strlen(text), 'x', MATRIX_COMMAND + 1);
	assert_int_equal(parse(text), 0);
	assert_int_equal(matrix__plan(&matrix, &product), -EINVAL);
	strcpy(text, "a:");
	for (int i = 0; i <= MATRIX_VALUES; i++)
		strcat(text, " 1");
	assert_int_equal(parse(text), -EINVAL);
	text[0] = '\0';
	for (int i = 0; i <= MATRIX_AXES; i++)
		snprintf(text + strlen(text), 16, "a%d: 1\n", i);
	assert_int_equal(parse(text), -EINVAL);
}

/* ---- the plan's file ---- */

static int at;
static struct plan back; /* what is read of it */

static void make_dir(void)
{
	unit_enter_dir();
	at = open(dir, O_RDONLY | O_DIRECTORY);
	assert_true(at >= 0);
}

static void remove_dir(void)
{
	close(at);
	plan__clear(&back);
	clear_matrix();
	unit_leave_dir();
}

static char off[] = "echo \"off\" | cat >'a b'", on[] = "\033[31m\n\tset -e", one[] = "./run",
	    off_name[] = "OFF", on_name[] = "ON", two[] = "--name=\xc3\xa9 \"x\"",
	    probe[] = "runqlat";

static struct plan_side sides[] = { { off_name, off }, { on_name, on } };

static char *words[] = { one, two, NULL }, *no_words[] = { NULL };

static const struct plan example = {
	.sides = sides,
	.nr_sides = 2,
	.workload = words,
	.record = no_words,
	.probe = probe,
	.rules = { .confidence = 0.95, .min_effect = 0.1, .statistics = 7, .run_spread = 1 },
	.seed = INT64_MAX,
	.most = 20,
	.effect = 0.125,
	.planned = 12,
	.looks = { { 6, 0.005 } },
	.nr_looks = 1,
};

static int read_back(uid_t owner)
{
	plan__clear(&back);
	return plan__read(&back, at, owner);
}

TEST(plan_is_read_back)
{
	struct plan bare = example;

	assert_int_equal(plan__write(&example, dir), 0);
	assert_int_equal(read_back(getuid()), 0);
	assert_string_equal(back.sides[0].command, off);
	assert_string_equal(back.sides[1].command, on);
	assert_string_equal(back.sides[1].name, "ON");
	assert_int_equal(back.nr_sides, 2);
	assert_string_equal(back.workload[0], one);
	assert_string_equal(back.workload[1], two);
	assert_null(back.workload[2]);
	assert_null(back.record[0]);
	assert_string_equal(back.probe, probe);
	assert_true(back.seed == example.seed && back.most == 20 && back.planned == 12);
	assert_true(fabs(back.effect - 0.125) < 1e-12 && !back.concluded);
	assert_true(fabs(back.rules.confidence - 0.95) < 1e-12 && back.rules.statistics == 7);
	assert_int_equal(back.nr_looks, 1);
	assert_int_equal(back.looks[0].runs, 6);
	assert_true(fabs(plan__spent(&back) - 0.005) < 1e-12);
	bare.workload = NULL;
	assert_int_equal(plan__write(&bare, dir), 0);
	assert_int_equal(read_back(getuid()), 0);
	assert_null(back.workload);
}

/* Replaces each byte, cuts after each byte: an error, or a plan within its bounds. */
TEST(broken_plans_are_refused)
{
	static const char bad[] = { '\0', '9', '-', '"', '}', '[', (char)0xff };
	char text[4096];
	ssize_t size;
	int fd, err;

	assert_int_equal(plan__write(&example, dir), 0);
	fd = openat(at, "plan.json", O_RDWR);
	size = read(fd, text, sizeof(text));
	assert_true(size > 100 && size < (ssize_t)sizeof(text));
	for (ssize_t i = 0; i < size; i++) {
		for (size_t j = 0; j < sizeof(bad); j++) {
			assert_int_equal(pwrite(fd, &bad[j], 1, i), 1);
			err = read_back(getuid());
			if (!err)
				assert_true(back.most <= PLAN_MOST_RUNS && back.nr_sides == 2 &&
					    back.nr_looks <= PLAN_LOOKS &&
					    back.planned <= PLAN_MOST_RUNS);
			else
				assert_true(err == -EBADMSG || err == -EPROTONOSUPPORT);
		}
		assert_int_equal(pwrite(fd, &text[i], 1, i), 1);
	}
	for (ssize_t i = size - 3; i > 0; i -= 7) {
		assert_int_equal(ftruncate(fd, i), 0);
		assert_int_equal(read_back(getuid()), -EBADMSG);
	}
	close(fd);
}

TEST(plan_of_others_is_refused)
{
	assert_int_equal(plan__write(&example, dir), 0);
	assert_int_equal(fchmodat(at, "plan.json", 0620, 0), 0);
	assert_int_equal(read_back(getuid()), -EPERM);
	assert_int_equal(fchmodat(at, "plan.json", 0644, 0), 0);
	assert_int_equal(read_back(getuid() + 1), getuid() ? -EPERM : 0);
}

UNIT_FIXTURES(.all = { make_dir, remove_dir })
