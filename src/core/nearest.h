/* SPDX-License-Identifier: BSD-2-Clause */
/* What somebody meant who mistyped a name. */
#ifndef LATSCOPE_CORE_NEAREST_H
#define LATSCOPE_CORE_NEAREST_H

#include <stddef.h>

struct nearest {
	const char *name; /* NULL: none so far is near enough */
	unsigned int distance;
};

/* Compares a known name with the word, and keeps it if it is near, and nearer than those before. */
void nearest__add(struct nearest *nearest, const char *word, const char *name);

#endif
