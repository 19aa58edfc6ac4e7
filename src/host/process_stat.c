// SPDX-License-Identifier: BSD-2-Clause
#include "process_stat.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

int process_stat__read(const char *root, int pid, struct process_stat *stat)
{
	char path[PATH_MAX], text[1024], *name, *after;
	uint64_t system = 0;
	FILE *stream;
	size_t len;
	int got;

	snprintf(path, sizeof(path), "%s/proc/%d/stat", root, pid);
	stream = fopen(path, "re");
	if (!stream)
		return -errno;
	len = fread(text, 1, sizeof(text) - 1, stream);
	fclose(stream);
	text[len] = '\0';
	after = strrchr(text, ')'); /* the name may contain one, too */
	if (!len)
		return -ENOENT;
	name = strchr(text, '(');
	if (!name || !after || after < name)
		return -EBADMSG;
	snprintf(stat->comm, sizeof(stat->comm), "%.*s", (int)(after - name - 1), name + 1);
	got = sscanf(after,
		     ") %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
		     " %*d %*d %*d %*d %u %*d %" SCNu64,
		     &stat->state, &stat->parent, &stat->cpu_ticks, &system, &stat->threads,
		     &stat->start_ticks);
	stat->cpu_ticks += system;
	return got == 6 ? 0 : -EBADMSG;
}

bool process_stat__lives(const struct process_stat *stat)
{
	return stat->threads > 1 || !strchr("ZX", stat->state);
}
