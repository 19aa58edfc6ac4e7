/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys of a split that came when no row was left. Rows go to keys as they come, but for a quarter
 * of them. Samples of further keys are in the row of all others and, by key, in the map `light`:
 * sum, maximum and a count for each power of two. Each reading empties that map and adds up what
 * each key has had so far. The heaviest keys get the rows that were held back, and their samples
 * since the last reading are moved to them, in the slots of their power of two.
 */
#ifndef LATSCOPE_PROBES_LIGHT_KEYS_H
#define LATSCOPE_PROBES_LIGHT_KEYS_H

#include "bpf_probe.h"

#define LIGHT_SHARE 4 /* one of so many rows is held back */

/* Entries of the map `light`. */
uint32_t light__entries(const struct bpf_probe *probe);

int light__new(struct bpf_probe *probe);
void light__free(struct bpf_probe *probe);

/*
 * Between the reading of the cells and that of the rows. Also sets LAT_OTHER_MOST_NS: more than
 * that no key can have in the row of all others. 0 or -errno.
 */
int light__read(struct bpf_probe *probe, struct run_data *total, struct run_data *delta,
		struct names *names);

/* Adds to the row of a key, by its number, what was moved to or from it. */
void light__adjust(const struct bpf_probe *probe, size_t key, struct lat_hist *row);

#endif
