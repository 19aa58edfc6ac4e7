/* SPDX-License-Identifier: BSD-2-Clause */
/* The kinds, one a file. */
#ifndef LATSCOPE_LOADGEN_KINDS_H
#define LATSCOPE_LOADGEN_KINDS_H

#include "load.h"

extern const struct load_ops load_touch;
extern const struct load_ops load_hog;
extern const struct load_ops load_pingpong;
extern const struct load_ops load_dio;
extern const struct load_ops load_mixed;

#endif
