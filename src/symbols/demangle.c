// SPDX-License-Identifier: BSD-2-Clause
#include "demangle.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Itanium C++ ABI, 3.4.1: the result is allocated with malloc() if there is no buffer. */
static char *(*demangle)(const char *name, char *buffer, size_t *length, int *status);

void demangle__load(void)
{
	void *library = demangle ? NULL : dlopen("libstdc++.so.6", RTLD_NOW);

	if (library)
		demangle = (__typeof__(demangle))dlsym(library, "__cxa_demangle");
}

char *demangle__name(const char *name, size_t len)
{
	char *mangled, *plain;
	int status;

	if (!demangle || len < 3 || strncmp(name, "_Z", 2))
		return NULL;
	mangled = strndup(name, len);
	plain = mangled ? demangle(mangled, NULL, NULL, &status) : NULL;
	free(mangled);
	return plain;
}
