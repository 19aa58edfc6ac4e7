/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `why` says of a situation, held against what those who made it measured. A claim has bounds
 * from their clocks, in both directions. If others took too much part in it, nothing can be told:
 * then claims are neither right nor wrong.
 */
#ifndef LATSCOPE_SELFTEST_WITNESS_H
#define LATSCOPE_SELFTEST_WITNESS_H

#include <probes/kit/why.h>
#include <stats/why.h>

#include "window.h"

#define WITNESS_NS (2 * NSEC_PER_SEC)

struct witness {
	struct validate *validate;
	struct window *window;
	struct why_request request;
	struct why_summary summary;
	pid_t victim;
	const char *victim_name; /* without its ID */
	uint64_t slack_ns; /* how much each claim may be off, besides a share of it */
	char doubt[RUN_TEXT];
};

/* Measures the child, which is prepared; `victim` is one of its processes. */
int witness__measure(struct witness *witness, const char *probe, struct lat_config config);

/* No claim can be made from here on. */
void witness__doubt(struct witness *witness, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The same, if the probe has not seen all events that the kernel counts. */
void witness__doubt_events(struct witness *witness);

/*
 * The slow time of the victim that is in a part (NULL: in any), whatever its culprit; part_of: only
 * with culprits whose name begins with `begins`.
 */
uint64_t witness__part(const struct witness *witness, const char *part);
uint64_t witness__part_of(const struct witness *witness, const char *part, const char *begins);

/* The slow time of the victim that has this culprit: a process, all of a name, any task. */
uint64_t witness__blamed(const struct witness *witness, pid_t culprit, const char *name);
uint64_t witness__blamed_name(const struct witness *witness, const char *name);
uint64_t witness__blamed_tasks(const struct witness *witness);

/* From low to high, with the slack in both directions. */
void witness__claim(const struct witness *witness, const char *name, uint64_t low, uint64_t high,
		    uint64_t got);

/* At most so much, with the slack; and nothing at all. */
void witness__at_most(const struct witness *witness, const char *name, uint64_t high, uint64_t got);
void witness__none(const struct witness *witness, const char *name, uint64_t got);

#endif
