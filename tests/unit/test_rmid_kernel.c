// SPDX-License-Identifier: BSD-2-Clause
/*
 * The files of kmod/rmid that know a kernel, in the one that tests/rmid/kernel stands in with: what
 * they do with registers, and when memory is short. They are as they were before loading only once,
 * so each test that loads them does so in a process of its own.
 */
#include "unit.h"

#include "../../kmod/rmid/cpu.c"
#include "../../kmod/rmid/owners.c"
#include "../../kmod/rmid/pqr.c"
#include "../../kmod/rmid/read.c"

static void trace_rmid_alloc(const struct latscope_rmid_owner *record)
{
}

static void trace_rmid_free(const struct latscope_rmid_owner *record)
{
}

static void trace_rmid_existing(const struct latscope_rmid_owner *record)
{
}

static void trace_rmid_sample(const struct latscope_rmid_sample *record)
{
}

static void trace_rmid_read(const struct latscope_rmid_read *record)
{
}

/* No process of these tests waits for an RMID. */
void sched__refresh(struct rmid_cpu *cpu, struct task_struct *task)
{
}

static void test_memory_that_runs_out_is_an_error_and_given_back(void **state)
{
	int fails_at = 1;

	for (;; fails_at++) {
		kernel.fails_at = fails_at;
		if (!owners__init(8, LATSCOPE_RMID_LIMBO_NS, 64))
			break;
		assert_int_equal(kernel.allocations, 0);
	}
	kernel.fails_at = 0;
	assert_int_equal(fails_at, 5); /* it makes four */
	assert_int_equal(kernel.allocations, 4);
	owners__exit();
	assert_int_equal(kernel.allocations, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_that_runs_out_is_an_error_and_given_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
