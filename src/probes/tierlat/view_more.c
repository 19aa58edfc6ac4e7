// SPDX-License-Identifier: BSD-2-Clause
/* The further tables of tierlat as text: --per-cha and --pages. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <core/units.h>
#include <print/wrap.h>

#include "columns.h"
#include "pages.h"
#include "view.h"

#define CELL 16

static const char *cell(char text[CELL], bool known, double value, int digits, const char *unit)
{
	if (known)
		snprintf(text, CELL, "%.*f%s", digits, value, unit);
	else
		snprintf(text, CELL, "-");
	return text;
}

static void cha_row(FILE *out, const struct table *table, size_t at)
{
	const struct table_value in_flight = table__mean(table, at, CHA_OUTSTANDING);
	const struct table_value rate = table__mean(table, at, CHA_RATE);
	const struct table_value ns = table__mean(table, at, CHA_LATENCY);
	const struct table_value clock = table__mean(table, at, CHA_CLOCK);
	const struct table_aggregate *range = table__aggregate(table, at, CHA_LATENCY);
	char cells[6][CELL];

	fprintf(out, "%6lld %4lld %-11.11s %9s %9s %9s %9s %9s %6s\n",
		(long long)table__key(table, at, CHA_SOCKET).integer,
		(long long)table__key(table, at, CHA_BOX).integer,
		table__key(table, at, CHA_TIER).text,
		cell(cells[0], in_flight.known, in_flight.real, 2, ""),
		cell(cells[1], rate.known, rate.real / 1e6, 2, " M"),
		cell(cells[2], ns.known, ns.real, 1, " ns"),
		cell(cells[3], range->rows, range->low, 1, " ns"),
		cell(cells[4], range->rows, range->high, 1, " ns"),
		cell(cells[5], clock.known, clock.real, 0, ""));
}

void tierlat_print__chas(FILE *out, const struct table *table)
{
	wrap__line(out, 0, 0,
		   "Each CHA: it measures the latency of one tier, and counts the reads of "
		   "others where it has a counter left.");
	fprintf(out, "%6s %4s %-11s %9s %9s %9s %9s %9s %6s\n", "socket", "CHA", "tier",
		"in flight", "reads/s", "latency", "lowest", "highest", "MHz");
	for (size_t at = 0; at < table__keys(table); at++)
		cha_row(out, table, at);
	fputc('\n', out);
}

struct entry {
	bool known; /* the socket, and so the tier */
	int64_t socket, node, pid;
	const char *tier, *name;
	uint64_t bytes;
};

static int by_place(const struct entry *a, const struct entry *b)
{
	if (a->known != b->known)
		return a->known ? -1 : 1;
	if (a->socket != b->socket)
		return a->socket < b->socket ? -1 : 1;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return 0;
}

static int by_place_and_bytes(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	int order = by_place(a, b);

	if (order || a->bytes == b->bytes)
		return order ? order : (a->pid > b->pid) - (a->pid < b->pid);
	return a->bytes < b->bytes ? 1 : -1;
}

static void take_entry(struct entry *entry, const struct table *table, size_t key)
{
	const struct table_value socket = table__key(table, key, PAGES_SOCKET);

	*entry = (struct entry){
		.known = socket.known,
		.socket = socket.known ? socket.integer : -1,
		.tier = socket.known ? table__key(table, key, PAGES_TIER).text : "unknown",
		.node = table__key(table, key, PAGES_NODE).integer,
		.pid = table__key(table, key, PAGES_PID).integer,
		.name = table__key(table, key, PAGES_NAME).text,
		.bytes = (uint64_t)table__aggregate(table, key, PAGES_BYTES)->last,
	};
}

struct list {
	struct entry *all;
	size_t nr;
	unsigned int top; /* processes of a node; 0: all */
};

/* Bytes of the processes of a socket, on all nodes. */
static uint64_t bytes_of_socket(const struct list *list, const struct entry *of)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < list->nr; i++)
		if (list->all[i].known == of->known && list->all[i].socket == of->socket)
			sum += list->all[i].bytes;
	return sum;
}

/* The rows of one node, seen from one socket: `nr` of them from `first` on. */
static void print_node(FILE *out, const struct list *list, size_t first, size_t nr)
{
	const struct entry *entry = &list->all[first];
	uint64_t whole = bytes_of_socket(list, entry), sum = 0;
	size_t shown = list->top && list->top < nr ? list->top : nr;
	char socket[CELL] = "-", size[UNITS_TEXT], share[UNITS_TEXT];

	for (size_t i = 0; i < nr; i++)
		sum += entry[i].bytes;
	if (entry->known)
		snprintf(socket, sizeof(socket), "%lld", (long long)entry->socket);
	fprintf(out, "%6s %-11.11s %4lld %10s %8s  %zu process%s\n", socket, entry->tier,
		(long long)entry->node, units__size(size, sum), units__share(share, sum, whole), nr,
		nr == 1 ? "" : "es");
	for (size_t i = 0; i < shown; i++)
		fprintf(out, "%23s %10s %8s    %.24s (%lld)\n", "",
			units__size(size, entry[i].bytes),
			units__share(share, entry[i].bytes, whole), entry[i].name,
			(long long)entry[i].pid);
}

static void print_nodes(FILE *out, const struct list *list)
{
	for (size_t first = 0, next; first < list->nr; first = next) {
		for (next = first + 1; next < list->nr; next++)
			if (by_place(&list->all[first], &list->all[next]))
				break;
		print_node(out, list, first, next - first);
	}
}

int tierlat_print__pages(FILE *out, const struct table *table, unsigned int top)
{
	struct list list = { .nr = table__keys(table), .top = top };

	list.all = calloc(list.nr + 1, sizeof(*list.all));
	if (!list.all)
		return -ENOMEM;
	for (size_t i = 0; i < list.nr; i++)
		take_entry(&list.all[i], table, i);
	qsort(list.all, list.nr, sizeof(*list.all), by_place_and_bytes);
	wrap__line(out, 0, 0,
		   "Pages at the end, by the socket that the process ran on last, and the "
		   "tier seen from it. Shared pages count in each process.");
	fprintf(out, "%6s %-11s %4s %10s %8s  %s\n", "socket", "tier", "node", "bytes", "share",
		"process");
	print_nodes(out, &list);
	if (table__others_keys(table))
		fprintf(out, "  and %llu smaller ones\n",
			(unsigned long long)table__others_keys(table));
	fputc('\n', out);
	free(list.all);
	return 0;
}
