/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The emulator as a file system:
 *
 *   cpu/N/msr    as /dev/cpu/N/msr: a register is read and written at the offset that is its number
 *   ctl          takes commands, a line each (command.c); -EINVAL: see "error" in state
 *   move         takes decisions of tierlat, which change the shares of the tiers (moves.h)
 *   state        JSON: the reference, and what was accessed since the last mark
 *   changed      JSON: the registers whose content is not what it was at the last mark
 *   writes       every write of a register since then: SOCKET REGISTER OLD NEW
 */
#ifndef LATSCOPE_LOADGEN_TIERS_FILES_H
#define LATSCOPE_LOADGEN_TIERS_FILES_H

struct emulator;

/*
 * libfuse is loaded when it is needed: nothing else of latscope needs it. 0, -ENOPKG: it is not
 * installed, or -EOPNOTSUPP: this latscope was built without its headers.
 */
int files__load(void);

/*
 * After files__load(): serves the files until they are unmounted or a signal arrives. Returns an
 * exit status.
 */
int files__serve(struct emulator *emulator, const char *program, const char *mountpoint);

#endif
