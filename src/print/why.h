/* SPDX-License-Identifier: BSD-2-Clause */
/* Why the samples of a probe were slow. */
#ifndef LATSCOPE_PRINT_WHY_H
#define LATSCOPE_PRINT_WHY_H

#include <stdio.h>

#include <core/run.h>

#include "wrap.h"

struct json_object;

/* Nothing unless the probe was asked for it. `top`: maximum pairs; 0: all. 0 or -ENOMEM. */
int why_text__print(FILE *out, const struct run *run, const struct run_probe *probe,
		    unsigned int top);

/* Whose stack it is: "stack of kworker/1:1 (35), which had the CPU". */
void why_text__add_owner(struct wrap *wrap, const struct run_probe *probe,
			 const struct why_slow *slow);

/* Its conclusion alone. */
int why_text__sentence(FILE *out, const struct run *run, const struct run_probe *probe);

/* Which names in the stacks are missing, if any. */
void why_text__missing_names(FILE *out, const struct run *run);

/* Adds the parts, the conclusion and the slowest events to the object of json__run(). */
void why_json__add(struct json_object *object, const struct run *run);

#endif
