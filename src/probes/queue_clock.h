/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scheduler's clock, which stamps when a task is enqueued: sched_clock_cpu() of each CPU. BPF
 * has no way to read it but the software perf event cpu-clock, which keeps what it read last. Here
 * these events are opened, one per CPU, and the programs learn where they are.
 */
#ifndef LATSCOPE_PROBES_QUEUE_CLOCK_H
#define LATSCOPE_PROBES_QUEUE_CLOCK_H

#include <stdbool.h>

#include <bpf/libbpf.h>

struct queue_clock {
	int cpus;
	int *events; /* by CPU; -1: none */
};

/*
 * Opens the clocks of all CPUs that are online. `reader` is the iterator that fills in `stamp`.
 * -ERANGE: they do not tell the same time, or not finely enough, so no stamp of the kernel is worth
 * anything. On failure nothing is left open.
 */
int queue_clock__open(struct queue_clock *clock, const struct bpf_map *events,
		      const struct bpf_map *clocks, const struct bpf_program *reader);

void queue_clock__close(struct queue_clock *clock);

#endif
