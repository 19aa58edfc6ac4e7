/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TEST(name, set_up, tear_down) { ... } is a test, which registers itself. UNIT_MAIN(set_up,
 * tear_down) is a program that runs all tests between two functions. Each function may be left out.
 * tear_down() runs after a failure, too.
 */
#ifndef LATSCOPE_TESTS_TEST_H
#define LATSCOPE_TESTS_TEST_H

#include "unit.h"

typedef void unit_function(void);

enum { UNIT_SET_UP, UNIT_TEAR_DOWN, UNIT_FIXTURES };

struct unit_test {
	const char *name;
	unit_function *run, *fixtures[UNIT_FIXTURES];
};

static struct CMUnitTest unit_tests[128];
static size_t unit_nr_tests;
static unit_function *const *unit_group;

static inline int unit_call(unit_function *function)
{
	if (function)
		function();
	return 0;
}

static inline void unit_run_test(void **test)
{
	((const struct unit_test *)*test)->run();
}

static inline int unit_set_up(void **test)
{
	return unit_call(((const struct unit_test *)*test)->fixtures[UNIT_SET_UP]);
}

static inline int unit_tear_down(void **test)
{
	return unit_call(((const struct unit_test *)*test)->fixtures[UNIT_TEAR_DOWN]);
}

static inline int unit_set_up_group(void **state)
{
	(void)state;
	return unit_call(unit_group[UNIT_SET_UP]);
}

static inline int unit_tear_down_group(void **state)
{
	(void)state;
	return unit_call(unit_group[UNIT_TEAR_DOWN]);
}

static inline void unit_register(struct unit_test *test)
{
	unit_tests[unit_nr_tests++] =
		(struct CMUnitTest){ test->name, unit_run_test, unit_set_up, unit_tear_down, test };
}

static inline int unit_run(unit_function *const group[UNIT_FIXTURES])
{
	unit_group = group;
	return _cmocka_run_group_tests("tests", unit_tests, unit_nr_tests, unit_set_up_group,
				       unit_tear_down_group);
}

#define TEST(function, ...)                                                              \
	static void function(void);                                                      \
	__attribute__((constructor)) static void register_##function(void)               \
	{                                                                                \
		static struct unit_test test = { #function, function, { __VA_ARGS__ } }; \
                                                                                         \
		unit_register(&test);                                                    \
	}                                                                                \
	static void function(void)

#define UNIT_MAIN(...)                                                                 \
	int main(void)                                                                 \
	{                                                                              \
		return unit_run((unit_function *const[UNIT_FIXTURES]){ __VA_ARGS__ }); \
	}

static inline void unit_assert_says(const char *text, const char *part)
{
	assert_non_null(text);
	if (!strstr(text, part))
		fail_msg("said: %s, not: %s", text, part);
}

/* A test with a directory of its own, `dir`. */
#define TEST_IN_DIR(function) TEST(function, unit_enter_dir, unit_leave_dir)

static inline void unit_enter_dir(void)
{
	dir = unit_tmpdir();
}

static inline void unit_leave_dir(void)
{
	unit_remove(dir);
}

static inline void unit_empty_dir(void)
{
	char command[4096];

	snprintf(command, sizeof(command), "rm -rf '%s'/*", dir);
	assert_int_equal(system(command), 0);
}

/* The socket of a CPU, below a fake root. */
static inline void unit_write_socket(const char *root, unsigned int cpu, unsigned int socket)
{
	char name[96], text[16];

	snprintf(name, sizeof(name), "sys/devices/system/cpu/cpu%u/topology/physical_package_id",
		 cpu);
	snprintf(text, sizeof(text), "%u\n", socket);
	unit_write(root, name, text);
}

#endif
