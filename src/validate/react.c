// SPDX-License-Identifier: BSD-2-Clause
#include "react.h"

const struct experiment memlat_experiments[] = { { 0 } };
const struct experiment runqlat_experiments[] = { { 0 } };
const struct experiment iolat_experiments[] = { { 0 } };
