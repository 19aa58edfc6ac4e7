/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys of a split for which no row was left. Keys get rows in order of appearance, except for a
 * reserved quarter. Samples of further keys are in the row (other) and, by key, in the map `light`:
 * sum, maximum and a count for each power of two. Each reading empties that map and adds up what
 * each key has had so far. The heaviest keys get the reserved rows. Their samples since the last
 * reading are moved to these rows, in the slots of their power of two. This is a top-K sketch.
 */
#ifndef LATSCOPE_PROBES_KIT_LIGHT_KEYS_H
#define LATSCOPE_PROBES_KIT_LIGHT_KEYS_H

#include "bpf_probe.h"

#define LIGHT_SHARE 4 /* the reciprocal of the reserved share of rows */

/* Entries of the map `light`. */
uint32_t light__entries(const struct bpf_probe *probe);

int light__new(struct bpf_probe *probe);
void light__free(struct bpf_probe *probe);

/*
 * Call between reading the cells and the rows. Also sets LAT_OTHER_MOST_NS, the most that any key
 * can have in the row (other). 0 or -errno.
 */
int light__read(struct bpf_probe *probe, struct run_data *total, struct run_data *delta,
		struct names *names);

/* For renew.h: no key gets a row any more; all keys but the first `others` are given up. */
void light__stop(const struct bpf_probe *probe);
void light__restart(struct bpf_probe *probe, size_t others);

#endif
