/* SPDX-License-Identifier: BSD-2-Clause */
/* System calls: what a thread waits for that sleeps in one, and their names. */
#ifndef LATSCOPE_PROBES_WHERE_CALLS_H
#define LATSCOPE_PROBES_WHERE_CALLS_H

#include <stdint.h>

#include "types.h"

/* Fills the tables of the programs: of this architecture and of its 32-bit programs. */
void calls__fill(uint8_t states[WHERE_CALLS], uint8_t states_32[WHERE_CALLS]);

#define CALLS_NAME 48

/* "fdatasync", "page fault", "call 511 (32-bit)"; empty: none. Returns out. */
const char *calls__name(uint32_t call, char out[CALLS_NAME]);

#endif
