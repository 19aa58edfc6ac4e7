/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A task that sends datagrams to its own machine. The receiving sockets have a long filter, which
 * the kernel runs in a softirq (net_rx) during each send: most of a send is spent there. The task
 * has a network namespace of its own, which nothing else uses.
 */
#ifndef LATSCOPE_SELFTEST_REFERENCE_FLOOD_H
#define LATSCOPE_SELFTEST_REFERENCE_FLOOD_H

#include <stdbool.h>
#include <stdint.h>

struct reference_flood {
	int socket; /* to send; nobody reads the receiving ones, which drop all */
	uint64_t send_ns; /* what a send takes at least, by the monotonic clock */
	uint64_t softirq_ns; /* of it, the filters: with short ones it takes less */
	uint64_t sent; /* datagrams whose filters ran during the send, not in ksoftirqd */
};

/* Makes the sockets, and measures a send. The caller gets a namespace for it. 0 or -errno. */
int reference_flood__prepare(struct reference_flood *flood);
void reference_flood__run(struct reference_flood *flood, uint64_t end_ns);

/* Is most of a send spent in its softirq? Not if the machine runs that elsewhere. */
bool reference_flood__is_softirq(const struct reference_flood *flood);

/* What the sends took at least. */
uint64_t reference_flood__least_ns(const struct reference_flood *flood);

#endif
