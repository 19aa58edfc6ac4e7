/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_RING_BACKENDS_H
#define LATSCOPE_RING_BACKENDS_H

#include "ring.h"

extern const struct ring_backend ring_kvm;
extern const struct ring_backend ring_module;
extern const struct ring_backend ring_user;

#endif
