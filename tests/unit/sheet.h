/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks that printed text fits a terminal. */
#ifndef LATSCOPE_TESTS_SHEET_H
#define LATSCOPE_TESTS_SHEET_H

#include "unit.h"

#include "core/sanitize.h"

struct sheet {
	char *text;
	size_t size;
	FILE *out;
};

static inline struct sheet *sheet_begin(void)
{
	static struct sheet sheet;

	sheet.out = open_memstream(&sheet.text, &sheet.size);
	assert_non_null(sheet.out);
	return &sheet;
}

/* No line is wider than a terminal or ends in a space. Colours are no columns. To be freed. */
static inline char *sheet_end(struct sheet *sheet)
{
	char *copy;

	fclose(sheet->out);
	copy = strdup(sheet->text);
	for (char *line = strtok(copy, "\n"); line; line = strtok(NULL, "\n")) {
		if (sanitize__columns(line, strlen(line)) > 80 && !strchr(line, '\033'))
			fail_msg("too wide: %s", line);
		if (line[strlen(line) - 1] == ' ')
			fail_msg("space at the end: '%s'", line);
	}
	free(copy);
	return sheet->text;
}

#endif
