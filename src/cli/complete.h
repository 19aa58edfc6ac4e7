/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completion: `latscope --complete WORD...` prints what the last word can become, one answer per
 * line with a tab and a description, for the scripts in packaging/completions. An answer :files,
 * :dirs or :command stands for what the shell itself knows.
 */
#ifndef LATSCOPE_CLI_COMPLETE_H
#define LATSCOPE_CLI_COMPLETE_H

#include <stdbool.h>

#include "options.h"

/* The words after the command's name; the last one is incomplete. */
void complete__start(char **words, int nr);

#endif
