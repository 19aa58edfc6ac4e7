/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Other users of RDT, as far as user space can see; the kernel module rmid sees mounts and
 * registers (kmod/rmid/pqr.c). These are signs, not proof: pqos leaves its lock file behind.
 */
#ifndef LATSCOPE_PROBES_RMID_CONFLICT_H
#define LATSCOPE_PROBES_RMID_CONFLICT_H

struct conflict {
	const char *why, *todo;
};

/* The first conflict found by files below `root` ("" for /); NULL: none. */
const struct conflict *conflict__find(const char *root);

#endif
