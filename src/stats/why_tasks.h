/* SPDX-License-Identifier: BSD-2-Clause */
/* Victims and culprits by what sets them apart: see core/why_traits.h. */
#ifndef LATSCOPE_STATS_WHY_TASKS_H
#define LATSCOPE_STATS_WHY_TASKS_H

#include "why.h"

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
