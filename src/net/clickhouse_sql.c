// SPDX-License-Identifier: BSD-2-Clause
#include "clickhouse_sql.h"

#include <stdio.h>
#include <string.h>

#define STEP "-- ["

/* Does the line begin a step? */
static bool is_step(const char *line)
{
	return !strncmp(line, STEP, strlen(STEP));
}

/* The word at "{name}"; NULL: that is none. */
static const struct clickhouse_word *find(const struct clickhouse_word *words, const char *at)
{
	for (; words->name; words++) {
		size_t len = strlen(words->name);

		if (!strncmp(at + 1, words->name, len) && at[1 + len] == '}')
			return words;
	}
	return NULL;
}

static void fill(const char *at, const char *end, const struct clickhouse_word *words,
		 struct bytes *to)
{
	while (at < end) {
		const struct clickhouse_word *word = *at == '{' ? find(words, at) : NULL;

		if (word) {
			bytes__text(to, word->value);
			at += strlen(word->name) + 2;
		} else {
			bytes__add(to, at++, 1);
		}
	}
	bytes__add(to, "", 1);
}

bool clickhouse_sql__next(const char **at, const struct clickhouse_word *words, struct bytes *to)
{
	const char *end;

	while (**at == '\n' || (!strncmp(*at, "--", 2) && !is_step(*at)))
		*at += strcspn(*at, "\n") + 1;
	end = is_step(*at) ? NULL : strstr(*at, ";\n");
	to->len = 0;
	if (!end)
		return false;
	fill(*at, end, words, to);
	*at = end + 2;
	return !to->failed;
}

const char *clickhouse_sql__step(const char *name)
{
	char line[64];
	const char *at;

	snprintf(line, sizeof(line), STEP "%s]\n", name);
	at = strstr(clickhouse_steps, line);
	return at ? at + strlen(line) : "";
}
