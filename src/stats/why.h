/* SPDX-License-Identifier: BSD-2-Clause */
/* What the slow time of a probe was made of, and who caused it. */
#ifndef LATSCOPE_STATS_WHY_H
#define LATSCOPE_STATS_WHY_H

#include <core/run.h>

#define WHY_SENTENCE 1024
#define WHY_CROWD (RUN_NAME + 32)

/* The texts are those of the probe's table. */
struct why_line {
	const char *victim, *part, *culprit; /* culprit NULL: the part has none */
	/* Of a pair: what sets them apart, see why_traits.h; NULL: nothing, or unknown. */
	const char *victim_traits, *culprit_traits;
	uint64_t ns, events;
	bool unwaited; /* no task waited: these come last */
	bool of_latscope; /* latscope itself caused it: left out of the sentence and of rankings */
};

struct why_summary {
	uint64_t total_ns; /* of all slow samples */
	uint64_t unwaited_ns; /* of it, of those that no task waited for */
	uint64_t latscope_ns; /* of it, what latscope itself caused */
	uint64_t part_ns[WHY_PARTS]; /* these sum to it */
	uint64_t others_ns; /* of pairs that are not in `lines` */
	struct why_line *lines; /* by pair, the largest first; owned */
	size_t nr_lines;
	struct why_line *names; /* the same by name, without events; owned */
	size_t nr_names;
	const char **room; /* owned */
	char sentence[WHY_SENTENCE]; /* the conclusion; empty: nothing was slow */
};

/*
 * The sentence also draws on the run that the probe is part of, if it is not NULL: slow time of
 * less than a thousandth of its window is said to be little. 0 or -ENOMEM; the caller must call
 * why_summary__clear() in either case.
 */
int why_summary__of(struct why_summary *summary, const struct run_probe *probe,
		    const struct run *run);
void why_summary__clear(struct why_summary *summary);

/*
 * Who the victim and the culprit of a line by name are: "web (1)"; "web (4 tasks)"; "web (more than
 * 4 tasks)" if not all pairs are listed; "-": it has no culprit. Both return out.
 */
const char *why_summary__victim(const struct why_summary *summary, const struct why_line *line,
				char out[WHY_CROWD]);
const char *why_summary__culprit(const struct why_summary *summary, const struct why_line *line,
				 char out[WHY_CROWD]);

#endif
