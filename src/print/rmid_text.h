/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of the probe rmid as text: a line per process. */
#ifndef LATSCOPE_PRINT_RMID_TEXT_H
#define LATSCOPE_PRINT_RMID_TEXT_H

#include <store/writer.h>

/* Is it rmid, with the expected columns? A file may contain anything. */
bool rmid__has_rows(const struct run_probe *probe);

/* The processes with the most CPU time; `top` of them, 0: all. 0 or -ENOMEM. */
int rmid__print(FILE *out, const struct run *run, const struct run_probe *probe, unsigned int top);

/*
 * The same for every interval, to stdout; other probes as writer_live prints them. The writer's
 * state is an unsigned int, `top`.
 */
extern const struct writer_ops writer_live_rmid;

#endif
