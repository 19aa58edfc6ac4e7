/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording as JSON; docs/format.md lists the fields. What these return is to be put
 * (json_object_put()).
 */
#ifndef LATSCOPE_STORE_JSON_H
#define LATSCOPE_STORE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <core/run.h>

struct json_object;

/* What stands in <module>.summary.json. */
struct json_object *json__summary(const struct run *run, const struct run_probe *probe);

/* All modules in one object, the refused ones with their reason: `--json`. */
struct json_object *json__run(const struct run *run);

/* One interval of all modules: a line of `-i --json`. */
struct json_object *json__interval(const struct run *run, const struct run_interval *interval);

/*
 * An array of `nr` elements that there is no need to have in memory together: json__print() makes
 * each as it comes to it, by make(of, index), and puts it. To anyone else the array is empty.
 */
typedef struct json_object *json_make(const void *of, size_t index);
struct json_object *json__array(size_t nr, json_make *make, const void *of);

/*
 * Prints and puts it: on one line, or indented. Texts and names of members are printed without what
 * must not reach a terminal. -ENOMEM, also if object is NULL; what becomes of the stream is for
 * ferror() to tell.
 */
int json__print(struct json_object *object, FILE *stream, bool indented);

#endif
