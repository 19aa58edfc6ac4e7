/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion of values: processes, cgroups, disks, splits, probes, methods, loads. */
#ifndef LATSCOPE_CLI_COMPLETE_VALUES_H
#define LATSCOPE_CLI_COMPLETE_VALUES_H

#include "options.h"

/* Prints an answer if it starts with the text that is completed. */
void complete__offer(const char *text, const char *value, const char *about);

/* The values of an option of a command that start with text. */
void complete__values(const char *command, const struct option_row *option, const char *text);

/* The arguments of a command that are no options. */
void complete__arguments(const char *command, const char *text);

#endif
