/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's weights of weighted interleave: of how many pages in turn each NUMA node gets. They
 * are the machine's, and govern new pages of processes with that policy. In memory that the restore
 * process shares.
 */
#ifndef LATSCOPE_PROBES_TIERLAT_ACT_WEIGHTS_H
#define LATSCOPE_PROBES_TIERLAT_ACT_WEIGHTS_H

#include <core/numa_maps.h>

#include "act.h"

struct act_weights;

/* Opens the files of all nodes of the masks. Errors, with a line in `why`. */
int act_weights__open(struct act_weights **weights, const struct act_nodes *nodes, const char *root,
		      bool write, char why[TIER_TEXT]);
void act_weights__free(struct act_weights *weights);

/* The share of new pages that the near nodes get now. -EBUSY: another program changed a weight. */
int act_weights__share(const struct act_weights *weights, double *share);

/* Sets the weights for a share, and reads them back. -EIO: the kernel has others. */
int act_weights__set(struct act_weights *weights, double share);

/* If any was written, all become what was found. */
int act_weights__undo(const struct act_weights *weights);

/* The weights of each near and far node, 1 to 255, for a share. */
void act_weights__fit(double share, unsigned int near_nodes, unsigned int far_nodes,
		      unsigned int fit[2]);

/* The share that the weights should give: see act_weights.c. */
double act_weights__aim(double placement, double now, double shift);

#endif
