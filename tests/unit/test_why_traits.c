// SPDX-License-Identifier: BSD-2-Clause
#include "unit.h"

#include "core/why_traits.h"

enum { NORMAL, FIFO, RR, BATCH, ISO, IDLE, DEADLINE, EXT, UNKNOWN }; /* SCHED_... */

static struct why_traits traits;

static void begin(void)
{
	memset(&traits, 0, sizeof(traits));
	traits.scheduling = WHY_SCHEDULING(NORMAL, 0, 20, WHY_WEIGHT_DEFAULT);
}

static void end(void)
{
}

/* `nice` as the user says it. */
static void schedule(unsigned int policy, unsigned int priority, int nice, unsigned int weight)
{
	traits.scheduling = WHY_SCHEDULING(policy, priority, (unsigned int)(nice + 20), weight);
}

static void assert_text(const char *expected)
{
	char out[WHY_TRAITS_TEXT];

	assert_string_equal(why_traits__text(&traits, out), expected);
}

static void assert_none(void)
{
	char out[WHY_TRAITS_TEXT];

	assert_null(why_traits__text(&traits, out));
}

TEST(usual_traits_are_none)
{
	assert_none();
	schedule(ISO, 0, 0, WHY_WEIGHT_DEFAULT);
	assert_none();
	schedule(UNKNOWN, 0, 0, WHY_WEIGHT_DEFAULT);
	assert_none();
}

TEST(real_time_tasks_have_a_priority)
{
	schedule(FIFO, 50, 0, WHY_WEIGHT_DEFAULT);
	assert_text("SCHED_FIFO 50");
	schedule(RR, 1, 0, WHY_WEIGHT_DEFAULT);
	assert_text("SCHED_RR 1");
	schedule(DEADLINE, 0, 0, WHY_WEIGHT_DEFAULT);
	assert_text("SCHED_DEADLINE");
}

TEST(nice_and_weight_are_said_where_they_matter)
{
	schedule(NORMAL, 0, -20, WHY_WEIGHT_DEFAULT);
	assert_text("nice -20");
	schedule(BATCH, 0, 19, 512);
	assert_text("SCHED_BATCH, nice 19, cpu.weight 50");
	schedule(EXT, 0, 0, 10);
	assert_text("SCHED_EXT, cpu.weight 1");
	schedule(NORMAL, 0, 0, 102400);
	assert_text("cpu.weight 10000");
	schedule(NORMAL, 0, 0, 3); /* the kernel's weight of cpu.idle */
	assert_text("cpu.idle 1");
	schedule(FIFO, 99, -5, 512);
	assert_text("SCHED_FIFO 99");
	schedule(IDLE, 0, 5, 512);
	assert_text("SCHED_IDLE");
}

/* The kernel rounds to the nearest weight, in both directions. */
TEST(each_weight_is_that_of_the_file)
{
	for (unsigned int weight = 1; weight <= 10000; weight++) {
		schedule(NORMAL, 0, 0, (weight * 1024 + 50) / 100);
		if (weight != 100)
			assert_text(unit_text("cpu.weight %u", weight));
		else
			assert_none();
	}
}

TEST(a_workqueue_has_its_name)
{
	strcpy(traits.workqueue, "events");
	assert_text("workqueue events");
	schedule(NORMAL, 0, -20, WHY_WEIGHT_DEFAULT);
	assert_text("nice -20, workqueue events");
	memset(traits.workqueue, 'x', WHY_WORKQUEUE);
	schedule(BATCH, 0, -20, 102400);
	assert_text("SCHED_BATCH, nice -20, cpu.weight 10000, "
		    "workqueue xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
}

TEST(a_workqueue_cannot_write_to_the_terminal)
{
	strcpy(traits.workqueue, "a\033[2J");
	assert_text("workqueue a?[2J");
}

UNIT_FIXTURES(.each = { begin, end })
