/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A load of two or three memory tiers that exist in registers only: an emulator, mounted as a file
 * system, answers as the uncore counters of a machine would. A process of its own serves it until
 * tiers__stop(), or until this process ends. Only this user can open its files.
 */
#ifndef LATSCOPE_LOADGEN_TIERS_TIERS_H
#define LATSCOPE_LOADGEN_TIERS_TIERS_H

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

#define TIERS_MOST 3
#define TIERS_LEAST 2
#define TIERS_REQUESTS 80 /* in flight, by default */
#define TIERS_SHARE 0.2 /* of the first tier, at the start */
#define TIERS_TEXT 256
#define TIERS_ARGS 12

struct tiers_config {
	const char *dir; /* where to make the mount point */
	unsigned int tiers;
	uint64_t requests; /* that are in flight at any time */
	double share; /* of these that goes to the first tier */
};

struct tiers {
	char dir[PATH_MAX]; /* the mount point */
	unsigned int count;
	pid_t server; /* 0: it has ended */
	int messages; /* what it wrote to stderr */
	/* What tierlat needs to measure it; NULL after the last. */
	const char *args[TIERS_ARGS];
	char registers[PATH_MAX], move[PATH_MAX];
};

/* What the emulator knows. */
struct tiers_reference {
	double p; /* share of the requests to the first tier */
	uint64_t moves; /* decisions that were carried out */
	struct {
		char name[16];
		double rate, latency_ns; /* requests per s */
	} tier[TIERS_MOST];
};

/*
 * 0 or, with *why: -ENOPKG, there is no libfuse; -EOPNOTSUPP, latscope was built without it; or
 * another error of the directory or the mount.
 */
int tiers__start(struct tiers *tiers, const struct tiers_config *config, char why[TIERS_TEXT]);

/*
 * Waits for so long, or for a signal, or until `command` ends, if it is not NULL. It gets the
 * options for tierlat as its last arguments. At the end of the time it gets SIGINT, and if it does
 * not end, SIGTERM and SIGKILL. Returns its exit status as a shell would, 0 without one, or -errno;
 * -ECANCELED: the emulator ended.
 */
int tiers__run(struct tiers *tiers, char *const *command, uint64_t duration_ns);

int tiers__read(const struct tiers *tiers, struct tiers_reference *reference);

/* Unmounts and removes the mount point. 0 or -errno. */
int tiers__stop(struct tiers *tiers);

#endif
