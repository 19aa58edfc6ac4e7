/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields of a JSON object, for those who put one together beside json.c. */
#ifndef LATSCOPE_STORE_JSON_FIELDS_H
#define LATSCOPE_STORE_JSON_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

struct json_object;

/* Six digits; what is not there, or not finite, is null. */
void fields__number(struct json_object *to, const char *name, double value);

void fields__count(struct json_object *to, const char *name, uint64_t value);
void fields__flag(struct json_object *to, const char *name, bool value);

/* Without what must not reach a terminal; NULL is null. */
void fields__text(struct json_object *to, const char *name, const char *value);

#endif
