/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For assembly: marks the object as compatible with CET, as the compiler does with -fcf-protection.
 * If one object lacks the mark, the linker omits it for the whole program.
 */
#ifndef LATSCOPE_PROBES_RINGLAT_CET_H
#define LATSCOPE_PROBES_RINGLAT_CET_H

#ifdef __CET__
#include <cet.h>
#else
#define _CET_ENDBR
#endif

#endif
