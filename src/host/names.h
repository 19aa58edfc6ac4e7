/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of keys, and keys of names. */
#ifndef LATSCOPE_HOST_NAMES_H
#define LATSCOPE_HOST_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include <core/run.h>

struct names;

/* `root` is a prefix of /proc and /sys, "" for this machine. 0 or -ENOMEM. */
int names__new(struct names **names, const char *root);
void names__free(struct names *names);

/*
 * "sda", "comm (12)", "/system.slice", "read", "(other)"; the number if there is no name. `comm` is
 * that of struct lat_owner, of a task or a disk; NULL or empty if unknown. The result is sanitized.
 * Returns out.
 */
const char *names__key(struct names *names, const struct lat_key *key, const char *comm,
		       char out[RUN_NAME]);

/*
 * "sda" or "/dev/sda" to major << 20 | minor. Returns 0 for a disk; 1 for a partition, with the id
 * of its disk; -ENODEV if there is neither.
 */
int names__disk(const struct names *names, const char *name, uint32_t *id);

/*
 * Path of a cgroup, full or below the mount, to its id. -ENOENT (also: no cgroup2), -ENOTDIR,
 * -EACCES.
 */
int names__cgroup(const struct names *names, const char *path, uint64_t *id);

/* The whole path of a cgroup, also of one that is gone; NULL: not known. As it is: sanitize it. */
const char *names__cgroup_path(const struct names *names, uint64_t id);

/* The path, of which the end stays if it is long; without one, "cgroup ID". */
void names__cgroup_text(const struct names *names, uint64_t id, char *out, size_t size);

/*
 * What had a CPU, if no task did: "softirq net_rx", "timer", "IRQ 24 (virtio0-input.0)", or "an
 * interrupt". `source` is an enum why_source. Returns out.
 */
const char *names__source(const struct names *names, unsigned int source, char out[RUN_NAME]);

/* Such a path, of which the end stays if it is long. `out` is sanitized. */
void names__shorten(const char *path, char *out, size_t size);

/* Can new cgroups be named now at little cost? Otherwise a caller with time should wait. */
bool names__are_cheap(const struct names *names);

#endif
