/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The software perf events of page faults: where handle_mm_fault() cannot be probed, memlat's
 * programs run on these. An event counts whether or not the kernel runs its program. The kernel
 * runs none while a task on that CPU is inside a bpf() system call for a map, also while that task
 * is preempted there, and bpf_prog_info does not count these misses. The difference between the
 * two counts does.
 */
#ifndef LATSCOPE_PROBES_MEMLAT_FAULT_EVENTS_H
#define LATSCOPE_PROBES_MEMLAT_FAULT_EVENTS_H

#include <bpf/libbpf.h>

#include <stdint.h>

struct bpf_probe;

/* Either fires at the end of a fault. */
enum fault_end { FAULT_END_MINOR, FAULT_END_MAJOR, FAULT_ENDS };

struct fault_events;

/*
 * Attaches the programs to the events on every online CPU. The probe owns the links. The caller
 * frees `events`, also after a failure. 0 or -errno.
 */
int fault_events__attach(struct fault_events **events, struct bpf_probe *probe,
			 struct bpf_program *start, struct bpf_program *const ends[FAULT_ENDS]);

/* Only the program at the start of a fault. 0 or -errno. */
int fault_events__attach_start(struct bpf_probe *probe, struct bpf_program *start);

/* Call soon after the window opened: saves the counts. */
void fault_events__open(struct fault_events *events, const struct bpf_probe *probe);

/*
 * Call shortly before the window closes: a lower bound of the ends of faults counted since then,
 * but not seen.
 */
uint64_t fault_events__missed(const struct fault_events *events, const struct bpf_probe *probe);

void fault_events__free(struct fault_events *events); /* NULL is allowed */

#endif
