/* SPDX-License-Identifier: BSD-2-Clause */
/* Standard input, output and error: opened first, flushed last. */
#ifndef LATSCOPE_PRINT_STREAMS_H
#define LATSCOPE_PRINT_STREAMS_H

#include <stdbool.h>

/* Call before any open(): a file would take the descriptor of a closed stream and get its text. */
void streams__open(void);

/* 0 if all output was written, or its reader exited early, as head does; else the first -errno. */
int streams__flush(void);

/* May text on stdout have colours? Only on a terminal, and not with NO_COLOR in the environment. */
bool streams__color(void);

#endif
