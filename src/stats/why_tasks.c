// SPDX-License-Identifier: BSD-2-Clause
#include "why.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <core/split.h>

#define NEARLY_ALL 0.95 /* of the time */

bool why_tasks__same_name(const char *text, const char *name)
{
	size_t len;

	if (*text != *name) /* most names: this is called for each pair of many */
		return false;
	len = split__name_length(text);
	return len == split__name_length(name) && !strncmp(text, name, len);
}

bool why_tasks__is_victim(const struct why_line *pair, const struct why_line *line)
{
	return line->victim && why_tasks__same_name(pair->victim, line->victim);
}

bool why_tasks__is_culprit(const struct why_line *pair, const struct why_line *line)
{
	return line->culprit && pair->culprit &&
	       why_tasks__same_name(pair->culprit, line->culprit) &&
	       !strcmp(pair->part, line->part) &&
	       (!line->victim || why_tasks__same_name(pair->victim, line->victim));
}

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Those that have most of the time are left over when all others were set against them. */
const char *why_tasks__traits(const struct why_summary *summary, const struct why_line *line,
			      bool (*is)(const struct why_line *pair, const struct why_line *line))
{
	const bool of_victim = is == why_tasks__is_victim;
	const char *most = NULL;
	uint64_t lead = 0, whole = 0, found = 0;

	for (size_t i = 0; i < summary->nr_lines; i++) {
		const struct why_line *pair = &summary->lines[i];
		const char *traits = of_victim ? pair->victim_traits : pair->culprit_traits;

		if (!is(pair, line))
			continue;
		whole += pair->ns;
		if (same(traits, most)) {
			lead += pair->ns;
		} else if (lead >= pair->ns) {
			lead -= pair->ns;
		} else {
			lead = pair->ns - lead;
			most = traits;
		}
	}
	for (size_t i = 0; most && i < summary->nr_lines; i++) {
		const struct why_line *pair = &summary->lines[i];
		const char *traits = of_victim ? pair->victim_traits : pair->culprit_traits;

		if (is(pair, line) && same(traits, most))
			found += pair->ns;
	}
	return most && (double)found >= NEARLY_ALL * (double)whole ? most : NULL;
}

/* ---- all ---- */

static int by_name(const void *left, const void *right)
{
	const struct why_task *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	return order ? order : strcmp(a->traits, b->traits);
}

static int largest_first(const void *left, const void *right)
{
	const struct why_task *a = left, *b = right;

	return a->ns > b->ns ? -1 : a->ns < b->ns ? 1 : by_name(a, b);
}

long why_tasks__list(const struct why_summary *summary, bool victims, struct why_task **tasks)
{
	struct why_task *list = calloc(summary->nr_lines + 1, sizeof(*list));
	size_t nr = 0, left = 0;

	*tasks = list;
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < summary->nr_lines; i++) {
		const struct why_line *pair = &summary->lines[i];
		struct why_task task = { pair->culprit, pair->culprit_traits, pair->ns };

		if (victims)
			task = (struct why_task){ pair->victim, pair->victim_traits, pair->ns };
		if (task.name && task.traits)
			list[nr++] = task;
	}
	qsort(list, nr, sizeof(*list), by_name);
	for (size_t i = 0; i < nr; i++) {
		if (left && !by_name(&list[left - 1], &list[i]))
			list[left - 1].ns += list[i].ns;
		else
			list[left++] = list[i];
	}
	qsort(list, left, sizeof(*list), largest_first);
	return (long)left;
}
