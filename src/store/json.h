/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording as JSON; docs/format.md lists the fields. The caller frees the objects, by
 * json__print() or json_object_put(), before it changes the run.
 */
#ifndef LATSCOPE_STORE_JSON_H
#define LATSCOPE_STORE_JSON_H

#include <core/run.h>
#include <core/table.h>

#include "json_print.h"

struct json_object;

/* The content of <probe>.summary.json. */
struct json_object *json__summary(const struct run *run, const struct run_probe *probe);

/* All probes in one object, refused ones with the reason: `--json`. */
struct json_object *json__run(const struct run *run);

/* One interval of all probes: a line of `-i --json`. */
struct json_object *json__interval(const struct run *run, const struct run_interval *interval);

/* ---- table_json.c ---- */

/* A row as an object; values that are not known are null. */
struct json_object *table__json_row(const struct table *table, size_t row);
struct json_object *table__json_rows(const struct table *table);

struct json_object *table__json_columns(const struct table *table);

/* The top-K sketch: its keys, and the keys that were evicted (NULL: none). */
struct json_object *table__json_top_k(const struct table *table);
struct json_object *table__json_others(const struct table *table);

#endif
