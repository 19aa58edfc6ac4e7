/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads from mapped memory what the programs counted, and for which keys. */
#ifndef LATSCOPE_PROBES_KIT_READ_H
#define LATSCOPE_PROBES_KIT_READ_H

#include "bpf_probe.h"

/*
 * Updates `total`, and sets `delta` to the difference since the last call. Both start out empty and
 * get the same keys in the same order. 0 or -errno.
 */
int read__interval(struct bpf_probe *probe, struct run_data *total, struct run_data *delta,
		   struct names *names);

/* Updates the names of the keys, because tasks may have changed theirs. */
void read__names(const struct bpf_probe *probe, struct run_data *data, struct names *names);

#endif
