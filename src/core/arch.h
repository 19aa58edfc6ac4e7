/* SPDX-License-Identifier: BSD-2-Clause */
/* What works on one architecture only. */
#ifndef LATSCOPE_CORE_ARCH_H
#define LATSCOPE_CORE_ARCH_H

/* For an error line: NULL on x86-64; elsewhere why a part that needs x86-64 does not work. */
const char *arch__not_x86(void);

#define ARCH_X86_TODO "use an x86-64 machine"

#endif
