// SPDX-License-Identifier: BSD-2-Clause
#include "numa_nodes.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/number_list.h>

#include "first_line.h"

#define NODES "/sys/devices/system/node"
#define TIERS "/sys/devices/virtual/memory_tiering"
#define LINE 4096

int numa_list__parse(const char *text, uint64_t *mask)
{
	*mask = 0;
	if (*text && number_list__each(text, NUMA_NODES - 1, number_list__set_bits, mask))
		return -EUCLEAN;
	return 0;
}

static int read_mask(uint64_t *mask, const char *root, const char *path)
{
	char line[LINE];
	int err = first_line__read(root, path, line, sizeof(line));

	*mask = 0;
	return err && err != -EUCLEAN ? err : numa_list__parse(line, mask); /* empty: no node */
}

static uint64_t read_number(const char *root, unsigned int node, const char *name)
{
	char path[PATH_MAX], line[LINE], *end;
	uint64_t value;

	snprintf(path, sizeof(path), NODES "/node%u/%s", node, name);
	if (first_line__read(root, path, line, sizeof(line)) || !isdigit((unsigned char)line[0]))
		return 0;
	value = strtoull(line, &end, 10);
	return *end ? 0 : value;
}

/* "Node 0 MemFree:  1234 kB" */
static void read_meminfo(struct numa_node *node, unsigned int number, const char *root)
{
	char path[PATH_MAX], line[LINE];
	unsigned long long kb;
	FILE *stream;

	node->total_bytes = node->free_bytes = 0;
	if (snprintf(path, sizeof(path), "%s" NODES "/node%u/meminfo", root, number) >= PATH_MAX)
		return;
	stream = fopen(path, "re");
	if (!stream)
		return;
	while (fgets(line, sizeof(line), stream)) {
		if (sscanf(line, "Node %*u MemTotal: %llu", &kb) == 1)
			node->total_bytes = kb * 1024;
		else if (sscanf(line, "Node %*u MemFree: %llu", &kb) == 1)
			node->free_bytes = kb * 1024;
	}
	fclose(stream);
}

/* access1 is seen from CPUs; access0, which all kernels have, also from other initiators. */
static void read_hmat(struct numa_node *node, unsigned int number, const char *root)
{
	node->read_latency_ns = read_number(root, number, "access1/initiators/read_latency");
	node->read_bandwidth_mb = read_number(root, number, "access1/initiators/read_bandwidth");
	if (!node->read_latency_ns)
		node->read_latency_ns =
			read_number(root, number, "access0/initiators/read_latency");
	if (!node->read_bandwidth_mb)
		node->read_bandwidth_mb =
			read_number(root, number, "access0/initiators/read_bandwidth");
}

/* The package of the first CPU of a node. */
static int read_socket(const char *root, unsigned int node)
{
	char path[PATH_MAX], line[LINE];
	int cpu, socket;

	snprintf(path, sizeof(path), NODES "/node%u/cpulist", node);
	if (first_line__read(root, path, line, sizeof(line)) || sscanf(line, "%d", &cpu) != 1)
		return -1;
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/physical_package_id",
		 cpu);
	return first_line__read(root, path, line, sizeof(line)) || sscanf(line, "%d", &socket) != 1
		       ? -1
		       : socket;
}

/* The socket of the nearest node with CPUs. distance: one number for each node online. */
static int nearest_socket(const struct numa_nodes *nodes, const char *root, unsigned int node)
{
	char path[PATH_MAX], line[LINE], *at = line, *end;
	long least = LONG_MAX;
	int socket = -1;

	snprintf(path, sizeof(path), NODES "/node%u/distance", node);
	if (first_line__read(root, path, line, sizeof(line)))
		return -1;
	for (unsigned int i = 0; i < nodes->nr; i++) {
		long distance;

		if (!nodes->nodes[i].online)
			continue;
		distance = strtol(at, &end, 10);
		if (end == at)
			break;
		at = end;
		if (nodes->nodes[i].cpus && distance < least) {
			least = distance;
			socket = nodes->nodes[i].socket;
		}
	}
	return socket;
}

static void read_tiers(struct numa_nodes *nodes, const char *root)
{
	char path[PATH_MAX];
	struct dirent *entry;
	uint64_t mask;
	int tier;
	DIR *dir;

	if (snprintf(path, sizeof(path), "%s" TIERS, root) >= PATH_MAX)
		return;
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (sscanf(entry->d_name, "memory_tier%d", &tier) != 1)
			continue;
		snprintf(path, sizeof(path), TIERS "/memory_tier%d/nodelist", tier);
		if (read_mask(&mask, root, path))
			continue;
		for (unsigned int i = 0; i < NUMA_NODES; i++)
			if (mask >> i & 1)
				nodes->nodes[i].memory_tier = tier;
	}
	if (dir)
		closedir(dir);
}

int numa_nodes__read(struct numa_nodes *nodes, const char *root)
{
	uint64_t online, memory, cpus;
	int err;

	memset(nodes, 0, sizeof(*nodes));
	err = read_mask(&online, root, NODES "/online");
	if (!err)
		err = read_mask(&memory, root, NODES "/has_memory");
	if (!err)
		err = read_mask(&cpus, root, NODES "/has_cpu");
	if (err)
		return err;
	for (unsigned int i = 0; i < NUMA_NODES; i++) {
		struct numa_node *node = &nodes->nodes[i];

		node->memory_tier = node->socket = -1;
		node->online = online >> i & 1;
		node->memory = memory >> i & 1;
		node->cpus = cpus >> i & 1;
		if (!node->online)
			continue;
		nodes->nr = i + 1;
		read_meminfo(node, i, root);
		read_hmat(node, i, root);
		if (node->cpus)
			node->socket = read_socket(root, i);
	}
	for (unsigned int i = 0; i < nodes->nr; i++)
		if (nodes->nodes[i].online && !nodes->nodes[i].cpus)
			nodes->nodes[i].socket = nearest_socket(nodes, root, i);
	read_tiers(nodes, root);
	return 0;
}

uint64_t numa_nodes__free_bytes(uint64_t mask, const char *root)
{
	struct numa_node node;
	uint64_t sum = 0;

	for (unsigned int i = 0; i < NUMA_NODES; i++) {
		if (!(mask >> i & 1))
			continue;
		read_meminfo(&node, i, root);
		sum += node.free_bytes;
	}
	return sum;
}

enum numa_class numa_nodes__class(const struct numa_nodes *nodes, unsigned int node, int socket)
{
	bool local = nodes->nodes[node].socket == socket;

	if (nodes->nodes[node].cpus)
		return local ? NUMA_LOCAL_DRAM : NUMA_REMOTE_DRAM;
	return local ? NUMA_LOCAL_EXT : NUMA_REMOTE_EXT;
}

uint64_t numa_nodes__mask(const struct numa_nodes *nodes, enum numa_class class, int socket)
{
	uint64_t mask = 0;

	for (unsigned int i = 0; i < nodes->nr; i++)
		if (nodes->nodes[i].memory && numa_nodes__class(nodes, i, socket) == class)
			mask |= UINT64_C(1) << i;
	return mask;
}

int numa_class__of_tier(const char *tier)
{
	static const struct {
		const char *tier;
		enum numa_class class;
	} classes[] = {
		{ "local", NUMA_LOCAL_DRAM },	    { "remote", NUMA_REMOTE_DRAM },
		{ "memory", NUMA_LOCAL_DRAM },	    { "local-ddr", NUMA_LOCAL_DRAM },
		{ "remote-ddr", NUMA_REMOTE_DRAM }, { "local-pmm", NUMA_LOCAL_EXT },
		{ "remote-pmm", NUMA_REMOTE_EXT },  { "local-cxl", NUMA_LOCAL_EXT },
		{ "near-dram", NUMA_LOCAL_DRAM },   { "far-dram", NUMA_REMOTE_DRAM },
		{ "near-ext", NUMA_LOCAL_EXT },	    { "far-ext", NUMA_REMOTE_EXT },
	};

	for (unsigned int i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (!strcmp(tier, classes[i].tier))
			return (int)classes[i].class;
	return -1;
}
