// SPDX-License-Identifier: BSD-2-Clause
#include "host_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

static struct json_object *parse(const struct run *run)
{
	return json_tokener_parse(run->host ? run->host : "{}");
}

static int64_t cpus_of(struct json_object *host)
{
	struct json_object *cpus;

	return json_object_object_get_ex(host, "cpus_online", &cpus) ? json_object_get_int64(cpus)
								     : 0;
}

int64_t host_words__cpus(const struct run *run)
{
	struct json_object *host = parse(run);
	int64_t cpus = cpus_of(host);

	json_object_put(host);
	return cpus;
}

static const char *text_of(struct json_object *host, const char *name)
{
	struct json_object *text;

	return json_object_object_get_ex(host, name, &text) ? json_object_get_string(text) : NULL;
}

const char *host_words__describe(const struct run *run, char out[RUN_TEXT])
{
	struct json_object *host = parse(run);
	const char *name = text_of(host, "hostname"), *kernel = text_of(host, "kernel");
	int64_t cpus = cpus_of(host);
	size_t len;

	snprintf(out, RUN_TEXT, "%.64s", name ? name : "this machine");
	len = strlen(out);
	if (cpus)
		snprintf(out + len, RUN_TEXT - len, ", %" PRId64 " CPU%s", cpus,
			 cpus == 1 ? "" : "s");
	len = strlen(out);
	if (kernel)
		snprintf(out + len, RUN_TEXT - len, ", Linux %.*s",
			 (int)strspn(kernel, "0123456789."), kernel);
	json_object_put(host);
	return out;
}
