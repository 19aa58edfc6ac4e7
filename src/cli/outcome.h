/* SPDX-License-Identifier: BSD-2-Clause */
/* What the user should know about a window that has ended. */
#ifndef LATSCOPE_CLI_OUTCOME_H
#define LATSCOPE_CLI_OUTCOME_H

#include <session/session.h>

/* Warns if the workload failed, was terminated, or left processes behind. */
void outcome__of_workload(const struct run *run, const struct session_result *result);

#endif
