// SPDX-License-Identifier: BSD-2-Clause
/*
 * Prints JSON to a stream, piece by piece. json-c would build one string of everything, which takes
 * megabytes for a long recording; it is used here to print single values.
 */
#include "json_print.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include <core/sanitize.h>

struct elements {
	size_t nr;
	json_make *make;
	void *of;
	void (*release)(void *of);
};

struct printer {
	FILE *out;
	bool indented;
	unsigned int depth;
};

static void free_elements(struct json_object *array, void *userdata)
{
	struct elements *elements = userdata;

	(void)array;
	if (elements->release)
		elements->release(elements->of);
	free(elements);
}

struct json_object *json__array(size_t nr, json_make *make, void *of, void (*release)(void *of))
{
	struct json_object *array = json_object_new_array();
	struct elements *elements = malloc(sizeof(*elements));

	if (!array || !elements) {
		json_object_put(array);
		free(elements);
		if (release)
			release(of);
		return NULL;
	}
	*elements = (struct elements){ nr, make, of, release };
	json_object_set_userdata(array, elements, free_elements);
	return array;
}

struct json_object *json__list(size_t nr, json_make *make, const void *of)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < nr; i++)
		json_object_array_add(array, make(of, i));
	return array;
}

static int print_value(struct printer *printer, struct json_object *value);

/* JSON has no infinity and no NaN. */
static bool is_number(struct json_object *value)
{
	return !json_object_is_type(value, json_type_double) ||
	       isfinite(json_object_get_double(value));
}

static int print_as_it_is(struct printer *printer, struct json_object *value)
{
	const char *text = json_object_to_json_string_ext(value, JSON_C_TO_STRING_NOSLASHESCAPE);

	if (!text)
		return -ENOMEM;
	fputs(is_number(value) ? text : "null", printer->out);
	return 0;
}

/* A string without escape sequences. NULL: no memory. */
static struct json_object *clean_string(const char *string)
{
	size_t size = strlen(string) + 1;
	struct json_object *object;
	char *clean;

	clean = malloc(size);
	if (!clean)
		return NULL;
	object = json_object_new_string(sanitize__text(clean, size, string));
	free(clean);
	return object;
}

/* All JSON that latscope prints passes here, so texts are sanitized only here. */
static int print_scalar(struct printer *printer, struct json_object *value)
{
	struct json_object *clean;
	int err;

	if (!json_object_is_type(value, json_type_string))
		return print_as_it_is(printer, value);
	clean = clean_string(json_object_get_string(value));
	err = clean ? print_as_it_is(printer, clean) : -ENOMEM;
	json_object_put(clean);
	return err;
}

static void new_line(const struct printer *printer)
{
	if (printer->indented)
		fprintf(printer->out, "\n%*s", 2 * (int)printer->depth, "");
}

/* Prints the separator before an element. */
static void next_element(struct printer *printer, bool first)
{
	if (!first)
		fputc(',', printer->out);
	new_line(printer);
}

static int print_name(struct printer *printer, const char *name)
{
	struct json_object *string = json_object_new_string(name);
	int err = string ? print_scalar(printer, string) : -ENOMEM;

	fputs(printer->indented ? ": " : ":", printer->out);
	json_object_put(string);
	return err;
}

/* Length of an array, which may be one of json__array(). */
static size_t count(struct json_object *array)
{
	const struct elements *elements = json_object_get_userdata(array);

	return elements ? elements->nr : json_object_array_length(array);
}

static int print_members(struct printer *printer, struct json_object *object)
{
	bool first = true;
	int err;

	json_object_object_foreach(object, name, value)
	{
		next_element(printer, first);
		first = false;
		err = print_name(printer, name);
		if (!err)
			err = print_value(printer, value);
		if (err)
			return err;
	}
	return 0;
}

static int print_made(struct printer *printer, const struct elements *elements, size_t index)
{
	struct json_object *element = elements->make(elements->of, index);
	int err = element ? print_value(printer, element) : -ENOMEM;

	json_object_put(element);
	return err;
}

static int print_elements(struct printer *printer, struct json_object *array)
{
	const struct elements *elements = json_object_get_userdata(array);
	size_t nr = count(array);
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++) {
		next_element(printer, !i);
		if (elements)
			err = print_made(printer, elements, i);
		else
			err = print_value(printer, json_object_array_get_idx(array, i));
	}
	return err;
}

static int print_value(struct printer *printer, struct json_object *value)
{
	bool object = json_object_is_type(value, json_type_object);
	int err;

	if (!object && !json_object_is_type(value, json_type_array))
		return print_scalar(printer, value);
	fputc(object ? '{' : '[', printer->out);
	printer->depth++;
	err = object ? print_members(printer, value) : print_elements(printer, value);
	printer->depth--;
	if (object ? json_object_object_length(value) > 0 : count(value) > 0)
		new_line(printer);
	fputc(object ? '}' : ']', printer->out);
	return err;
}

int json__print(struct json_object *object, FILE *stream, bool indented)
{
	struct printer printer = { stream, indented, 0 };
	int err;

	if (!object)
		return -ENOMEM;
	err = print_value(&printer, object);
	fputc('\n', stream);
	json_object_put(object);
	return err;
}

/* ---- fields of an object ---- */

void fields__put(struct json_object *to, const char *name, struct json_object *value)
{
	json_object_object_add(to, name, value);
}

void fields__list(struct json_object *to, const char *name, size_t nr, json_make *make,
		  const void *of)
{
	json_object_object_add(to, name, json__list(nr, make, of));
}

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
