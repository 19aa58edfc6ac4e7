/* SPDX-License-Identifier: BSD-2-Clause */
/* What `record --tiers` takes part in; `latscope tierlat` has options and a loop of its own. */
#ifndef LATSCOPE_CLI_TIERS_H
#define LATSCOPE_CLI_TIERS_H

#include <probes/tierlat/meter.h>
#include <session/session.h>

#include "options.h"

struct tiers_command {
	bool wanted;
	struct tier_config config;
	struct options *options; /* for messages */
	struct tier_meter *meter; /* once it is open */
	struct session_source source;
};

/* MODEL:BOXES:DIR, a register tree of one socket that is not this machine's: for tests. */
int tiers__parse_place(struct tiers_command *command, char *arg);

/*
 * Opens it and adds it to the session, refused or not. Prints why not, and returns an exit code,
 * which is EXIT_DONE also when it is refused.
 */
int tiers__add(struct tiers_command *command, struct session *session);

/* Puts back the registers, unless it was done. Prints why it could not; returns an exit code. */
int tiers__close(struct tiers_command *command);

#endif
