// SPDX-License-Identifier: BSD-2-Clause
#include "lookup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kallsyms.h"

/* A symbol of the kernel has no size. Beyond this, the nearest one is not that of the address. */
#define KERNEL_REACH (1U << 20)
#define BPF_REACH (1U << 16)

#define PERF_MAP_BYTES (256U << 20) /* of a JIT compiler's file, at most */

static int by_file(const void *a, const void *b)
{
	const struct lookup *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

void lookup__sort(struct lookup *lookups, size_t nr)
{
	qsort(lookups, nr, sizeof(*lookups), by_file);
}

size_t lookup__first(const struct lookup *lookups, size_t nr, uint64_t at)
{
	size_t low = 0, middle;

	while (low < nr) {
		middle = low + (nr - low) / 2;
		if (lookups[middle].at < at)
			low = middle + 1;
		else
			nr = middle;
	}
	return low;
}

void lookup__answer(const struct lookup *lookup, const char *name, size_t len)
{
	struct symbol *symbol = lookup->symbol;

	snprintf(symbol->function, sizeof(symbol->function), "%.*s", (int)len, name);
	symbol->offset = lookup->at + symbol->after_call - lookup->start;
}

/* Keeps the nearest symbol; data has no name, but ends the function before it. */
static void take_symbol(struct lookup *lookup, const struct kallsym *from)
{
	uint64_t reach = strcmp(from->module, "[bpf]") ? KERNEL_REACH : BPF_REACH;
	struct symbol *symbol = lookup->symbol;

	if (from->address <= lookup->start)
		return;
	lookup->start = from->address;
	symbol->function[0] = '\0';
	symbol->file[0] = '\0';
	if (!strchr("tTwW", from->type) || lookup->at - from->address >= reach)
		return;
	lookup__answer(lookup, from->name, strlen(from->name));
	snprintf(symbol->file, sizeof(symbol->file), "%s",
		 *from->module ? from->module : "[kernel]");
}

/*
 * A symbol is compared only with the first address after it. What it is to the addresses that
 * follow becomes known at the end.
 */
int lookup__kernel(struct lookup *lookups, size_t nr, struct kallsyms *symbols)
{
	struct kallsym symbol;
	bool shown = false;
	size_t i;

	while (kallsyms__next(symbols, &symbol)) {
		shown |= symbol.address != 0;
		i = lookup__first(lookups, nr, symbol.address);
		if (symbol.address && i < nr)
			take_symbol(&lookups[i], &symbol);
	}
	for (i = 1; i < nr; i++) {
		const struct symbol *before = lookups[i - 1].symbol;

		symbol.address = lookups[i - 1].start;
		symbol.type = *before->function ? 't' : 'd';
		symbol.name = before->function;
		symbol.module = before->file;
		take_symbol(&lookups[i], &symbol);
	}
	return shown ? 0 : -EACCES;
}

/* "7f0012345000 1a0 name of a function". The last of several wins: its code is the newest. */
static void take_perf_map_line(struct lookup *lookups, size_t nr, const char *line)
{
	char *end, *name;
	uint64_t start = strtoull(line, &end, 16), size;

	if (*end != ' ')
		return;
	size = strtoull(end, &name, 16);
	if (name == end || *name != ' ')
		return;
	name++;
	for (size_t i = lookup__first(lookups, nr, start); i < nr; i++) {
		if (lookups[i].at - start >= size)
			break;
		lookups[i].start = start;
		lookup__answer(&lookups[i], name, strcspn(name, "\n"));
	}
}

int lookup__perf_map(struct lookup *lookups, size_t nr, int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *file = copy < 0 ? NULL : fdopen(copy, "r");
	size_t bytes = 0;
	char line[1024];

	if (!file)
		return -errno;
	rewind(file);
	while (bytes < PERF_MAP_BYTES && fgets(line, sizeof(line), file)) {
		bytes += strlen(line) + 1;
		take_perf_map_line(lookups, nr, line);
	}
	fclose(file);
	return 0;
}
