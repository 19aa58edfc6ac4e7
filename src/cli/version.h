/* SPDX-License-Identifier: BSD-2-Clause */
/* What --version prints: the version, the commit it was built from, the methods compiled in. */
#ifndef LATSCOPE_CLI_VERSION_H
#define LATSCOPE_CLI_VERSION_H

#include <stdio.h>

void version__print(FILE *out);

#endif
