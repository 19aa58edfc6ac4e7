/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's own counts of requests, by disk. They show requests that began before latscope was
 * attached and have not ended: no program sees anything of these, so a disk that hangs would look
 * idle.
 */
#ifndef LATSCOPE_HOST_DISK_REQUESTS_H
#define LATSCOPE_HOST_DISK_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DISK_REQUESTS_NAME 32

struct disk_requests {
	char name[DISK_REQUESTS_NAME];
	uint64_t instance; /* another one: the disk was removed, and one of its name came */
	uint64_t ended; /* reads, writes, discards and flushes that have completed */
	uint64_t in_driver; /* issued, and not completed */
};

struct disk_list {
	struct disk_requests *disks; /* owned */
	size_t nr;
};

/*
 * Of all request-based disks, or of `only` (major << 20 | minor). `root` is a prefix of /sys, ""
 * for this machine. 0 or -ENOMEM; the list is then empty. disk_list__free() frees it.
 */
int disk_list__read(struct disk_list *list, const char *root, uint32_t only);
void disk_list__free(struct disk_list *list);

uint64_t disk_list__in_driver(const struct disk_list *list);

/* Has no request ended or been issued in between, as far as both lists show? */
bool disk_list__same(const struct disk_list *a, const struct disk_list *b);

/* Requests of a time span that have not ended since. */
struct disk_older {
	uint64_t least, most;
	char name[DISK_REQUESTS_NAME]; /* the only disk that can have them; empty: there are more */
};

/* Those of `then` that have not ended `now`. A request that merges counts as one that ended. */
struct disk_older disk_list__older(const struct disk_list *then, const struct disk_list *now);

#endif
