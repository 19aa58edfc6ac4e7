/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What unit tests share: cmocka with its headers, the list of tests, printed texts, random numbers,
 * a tree of fake files.
 */
#ifndef LATSCOPE_TESTS_UNIT_H
#define LATSCOPE_TESTS_UNIT_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- the tests of a file ---- */

/* What cmocka calls before and after each test, or before the first and after the last. */
struct unit_fixture {
	CMFixtureFunction setup, teardown, group_setup, group_teardown;
};

struct unit_test {
	unsigned int line;
	struct CMUnitTest test;
};

static struct {
	struct unit_test tests[100];
	size_t nr;
} unit_tests __attribute__((unused));

static inline void unit_add(unsigned int line, struct CMUnitTest test)
{
	if (unit_tests.nr == COUNT_OF(unit_tests.tests))
		abort();
	unit_tests.tests[unit_tests.nr++] = (struct unit_test){ line, test };
}

static inline int unit_by_line(const void *left, const void *right)
{
	const struct unit_test *a = left, *b = right;

	return a->line < b->line ? -1 : a->line > b->line;
}

/* In the order of the source: constructors run in any order. */
static inline int unit_run(struct unit_fixture fixture)
{
	struct CMUnitTest tests[COUNT_OF(unit_tests.tests)];

	qsort(unit_tests.tests, unit_tests.nr, sizeof(unit_tests.tests[0]), unit_by_line);
	for (size_t i = 0; i < unit_tests.nr; i++) {
		tests[i] = unit_tests.tests[i].test;
		if (!tests[i].setup_func) {
			tests[i].setup_func = fixture.setup;
			tests[i].teardown_func = fixture.teardown;
		}
	}
	return _cmocka_run_group_tests("tests", tests, unit_tests.nr, fixture.group_setup,
				       fixture.group_teardown);
}

/* UNIT_TEST(name) { ... } is a test, with the fixture of UNIT_MAIN() or with its own. */
#define UNIT_TEST(name) UNIT_TEST_WITH(name, NULL, NULL)
#define UNIT_TEST_WITH(name, setup, teardown)                                                  \
	static void name(void **state);                                                        \
	__attribute__((constructor)) static void unit_adds_##name(void)                        \
	{                                                                                      \
		unit_add(__LINE__, (struct CMUnitTest){ #name, name, setup, teardown, NULL }); \
	}                                                                                      \
	static void name(void **state)

/* Runs all tests of the file; what is given are members of struct unit_fixture. */
#define UNIT_MAIN(...)                                                 \
	int main(void)                                                 \
	{                                                              \
		return unit_run((struct unit_fixture){ __VA_ARGS__ }); \
	}

/* ---- printed texts ---- */

static struct {
	FILE *out;
	char *text;
	size_t size;
} unit_output __attribute__((unused));

/* Keeps a text until the next is kept or printed. */
static inline char *unit_keep(char *text)
{
	free(unit_output.text);
	unit_output.text = text;
	return text;
}

/* A stream to print to. unit_printed() closes it, and keeps the text. */
static inline FILE *unit_print(void)
{
	unit_keep(NULL);
	unit_output.out = open_memstream(&unit_output.text, &unit_output.size);
	assert_non_null(unit_output.out);
	return unit_output.out;
}

static inline char *unit_printed(void)
{
	fclose(unit_output.out);
	return unit_output.text;
}

static inline void unit_search(const char *text, const char *const *parts, bool wanted)
{
	assert_non_null(text);
	for (; *parts; parts++)
		if (!strstr(text, *parts) == wanted)
			fail_msg("%s '%s' in:\n%s", wanted ? "no" : "there is", *parts, text);
}

/* Each of these parts is in a text, or none of them. */
#define assert_has(text, ...) unit_search(text, (const char *[]){ __VA_ARGS__, NULL }, true)
#define assert_lacks(text, ...) unit_search(text, (const char *[]){ __VA_ARGS__, NULL }, false)

/* ---- processes, random numbers and files ---- */

/* xorshift64*: the same numbers in every run. */
static inline uint64_t unit_random(void)
{
	static uint64_t state = 0x9e3779b97f4a7c15;

	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1d;
}

/* A child, which does not outlive the test program. */
static inline pid_t unit_fork(void)
{
	pid_t child = fork();

	if (!child)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return child;
}

/* Waits until a child has ended, and leaves it a zombie. */
static inline void unit_await_end(pid_t child)
{
	siginfo_t info;

	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
}

/* Runs a check in a child, and returns its exit status. */
static inline int unit_in_child(int (*check)(void))
{
	pid_t child = unit_fork();
	int status;

	if (!child)
		_exit(check());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* A new directory; the caller ends with unit_remove(). */
static inline char *unit_tmpdir(void)
{
	char *where = strdup("/tmp/latscope-unit-XXXXXX");

	assert_non_null(where);
	assert_non_null(mkdtemp(where));
	return where;
}

static inline void unit_remove(char *where)
{
	char command[4096];

	snprintf(command, sizeof(command), "rm -rf '%s'", where);
	assert_int_equal(system(command), 0);
	free(where);
}

static inline char *unit_path(const char *where, const char *name)
{
	static char path[8192];

	snprintf(path, sizeof(path), "%s/%s", where, name);
	return path;
}

/* Makes the directories above a path too. */
static inline void unit_parents(const char *where, const char *name)
{
	char *path = strdup(unit_path(where, name));

	for (char *at = path + strlen(where) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(path, 0777);
		*at = '/';
	}
	free(path);
}

static inline void unit_write(const char *where, const char *name, const char *content)
{
	FILE *stream;
	int err;

	unit_parents(where, name);
	stream = fopen(unit_path(where, name), "w");
	assert_non_null(stream);
	assert_true(fputs(content, stream) >= 0);
	err = fclose(stream);
	assert_int_equal(err, 0);
}

static inline void unit_link(const char *where, const char *name, const char *target)
{
	unit_parents(where, name);
	assert_int_equal(symlink(target, unit_path(where, name)), 0);
}

/* The whole of a file, to be freed; NULL if it is not there. */
static inline char *unit_read(const char *where, const char *name)
{
	FILE *stream = fopen(unit_path(where, name), "r");
	char *content = NULL;
	size_t size = 0;

	if (!stream)
		return NULL;
	if (getdelim(&content, &size, '\0', stream) < 0) {
		free(content);
		content = strdup("");
	}
	fclose(stream);
	return content;
}

/* Setup and teardown for tests that want a directory of their own. */
__attribute__((unused)) static char *dir;

static inline int unit_make_dir(void **state)
{
	dir = unit_tmpdir();
	return 0;
}

static inline int unit_remove_dir(void **state)
{
	unit_remove(dir);
	return 0;
}

#endif
