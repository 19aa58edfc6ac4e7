/* SPDX-License-Identifier: BSD-2-Clause */
/* What processes did with their time, and what the probes did not see of it. */
#ifndef LATSCOPE_PRINT_ACTIVITY_TEXT_H
#define LATSCOPE_PRINT_ACTIVITY_TEXT_H

#include <stdio.h>

#include <core/run.h>

/* Nothing unless the run recorded it. `top`: maximum processes; 0: all. */
void activity_text__print(FILE *out, const struct run *run, unsigned int top);

#endif
