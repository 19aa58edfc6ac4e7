/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks that printed text fits a terminal. */
#ifndef LATSCOPE_TESTS_SHEET_H
#define LATSCOPE_TESTS_SHEET_H

#include "unit.h"

#include "core/sanitize.h"

/* What was printed to unit_print(); no line is too wide for a terminal or ends in a space. */
static inline char *sheet(void)
{
	char *text = unit_printed(), *copy = strdup(text);

	for (char *line = strtok(copy, "\n"); line; line = strtok(NULL, "\n")) {
		if (sanitize__columns(line, strlen(line)) > 80 && !strchr(line, '\033'))
			fail_msg("too wide: %s", line);
		if (line[strlen(line) - 1] == ' ')
			fail_msg("space at the end: '%s'", line);
	}
	free(copy);
	return text;
}

/* Line breaks as single spaces, to look for what may have been wrapped. */
static inline char *flat(char *text)
{
	char *to = text;

	for (char *at = text; *at; at++) {
		*to = *at == '\n' ? ' ' : *at;
		if (*to != ' ' || to == text || to[-1] != ' ')
			to++;
	}
	*to = '\0';
	return text;
}

#endif
