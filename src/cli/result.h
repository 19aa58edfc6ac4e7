/* SPDX-License-Identifier: BSD-2-Clause */
/* What record, and the commands that are like it, print at the end. */
#ifndef LATSCOPE_CLI_RESULT_H
#define LATSCOPE_CLI_RESULT_H

#include <core/run.h>

#include "options.h"

struct result {
	const struct run *run;
	const struct options *options;
	bool has_table; /* of the one probe; its CSV was printed during the window */
	bool has_printed; /* the probe printed text during the window */
	bool is_why; /* why the slow samples were slow comes first */
	bool answers; /* with the first answer */
	bool explains; /* --why: and why the slow samples were slow */
	bool is_account; /* the parts of all time; of each other probe, why it was slow */
	bool folded; /* the stacks of long sleeps instead */
	const char *recording; /* print what report prints, from there; NULL: the probes alone */
};

/* Prints errors, too. Returns the exit code. */
int result__print(const struct result *result);

#endif
