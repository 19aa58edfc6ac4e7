/* SPDX-License-Identifier: BSD-2-Clause */
/* What the slow time of a probe was made of, and who caused it. */
#ifndef LATSCOPE_STATS_WHY_H
#define LATSCOPE_STATS_WHY_H

#include <core/run.h>

#define WHY_SENTENCE 1024

/* The texts are those of the probe's table. */
struct why_line {
	const char *victim, *part, *culprit; /* culprit NULL: the part has none */
	uint64_t ns, events;
};

struct why_summary {
	uint64_t total_ns; /* of all slow samples */
	uint64_t part_ns[WHY_PARTS];
	uint64_t others_ns; /* of pairs that the table's sketch evicted: the part is not known */
	struct why_line *lines; /* all pairs, the largest first; owned */
	size_t nr_lines;
	char sentence[WHY_SENTENCE]; /* the conclusion; empty: nothing was slow */
};

/* 0 or -ENOMEM; the caller must call why_summary__clear() in either case. */
int why_summary__of(struct why_summary *summary, const struct run_probe *probe);
void why_summary__clear(struct why_summary *summary);

#endif
