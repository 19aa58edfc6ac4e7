/* SPDX-License-Identifier: BSD-2-Clause */
/* What doctor prints, for probes that examine the machine themselves. */
#ifndef LATSCOPE_CLI_DOCTOR_H
#define LATSCOPE_CLI_DOCTOR_H

#include <stdbool.h>

/* A line "  * user  yes", and below it the text; the mark is "*", "!" or " ". */
void doctor__finding(const char *mark, const char *method, const char *answer, const char *text);

/* Prints why a method that needs x86-64 does not work. False: this is x86-64. */
bool doctor__not_x86(const char *method);

#endif
