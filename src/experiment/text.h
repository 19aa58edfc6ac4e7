/* SPDX-License-Identifier: BSD-2-Clause */
/* What an experiment did, and what its runs can find, as text and JSON. */
#ifndef LATSCOPE_EXPERIMENT_TEXT_H
#define LATSCOPE_EXPERIMENT_TEXT_H

#include <stdio.h>

#include "experiment.h"

struct json_object;

/* At most 80 columns. `verbose`: also its looks. 0 or -ENOMEM. */
int experiment_text__print(FILE *out, const struct experiment *experiment, bool verbose);

/* Adds "experiment" to the object of a comparison; docs/format.md lists the fields. */
int experiment_text__add_json(struct json_object *to, const struct experiment *experiment);

#endif
