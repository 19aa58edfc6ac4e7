// SPDX-License-Identifier: BSD-2-Clause
/* How often a reference is repeated; without a window, which needs a kernel. */
#include "unit.h"

#include "selftest/validate.c"

static struct child_shared shared;
static unsigned int failures, calls, errors;
static int failure, of_child;

/* As it is: what was shared with the child is gone. */
void window__close(struct window *window)
{
	window->child.shared = NULL;
}

/* A reference that fails so many times, because of the child or of another process. */
static int fail_at_first(struct validate *validate, struct window *window)
{
	memset(window, 0, sizeof(*window));
	window->child.shared = &shared;
	shared.err = of_child;
	return calls++ < failures ? failure : 0;
}

const struct probe_checks memlat_checks = { .probe = "memlat",
					    .references = { { "a reference", fail_at_first } } };
const struct probe_checks runqlat_checks = { .probe = "runqlat" };
const struct probe_checks iolat_checks = { .probe = "iolat" };

int react__run(struct validate *validate, const struct experiment *experiment, char why[RUN_TEXT])
{
	return 0;
}

int overhead__run(struct validate *validate, const struct overhead *overhead, char why[RUN_TEXT])
{
	return 0;
}

void check__skip(const struct validate *validate, const char *name, const char *why)
{
}

void check__error(const struct validate *validate, const char *name, const char *why)
{
	check__skip(validate, name, why);
	errors++;
}

static void progress(void *arg, const char *doing)
{
}

static int try_reference(unsigned int times, int err, int child_err)
{
	static const struct probe_ops ops = { .name = "memlat" };
	struct validate validate = { .parts = VALIDATE_REFERENCE, .progress = progress };
	char why[RUN_TEXT];

	failures = times;
	failure = err;
	of_child = child_err;
	calls = errors = 0;
	return validate__probe(&validate, &ops, why);
}

TEST(a_disturbed_reference_is_tried_again)
{
	assert_int_equal(try_reference(0, -EIO, -EIO), 0);
	assert_int_equal(calls, 1);
	assert_int_equal(try_reference(2, -EIO, -EIO), 0);
	assert_int_equal(calls, 3);
	assert_int_equal(errors, 0);
	assert_int_equal(try_reference(TRIES, -EIO, -EIO), -EIO);
	assert_int_equal(calls, TRIES);
	assert_int_equal(errors, 1);
	assert_int_equal(try_reference(1, -EAGAIN, 0), 0); /* of those that iolat cannot see */
	assert_int_equal(calls, 2);
}

TEST(other_errors_are_not_retried)
{
	assert_int_equal(try_reference(TRIES, -EIO, 0), -EIO); /* not the reference */
	assert_int_equal(calls, 1);
	assert_int_equal(try_reference(TRIES, -EINTR, -EINTR), -EINTR);
	assert_int_equal(calls, 1);
	assert_int_equal(try_reference(TRIES, -EOPNOTSUPP, -EOPNOTSUPP), -EOPNOTSUPP);
	assert_int_equal(calls, 1);
}
