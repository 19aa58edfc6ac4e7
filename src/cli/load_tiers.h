/* SPDX-License-Identifier: BSD-2-Clause */
/* `latscope load tiers`: emulated memory tiers, for tierlat to measure. */
#ifndef LATSCOPE_CLI_LOAD_TIERS_H
#define LATSCOPE_CLI_LOAD_TIERS_H

#include <stdbool.h>

#include <loadgen/tiers/tiers.h>

/* `command` NULL: none; it ends with NULL. An exit code, or that of the command. */
int load_tiers__run(const struct tiers_config *config, char *const *command, uint64_t duration_ns,
		    bool quiet);

#endif
