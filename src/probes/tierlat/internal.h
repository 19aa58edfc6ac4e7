/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the methods and tier.c. */
#ifndef LATSCOPE_PROBES_TIERLAT_INTERNAL_H
#define LATSCOPE_PROBES_TIERLAT_INTERNAL_H

#include "clocks.h"
#include "tier.h"

struct tier_socket {
	int package;
	unsigned int box_ids[TIER_BOXES]; /* box numbers; there may be gaps */
	unsigned int nr_boxes;
	struct tier_share shares[TIER_BOXES]; /* by position in tier->tiers */
	struct tier_clocks clocks; /* not AMD */
	struct tier_delta *deltas; /* for each box; AMD: for each tier and box */
};

struct tier_method_ops {
	const char *name;
	/* One sentence: how the number is obtained. */
	void (*describe)(const struct tier *tier, char text[TIER_TEXT]);
	/* Finds the sockets and their boxes; writes nothing. -EOPNOTSUPP: not on this machine. */
	int (*find)(struct tier *tier);
	/* Starts the counters. close() must follow, also after an error. */
	int (*start)(struct tier *tier);
	/* Fills in the deltas. -errno: nothing can be read any more. */
	int (*read)(struct tier *tier);
	/* The counts of a box in this interval are not used: notes what is wrong with it. */
	void (*reject)(struct tier *tier, unsigned int socket, unsigned int box, const char *what,
		       const char *number);
	int (*close)(struct tier *tier);
};

/* The first problem of a read, and how many boxes share it. */
struct tier_trouble {
	char subject[48]; /* "CHA 3 (CPU 0)"; empty: there is none */
	char what[160];
	char number[48]; /* detail that differs in every read; may be empty */
	unsigned int more, others; /* boxes with the same problem, and with another one */
};

struct tier {
	struct tier_config config;
	const struct tier_model *model;
	const struct tier_sys *sys;
	const char *root;
	bool amd;
	const struct tier_method_ops *ops;
	void *state; /* private to the method */
	unsigned int tiers[TIER_MOST]; /* indices into the model's */
	unsigned int nr_tiers;
	struct tier_socket sockets[TIER_SOCKETS];
	unsigned int nr_sockets;
	uint64_t calls;
	char why[TIER_TEXT];
	const char *todo;
	unsigned int failures; /* consecutive failed reads */
	struct tier_trouble trouble;
	char said[TIER_TEXT]; /* the text that tier__trouble() returned last */
	bool told;
};

extern const struct tier_method_ops tier_perf, tier_msr;

/*
 * Called after find(), not after start(): programs the power-on state and describes what was done.
 */
int msr__reset(struct tier *tier, char done[TIER_TEXT]);

/* Stores the reason and the remedy; returns err. */
int tier__fail(struct tier *tier, int err, const char *todo, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Keeps the first problem of a read and counts the others. The format is of the subject. */
void tier__note(struct tier *tier, const char *what, const char *number, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* All noted problems in one line. */
const char *tier__say(struct tier *tier);

/* Does the machine have the kind of memory that the tier is of? */
bool tier__has_memory(const struct tier_class *class, const char *root);

/* Reports that the CPU, by name, is in no table. */
void tier__name_unknown(char text[TIER_TEXT], const struct tier_cpu *cpu);

/* The socket of a package, added if necessary. NULL: there are too many. */
struct tier_socket *tier__socket_of(struct tier *tier, int package);

/* The perf configs of an event; both 0 for TIER_NO_TIER. */
struct tier_configs {
	uint64_t config, config1;
};

struct tier_configs tier__configs(const struct tier *tier, const struct tier_share *share,
				  int event);

/* The tier that stands at a position of tier->tiers. */
const struct tier_class *tier__class(const struct tier *tier, unsigned int position);

#endif
