/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which processes get groups of resctrl if there are too few for all: those that use most CPU time,
 * of those that are selected.
 */
#ifndef LATSCOPE_PROBES_RMID_CHOICE_H
#define LATSCOPE_PROBES_RMID_CHOICE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <core/run.h>

#include "processes.h"

struct lat_config;

struct choice {
	const char *root; /* prefix of /proc */
	uint32_t tgid; /* 0: any */
	char comm[RMID_COMM_LEN]; /* of its first thread; empty: any */
	char cgroup[PATH_MAX]; /* its path below the mount; empty: any */
	const struct processes *processes; /* which have their CPU time; NULL: not yet */
};

/* Takes the filters of config; NULL: none. 0 or -errno, with `why`. */
int choice__init(struct choice *choice, const struct lat_config *config, char why[RUN_TEXT]);

/* Does it select some processes only? */
bool choice__selects(const struct choice *choice);

/*
 * How much it should have a group: CPU time in ns, recently; before anything is known of it, a
 * second of the time that the process has had since its start. -1: it is not selected.
 */
int64_t choice__weight(const struct choice *choice, uint32_t tgid, uint64_t start_ns,
		       const char *comm);

#endif
