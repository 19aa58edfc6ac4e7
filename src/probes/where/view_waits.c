// SPDX-License-Identifier: BSD-2-Clause
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <core/units.h>
#include <print/wrap.h>

#include "chains.h"
#include "view_parts.h"
#include "view_states.h"
#include "waits.h"

struct wait {
	size_t key;
	double ns, explained_ns;
	bool in_call; /* not of a kernel thread */
};

/*
 * Those of kernel threads come last, since what matters is who waits for them. Else those that the
 * chain explains come first: the others may have been for work.
 */
static int worst_first(const void *left, const void *right)
{
	const struct wait *a = left, *b = right;

	if (a->in_call != b->in_call)
		return a->in_call ? -1 : 1;
	if (a->explained_ns != b->explained_ns)
		return a->explained_ns < b->explained_ns ? 1 : -1;
	return a->ns < b->ns ? 1 : a->ns > b->ns ? -1 : 0;
}

static double high(const struct table *table, size_t key, unsigned int column)
{
	const struct table_aggregate *aggregate = table__aggregate(table, key, column);

	return aggregate->rows ? aggregate->high : 0;
}

static void print_wait(FILE *out, const struct table *table, const struct wait *wait)
{
	const char *state = accounts__text(table, wait->key, WAITS_STATE);
	const char *call = accounts__text(table, wait->key, WAITS_CALL);
	const char *chain = accounts__text(table, wait->key, WAITS_CHAIN);
	struct wrap wrap = { 0 };
	char ns[UNITS_TEXT];

	fprintf(out, "%9s  ", units__ns(ns, wait->ns));
	wrap__add(&wrap, "%s (%" PRId64 "): %s", accounts__text(table, wait->key, WAITS_COMM),
		  table__key(table, wait->key, WAITS_TID).integer, state);
	if (call[0] && strcmp(call, state) != 0)
		wrap__add(&wrap, " in %s", call);
	if (chain[0])
		wrap__add(&wrap, " < %s", chain);
	wrap__print_after(&wrap, out, 11);
}

/* Copies a chain without its numbers: "python3 (12): timer 50.1 ms" to "python3 (): timer". */
static void drop_numbers(const char *from, char to[CHAINS_TEXT])
{
	const char *end = to + CHAINS_TEXT - 1; /* a file may have longer ones */

	while (*from && to < end) {
		if (*from == ' ' && isdigit((unsigned char)from[1])) {
			from += 1 + strspn(from + 1, "0123456789.,");
			from += strspn(from, " ");
			from += strspn(from, "numsi"); /* ns, us, ms, s, min */
		} else if (isdigit((unsigned char)*from)) {
			from++;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
}

/* Do both tell the same: tasks of one name, the same state and chain? */
static bool are_alike(const struct table *table, size_t a, size_t b)
{
	char one[CHAINS_TEXT], other[CHAINS_TEXT];

	drop_numbers(accounts__text(table, a, WAITS_CHAIN), one);
	drop_numbers(accounts__text(table, b, WAITS_CHAIN), other);
	return !strcmp(one, other) &&
	       !strcmp(accounts__text(table, a, WAITS_COMM),
		       accounts__text(table, b, WAITS_COMM)) &&
	       !strcmp(accounts__text(table, a, WAITS_STATE),
		       accounts__text(table, b, WAITS_STATE)) &&
	       !strcmp(accounts__text(table, a, WAITS_CALL), accounts__text(table, b, WAITS_CALL));
}

/* Keeps the worst of those that are alike. Returns how many are left, up to `top`. */
static size_t keep_different(const struct table *table, struct wait *waits, size_t nr,
			     unsigned int top)
{
	size_t kept = 0, at;

	for (size_t i = 0; i < nr && (!top || kept < top); i++) {
		for (at = 0; at < kept && !are_alike(table, waits[at].key, waits[i].key); at++)
			;
		if (at == kept)
			waits[kept++] = waits[i];
	}
	return kept;
}

const char *waits__last_link(const char *chain)
{
	for (const char *next; (next = strstr(chain, " < "));)
		chain = next + 3;
	return chain;
}

/* Of a chain of more than two links the first one and the last one, which made all others wait. */
static void add_links(struct wrap *wrap, const char *chain)
{
	const char *second = strstr(chain, " < "), *last = waits__last_link(chain);

	if (second && second + 3 != last)
		wrap__add(wrap, " < %.*s < ... < %s", (int)(second - chain), chain, last);
	else
		wrap__add(wrap, " < %s", chain);
}

void waits__add_worst(struct wrap *wrap, const struct table *table, uint32_t states)
{
	size_t keys = table ? table__keys(table) : 0, worst = keys;
	char text[UNITS_TEXT];

	for (size_t key = 0; key < keys; key++) {
		int state = where_state(accounts__text(table, key, WAITS_STATE));

		if (state >= 0 && states & 1U << state &&
		    accounts__text(table, key, WAITS_CHAIN)[0] &&
		    (worst == keys ||
		     high(table, key, WAITS_EXPLAINED_NS) > high(table, worst, WAITS_EXPLAINED_NS)))
			worst = key;
	}
	if (worst == keys || !high(table, worst, WAITS_EXPLAINED_NS))
		return;
	wrap__add(wrap, "; the longest %s: %s (%" PRId64 ")",
		  units__ns(text, high(table, worst, WAITS_NS)),
		  accounts__text(table, worst, WAITS_COMM),
		  table__key(table, worst, WAITS_TID).integer);
	add_links(wrap, accounts__text(table, worst, WAITS_CHAIN));
}

int waits__print(FILE *out, const struct table *table, unsigned int top)
{
	size_t keys = table ? table__keys(table) : 0;
	struct wait *waits = calloc(keys + 1, sizeof(*waits));

	if (!waits)
		return -ENOMEM;
	for (size_t key = 0; key < keys; key++)
		waits[key] = (struct wait){ .key = key,
					    .ns = high(table, key, WAITS_NS),
					    .explained_ns = high(table, key, WAITS_EXPLAINED_NS),
					    .in_call = accounts__text(table, key, WAITS_CALL)[0] };
	qsort(waits, keys, sizeof(*waits), worst_first);
	if (keys)
		fprintf(out,
			"worst waits (A < B: B ended the wait of A, and did that meanwhile)\n");
	keys = keep_different(table, waits, keys, top);
	for (size_t i = 0; i < keys; i++)
		print_wait(out, table, &waits[i]);
	free(waits);
	return 0;
}
