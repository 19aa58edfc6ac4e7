// SPDX-License-Identifier: BSD-2-Clause
#include "clickhouse_rows.h"

#include <stdio.h>
#include <string.h>

#include <core/cgroup_name.h>
#include <core/sanitize.h>

#define TEXT 512

/* Visible characters only, so what must be escaped is the backslash and, within an array, '. */
static void put_escaped(struct bytes *to, const char *text)
{
	char safe[TEXT];

	sanitize__text(safe, sizeof(safe), text);
	for (const char *at = safe; *at; at++) {
		if (*at == '\\' || *at == '\'')
			bytes__text(to, "\\");
		bytes__add(to, at, 1);
	}
}

static void put_text(struct bytes *to, const char *text)
{
	put_escaped(to, text);
	bytes__text(to, "\t");
}

static void put_number(struct bytes *to, uint64_t value)
{
	bytes__printf(to, "%llu\t", (unsigned long long)value);
}

static void put_if(struct bytes *to, bool known, uint64_t value)
{
	if (known)
		put_number(to, value);
	else
		bytes__text(to, "\\N\t");
}

static void put_labels(struct bytes *to, const struct clickhouse_batch *batch)
{
	bytes__text(to, "[");
	for (unsigned int i = 0; i < batch->nr_labels; i++) {
		bytes__text(to, i ? ",'" : "'");
		put_escaped(to, batch->labels[i].key);
		bytes__text(to, "=");
		put_escaped(to, batch->labels[i].value);
		bytes__text(to, "'");
	}
	bytes__text(to, "]\t");
}

static void put_hist(struct bytes *to, const struct sparse *hist)
{
	for (uint64_t i = 0; i < hist->nr; i++)
		bytes__printf(to, "%s%u", i ? "," : "[", hist->slots[i].slot);
	bytes__text(to, hist->nr ? "]\t" : "[]\t");
	for (uint64_t i = 0; i < hist->nr; i++)
		bytes__printf(to, "%s%llu", i ? "," : "[",
			      (unsigned long long)hist->slots[i].count);
	bytes__text(to, hist->nr ? "]\t" : "[]\t");
	put_number(to, sparse__count(hist));
	put_number(to, hist->sum_ns);
	put_number(to, hist->max_ns);
	put_number(to, hist->tail);
}

static void put_counts(struct bytes *to, const struct clickhouse_row *row)
{
	static const enum lat_count terms[] = { LAT_SEEN,      LAT_FILTERED, LAT_MISSED_START,
						LAT_UNMATCHED, LAT_MAP_FULL, LAT_NEGATIVE,
						LAT_EXCLUDED,  LAT_CONTINUED };

	for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++)
		put_if(to, row->counts, row->counts ? row->counts[terms[i]] : 0);
	put_if(to, row->counts, row->lost);
	put_if(to, row->counts && row->lost_ns_known, row->lost_ns);
	if (!to->failed)
		to->at[to->len - 1] = '\n';
}

void clickhouse_rows__add(struct bytes *to, const struct clickhouse_batch *batch,
			  const struct clickhouse_row *row)
{
	put_number(to, batch->start_s);
	put_text(to, batch->host);
	put_text(to, batch->run);
	put_number(to, batch->number);
	put_number(to, batch->interval_ns);
	put_text(to, row->probe);
	put_text(to, row->metric);
	put_text(to, row->service ? "service" : "");
	put_text(to, row->service ? row->service : "");
	put_text(to, batch->kernel);
	put_text(to, row->method);
	put_labels(to, batch);
	put_hist(to, row->hist);
	put_number(to, row->tail_ns);
	put_counts(to, row);
}

/* A name that no other host has would make a group of its own. */
static bool is_id(const char *text)
{
	size_t len = strspn(text, "0123456789abcdef");

	return len >= 12 && !text[len];
}

void clickhouse_rows__service(char service[RUN_NAME * 2], const char *name, const char *path)
{
	struct cgroup_name parsed = { 0 };
	const char *found = name;

	if (path)
		cgroup_name__parse(&parsed, path);
	if (parsed.container[0] && is_id(parsed.container)) {
		snprintf(service, (size_t)RUN_NAME * 2, "(%s)", parsed.runtime);
		return;
	}
	if (parsed.container[0])
		found = parsed.container;
	else if (parsed.unit[0])
		found = parsed.unit;
	sanitize__text(service, (size_t)RUN_NAME * 2, found);
}
