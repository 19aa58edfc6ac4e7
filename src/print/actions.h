/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of what a probe changed, by the names of its columns. A file may lack any of them. */
#ifndef LATSCOPE_PRINT_ACTIONS_H
#define LATSCOPE_PRINT_ACTIONS_H

#include <core/table.h>

struct table_value actions__value(const struct table *actions, size_t row, const char *name);

/* Of a key of its top-K sketch: a key column, and the sums of a number. */
struct table_value actions__key(const struct table *actions, size_t key, const char *name);
const struct table_aggregate *actions__aggregate(const struct table *actions, size_t key,
						 const char *name);

#endif
