/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields of JSON by their path, as "percentiles/p50_us" or "probes/0/module". */
#ifndef LATSCOPE_TESTS_FIELDS_H
#define LATSCOPE_TESTS_FIELDS_H

#include "unit.h"

#include <json-c/json.h>

/* It must be there; NULL: it is null. */
static inline struct json_object *field(struct json_object *object, const char *path)
{
	struct json_object *found = NULL;

	if (json_pointer_get(object, unit_text("/%s", path), &found))
		fail_msg("there is no %s", path);
	return found;
}

static inline double field_number(struct json_object *object, const char *path)
{
	struct json_object *found = field(object, path);

	assert_non_null(found);
	return json_object_get_double(found);
}

static inline size_t field_length(struct json_object *object, const char *path)
{
	return json_object_array_length(field(object, path));
}

static inline void assert_field(struct json_object *object, const char *path, const char *expected)
{
	const char *got =
		json_object_to_json_string_ext(field(object, path), JSON_C_TO_STRING_NOSLASHESCAPE);

	if (strcmp(got, expected))
		fail_msg("%s is %s, not %s", path, got, expected);
}

#endif
