// SPDX-License-Identifier: BSD-2-Clause
#include "pages.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <core/sanitize.h>
#include <core/vec.h>
#include <host/numa_maps.h>
#include <host/numa_nodes.h>

#include "internal.h"
#include "sysfs.h"

#define COMM 64 /* more than the kernel's 16, or the 64 of a worker thread */
#define STAT 1024
#define PROCESSOR 37 /* fields of /proc/PID/stat from the state on to the CPU */

/* clang-format off */
const struct table_column pages_columns[PAGES_COLUMNS] = {
	[PAGES_SOCKET] = { "socket", "", "package that the process ran on last", TABLE_INTEGER,
			   true },
	[PAGES_TIER] = { "tier", "", "kind of memory, seen from the socket", TABLE_TEXT, true },
	[PAGES_NODE] = { "node", "", "NUMA node", TABLE_INTEGER, true },
	[PAGES_PID] = { "pid", "", "process", TABLE_INTEGER, true },
	[PAGES_NAME] = { "name", "", "name of its main thread", TABLE_TEXT, true },
	[PAGES_BYTES] = { "bytes", "B", "resident pages; shared ones count in each process",
			  TABLE_INTEGER, false },
};
/* clang-format on */

struct process {
	pid_t pid;
	char name[COMM];
	int socket; /* -1: unknown */
};

/* Pages of a process on one node. */
struct part {
	struct process process;
	unsigned int node;
	uint64_t bytes;
};

struct scan {
	struct part *parts;
	size_t nr;
	const struct tier_model *model;
	const char *root;
	struct numa_nodes nodes;
	struct pages_count *count;
};

/* The model's name of a class of nodes. */
static const char *tier_name(const struct scan *scan, enum numa_class class)
{
	static const char *const others[NUMA_CLASSES] = {
		[NUMA_LOCAL_DRAM] = "local-ddr",
		[NUMA_REMOTE_DRAM] = "remote-ddr",
		[NUMA_LOCAL_EXT] = "local-ext",
		[NUMA_REMOTE_EXT] = "remote-ext",
	};

	for (unsigned int i = 0; i < scan->model->nr_tiers; i++) {
		const struct tier_class *tier = &scan->model->tiers[i];

		if (numa_class__of_tier(tier->name) == (int)class &&
		    tier__has_memory(tier, scan->root))
			return tier->name;
	}
	return others[class];
}

/* After the name: "S 1 ...". -1: it has fewer fields. */
static int processor_of(char *fields)
{
	char *field, *rest, *end;
	long cpu;

	field = strtok_r(fields, " ", &rest);
	for (unsigned int i = 1; field && i < PROCESSOR; i++)
		field = strtok_r(NULL, " ", &rest);
	if (!field || !isdigit((unsigned char)*field))
		return -1;
	cpu = strtol(field, &end, 10);
	return (*end && *end != '\n') || cpu >= TIER_CPUS ? -1 : (int)cpu;
}

/* "7 (name) S 1 ...": the name may contain anything, also ") ". */
static int take_stat(char text[STAT], struct process *process, const char *root)
{
	char *name = strchr(text, '('), *end = strrchr(text, ')');
	int cpu;

	if (!name || !end || end < name || end[1] != ' ')
		return -EUCLEAN;
	*end = '\0';
	sanitize__text(process->name, sizeof(process->name), name + 1);
	cpu = processor_of(end + 2);
	process->socket = cpu < 0 ? -1 : sysfs__package(root, (unsigned int)cpu);
	return 0;
}

static int read_process(struct process *process, const char *root)
{
	char text[STAT];
	FILE *stream;
	size_t len;
	int err = numa_maps__open(&stream, root, process->pid, "stat");

	if (err)
		return err;
	len = fread(text, 1, sizeof(text) - 1, stream);
	fclose(stream);
	text[len] = '\0';
	return len ? take_stat(text, process, root) : -ESRCH;
}

static int add_row(struct table *table, uint64_t time_ns, const struct scan *scan,
		   const struct part *part)
{
	const struct process *process = &part->process;
	enum numa_class class = numa_nodes__class(&scan->nodes, part->node, process->socket);
	int err = table__add_row(table, time_ns);

	if (err)
		return err;
	table__set_integer(table, PAGES_NODE, part->node);
	table__set_integer(table, PAGES_PID, process->pid);
	table__set_integer(table, PAGES_BYTES,
			   part->bytes > INT64_MAX ? INT64_MAX : (int64_t)part->bytes);
	err = table__set_text(table, PAGES_NAME, process->name);
	if (err || process->socket < 0)
		return err;
	table__set_integer(table, PAGES_SOCKET, process->socket);
	return table__set_text(table, PAGES_TIER, tier_name(scan, class));
}

static int add_part(struct scan *scan, const struct process *process, unsigned int node,
		    uint64_t bytes)
{
	const struct part part = { *process, node, bytes };

	return vec__append(&scan->parts, &scan->nr, &part, sizeof(part));
}

static int by_bytes(const void *left, const void *right)
{
	const struct part *a = left, *b = right;

	return (a->bytes < b->bytes) - (a->bytes > b->bytes);
}

/* The largest first, as they are shown. */
static int add_rows(struct table *table, uint64_t time_ns, struct scan *scan)
{
	int err = 0;

	if (scan->nr)
		qsort(scan->parts, scan->nr, sizeof(*scan->parts), by_bytes);
	for (size_t i = 0; !err && i < scan->nr; i++)
		err = add_row(table, time_ns, scan, &scan->parts[i]);
	return err;
}

/* Counts why a process has no rows; only -ENOMEM ends the scan. */
static int note(struct pages_count *count, int err)
{
	switch (err) {
	case -ENOMEM:
		return err;
	case -EACCES:
		count->refused++;
		return 0;
	case -ESRCH:
		count->ended++;
		return 0;
	default:
		count->unclear++;
		return 0;
	}
}

static int add_process(struct scan *scan, pid_t pid)
{
	struct process process = { .pid = pid, .socket = -1 };
	struct numa_pages pages = { 0 };
	bool any = false;
	int err;

	err = numa_maps__add(&pages, scan->root, pid);
	for (unsigned int i = 0; i < NUMA_NODES; i++)
		any = any || pages.bytes[i];
	if (!err && any)
		err = read_process(&process, scan->root);
	if (err)
		return note(scan->count, err);
	scan->count->with_pages += any;
	for (unsigned int i = 0; !err && i < NUMA_NODES; i++)
		if (pages.bytes[i])
			err = add_part(scan, &process, i, pages.bytes[i]);
	return err;
}

static int add_all(struct scan *scan, DIR *proc)
{
	struct dirent *entry;
	int err = 0;

	while (!err && (entry = readdir(proc))) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);

		if (isdigit((unsigned char)*entry->d_name) && !*end && pid > 0 && pid <= INT_MAX &&
		    pid != getpid())
			err = add_process(scan, (pid_t)pid);
	}
	return err;
}

int pages__add(struct table *table, uint64_t time_ns, const struct tier_model *model,
	       const char *root, struct pages_count *count)
{
	struct scan scan = { .model = model, .root = root, .count = count };
	char path[PATH_MAX];
	DIR *proc;
	int err;

	*count = (struct pages_count){ 0 };
	err = numa_nodes__read(&scan.nodes, root);
	if (err)
		return err;
	snprintf(path, sizeof(path), "%.*s/proc", PATH_MAX - 8, root);
	proc = opendir(path);
	if (!proc)
		return -errno;
	err = add_all(&scan, proc);
	closedir(proc);
	if (!err)
		err = add_rows(table, time_ns, &scan);
	free(scan.parts);
	return err;
}
