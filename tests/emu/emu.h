/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions for tests with the emulator msrfs. One emulator lasts as long as a group of tests;
 * commands control it (msrfs/command.c), and its files report its state (msrfs/main.c). Its time is
 * virtual.
 */
#ifndef LATSCOPE_TESTS_EMU_H
#define LATSCOPE_TESTS_EMU_H

#include "../unit/unit.h"

#define EMU_SECOND 1000000000.0

struct json_object;

/* Setup and teardown of a group of tests. Exits without FUSE. */
void emu__begin(void);
void emu__end(void);

/* Where its CPUs are, for --msr-root. */
const char *emu__root(void);

/* One command, which must be understood. */
void emu__tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ns, of its clock */
uint64_t emu__now(void);

/* To be put. */
struct json_object *emu__changed(void);

/* state's number at "/accesses" or "/streams/0/rate". */
double emu__number(const char *path);

/* By which the true latencies of the first two streams differ. */
double emu__imbalance(void);

/* All of `writes`. */
char *emu__writes(void);

/* A CPU's registers, as a program sees them; -errno, except for open: as open() does. */
int emu__open(unsigned int cpu);
int emu__read(unsigned int cpu, uint64_t reg, uint64_t *value);
int emu__write(unsigned int cpu, uint64_t reg, uint64_t value);

#endif
