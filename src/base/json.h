/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording as JSON; docs/format.md lists the fields. What these return is to be put
 * (json_object_put()).
 */
#ifndef LATSCOPE_BASE_JSON_H
#define LATSCOPE_BASE_JSON_H

#include <stdio.h>

#include "run.h"

struct json_object;

/* What stands in <module>.summary.json. */
struct json_object *json__summary(const struct run *run, const struct run_module *module);

/* All modules in one object, the refused ones with their reason: `--json`. */
struct json_object *json__run(const struct run *run);

/* One interval of all modules: a line of `-i --json`. */
struct json_object *json__interval(const struct run *run, const struct run_interval *interval);

/*
 * Prints and puts it: on one line, or indented. -ENOMEM, also if object is NULL; what becomes of
 * the stream is for ferror() to tell.
 */
int json__print(struct json_object *object, FILE *stream, bool indented);

/* A string without what must not reach a terminal. NULL: no memory. */
struct json_object *json__text(const char *string);

#endif
