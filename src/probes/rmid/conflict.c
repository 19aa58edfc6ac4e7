// SPDX-License-Identifier: BSD-2-Clause
#include "conflict.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define GROUPS "/proc/self/cpu_resctrl_groups" /* proc(5), CONFIG_PROC_CPU_RESCTRL */
#define LOCK "/var/lock/libpqos" /* intel-cmt-cat, lib/lock.c */

static bool is_there(const char *path)
{
	return !access(path, F_OK);
}

/* "res:" and the group of this process; empty if resctrl is not mounted. */
static bool is_mounted(const char *path)
{
	FILE *stream = fopen(path, "re");
	bool mounted = false;
	char line[256];

	if (!stream)
		return false;
	if (fgets(line, sizeof(line), stream))
		mounted = !strncmp(line, "res:", 4) && line[4] && line[4] != '\n';
	fclose(stream);
	return mounted;
}

static const struct {
	const char *path;
	bool (*is_used)(const char *path);
	struct conflict conflict;
} signs[] = {
	{ GROUPS,
	  is_mounted,
	  { "resctrl is mounted (" GROUPS " names a group)",
	    "use the method resctrl, or unmount /sys/fs/resctrl for the kernel module" } },
	{ LOCK,
	  is_there,
	  { "pqos has been used since boot (" LOCK " is there)", "do not run both at once" } },
};

const struct conflict *conflict__find(const char *root)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", root, signs[i].path);
		if (signs[i].is_used(path))
			return &signs[i].conflict;
	}
	return NULL;
}
