/* SPDX-License-Identifier: BSD-2-Clause */
/* Standard input, output and error: there before anything else is, and written out at the end. */
#ifndef LATSCOPE_PRINT_STREAMS_H
#define LATSCOPE_PRINT_STREAMS_H

/* Before any file is: one would take the place of a stream that is closed, and get its text. */
void streams__open(void);

/* 0 if all that was printed arrived, or its reader left early as head does; the first -errno. */
int streams__flush(void);

#endif
