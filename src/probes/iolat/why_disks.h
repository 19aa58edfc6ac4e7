/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Models of disks, by the sums that iolat's programs keep of requests (struct why_kind) and of
 * disks (struct why_load): how long a request takes alone, what one costs the others, and how many
 * the disk serves at a time. The programs divide slow requests by these.
 */
#ifndef LATSCOPE_PROBES_IOLAT_WHY_DISKS_H
#define LATSCOPE_PROBES_IOLAT_WHY_DISKS_H

#include <stddef.h>

#include <latscope/why.h>

#include "types.h"

#define WHY_DISKS_ALONE 4 /* least requests alone on a disk that say how long one takes */
#define WHY_DISKS_BATCHES 3 /* least batches that say what a request costs */
#define WHY_DISKS_REQUESTS 64 /* least requests that say that the disk has no batches */

struct why_disks {
	struct why_kind *kinds; /* WHY_KINDS, shared with the programs */
	const struct why_load *loads; /* WHY_DISKS, the same */
};

/* Sets what the programs need of each kind. */
void why_disks__learn(const struct why_disks *disks);

/*
 * Writes the models as sentences without a full stop: "sda serves 16 at a time; a read of 4 KiB
 * alone takes 11.2 ms (312 alone, 10.9 to 13.1 ms)". Empty: no disk has had requests.
 */
void why_disks__describe(const struct why_disks *disks,
			 const char *(*name)(void *context, __u64 disk, char *out), void *context,
			 char *text, size_t size);

#endif
