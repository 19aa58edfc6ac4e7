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

/* ---- why_tasks.c ---- */

/* Are they tasks of one name? */
bool why_tasks__same_name(const char *one, const char *other);

/* Is the victim of the pair one of those of a line by name? */
bool why_tasks__is_victim(const struct why_line *pair, const struct why_line *line);

/* Is the culprit one of theirs, in the same part? The victim of the line may be NULL: of all. */
bool why_tasks__is_culprit(const struct why_line *pair, const struct why_line *line);

/*
 * What sets the victims or the culprits of a line by name apart: `is` says which. NULL: nothing, or
 * not the same for nearly all of their time.
 */
const char *why_tasks__traits(const struct why_summary *summary, const struct why_line *line,
			      bool (*is)(const struct why_line *pair, const struct why_line *line));

struct why_task {
	const char *name, *traits;
	uint64_t ns; /* that it waited, or that it made others wait */
};

/*
 * The victims, or the culprits, that something sets apart, the largest time first; in *tasks, which
 * the caller must free. Returns their number or -ENOMEM.
 */
long why_tasks__list(const struct why_summary *summary, bool victims, struct why_task **tasks);

#endif
