// SPDX-License-Identifier: BSD-2-Clause
#include "json_fields.h"

#include <math.h>
#include <stdio.h>

#include <json-c/json.h>

void fields__number(struct json_object *to, const char *name, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.6g", value);
	json_object_object_add(to, name,
			       isfinite(value) ? json_object_new_double_s(value, text) : NULL);
}

void fields__count(struct json_object *to, const char *name, uint64_t value)
{
	json_object_object_add(to, name, json_object_new_uint64(value));
}

void fields__flag(struct json_object *to, const char *name, bool value)
{
	json_object_object_add(to, name, json_object_new_boolean(value));
}

void fields__text(struct json_object *to, const char *name, const char *value)
{
	json_object_object_add(to, name, value ? json_object_new_string(value) : NULL);
}
