/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts that need x86-64. */
#ifndef LATSCOPE_CORE_ARCH_H
#define LATSCOPE_CORE_ARCH_H

/* NULL on x86-64; elsewhere the reason why a part that needs it does not work. */
const char *arch__not_x86(void);

#define ARCH_X86_TODO "use an x86-64 machine"

#endif
