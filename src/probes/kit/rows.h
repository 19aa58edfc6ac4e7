/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of keys: each is a histogram in a map, which is mapped in parts. */
#ifndef LATSCOPE_PROBES_KIT_ROWS_H
#define LATSCOPE_PROBES_KIT_ROWS_H

#include "bpf_probe.h"

/*
 * Adds a key at the end of `total` and `delta`, with the row that has its samples from now on. 0 or
 * -ENOMEM.
 */
int rows__add_key(struct bpf_probe *probe, struct run_data *total, struct run_data *delta,
		  const struct lat_key *key, const char *name, uint32_t row);

/* Some of the rows, mapped. */
struct rows_view {
	void *map;
	size_t size;
	struct lat_hist *rows;
};

#define ROWS_AT_ONCE 64 /* all at once would use much resident memory */

/* `access`: PROT_... 0 or -errno. The caller unmaps it. */
int rows__map(const struct bpf_probe *probe, uint32_t first, uint32_t nr, int access,
	      struct rows_view *view);
void rows__unmap(const struct rows_view *view);

/* Copies the row of a key (by number), with what was moved to or from it: see light_keys.h. */
void rows__copy(const struct bpf_probe *probe, size_t key, const struct lat_hist *row,
		struct lat_hist *copy);

#endif
