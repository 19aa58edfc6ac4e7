/* SPDX-License-Identifier: BSD-2-Clause */
/* The options that only `latscope rmid` has. */
#ifndef LATSCOPE_CLI_RMID_H
#define LATSCOPE_CLI_RMID_H

#include <probes/rmid/rmid.h>

#include "options.h"

struct rmid_command {
	struct rmid_config config; /* by default the usual counters that this CPU has */
	struct options *options;
};

extern const struct argp_option rmid_options[];
extern const char rmid_doc[];

void rmid__init(struct rmid_command *command, struct options *options);
/* After all options were parsed: 0, or EINVAL with a message in the options. */
int rmid__check(struct rmid_command *command);
error_t rmid__parse(struct rmid_command *command, int key, char *arg);

#endif
