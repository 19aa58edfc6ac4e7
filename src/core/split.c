// SPDX-License-Identifier: BSD-2-Clause
#include "split.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define IDS 10

struct dimension {
	const char *name;
	const char *ids[IDS];
};

static const struct dimension dimensions[LAT_BY_COUNT] = {
	[LAT_BY_PROCESS] = { "process", { NULL } },
	[LAT_BY_THREAD] = { "thread", { NULL } },
	[LAT_BY_CGROUP] = { "cgroup", { NULL } },
	[LAT_BY_DISK] = { "disk", { NULL } },
	[LAT_BY_OP] = { "op",
			{ [LAT_OP_READ] = "read",
			  [LAT_OP_WRITE] = "write",
			  [LAT_OP_DISCARD] = "discard",
			  [LAT_OP_FLUSH] = "flush",
			  [LAT_OP_OTHER] = "other" } },
	[LAT_BY_MODE] = { "mode",
			  { [LAT_MODE_USER] = "user",
			    [LAT_MODE_KERNEL] = "kernel",
			    [LAT_MODE_GUP] = "gup" } },
	[LAT_BY_TYPE] = { "type",
			  { [LAT_TYPE_MINOR] = "minor",
			    [LAT_TYPE_MAJOR] = "major",
			    [LAT_TYPE_FAILED] = "failed" } },
	[LAT_BY_ACCESS] = { "access",
			    { [LAT_ACCESS_READ] = "read",
			      [LAT_ACCESS_WRITE] = "write",
			      [LAT_ACCESS_EXEC] = "exec" } },
	[LAT_BY_PAGE] = { "page",
			  { [LAT_PAGE_BASE] = "base",
			    [LAT_PAGE_THP] = "thp",
			    [LAT_PAGE_HUGETLB] = "hugetlb" } },
	[LAT_BY_VECTOR] = { "vector",
			    { "hi", "timer", "net_tx", "net_rx", "block", "irq_poll", "tasklet",
			      "sched", "hrtimer", "rcu" } },
	[LAT_BY_KIND] = { "kind",
			  { [LAT_KIND_ANONYMOUS] = "anonymous",
			    [LAT_KIND_FILE] = "file",
			    [LAT_KIND_COW] = "cow",
			    [LAT_KIND_HUGETLB] = "hugetlb",
			    [LAT_KIND_NUMA] = "numa",
			    [LAT_KIND_SWAP] = "swap",
			    [LAT_KIND_MIGRATION] = "migration",
			    [LAT_KIND_UFFD] = "uffd" } },
	[LAT_BY_CPU] = { "cpu", { NULL } },
};

const char *split__name(unsigned int by)
{
	return by < LAT_BY_COUNT ? dimensions[by].name : NULL;
}

static int find(const char *name, size_t len)
{
	for (int i = 0; i < LAT_BY_COUNT; i++) {
		if (strlen(dimensions[i].name) == len && !memcmp(dimensions[i].name, name, len))
			return i;
	}
	return -EINVAL;
}

int split__find(const char *name)
{
	return find(name, strlen(name));
}

int split__parse(const char *list, uint32_t *mask)
{
	uint32_t found = 0;

	for (;;) {
		size_t len = strcspn(list, ",");
		int by = find(list, len);

		if (by < 0)
			return by;
		found |= 1U << by;
		if (!list[len])
			break;
		list += len + 1;
	}
	*mask = found;
	return 0;
}

const char *split__list(uint32_t mask, char buf[SPLIT_TEXT])
{
	size_t len = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; i < LAT_BY_COUNT; i++) {
		if (mask & 1U << i)
			len += (size_t)snprintf(buf + len, SPLIT_TEXT - len, "%s%s", len ? "," : "",
						dimensions[i].name);
	}
	return buf;
}

const char *split__id_name(unsigned int by, uint64_t id)
{
	return by < LAT_BY_COUNT && id < IDS ? dimensions[by].ids[id] : NULL;
}

size_t split__name_length(const char *name)
{
	const char *end = strrchr(name, '(');
	size_t digits;

	if (!end || end < name + 2 || end[-1] != ' ')
		return strlen(name);
	digits = strspn(end + 1, "0123456789");
	return digits && !strcmp(end + 1 + digits, ")") ? (size_t)(end - name) - 1 : strlen(name);
}
