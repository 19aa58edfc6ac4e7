/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording as JSON; docs/format.md lists the fields. What these return is to be put
 * (json_object_put()).
 */
#ifndef LATSCOPE_STORE_JSON_H
#define LATSCOPE_STORE_JSON_H

#include <core/run.h>

#include "json_print.h"

struct json_object;

/* What stands in <module>.summary.json. */
struct json_object *json__summary(const struct run *run, const struct run_probe *probe);

/* All modules in one object, the refused ones with their reason: `--json`. */
struct json_object *json__run(const struct run *run);

/* One interval of all modules: a line of `-i --json`. */
struct json_object *json__interval(const struct run *run, const struct run_interval *interval);

#endif
