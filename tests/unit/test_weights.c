// SPDX-License-Identifier: BSD-2-Clause
/* The weights of weighted interleave, with files below a temporary root. */
#include "acting.h"

#define WEIGHTS "sys/kernel/mm/mempolicy/weighted_interleave/"

static const struct act_config process = { .method = "weighted-interleave",
					   .target = { .pid = 7 } };
static const struct act_config keeping = { .method = "weighted-interleave",
					   .target = { .pid = 7 },
					   .keep = true };
static const struct act_config dry_run = { .method = "weighted-interleave",
					   .target = { .pid = 7 },
					   .dry_run = true };

/* Three nodes; process 7 has a quarter of its interleaved pages on the first one. */
static void make_machine(void)
{
	make_nodes("0-2\n");
	unit_write(dir, WEIGHTS "node0", "1\n");
	unit_write(dir, WEIGHTS "node1", "2\n");
	unit_write(dir, WEIGHTS "node2", "9\n");
	unit_write(dir, "proc/7/numa_maps",
		   "1000 default N0=500 kernelpagesize_kB=4\n"
		   "2000 weighted interleave:0-1 N0=25 N1=75 kernelpagesize_kB=4\n");
}

static void has(const char *name, const char *text)
{
	assert_line(unit_text(WEIGHTS "%s", name), text);
}

static void weigh(double share)
{
	assert_int_equal(act__weigh(act, share, &place, why), 0);
	assert_true(fabs(place.weighted - share) < 1e-12);
}

TEST(test_weights_fit_a_share)
{
	static const struct {
		double share;
		unsigned int near_nodes, far_nodes, near, far;
	} cases[] = {
		{ 0.75, 1, 1, 3, 1 }, { 0.25, 1, 1, 1, 3 }, { 0.5, 1, 1, 1, 1 },
		{ 0.5, 2, 1, 1, 2 },  { 0.5, 1, 3, 3, 1 },  { 0.6, 1, 1, 3, 2 },
		{ 1, 1, 1, 255, 1 },  { 0, 1, 1, 1, 255 },  { 0.4, 1, 1, 2, 3 },
	};

	for (unsigned int i = 0; i < COUNT_OF(cases); i++) {
		unsigned int fit[2];

		act_weights__fit(cases[i].share, cases[i].near_nodes, cases[i].far_nodes, fit);
		assert_int_equal(fit[0], cases[i].near);
		assert_int_equal(fit[1], cases[i].far);
	}
	for (double share = 0.01; share < 0.99; share += 0.0007) {
		unsigned int fit[2];

		act_weights__fit(share, 1, 1, fit);
		assert_in_range(fit[0], 1, 255);
		assert_in_range(fit[1], 1, 255);
		assert_true(fabs((double)fit[0] / (fit[0] + fit[1]) - share) <= 0.0025);
	}
}

TEST(test_weights_are_set_and_put_back, make_machine)
{
	begin(process);
	read_place();
	/* Only pages with the policy count. */
	assert_int_equal(place.near_bytes, 25 * 4096);
	assert_int_equal(place.far_bytes, 75 * 4096);
	assert_true(fabs(place.weighted - 1 / 3.0) < 1e-12);
	weigh(0.75);
	has("node0", "3");
	has("node1", "1");
	has("node2", "9");
	end();
	has("node0", "1");
	has("node1", "2");
}

/* From Linux 6.16 on, the kernel can choose the weights; a weight that is written ends this. */
TEST(test_the_kernels_choice_is_put_back, make_machine)
{
	static const char *const choices[] = { "true", "false" };

	for (unsigned int i = 0; i < 2; i++) {
		make_machine();
		unit_write(dir, WEIGHTS "auto", choices[i]);
		begin(process);
		weigh(0.75);
		unit_write(dir, WEIGHTS "auto", "false\n");
		end();
		has("auto", choices[i]);
	}
}

TEST(test_weights_stay_if_nothing_was_set_or_with_keep, make_machine)
{
	begin(process);
	unit_write(dir, WEIGHTS "node0", "7\n");
	end();
	has("node0", "7");
	begin(keeping);
	weigh(0.25);
	end();
	has("node0", "1");
	has("node1", "3");
}

TEST(test_weights_of_another_program_end_it, make_machine)
{
	begin(process);
	unit_write(dir, WEIGHTS "node1", "8\n");
	read_place();
	weigh(0.75);
	unit_write(dir, WEIGHTS "node1", "8\n");
	assert_int_equal(act__place(act, &place, why), -EBUSY);
	assert_string_equal(why, "another program changed the weights");
	end();
	has("node1", "2");
}

/* Two names of one file: the weight of the first node is not what was written. */
TEST(test_weights_are_read_back, make_machine)
{
	char *first;

	first = strdup(unit_path(dir, WEIGHTS "node0"));
	assert_int_equal(unlink(first), 0);
	assert_int_equal(link(unit_path(dir, WEIGHTS "node1"), first), 0);
	free(first);
	begin(process);
	assert_int_equal(act__weigh(act, 0.75, &place, why), -EIO);
	assert_string_equal(why, "the kernel did not take the weights");
	end();
	has("node1", "2");
}

TEST(test_machines_without_weights_are_refused, make_machine)
{
	assert_int_equal(act__look(act_method__find("weighted-interleave"), dir, why), 0);
	unit_write(dir, WEIGHTS "node1", "0\n");
	assert_int_equal(open_act(process), -EUCLEAN);
	unlink(unit_path(dir, WEIGHTS "node1"));
	assert_int_equal(open_act(process), -ENOENT);
	unit_write(dir, NODES "has_memory", "0\n");
	assert_refused(process, -EOPNOTSUPP, "one NUMA node");
}

TEST(test_older_kernels_are_refused)
{
	make_nodes("0-1\n");
	assert_int_equal(act__look(act_method__find("weighted-interleave"), dir, why), -EOPNOTSUPP);
	assert_has(why, "it takes Linux 6.9, or --act move_pages");
}

/* It opens the files for reading only. */
TEST(test_a_dry_run_needs_no_write, make_machine)
{
	begin(dry_run);
	read_place();
	assert_int_not_equal(act__weigh(act, 0.75, &place, why), 0);
	end();
	has("node0", "1");
}

TEST(test_weights_lead_the_placement_by_a_tenth)
{
	assert_true(fabs(act_weights__aim(0.5, 0.5, 0.02) - 0.52) < 1e-12);
	assert_true(fabs(act_weights__aim(0.5, 0.59, 0.02) - 0.6) < 1e-12);
	assert_true(fabs(act_weights__aim(0.5, 0.41, -0.02) - 0.4) < 1e-12);
	assert_true(fabs(act_weights__aim(1, 1, 0.02) - 1) < 1e-12);
	assert_true(fabs(act_weights__aim(0.01, 0.01, -0.02)) < 1e-12);
}
