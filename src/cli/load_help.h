/* SPDX-License-Identifier: BSD-2-Clause */
/* The help of `latscope load`: of all kinds, or of one. */
#ifndef LATSCOPE_CLI_LOAD_HELP_H
#define LATSCOPE_CLI_LOAD_HELP_H

#include "options.h"

#define LOAD_DIR "/var/tmp"

/*
 * Sets the texts, by the first argument that is the name of a kind. All rows are parsed with any
 * kind; those of other kinds are not shown.
 */
void load_help__set(struct usage *usage, int argc, char **argv);

#endif
