/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What several unit tests need: cmocka with the headers it wants, random numbers, a tree of fake
 * files.
 */
#ifndef LATSCOPE_TESTS_UNIT_H
#define LATSCOPE_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* xorshift64*: the same numbers in every run. */
static inline uint64_t unit_random(void)
{
	static uint64_t state = 0x9e3779b97f4a7c15;

	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1d;
}

/* A new directory; the caller ends with unit_remove(). */
static inline char *unit_tmpdir(void)
{
	char *dir = strdup("/tmp/latscope-unit-XXXXXX");

	assert_non_null(dir);
	assert_non_null(mkdtemp(dir));
	return dir;
}

static inline void unit_remove(char *dir)
{
	char command[4096];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	assert_int_equal(system(command), 0);
	free(dir);
}

static inline char *unit_path(const char *dir, const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

/* Makes the directories above a path too. */
static inline void unit_parents(const char *dir, const char *name)
{
	char *path = strdup(unit_path(dir, name));

	for (char *at = path + strlen(dir) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(path, 0777);
		*at = '/';
	}
	free(path);
}

static inline void unit_write(const char *dir, const char *name, const char *content)
{
	FILE *stream;

	unit_parents(dir, name);
	stream = fopen(unit_path(dir, name), "w");
	assert_non_null(stream);
	assert_true(fputs(content, stream) >= 0);
	assert_int_equal(fclose(stream), 0);
}

static inline void unit_link(const char *dir, const char *name, const char *target)
{
	unit_parents(dir, name);
	assert_int_equal(symlink(target, unit_path(dir, name)), 0);
}

/* The whole of a file, to be freed; NULL if it is not there. */
static inline char *unit_read(const char *dir, const char *name)
{
	FILE *stream = fopen(unit_path(dir, name), "r");
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

#endif
