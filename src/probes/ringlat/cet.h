/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For assembly: marks the object as fit for CET, as the compiler does with -fcf-protection. The
 * linker takes the mark from the whole program if one object lacks it.
 */
#ifndef LATSCOPE_PROBES_RINGLAT_CET_H
#define LATSCOPE_PROBES_RINGLAT_CET_H

#ifdef __CET__
#include <cet.h>
#else
#define _CET_ENDBR
#endif

#endif
