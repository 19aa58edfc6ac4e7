/* SPDX-License-Identifier: BSD-2-Clause */
/* OFF and ON: does the metric react to a load as it must? */
#ifndef LATSCOPE_VALIDATE_REACT_H
#define LATSCOPE_VALIDATE_REACT_H

#include "validate.h"

struct experiment {
	const char *name;
};

extern const struct experiment memlat_experiments[];
extern const struct experiment runqlat_experiments[];
extern const struct experiment iolat_experiments[];

#endif
