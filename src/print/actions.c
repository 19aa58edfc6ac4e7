// SPDX-License-Identifier: BSD-2-Clause
/* What a probe changed on the machine, as text. The columns are those of a file: any may lack. */
#include <math.h>

#include <core/sanitize.h>
#include <core/units.h>

#include "text.h"
#include "wrap.h"

const struct table_aggregate *actions__aggregate(const struct table *actions, size_t key,
						 const char *name)
{
	static const struct table_aggregate none;
	int column = table__find_column(actions, name);

	if (column < 0 || !table__is_number(actions, (unsigned int)column))
		return &none;
	return table__aggregate(actions, key, (unsigned int)column);
}

static void add_text(struct wrap *wrap, const char *format, struct table_value value)
{
	char text[RUN_TEXT];

	if (value.known && value.kind == TABLE_TEXT)
		wrap__add(wrap, format, sanitize__text(text, sizeof(text), value.text));
}

struct table_value actions__key(const struct table *actions, size_t key, const char *name)
{
	int column = table__find_column(actions, name);

	if (column < 0 || !table__column(actions, (unsigned int)column)->key)
		return (struct table_value){ 0 };
	return table__key(actions, key, (unsigned int)column);
}

struct table_value actions__value(const struct table *actions, size_t row, const char *name)
{
	int column = table__find_column(actions, name);

	if (column < 0)
		return (struct table_value){ 0 };
	return table__value(actions, row, (unsigned int)column);
}

static void add_bytes(struct wrap *wrap, const char *format, double bytes)
{
	char text[UNITS_TEXT];

	if (bytes >= 0 && bytes < 1e18)
		wrap__add(wrap, format, units__size(text, (uint64_t)bytes));
}

static void print_key(FILE *out, const struct table *actions, size_t key)
{
	const struct table_aggregate *before = actions__aggregate(actions, key, "placement_before");
	const struct table_aggregate *after = actions__aggregate(actions, key, "placement_after");
	const struct table_aggregate *moved = actions__aggregate(actions, key, "moved_bytes");
	const struct table_aggregate *asked = actions__aggregate(actions, key, "asked_bytes");
	const struct table_aggregate *verified = actions__aggregate(actions, key, "verified");
	struct wrap wrap = { 0 };

	add_text(&wrap, "%s", actions__key(actions, key, "action"));
	add_text(&wrap, " to %s", actions__key(actions, key, "to"));
	add_text(&wrap, " (%s)", actions__key(actions, key, "why"));
	if (before->rows)
		wrap__add(&wrap, ": %llu times", (unsigned long long)before->rows);
	if (asked->rows)
		add_bytes(&wrap, ", %s asked", asked->sum);
	if (moved->rows)
		add_bytes(&wrap, ", %s moved", moved->sum);
	if (verified->rows)
		wrap__add(&wrap, ", %.0f verified", verified->sum);
	if (before->rows)
		wrap__add(&wrap, "; placement %.3f at the end",
			  after->rows ? after->last : before->last);
	wrap__print(&wrap, out, 2, 2);
}

void actions__text(FILE *out, const struct table *actions)
{
	if (table__keys(actions))
		fputs("actions:\n", out);
	for (size_t key = 0; key < table__keys(actions); key++)
		print_key(out, actions, key);
}

static void add_share(struct wrap *wrap, const char *format, struct table_value value)
{
	if (value.known && value.kind == TABLE_REAL && isfinite(value.real))
		wrap__add(wrap, format, value.real);
}

void actions__text_rows(FILE *out, const struct table *actions)
{
	for (size_t row = 0; row < table__rows(actions); row++) {
		struct table_value asked = actions__value(actions, row, "asked_bytes");
		struct table_value moved = actions__value(actions, row, "moved_bytes");
		struct wrap wrap = { 0 };

		add_text(&wrap, "act: %s", actions__value(actions, row, "action"));
		add_text(&wrap, " to %s", actions__value(actions, row, "to"));
		add_text(&wrap, " (%s)", actions__value(actions, row, "why"));
		add_share(&wrap, "; placement %.3f",
			  actions__value(actions, row, "placement_before"));
		add_share(&wrap, " -> %.3f", actions__value(actions, row, "placement_after"));
		add_share(&wrap, ", weights for %.3f",
			  actions__value(actions, row, "weights_before"));
		add_share(&wrap, " -> %.3f", actions__value(actions, row, "weights_after"));
		if (asked.known)
			add_bytes(&wrap, ", %s asked", (double)asked.integer);
		if (moved.known)
			add_bytes(&wrap, ", %s moved", (double)moved.integer);
		wrap__print(&wrap, out, 11, 2);
	}
}
