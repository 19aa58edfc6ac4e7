/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording as JSON; docs/format.md lists the fields. The caller frees the objects, by
 * json__print() or json_object_put(), before it changes the run.
 */
#ifndef LATSCOPE_STORE_JSON_H
#define LATSCOPE_STORE_JSON_H

#include <core/run.h>

#include "json_print.h"

struct json_object;

/* The content of <probe>.summary.json. */
struct json_object *json__summary(const struct run *run, const struct run_probe *probe);

/* All probes in one object, refused ones with the reason: `--json`. */
struct json_object *json__run(const struct run *run);

/* One interval of all probes: a line of `-i --json`. */
struct json_object *json__interval(const struct run *run, const struct run_interval *interval);

#endif
