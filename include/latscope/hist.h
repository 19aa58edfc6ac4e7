/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The one bucket scheme, the same in BPF, in the kernel modules and in user space.
 *
 * A value in ns is scaled to v = 1/32 us. Below 1 us a slot is one v (31.25 ns). From 1 us on, each
 * octave of us has 32 equal slots, so a slot is at most 1/32 as wide as its value. Octave edges are
 * exactly 2^k us: the classic log2 buckets are sums of whole slots, never binned again.
 * The last slot holds everything from 2^36 us (19 hours) up.
 *
 * Needs the fixed-width types: kernel_types.bpf.h or <linux/types.h> comes before it.
 */
#ifndef LATSCOPE_HIST_H
#define LATSCOPE_HIST_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define HIST_SUB_BITS 5
#define HIST_SUB (1 << HIST_SUB_BITS) /* slots per octave, and per us below 1 us */
#define HIST_OCTAVES 36
#define HIST_OVERFLOW_SLOT (HIST_SUB + HIST_SUB * HIST_OCTAVES)
#define HIST_SLOTS (HIST_OVERFLOW_SLOT + 1)
#define HIST_SCALE_SHORT_NS (1ULL << 30) /* hist_scale_short() is exact below it */
#define HIST_LIMIT_NS ((1ULL << HIST_OCTAVES) * 1000)

/* The log2 view: bucket 0 is [0,2) us, bucket k is [2^k,2^(k+1)) us, the last one is overflow. */
#define HIST_LOG2_BUCKETS (HIST_OCTAVES + 1)

/*
 * Position of the highest bit set; v > 0. BPF has no instruction for it. Branches only where the
 * latencies of a probe mostly take the same path; the last four bits are looked up in a constant.
 */
static inline __attribute__((always_inline)) __u32 hist_ilog2(__u64 v)
{
	__u32 r = 0;
	__u64 shift;

	if (v > 0xffffffff) {
		v >>= 32;
		r = 32;
	}
	if (v > 0xffff) {
		v >>= 16;
		r |= 16;
	}
	shift = (0xff - v) >> 63 << 3;
	v >>= shift;
	r |= shift;
	shift = (0xf - v) >> 63 << 2;
	v >>= shift;
	r |= shift;
	return r | (0x3333333322221100 >> (v << 2) & 3);
}

/*
 * (ns << 5) / 1000. Below 2^30 ns, which is nearly every sample, a multiplication is enough: the
 * constant is 2^37 / 125 rounded up by 28 / 125. It makes the quotient greater by less than 0.007.
 * A quotient that is not an integer is at least 0.008 below the next one. So the result is exact.
 */
static inline __attribute__((always_inline)) __u64 hist_scale_short(__u64 ns)
{
	return ((ns << 2) * 1099511628ULL) >> 37;
}

static inline __attribute__((always_inline)) __u64 hist_scale(__u64 ns)
{
	if (ns < HIST_SCALE_SHORT_NS)
		return hist_scale_short(ns);
	return (ns << HIST_SUB_BITS) / 1000;
}

/*
 * Slot of v; the caller must exclude v >= 2^41. Below 8 us, as most waits for a CPU and most page
 * faults are, its octave is found by comparing alone: the rest takes three times as long.
 */
static inline __attribute__((always_inline)) __u64 hist_scaled_slot(__u64 v)
{
	__u64 octave;

	if (v < 2 * HIST_SUB)
		return v;
	if (v < 4 * HIST_SUB)
		return HIST_SUB + (v >> 1);
	if (v < 8 * HIST_SUB)
		return 2 * HIST_SUB + (v >> 2);
	octave = hist_ilog2(v) - HIST_SUB_BITS;
	return HIST_SUB + (octave << HIST_SUB_BITS) + (v >> octave) - HIST_SUB;
}

/*
 * Octave of v; 0: v is below 2 us. Up to 64 ms it is found by comparing alone, which is quicker
 * than hist_ilog2() if the values of a probe mostly take the same path.
 */
#define HIST_OCTAVE_OF_2(v, k) ((v) < 2ULL * HIST_SUB << (k) ? (k) : (k) + 1)
#define HIST_OCTAVE_OF_4(v, k) \
	((v) < 4ULL * HIST_SUB << (k) ? HIST_OCTAVE_OF_2(v, k) : HIST_OCTAVE_OF_2(v, (k) + 2))
#define HIST_OCTAVE_OF_8(v, k) \
	((v) < 16ULL * HIST_SUB << (k) ? HIST_OCTAVE_OF_4(v, k) : HIST_OCTAVE_OF_4(v, (k) + 4))

static inline __attribute__((always_inline)) __u32 hist_octave(__u64 v)
{
	if (v < 256ULL * HIST_SUB)
		return HIST_OCTAVE_OF_8(v, 0);
	if (v < 65536ULL * HIST_SUB)
		return HIST_OCTAVE_OF_8(v, 8);
	return hist_ilog2(v) - HIST_SUB_BITS;
}

/* Slot of v, by its octave. */
static inline __attribute__((always_inline)) __u32 hist_octave_slot(__u64 v, __u32 octave)
{
	return (octave << HIST_SUB_BITS) + (__u32)(v >> octave);
}

/* Slot of a latency in ns; always below HIST_SLOTS. */
static inline __attribute__((always_inline)) __u32 hist_slot(__u64 ns)
{
	return ns < HIST_LIMIT_NS ? (__u32)hist_scaled_slot(hist_scale(ns)) : HIST_OVERFLOW_SLOT;
}

/* Lower edge of a slot in 1/32 us; a slot holds [low(slot), low(slot + 1)). */
static inline __u64 hist_slot_scaled_low(__u32 slot)
{
	__u32 octave;

	if (slot < HIST_SUB)
		return slot;
	octave = (slot - HIST_SUB) >> HIST_SUB_BITS;
	return (__u64)(HIST_SUB + ((slot - HIST_SUB) & (HIST_SUB - 1))) << octave;
}

/* The smallest ns whose slot is this one: the inverse of hist_slot(). */
static inline __u64 hist_slot_low_ns(__u32 slot)
{
	return (hist_slot_scaled_low(slot) * 1000 + HIST_SUB - 1) >> HIST_SUB_BITS;
}

/* log2 bucket of a slot. */
static inline __u32 hist_slot_bucket(__u32 slot)
{
	return slot < HIST_SUB ? 0 : (slot - HIST_SUB) >> HIST_SUB_BITS;
}

#endif
