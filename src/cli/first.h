/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands to try first, as the user has to type them here. */
#ifndef LATSCOPE_CLI_FIRST_H
#define LATSCOPE_CLI_FIRST_H

#include <stdbool.h>

/* To stderr: somebody types "latscope" to see what it does. */
void first__steps(void);

/*
 * The last line of doctor: the one command that helps most on this machine. probes: at least one
 * probe of record can run; privileges: latscope can give up its own.
 */
void first__next(bool probes, bool privileges);

#endif
