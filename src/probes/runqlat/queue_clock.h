/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scheduler's clock, which stamps when a task is enqueued: sched_clock_cpu() of each CPU. BPF
 * can read it only through the software perf event cpu-clock, which stores its last reading. Opens
 * these events, one per CPU, and passes their addresses to the programs.
 */
#ifndef LATSCOPE_PROBES_RUNQLAT_QUEUE_CLOCK_H
#define LATSCOPE_PROBES_RUNQLAT_QUEUE_CLOCK_H

#include <stdbool.h>

#include <bpf/libbpf.h>

struct runqlat_cpu;

struct queue_clock {
	int cpus;
	int *events; /* by CPU; -1: none */
	struct runqlat_cpu *of_cpu; /* mapped while they are being opened */
};

/*
 * Opens the clocks of all online CPUs. `reader` is the iterator that fills in `stamp`. -ERANGE: the
 * clocks differ or are too coarse, so the kernel's stamps are unusable. On failure nothing stays
 * open.
 */
int queue_clock__open(struct queue_clock *clock, const struct bpf_map *events,
		      const struct bpf_map *cells, const struct bpf_program *reader);

void queue_clock__close(struct queue_clock *clock);

#endif
