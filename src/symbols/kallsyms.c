// SPDX-License-Identifier: BSD-2-Clause
#include "kallsyms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int kallsyms__open(struct kallsyms *symbols, const char *path)
{
	symbols->file = fopen(path, "re");
	return symbols->file ? 0 : -errno;
}

void kallsyms__close(struct kallsyms *symbols)
{
	if (symbols->file)
		fclose(symbols->file);
	symbols->file = NULL;
}

/* "ffffffff81000000 T name", and for a symbol of a kernel module a tab and "[module]". */
static bool parse_symbol(char *line, struct kallsym *symbol)
{
	char *end, *name;

	symbol->address = strtoull(line, &end, 16);
	if (end == line || end[0] != ' ' || !end[1] || end[2] != ' ')
		return false;
	symbol->type = end[1];
	name = end + 3;
	end = name + strcspn(name, "\t\n");
	symbol->name = name;
	symbol->module = "";
	if (*end == '\t') {
		symbol->module = end + 1;
		end[1 + strcspn(end + 1, "\n")] = '\0';
	}
	*end = '\0';
	return *name;
}

bool kallsyms__next(struct kallsyms *symbols, struct kallsym *symbol)
{
	while (fgets(symbols->line, sizeof(symbols->line), symbols->file))
		if (parse_symbol(symbols->line, symbol))
			return true;
	return false;
}
