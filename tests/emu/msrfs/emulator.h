/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A machine with its clock, the requested faults, and an account of all accesses to its registers.
 */
#ifndef LATSCOPE_TESTS_MSRFS_EMULATOR_H
#define LATSCOPE_TESTS_MSRFS_EMULATOR_H

#include <stddef.h>

#include "machine.h"

#define EMULATOR_FAULTS 16
#define EMULATOR_PLANS 16
#define EMULATOR_LOG 65536 /* writes kept */
#define EMULATOR_LINE 200 /* longest command */

enum access { ACCESS_OPEN, ACCESS_READ, ACCESS_WRITE };

struct fault {
	enum access access;
	int err; /* -errno; 0: the transfer is short */
	int socket; /* -1: any */
	int64_t reg; /* -1: any */
	uint64_t left; /* how often it strikes yet */
};

/* A command that runs after so many accesses to registers. */
struct plan {
	uint64_t accesses;
	char command[EMULATOR_LINE];
};

struct logged {
	unsigned int socket;
	uint64_t reg, old, new;
};

struct emulator {
	struct machine machine;
	bool offline[MACHINE_SOCKETS * 64]; /* by CPU */
	bool virtual; /* time goes on by commands and accesses only */
	uint64_t step; /* ns that an access takes, if so */
	uint64_t *shown; /* shared, so that everybody can read the time; or NULL */

	unsigned int faults, plans;
	struct fault fault[EMULATOR_FAULTS];
	struct plan plan[EMULATOR_PLANS];

	/* Since the last mark; `found` is the machine at that time. */
	uint64_t accesses, opens;
	uint64_t moves; /* since the start */
	uint64_t reads[MAP_NONE + 1], writes[MAP_NONE + 1];
	unsigned int logged; /* may be more than the log has room for */
	struct logged log[EMULATOR_LOG];
	struct socket found[MACHINE_SOCKETS];

	char error[EMULATOR_LINE]; /* why the last command failed */
};

/* -errno, as from the kernel's driver, or the number of the 8 bytes that are transferred. */
int emulator__open(struct emulator *emulator, unsigned int cpu);
int emulator__read(struct emulator *emulator, unsigned int cpu, uint64_t reg, uint64_t *value);
int emulator__write(struct emulator *emulator, unsigned int cpu, uint64_t reg, uint64_t value);

/* Updates the machine to the current time; does not advance virtual time. */
uint64_t emulator__now(struct emulator *emulator);

/* From now on virtual time is in that file, mapped, so that reading it costs nothing. */
int emulator__show_time(struct emulator *emulator, const char *path);
void emulator__shown(struct emulator *emulator);

/* Sets a mark: the current registers are those that should be restored. */
void emulator__mark(struct emulator *emulator);

/* Runs one line, see command.c. -EINVAL: it is invalid, see emulator->error. */
int emulator__command(struct emulator *emulator, const char *line);

/* The share p of the requests of the loop goes to the first stream from now on. */
void emulator__move(struct emulator *emulator, double p);

/* Texts, to be freed; NULL: no memory. */
char *emulator__state(struct emulator *emulator, size_t *length);
char *emulator__changed(struct emulator *emulator, size_t *length);
char *emulator__writes(const struct emulator *emulator, size_t *length);

#endif
