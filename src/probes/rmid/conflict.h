/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who else may use RDT: the signs that user space can see, where the module rmid sees mounts and
 * registers (kmod/rmid/pqr.c). Signs, no proof: pqos leaves its lock file behind.
 */
#ifndef LATSCOPE_PROBES_RMID_CONFLICT_H
#define LATSCOPE_PROBES_RMID_CONFLICT_H

struct conflict {
	const char *why, *todo;
};

/* The first that there is a sign of, by files below `root`, "" for /; NULL: none. */
const struct conflict *conflict__find(const char *root);

#endif
