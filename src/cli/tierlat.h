/* SPDX-License-Identifier: BSD-2-Clause */
/* The options that only `latscope tierlat` has. */
#ifndef LATSCOPE_CLI_TIERLAT_H
#define LATSCOPE_CLI_TIERLAT_H

#include <probes/tierlat/tierlat.h>

#include "options.h"

struct tierlat_command {
	struct tierlat_config config;
	unsigned int cpus[TIER_SOCKETS];
	const char *decisions; /* a file for them; NULL: none */
	bool reset; /* reset the counters; measure nothing */
	struct options *options;
};

extern const struct argp_option tierlat_options[];
extern const char tierlat_doc[];

void tierlat__init(struct tierlat_command *command, struct options *options);
error_t tierlat__parse(struct tierlat_command *command, int key, char *arg);

/* Checks the combination of options, after all were parsed. */
int tierlat__check(struct tierlat_command *command);

/* Adds the writer of --decisions, if it was given. An exit code. */
int tierlat__add_writer(const struct tierlat_command *command, struct recording *recording);

/* Sets the counters to the state after power-on. An exit code. */
int tierlat__reset(const struct tierlat_command *command);

#endif
