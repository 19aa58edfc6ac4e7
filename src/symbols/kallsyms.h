/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's symbols, from /proc/kallsyms. */
#ifndef LATSCOPE_SYMBOLS_KALLSYMS_H
#define LATSCOPE_SYMBOLS_KALLSYMS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define KALLSYMS_PATH "/proc/kallsyms"

struct kallsyms {
	FILE *file;
	char line[1024]; /* a symbol has at most 511 bytes (since Linux 6.1), a kernel module 55 */
};

struct kallsym {
	uint64_t address; /* 0: hidden from this process */
	char type; /* as nm(1) prints it */
	const char *name;
	const char *module; /* "[ext4]"; "": the kernel itself */
};

/*
 * Addresses are hidden or not as the credentials at this call allow, also if the process drops
 * privileges before it reads. 0 or -errno.
 */
int kallsyms__open(struct kallsyms *symbols, const char *path);

/* What it points to stays until the next call. False: there are no more. */
bool kallsyms__next(struct kallsyms *symbols, struct kallsym *symbol);

void kallsyms__close(struct kallsyms *symbols);

#endif
