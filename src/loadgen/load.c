// SPDX-License-Identifier: BSD-2-Clause
#include "load.h"

#include <stddef.h>
#include <string.h>

#include "workers.h"

const struct load_ops load_fleet = {
	.name = "fleet",
	.help = "rows of many hosts, as serve --clickhouse sends them",
};

const struct load_ops *const load_kinds[] = {
	&load_touch,	&load_hog,   &load_pingpong, &load_dio,
	&load_pressure, &load_mixed, &load_fleet,    NULL,
};

const struct load_ops *load__find(const char *name)
{
	const struct load_ops *const *kind = load_kinds;

	while (*kind && strcmp((*kind)->name, name))
		kind++;
	return *kind;
}
