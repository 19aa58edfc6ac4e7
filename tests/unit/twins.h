/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Simulations of many seeds, and what two of them leave: mostly one by the general functions of BPF
 * programs, one by their straight paths. Included after the programs, by one file only.
 *
 * LATSCOPE_SEED=N tries one seed. LATSCOPE_SOAK tries more.
 */
#ifndef LATSCOPE_TESTS_TWINS_H
#define LATSCOPE_TESTS_TWINS_H

#include "unit.h"

#include <core/counts.h>
#include <core/hist.h>
#include <core/run.h>

#include "../bpf/host/kernel.h"

static struct left {
	size_t size;
	unsigned char bytes[1 << 22] __attribute__((aligned(64)));
} general, straight;

static __u64 recorded; /* samples of all runs */

static __u32 skips; /* of so many programs, the kernel skips one; 0: none */

static bool is_seen(void)
{
	return !skips || !one_in(skips);
}

static void keep_bytes(struct left *left, const void *at, size_t size)
{
	assert_true(left->size + size <= sizeof(left->bytes));
	memcpy(left->bytes + left->size, at, size);
	left->size += size;
}

static void keep_maps(struct left *left)
{
	left->size = 0;
	keep_bytes(left, host_memory, host_used);
	keep_bytes(left, host_maps, sizeof(host_maps));
	keep_bytes(left, &control, sizeof(control));
}

static void same_count(__u64 seed, int which, __u64 got, __u64 wanted)
{
	if (got != wanted)
		fail_msg("LATSCOPE_SEED=%llu: %s is %llu, not %llu", seed, counts__name(which), got,
			 wanted);
}

static void same_histogram(__u64 seed, const struct lat_hist *got, const struct lat_hist *wanted)
{
	for (int i = 0; i < HIST_SLOTS; i++)
		if (got->slots[i] != wanted->slots[i])
			fail_msg("LATSCOPE_SEED=%llu: slot %d has %llu, not %llu", seed, i,
				 got->slots[i], wanted->slots[i]);
	if (memcmp(got, wanted, sizeof(*got)))
		fail_msg("LATSCOPE_SEED=%llu: the sum, the maximum or the tail is another one",
			 seed);
}

/* The cells of one CPU. */
static void same_cells(__u64 seed, const struct lat_cell *cells_at, int metrics)
{
	size_t at = (size_t)((const unsigned char *)cells_at - host_memory);
	const struct lat_cell *wanted = (const void *)(general.bytes + at);
	const struct lat_cell *got = (const void *)(straight.bytes + at);

	for (; metrics--; got++, wanted++) {
		for (int i = 0; i < LAT_COUNTS; i++)
			same_count(seed, i, got->counts[i], wanted->counts[i]);
		same_histogram(seed, &got->hist, &wanted->hist);
	}
}

static void same_left(__u64 seed)
{
	assert_int_equal(straight.size, general.size);
	if (memcmp(straight.bytes, general.bytes, general.size))
		fail_msg("LATSCOPE_SEED=%llu: something else is left", seed);
}

/* At least so many samples must be recorded. */
static void for_seeds(void (*body)(__u64 seed), __u64 seeds, __u64 least)
{
	const char *only = getenv("LATSCOPE_SEED");
	__u64 times = getenv("LATSCOPE_SOAK") ? 70 : 1;

	recorded = 0;
	for (__u64 seed = 0; !only && seed < seeds * times; seed++)
		body(seed);
	if (only)
		body(strtoull(only, NULL, 10));
	else
		assert_true(recorded > least * times);
}

#endif
