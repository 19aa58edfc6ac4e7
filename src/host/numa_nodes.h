/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NUMA nodes, and which memory tier each one is: CPUs, distances, HMAT and the kernel's tiers, from
 * /sys. `root` is a prefix of every path, "" for this machine.
 */
#ifndef LATSCOPE_HOST_NUMA_NODES_H
#define LATSCOPE_HOST_NUMA_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "numa_maps.h"

struct numa_node {
	bool online, memory, cpus; /* exists; has memory; has CPUs */
	/* Package of its CPUs; without CPUs: of the nearest node with CPUs; -1: unknown. */
	int socket;
	int memory_tier; /* the N of /sys/devices/virtual/memory_tiering/memory_tierN, or -1 */
	/* From the HMAT, as CPUs see it (access1, else access0); 0: unknown. */
	uint64_t read_latency_ns, read_bandwidth_mb;
	uint64_t total_bytes, free_bytes;
};

struct numa_nodes {
	struct numa_node nodes[NUMA_NODES];
	unsigned int nr; /* the highest number online, plus 1 */
};

/* 0; -ENOENT: the kernel has no NUMA; -EUCLEAN: unexpected text. */
int numa_nodes__read(struct numa_nodes *nodes, const char *root);

/* Free bytes of the nodes of a mask, now; 0: none, or unknown. */
uint64_t numa_nodes__free_bytes(uint64_t mask, const char *root);

/* What a node is, seen from a socket. Memory without CPUs is CXL or persistent memory ("ext"). */
enum numa_class {
	NUMA_LOCAL_DRAM,
	NUMA_REMOTE_DRAM,
	NUMA_LOCAL_EXT,
	NUMA_REMOTE_EXT,
	NUMA_CLASSES,
};

enum numa_class numa_nodes__class(const struct numa_nodes *nodes, unsigned int node, int socket);

/* The nodes with memory of a class: a mask of 1 << node. */
uint64_t numa_nodes__mask(const struct numa_nodes *nodes, enum numa_class class, int socket);

/* The class of a tier of tierlat: "local-ddr", "far-ext"; -1: unknown. */
int numa_class__of_tier(const char *tier);

/* "0-3,8" as a mask; empty text is no node. 0 or -EUCLEAN. */
int numa_list__parse(const char *text, uint64_t *mask);

#endif
