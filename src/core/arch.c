// SPDX-License-Identifier: BSD-2-Clause
#include "arch.h"

#include <stddef.h>

#if defined(__x86_64__)
#define NOT_X86 NULL
#elif defined(__aarch64__)
#define NOT_X86 "it works on x86-64 only, and this machine is arm64"
#else
#define NOT_X86 "it works on x86-64 only"
#endif

const char *arch__not_x86(void)
{
	return NOT_X86;
}
