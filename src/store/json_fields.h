/* SPDX-License-Identifier: BSD-2-Clause */
/* Adds fields to JSON objects. */
#ifndef LATSCOPE_STORE_JSON_FIELDS_H
#define LATSCOPE_STORE_JSON_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

struct json_object;

/* Six digits; null if it is not finite. */
void fields__number(struct json_object *to, const char *name, double value);

void fields__count(struct json_object *to, const char *name, uint64_t value);
void fields__flag(struct json_object *to, const char *name, bool value);

/* Sanitized; NULL is null. */
void fields__text(struct json_object *to, const char *name, const char *value);

#endif
