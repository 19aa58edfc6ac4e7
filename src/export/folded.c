// SPDX-License-Identifier: BSD-2-Clause
#include "export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <core/sleep_stacks.h>
#include <core/vec.h>

#include "stack_names.h"

struct line {
	char *text;
	uint64_t ns;
};

struct lines {
	struct line *lines;
	size_t nr;
};

static const struct table *stacks_of(const struct run_probe *probe)
{
	const struct table *table = probe->more[RUN_STACKS];

	return sleep_stacks__is(table) ? table : NULL;
}

bool export__has_stacks(const struct run *run)
{
	for (unsigned int i = 0; i < run->nr_probes; i++)
		if (stacks_of(&run->probes[i]))
			return true;
	return false;
}

/* ';' is between the frames, and a line ends with its number. */
static void put_frame(FILE *out, const char *name)
{
	if (!*name)
		return;
	fputc(';', out);
	for (; *name; name++)
		fputc(*name == ';' || *name == '\n' ? ':' : *name, out);
}

static void put_name(FILE *out, const char *name)
{
	for (; *name; name++)
		fputc(*name == ';' || *name == '\n' ? ':' : *name, out);
}

static int add_line(struct lines *lines, const struct run *run, const struct sleep_stack *stack)
{
	struct stack_names names;
	struct line line = { .ns = stack->ns };
	size_t size;
	FILE *out = open_memstream(&line.text, &size);

	if (!out)
		return -ENOMEM;
	stack_names__of(&names, &run->frames, stack->stack);
	put_name(out, *stack->comm ? stack->comm : "?");
	put_frame(out, stack->state);
	put_frame(out, stack->call);
	for (unsigned int i = names.nr; i--;)
		put_frame(out, names.frames[i].name);
	if (fclose(out) || vec__append(&lines->lines, &lines->nr, &line, sizeof(line))) {
		free(line.text);
		return -ENOMEM;
	}
	return 0;
}

static int by_text(const void *left, const void *right)
{
	return strcmp(((const struct line *)left)->text, ((const struct line *)right)->text);
}

/* Lines of several processes may be the same: they become one. */
static void print_lines(FILE *out, struct lines *lines)
{
	uint64_t ns = 0;

	if (lines->nr)
		qsort(lines->lines, lines->nr, sizeof(*lines->lines), by_text);
	for (size_t i = 0; i < lines->nr; i++) {
		ns += lines->lines[i].ns;
		if (i + 1 < lines->nr && !by_text(&lines->lines[i], &lines->lines[i + 1]))
			continue;
		fprintf(out, "%s %" PRIu64 "\n", lines->lines[i].text, (ns + 500) / 1000);
		ns = 0;
	}
}

int export__folded(FILE *out, const struct run *run)
{
	struct lines lines = { 0 };
	const struct table *table;
	int err = 0;

	for (unsigned int i = 0; i < run->nr_probes; i++) {
		table = stacks_of(&run->probes[i]);
		for (size_t j = 0; !err && table && j < sleep_stacks__nr(table); j++) {
			const struct sleep_stack stack = sleep_stacks__nth(table, j);

			err = add_line(&lines, run, &stack);
		}
	}
	if (!err)
		print_lines(out, &lines);
	while (lines.nr)
		free(lines.lines[--lines.nr].text);
	free(lines.lines);
	return err;
}
