/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_PROBES_RINGLAT_METHODS_H
#define LATSCOPE_PROBES_RINGLAT_METHODS_H

#include "ring.h"

extern const struct ring_method ring_kvm;
extern const struct ring_method ring_module;
extern const struct ring_method ring_user;

#endif
