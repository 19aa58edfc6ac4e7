/* SPDX-License-Identifier: BSD-2-Clause */
/* What unit tests share: cmocka, the list of tests, texts, random numbers, fake files. */
#ifndef LATSCOPE_TESTS_UNIT_H
#define LATSCOPE_TESTS_UNIT_H

#include <errno.h>
#include <fcntl.h>
#include <math.h>
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

/* ---- texts ---- */

/* Frees a text for the caller, after 63 others. All texts that the functions below return are. */
static inline char *unit_keep(char *text)
{
	static char *texts[64];
	static unsigned int kept;
	char **slot = &texts[kept++ % COUNT_OF(texts)];

	free(*slot);
	*slot = text;
	return text;
}

__attribute__((format(printf, 1, 2))) static inline char *unit_text(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	assert_true(vasprintf(&text, format, args) >= 0);
	va_end(args);
	return unit_keep(text);
}

static struct {
	FILE *out;
	char *text;
	size_t size;
} unit_output __attribute__((unused));

/* A stream to print to, until unit_printed(). */
static inline FILE *unit_print(void)
{
	unit_output.out = open_memstream(&unit_output.text, &unit_output.size);
	assert_non_null(unit_output.out);
	return unit_output.out;
}

static inline char *unit_printed(void)
{
	fclose(unit_output.out);
	return unit_keep(unit_output.text);
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

static uint64_t unit_random_state __attribute__((unused)) = 0x9e3779b97f4a7c15;

/* xorshift64*: the same numbers in every run. */
static inline uint64_t unit_random(void)
{
	unit_random_state ^= unit_random_state >> 12;
	unit_random_state ^= unit_random_state << 25;
	unit_random_state ^= unit_random_state >> 27;
	return unit_random_state * 0x2545f4914f6cdd1d;
}

/* Between 0 and 1, and from the standard normal distribution. */
static inline double unit_uniform(void)
{
	return ((double)(unit_random() >> 11) + 0.5) * 0x1p-53;
}

static inline double unit_normal(void)
{
	return sqrt(-2 * log(unit_uniform())) * cos(2 * M_PI * unit_uniform());
}

static inline void assert_near(double got, double wanted, double within)
{
	if (!(fabs(got - wanted) <= within))
		fail_msg("got %.9g, wanted %.9g +-%g", got, wanted, within);
}

/* For qsort() of uint64_t. */
static inline int unit_by_value(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
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

/* A command of the shell, which must succeed. */
#define unit_shell(...) assert_int_equal(system(unit_text(__VA_ARGS__)), 0)

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
	if (rmdir(where)) /* is faster than a shell */
		unit_shell("rm -rf '%s'", where);
	free(where);
}

static inline char *unit_path(const char *where, const char *name)
{
	return unit_text("%s/%s", where, name);
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

/* The whole of a file; NULL if it is not there. */
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
	return unit_keep(content);
}

/* Each test has one, unless all tests of the file share one; the same in all objects. */
__attribute__((weak)) char *dir;

static inline void unit_enter_dir(void)
{
	dir = unit_tmpdir();
}

static inline void unit_leave_dir(void)
{
	unit_remove(dir);
	dir = NULL;
}

static inline void unit_empty_dir(void)
{
	unit_shell("rm -rf '%s'/*", dir);
}

/* The socket of a CPU, below a fake root. */
static inline void unit_write_socket(const char *root, unsigned int cpu, unsigned int socket)
{
	unit_write(root,
		   unit_text("sys/devices/system/cpu/cpu%u/topology/physical_package_id", cpu),
		   unit_text("%u\n", socket));
}

/* ---- the tests of a file ---- */

/* Called before and after; each may be NULL. tear_down() runs after a failure, too. */
struct unit_fixture {
	void (*set_up)(void), (*tear_down)(void);
};

/* `each` is for tests without a fixture of their own, `all` is around all tests. */
struct unit_fixtures {
	struct unit_fixture each, all;
};

struct unit_test {
	const char *name;
	unsigned int line;
	void (*run)(void);
	struct unit_fixture fixture;
	struct unit_test *next;
};

/* One for all objects of a program, like main(). */
__attribute__((weak)) struct unit_tests {
	struct unit_test *first;
	size_t nr;
	struct unit_fixtures fixtures;
	bool made_dir;
} unit_tests;

/* In the order of the source: constructors run in any order. */
static inline void unit_add(struct unit_test *test)
{
	struct unit_test **at = &unit_tests.first;

	while (*at && (*at)->line <= test->line)
		at = &(*at)->next;
	test->next = *at;
	*at = test;
	unit_tests.nr++;
}

static inline int unit_call(void (*function)(void))
{
	if (function)
		function();
	return 0;
}

static inline void unit_run_test(void **test)
{
	((const struct unit_test *)*test)->run();
}

/* Each test has an empty `dir`, unless one is there for all. */
static inline int unit_set_up(void **test)
{
	unit_tests.made_dir = !dir;
	if (!dir)
		unit_enter_dir();
	return unit_call(((const struct unit_test *)*test)->fixture.set_up);
}

static inline int unit_tear_down(void **test)
{
	unit_call(((const struct unit_test *)*test)->fixture.tear_down);
	if (unit_tests.made_dir)
		unit_leave_dir();
	return 0;
}

static inline int unit_set_up_all(void **state)
{
	return unit_call(unit_tests.fixtures.all.set_up);
}

static inline int unit_tear_down_all(void **state)
{
	return unit_call(unit_tests.fixtures.all.tear_down);
}

/* Of a program that cannot run here. For constructors: main() begins with the plan. */
static inline void unit_skip_all(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	exit(0);
}

/* A program without a main() of its own runs its tests. */
__attribute__((weak)) int main(void)
{
	struct CMUnitTest *tests = calloc(unit_tests.nr, sizeof(*tests)), *next = tests;
	int failed;

	umask(022); /* programs without privileges read what tests write */
	for (struct unit_test *test = unit_tests.first; test; test = test->next) {
		if (!test->fixture.set_up && !test->fixture.tear_down)
			test->fixture = unit_tests.fixtures.each;
		*next++ = (struct CMUnitTest){ test->name, unit_run_test, unit_set_up,
					       unit_tear_down, test };
	}
	failed = _cmocka_run_group_tests("tests", tests, unit_tests.nr, unit_set_up_all,
					 unit_tear_down_all);
	free(tests);
	return failed;
}

/* TEST(name, set_up, tear_down) { ... } is a test; the functions may be left out. */
#define TEST(function, ...)                                                    \
	static void function(void);                                            \
	__attribute__((constructor)) static void unit_adds_##function(void)    \
	{                                                                      \
		static struct unit_test test = { .name = #function,            \
						 .line = __LINE__,             \
						 .run = function,              \
						 .fixture = { __VA_ARGS__ } }; \
                                                                               \
		unit_add(&test);                                               \
	}                                                                      \
	static void function(void)

/* What the tests of the file need: UNIT_FIXTURES(.each = { set_up, tear_down }). */
#define UNIT_FIXTURES(...)                                                   \
	__attribute__((constructor)) static void unit_sets_fixtures(void)    \
	{                                                                    \
		unit_tests.fixtures = (struct unit_fixtures){ __VA_ARGS__ }; \
	}

#endif
