/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON: fields of objects, arrays whose elements are made while they are printed, printing. */
#ifndef LATSCOPE_STORE_JSON_PRINT_H
#define LATSCOPE_STORE_JSON_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json_object;

/*
 * An array of `nr` elements that are never in memory at the same time: json__print() makes each by
 * make(of, index), prints and frees it. To other code the array is empty. The array calls
 * release(of) when it is freed; release may be NULL. NULL: no memory, and `of` was released.
 */
typedef struct json_object *json_make(const void *of, size_t index);
struct json_object *json__array(size_t nr, json_make *make, void *of, void (*release)(void *of));

/* An array of few elements, which are all made at once. */
struct json_object *json__list(size_t nr, json_make *make, const void *of);

/*
 * Prints and frees the object: on one line, or indented. Strings and names of members are
 * sanitized. -ENOMEM, also if object is NULL; errors of the stream are left to ferror().
 */
int json__print(struct json_object *object, FILE *stream, bool indented);

/* ---- fields of an object ---- */

void fields__put(struct json_object *to, const char *name, struct json_object *value);
void fields__list(struct json_object *to, const char *name, size_t nr, json_make *make,
		  const void *of);

/* Six digits; null if it is not finite. */
void fields__number(struct json_object *to, const char *name, double value);

void fields__count(struct json_object *to, const char *name, uint64_t value);
void fields__flag(struct json_object *to, const char *name, bool value);

/* Sanitized; NULL is null. */
void fields__text(struct json_object *to, const char *name, const char *value);

#endif
