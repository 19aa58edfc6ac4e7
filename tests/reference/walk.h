/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash map to walk with BPF_MAP_LOOKUP_BATCH. Nearly all the time of a walk is spent between
 * bpf_disable_instrumentation() and its end, where the kernel runs no program of a kprobe or a perf
 * event on that CPU.
 */
#ifndef LATSCOPE_TESTS_WALK_H
#define LATSCOPE_TESTS_WALK_H

#include <bpf/bpf.h>

#include "reference.h"

#define WALK_ENTRIES (1 << 20) /* as many buckets, a few ms to walk */

static int walk_map;
static pthread_t walkers[CPU_SETSIZE];

static inline void walk_once(void)
{
	uint32_t count = 1, at;
	uint64_t key, value;

	bpf_map_lookup_batch(walk_map, NULL, &at, &key, &value, &count, NULL);
}

static inline void walk_open(void)
{
	struct bpf_map_create_opts sparse = { .sz = sizeof(sparse),
					      .map_flags = BPF_F_NO_PREALLOC };

	walk_map = bpf_map_create(BPF_MAP_TYPE_HASH, "walk", 8, 8, WALK_ENTRIES, &sparse);
	reference_need(walk_map >= 0, "bpf: %s", strerror(-walk_map));
}

/* A thread for each CPU, which gets its number. */
static inline void walk_start(void *(*walk)(void *cpu))
{
	for (long i = 0; i < sysconf(_SC_NPROCESSORS_CONF); i++)
		walkers[i] = reference_thread(walk, (void *)i);
}

static inline void walk_join(void)
{
	for (long i = 0; i < sysconf(_SC_NPROCESSORS_CONF); i++)
		pthread_join(walkers[i], NULL);
}

#endif
