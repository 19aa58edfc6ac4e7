/* SPDX-License-Identifier: BSD-2-Clause */
/* The command to try first, as the user has to type it here. */
#ifndef LATSCOPE_CLI_FIRST_H
#define LATSCOPE_CLI_FIRST_H

#include <stdbool.h>

/*
 * The last line of doctor: the one command that helps most on this machine. probes: at least one
 * probe of record can run; privileges: latscope can give up its own.
 */
void first__next(bool probes, bool privileges);

#endif
