/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of a probe as JSON. The arrays are those of json__array(); free them before the table
 * changes.
 */
#ifndef LATSCOPE_STORE_TABLE_JSON_H
#define LATSCOPE_STORE_TABLE_JSON_H

#include <core/table.h>

struct json_object;

/* A row as an object; values that are not known are null. */
struct json_object *table__json_row(const struct table *table, size_t row);
struct json_object *table__json_rows(const struct table *table);

struct json_object *table__json_columns(const struct table *table);

/* The top-K sketch: its keys, and the keys that were evicted (NULL: none). */
struct json_object *table__json_top_k(const struct table *table);
struct json_object *table__json_others(const struct table *table);

#endif
