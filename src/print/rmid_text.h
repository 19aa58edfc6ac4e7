/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of module rmid for people: a line a process. */
#ifndef LATSCOPE_PRINT_RMID_TEXT_H
#define LATSCOPE_PRINT_RMID_TEXT_H

#include <store/writer.h>

/* Is it that module, with the columns that are wanted here? A file may say anything. */
bool rmid__has_rows(const struct run_probe *probe);

/* Those that had the most CPU time; `top` of them, 0: all. 0 or -ENOMEM. */
int rmid__print(FILE *out, const struct run *run, const struct run_probe *probe, unsigned int top);

/*
 * The same of every interval, to stdout, and of the other modules what writer_live prints. The
 * writer's state is an unsigned int, `top`.
 */
extern const struct writer_ops writer_live_rmid;

#endif
