// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <core/split.h>
#include <core/units.h>
#include <print/text.h>
#include <print/wrap.h>

#include "view_parts.h"
#include "view_states.h"

#define FOR_COLUMNS 21
#define LEFT_COLUMNS 40 /* before it, without the name */
#define FOR_SHOWN 3
#define LEAST_SHARE 0.005 /* of its life: a smaller wait is not named */

/* What a row waits for; several states can be one. */
static const struct {
	const char *name;
	uint32_t states; /* mask of 1 << enum where_state */
} waits[] = {
	{ "CPU", 1U << WHERE_READY },
	{ "disk", 1U << WHERE_DISK },
	{ "memory", 1U << WHERE_MEMORY | 1U << WHERE_FAULT },
	{ "lock", 1U << WHERE_LOCK },
	{ "futex", 1U << WHERE_FUTEX },
	{ "socket", 1U << WHERE_SOCKET },
	{ "other", 1U << WHERE_OTHER },
};
#define WAITS (sizeof(waits) / sizeof(waits[0]))

struct part {
	unsigned int wait; /* index of waits */
	double ns;
};

static int longest_first(const void *left, const void *right)
{
	double a = ((const struct part *)left)->ns, b = ((const struct part *)right)->ns;

	return a < b ? 1 : a > b ? -1 : 0;
}

/* What it waited for, the longest first. */
static void list_parts(const struct where_account *row, struct part parts[WAITS])
{
	for (unsigned int i = 0; i < WAITS; i++) {
		parts[i] = (struct part){ .wait = i };
		for (unsigned int state = 0; state < WHERE_STATES; state++)
			if (waits[i].states & 1U << state)
				parts[i].ns += row->waited_ns[state];
	}
	qsort(parts, WAITS, sizeof(*parts), longest_first);
}

/* "CPU 51, lock 5, disk 1": in percent of its life. */
static const char *say_for(const struct where_account *row, const struct part parts[WAITS],
			   char text[FOR_COLUMNS + 1])
{
	size_t len = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < FOR_SHOWN; i++) {
		double share = accounts__share(parts[i].ns, row->life_ns);
		char one[FOR_COLUMNS + 1];
		int more;

		if (parts[i].ns <= 0 || (i && share < LEAST_SHARE))
			break;
		more = snprintf(one, sizeof(one), "%s%s %.*f", i ? ", " : "",
				waits[parts[i].wait].name, share < 0.01, 100 * share);
		if (len + (size_t)more > FOR_COLUMNS)
			break;
		strcpy(text + len, one);
		len += (size_t)more;
	}
	return text;
}

static bool is_quota(const struct reason *reason)
{
	return reason->part && reason->part->of_quota;
}

/* "backup (12)", in so many columns: without the ID, whole words of several, or cut with "..". */
static void add_name(struct wrap *wrap, const struct where_account *row,
		     const struct reason *reason, unsigned int columns)
{
	const char *name = reasons__is_itself(row, reason) ? "itself" : reason->who;
	size_t len = strlen(name);

	if (len > columns && is_quota(reason))
		name = "its CPU quota";
	if (len > columns)
		len = split__name_length(name);
	for (size_t whole = columns; len > columns && whole; whole--)
		if (name[whole] == ' ')
			len = whole;
	if (len > columns)
		wrap__add(wrap, "%.*s..", (int)columns - 2, name);
	else
		wrap__add(wrap, "%.*s", (int)len, name);
}

/* Of the wait, in all ways in which the same one is behind it. */
static double share_of(const struct reasons *reasons, const struct where_account *row,
		       unsigned int state, const struct reason *of)
{
	bool itself = reasons__is_itself(row, of);
	struct reason *list = NULL;
	size_t nr = reasons__list(reasons, row, state, &list);
	double share = 0;

	for (size_t i = 0; i < nr; i++)
		if (itself ? reasons__is_itself(row, &list[i]) : !strcmp(list[i].who, of->who))
			share += list[i].share;
	free(list);
	return fmin(share, 1);
}

void rows__because(struct wrap *wrap, const struct reasons *reasons,
		   const struct where_account *row, unsigned int columns)
{
	struct reason found[REASONS_MOST];
	struct part parts[WAITS];
	char share[UNITS_TEXT];
	unsigned int nr, at;

	list_parts(row, parts);
	for (unsigned int i = 0; i < WAITS && parts[i].ns > 0; i++) {
		for (unsigned int state = 0; state < WHERE_STATES; state++) {
			if (!(waits[parts[i].wait].states & 1U << state) ||
			    !(nr = reasons__find(reasons, row, state, found)))
				continue;
			at = nr > 1 && !found[0].is_named && !is_quota(&found[0]) &&
			     found[1].is_named;
			snprintf(share, sizeof(share), " %.0f %%",
				 100 * share_of(reasons, row, state, &found[at]));
			add_name(wrap, row, &found[at], columns - (unsigned int)strlen(share));
			wrap__add(wrap, "%s", share);
			return;
		}
		if (2 * parts[i].ns > row->all_waited_ns)
			return; /* nothing is known of most of it */
	}
}

static void print_row(FILE *out, const struct reasons *reasons, const struct where_account *row,
		      unsigned int head)
{
	char time[UNITS_TEXT], text[FOR_COLUMNS + 1];
	unsigned int left = (unsigned int)text__name_columns(out) + LEFT_COLUMNS;
	struct wrap because = { 0 };
	struct part parts[WAITS];

	list_parts(row, parts);
	text__key_name_cut(out, row->name, head);
	fprintf(out, " %8s %5.1f  ", units__ns(time, row->all_waited_ns),
		100 * accounts__share(row->all_waited_ns, row->life_ns));
	rows__because(&because, reasons, row, wrap__columns(out) - left);
	say_for(row, parts, text);
	if (!because.len) {
		fprintf(out, "%s\n", text);
		return;
	}
	fprintf(out, "%-*s  ", FOR_COLUMNS, text);
	wrap__print_after(&because, out, left);
}

static void print_others(FILE *out, const struct blame *blame, size_t nr, size_t from)
{
	double waited_ns = 0, life_ns = 0;
	char name[RUN_NAME], time[UNITS_TEXT];

	for (size_t i = from; i < nr; i++) {
		waited_ns += blame->rows[i].row->all_waited_ns;
		life_ns += blame->rows[i].row->life_ns;
	}
	snprintf(name, sizeof(name), "%zu other%s", nr - from, nr - from == 1 ? "" : "s");
	fprintf(out, "%-*s %8s %5.1f\n", text__name_columns(out), name, units__ns(time, waited_ns),
		100 * accounts__share(waited_ns, life_ns));
}

static const char *name_of(const void *rows, size_t row)
{
	return ((const struct sufferer *)rows)[row].row->name;
}

void rows__print(FILE *out, const struct reasons *reasons, const struct blame *blame,
		 unsigned int top)
{
	const struct accounts *accounts = reasons->accounts;
	size_t most = top && top < accounts->nr ? top : accounts->nr, shown = 0;
	unsigned int head = text__name_head(out, name_of, blame->rows, most);

	fprintf(out, "%-*s %8s %5s  %-*s  %s\n", text__name_columns(out), "who waited", "waited",
		"life%", FOR_COLUMNS, "for what, % of life", "because of, % of it");
	while (shown < most && (!shown || blame->rows[shown].row->all_waited_ns > 0)) {
		print_row(out, reasons, blame->rows[shown].row, head);
		shown++;
	}
	if (shown < accounts->nr)
		print_others(out, blame, accounts->nr, shown);
}

/* ---- all parts ---- */

static const struct {
	const char *title;
	uint32_t states; /* mask of 1 << enum where_state */
} shares[] = {
	{ "CPU", 1U << WHERE_CPU },
	{ "ready", 1U << WHERE_READY },
	{ "disk", 1U << WHERE_DISK },
	{ "mem", 1U << WHERE_MEMORY | 1U << WHERE_FAULT },
	{ "lock", 1U << WHERE_LOCK },
	{ "futex", 1U << WHERE_FUTEX },
	{ "sock", 1U << WHERE_SOCKET },
	{ "idle", 1U << WHERE_WORK | 1U << WHERE_TIMER | 1U << WHERE_CHILD | 1U << WHERE_STOPPED },
	{ "other", 1U << WHERE_OTHER | 1U << WHERE_UNKNOWN },
};
#define SHARES (sizeof(shares) / sizeof(shares[0]))

static int columns_of(size_t share)
{
	size_t len = strlen(shares[share].title);

	return len > 4 ? (int)len : 4;
}

static void print_shares(FILE *out, const struct where_account *row)
{
	char life[UNITS_TEXT];

	text__key_name(out, row->name);
	fprintf(out, " %7s", units__ns(life, row->life_ns));
	for (size_t i = 0; i < SHARES; i++) {
		double ns = 0, percent;

		for (unsigned int state = 0; state < WHERE_STATES; state++)
			ns += shares[i].states & 1U << state ? row->ns[state] : 0;
		percent = 100 * accounts__share(ns, row->life_ns);
		fprintf(out, " %*.*f", columns_of(i), percent < 99.95, percent);
	}
	fputc('\n', out);
}

void rows__print_shares(FILE *out, const struct accounts *accounts, unsigned int top)
{
	fprintf(out, "\n%-*s %7s", text__name_columns(out), "% of its life in", "lived");
	for (size_t i = 0; i < SHARES; i++)
		fprintf(out, " %*s", columns_of(i), shares[i].title);
	fputc('\n', out);
	for (size_t i = 0; i < accounts->nr && (!top || i < top); i++)
		print_shares(out, &accounts->rows[i]);
	if (top && accounts->nr > top)
		fprintf(out, "%zu more that waited less\n", accounts->nr - top);
}
