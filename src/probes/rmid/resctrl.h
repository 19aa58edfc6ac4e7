/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cache occupancy and memory traffic by process where resctrl is mounted: a pool of monitoring
 * groups, each of which stands for an RMID. Who gets which group is decided elsewhere
 * (emulation.h).
 *
 * Only root may move tasks. A process that keeps its privileges moves them, and removes the groups
 * when latscope ends, however it ends (core/restore.h).
 */
#ifndef LATSCOPE_PROBES_RMID_RESCTRL_H
#define LATSCOPE_PROBES_RMID_RESCTRL_H

#include <stdint.h>
#include <stdio.h>

#include <core/run.h>
#include <uapi/latscope/rmid.h>

#define RESCTRL_GROUPS 128 /* at most by default: each reading of all costs time */

struct resctrl;

/* A reading: everything but `raw`. Returns 0 or -errno. */
typedef int resctrl_told(void *context, const struct latscope_rmid_read *read);

/*
 * Makes groups: `wanted`, 0: half as many as the machine has RMIDs, so that other programs can make
 * some, too. `root`: see resctrl_tree.h. 0; -EOPNOTSUPP with `why`; -errno.
 */
int resctrl__open(struct resctrl **resctrl, const char *root, uint32_t wanted, resctrl_told *told,
		  void *context, char why[RUN_TEXT]);

/* Removes the groups. 0, or the -errno of that. NULL is fine. */
int resctrl__close(struct resctrl *resctrl);

uint32_t resctrl__groups(const struct resctrl *resctrl);

/*
 * The process has the group from now on, or no longer since `now_ns`. Until resctrl__begin(), that
 * is only noted, and no task is moved.
 */
int resctrl__give(struct resctrl *resctrl, uint32_t group, uint32_t tgid);
int resctrl__take(struct resctrl *resctrl, uint32_t group, uint64_t now_ns);

/* There is no group for the process: it must not stay in that of its parent. */
int resctrl__wait(struct resctrl *resctrl, uint32_t tgid);

int resctrl__begin(struct resctrl *resctrl);

/* The window opens: counts from now on. */
int resctrl__start(struct resctrl *resctrl);

/* Reads groups in turn, until that has taken 1 ms. */
int resctrl__poll(struct resctrl *resctrl);

/* Reads all for the last time: at `end_ns`, the end of the window. */
int resctrl__stop(struct resctrl *resctrl, uint64_t end_ns);

/* How it measured, and what it did not. */
void resctrl__tell(const struct resctrl *resctrl, FILE *out);

#endif
