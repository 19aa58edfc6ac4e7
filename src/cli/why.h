/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of `why`, and of `record --why`. */
#ifndef LATSCOPE_CLI_WHY_H
#define LATSCOPE_CLI_WHY_H

#include <probes/kit/why.h>

#include "options.h"

struct why_command {
	bool wanted;
	const char *over; /* as given; NULL: the default */
	struct why_request request;
	struct options *options;
};

extern const struct argp_option why_options[]; /* of `why` */
extern const char why_doc[];

enum { KEY_OVER = 0x3000, KEY_EVENTS };
#define WHY_OVER_OPTION                                                                       \
	{                                                                                     \
		"over", KEY_OVER, "LIMIT", 0, "Explain what took longer: 1ms, p99.9 (p99)", 0 \
	}
#define WHY_EVENTS_OPTION                                                                         \
	{                                                                                         \
		"events", KEY_EVENTS, "N", 0, "Room for N slow events between two reads (256)", 0 \
	}

error_t why__parse(struct why_command *command, int key, char *arg);

/* lat_config.why: whom victims and culprits are, by --by; 0: nothing is explained. -EINVAL: see
 * options->error. */
int why__check(struct why_command *command, bool only, uint32_t *why);

#endif
