// SPDX-License-Identifier: BSD-2-Clause
/* Names in the first column of tables: padded, or cut so that they still differ. */
#include "text.h"

#include <stdlib.h>
#include <string.h>

#include <core/sanitize.h>

#include "wrap.h"

#define HEAD 8 /* columns before the cut, if all names differ then */
#define MOST_NAMES 200 /* that are compared with each other */

int text__name_columns(const FILE *out)
{
	int columns = TEXT_NAME_COLUMNS + (int)(wrap__columns(out) - WRAP_COLUMNS) / 2;

	return columns < RUN_NAME ? columns : RUN_NAME;
}

/* Cuts the middle: both ends matter, such as a task's ID and a cgroup's leaf. */
static void fit(struct wrap *fitted, const char *name, size_t columns, size_t head)
{
	struct wrap ascii = { 0 };

	wrap__add(fitted, "%s", name);
	if (sanitize__columns(fitted->text, fitted->len) <= columns)
		return;
	/* The cut is by bytes and would break characters that are not ASCII. */
	ascii = *fitted;
	for (size_t i = 0; i < ascii.len; i++)
		ascii.text[i] = (ascii.text[i] & 0x80) ? '?' : ascii.text[i];
	fitted->len = (size_t)snprintf(fitted->text, sizeof(fitted->text), "%.*s..%s", (int)head,
				       ascii.text, ascii.text + ascii.len - (columns - head - 2));
}

static int by_text(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Do names that differ still differ when they are cut after `head` columns? */
static bool all_differ(const char *const *names, size_t nr, size_t columns, size_t head)
{
	char *cut[MOST_NAMES] = { NULL };
	size_t nr_cut = 0;
	bool differ = true;

	for (size_t i = 0; i < nr; i++) {
		struct wrap fitted = { 0 };

		if (i && !strcmp(names[i - 1], names[i]))
			continue;
		fit(&fitted, names[i], columns, head);
		cut[nr_cut] = strdup(fitted.text);
		nr_cut += cut[nr_cut] != NULL;
	}
	qsort(cut, nr_cut, sizeof(*cut), by_text);
	for (size_t i = 1; i < nr_cut; i++)
		differ = differ && strcmp(cut[i - 1], cut[i]) != 0;
	for (size_t i = 0; i < nr_cut; i++)
		free(cut[i]);
	return differ;
}

unsigned int text__name_head(const FILE *out, const char *(*name_of)(const void *rows, size_t row),
			     const void *rows, size_t nr)
{
	unsigned int columns = (unsigned int)text__name_columns(out);
	const char *names[MOST_NAMES] = { NULL };

	if (nr > MOST_NAMES)
		nr = MOST_NAMES;
	for (size_t i = 0; i < nr; i++)
		names[i] = name_of(rows, i);
	qsort(names, nr, sizeof(*names), by_text);
	for (unsigned int i = 0; i <= columns - 2; i++) {
		unsigned int head = (HEAD + i) % (columns - 1);

		if (all_differ(names, nr, columns, head))
			return head;
	}
	return HEAD;
}

void text__key_name_cut(FILE *out, const char *name, unsigned int head)
{
	size_t columns = (size_t)text__name_columns(out);
	struct wrap fitted = { 0 };

	fit(&fitted, name, columns, head);
	fprintf(out, "%s%*s", fitted.text,
		(int)(columns - sanitize__columns(fitted.text, fitted.len)), "");
}

void text__key_name(FILE *out, const char *name)
{
	text__key_name_cut(out, name, HEAD);
}
