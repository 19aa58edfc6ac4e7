/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads by a worker of io_uring: a thread of the kernel that no fork tells of. */
#ifndef LATSCOPE_TESTS_RING_H
#define LATSCOPE_TESTS_RING_H

#include <linux/io_uring.h>

#include "reference.h"

struct ring {
	int fd;
	char *queue;
	struct io_uring_sqe *entries;
	struct io_uring_params params;
};

static inline void *ring_map(const struct ring *ring, size_t size, off_t at)
{
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, at);

	reference_must(map != MAP_FAILED, "cannot map the ring: %m");
	return map;
}

static inline void ring_open(struct ring *ring)
{
	ring->fd = (int)syscall(SYS_io_uring_setup, 1, &ring->params);
	reference_need(ring->fd >= 0, "no io_uring: %m");
	ring->queue = ring_map(ring, ring->params.sq_off.array + sizeof(__u32), IORING_OFF_SQ_RING);
	ring->entries = ring_map(ring, sizeof(*ring->entries), IORING_OFF_SQES);
}

/* The completion queue is never read; it may overflow, because completions are not needed. */
static inline void ring_read(struct ring *ring, int file, void *block, __u32 size, __u64 offset)
{
	__u32 *tail = (__u32 *)(ring->queue + ring->params.sq_off.tail);

	ring->entries[0] = (struct io_uring_sqe){ .opcode = IORING_OP_READ,
						  .flags = IOSQE_ASYNC,
						  .fd = file,
						  .addr = (uintptr_t)block,
						  .len = size,
						  .off = offset };
	atomic_store_explicit((_Atomic __u32 *)tail, *tail + 1, memory_order_release);
	reference_must(syscall(SYS_io_uring_enter, ring->fd, 1, 0, 0, NULL, 0) >= 0 ||
			       errno == EBUSY,
		       "cannot submit: %m");
}

#endif
