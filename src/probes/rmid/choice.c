// SPDX-License-Identifier: BSD-2-Clause
#include "choice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/types.h>

#include <host/cgroups.h>
#include <host/process_stat.h>
#include <latscope/event.h>

#define SECOND 1000000000ULL

static int find_cgroup(struct choice *choice, uint64_t id, char why[RUN_TEXT])
{
	struct cgroups *cgroups;
	const char *path = NULL;
	int err = cgroups__new(&cgroups, choice->root);

	if (!err) {
		path = cgroups__path(cgroups, id);
		if (path)
			snprintf(choice->cgroup, sizeof(choice->cgroup), "%s", path);
		cgroups__free(cgroups);
	}
	if (path)
		return 0;
	snprintf(why, RUN_TEXT, "the cgroup is gone");
	return err ? err : -ENOENT;
}

int choice__init(struct choice *choice, const struct lat_config *config, char why[RUN_TEXT])
{
	*choice = (struct choice){ .root = "" };
	if (!config)
		return 0;
	choice->tgid = config->tgid;
	snprintf(choice->comm, sizeof(choice->comm), "%s", config->comm);
	return config->cgroup ? find_cgroup(choice, config->cgroup, why) : 0;
}

bool choice__selects(const struct choice *choice)
{
	return choice->tgid || choice->comm[0] || choice->cgroup[0];
}

/* "0::/a/b" is in /a, and not in /ab. The root cgroup has all. */
static bool is_below(const char *line, const char *cgroup)
{
	size_t len = strcmp(cgroup, "/") ? strlen(cgroup) : 0;

	return !strncmp(line, "0::", 3) && !strncmp(line + 3, cgroup, len) &&
	       (line[3 + len] == '/' || line[3 + len] == '\0');
}

static bool is_in_cgroup(const struct choice *choice, uint32_t tgid)
{
	char path[PATH_MAX], *line = NULL;
	bool found = false;
	size_t size = 0;
	FILE *stream;

	snprintf(path, sizeof(path), "%s/proc/%u/cgroup", choice->root, tgid);
	stream = fopen(path, "re");
	while (stream && !found && getline(&line, &size, stream) > 0) {
		line[strcspn(line, "\n")] = '\0';
		found = is_below(line, choice->cgroup);
	}
	if (stream)
		fclose(stream);
	free(line);
	return found;
}

static bool is_selected(const struct choice *choice, uint32_t tgid, const char *comm)
{
	return (!choice->tgid || choice->tgid == tgid) &&
	       (!choice->comm[0] || !strncmp(choice->comm, comm, RMID_COMM_LEN - 1)) &&
	       (!choice->cgroup[0] || is_in_cgroup(choice, tgid));
}

/* Of a second of its life, so far. */
static int64_t used_before(const struct choice *choice, uint32_t tgid, uint64_t start_ns)
{
	struct process_stat stat;
	struct timespec now;
	uint64_t age_ns;

	if (process_stat__read(choice->root, (int)tgid, &stat) ||
	    clock_gettime(CLOCK_BOOTTIME, &now))
		return 0;
	age_ns = (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
	age_ns = age_ns > start_ns + SECOND ? age_ns - start_ns : SECOND;
	return (int64_t)((double)stat.cpu_ticks / (double)sysconf(_SC_CLK_TCK) * 1e9 *
			 (double)SECOND / (double)age_ns);
}

int64_t choice__weight(const struct choice *choice, uint32_t tgid, uint64_t start_ns,
		       const char *comm)
{
	uint32_t index;

	if (!is_selected(choice, tgid, comm))
		return -1;
	if (!choice->processes)
		return used_before(choice, tgid, start_ns);
	index = processes__look(choice->processes, tgid, start_ns);
	return index ? (int64_t)processes__at(choice->processes, index)->used_ns : 0;
}
