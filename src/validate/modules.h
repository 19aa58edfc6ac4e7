/* SPDX-License-Identifier: BSD-2-Clause */
/* What is done for each module; one file each. */
#ifndef LATSCOPE_VALIDATE_MODULES_H
#define LATSCOPE_VALIDATE_MODULES_H

#include "overhead.h"
#include "react.h"
#include "validate.h"
#include "window.h"

/*
 * A known amount of the latency, made and held against the window. Returns as window__measure();
 * -EAGAIN: it was disturbed and is to be made again, if that was not the last try.
 */
typedef int (*truth_check)(struct validate *validate, struct window *window);

#define MODULE_TRUTHS 3

struct module_checks {
	const char *module;
	struct {
		const char *name; /* of what is skipped if it cannot be made */
		truth_check check;
	} truths[MODULE_TRUTHS];
	const struct experiment *experiment;
	const struct overhead *overhead;
};

extern const struct module_checks memlat_checks;
extern const struct module_checks runqlat_checks;
extern const struct module_checks iolat_checks;

#endif
