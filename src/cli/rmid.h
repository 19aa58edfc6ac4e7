/* SPDX-License-Identifier: BSD-2-Clause */
/* What `latscope rmid` has of its own, and `record --rmid` takes part in. */
#ifndef LATSCOPE_CLI_RMID_H
#define LATSCOPE_CLI_RMID_H

#include <probes/rmid/probe.h>
#include <session/session.h>

#include "options.h"

struct rmid_command {
	bool wanted;
	const char *method; /* NULL: the best */
	uint32_t counters; /* mask of counters_kinds[] */
	bool counters_given;
	struct options *options; /* for messages */
	struct rmid *rmid; /* once it is open */
	struct session_source source;
};

/* Those of `latscope rmid`, and what argp's parser is to do with one. */
extern const struct argp_option rmid_options[];
error_t rmid__parse(struct rmid_command *command, int key, char *arg);

/* Is this the method that needs x86-64 and the kernel module? */
bool rmid__wants_x86(const char *method);

/*
 * Opens it and adds it to the session, refused or not. Prints why not, or why not on the best
 * method, and returns an exit code, which is EXIT_DONE also when it is refused.
 */
int rmid__add(struct rmid_command *command, struct session *session);

#endif
