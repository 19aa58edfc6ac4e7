// SPDX-License-Identifier: BSD-2-Clause
#include "validate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "modules.h"

#define TRIES 3

static const struct module_checks *const all[] = { &memlat_checks, &runqlat_checks, &iolat_checks };

static const char *const lies[LAT_LIES] = {
	[LAT_LIE_DROP] = "drop",   [LAT_LIE_LEAK] = "leak", [LAT_LIE_DOUBLE] = "double",
	[LAT_LIE_SHIFT] = "shift", [LAT_LIE_UNIT] = "unit", [LAT_LIE_STALE] = "stale",
	[LAT_LIE_LATE] = "late",
};

enum lat_lie validate__lie(const char *name)
{
	for (int lie = LAT_LIE_NONE + 1; lie < LAT_LIES; lie++)
		if (!strcmp(lies[lie], name))
			return lie;
	return LAT_LIE_NONE;
}

/* The truth itself failed, not the module: somebody disturbed it, and it says so. */
static bool disturbed(const struct window *window, int err)
{
	if (err == -EAGAIN)
		return true;
	return err && err != -EINTR && err != -EOPNOTSUPP && window->child.shared &&
	       window->child.shared->err == err;
}

static int check_truth(struct validate *validate, const char *name, truth_check check,
		       char why[RUN_TEXT])
{
	struct window window;
	bool refused;
	int err, tries = 0;

	do {
		err = check(validate, &window);
		refused = window.run && window.module && window.module->refused[0];
		if (err)
			snprintf(why, RUN_TEXT, "%s", window.why);
		window__close(&window);
	} while (disturbed(&window, err) && ++tries < TRIES);
	if (err == -EOPNOTSUPP && !refused) {
		check__skip(validate, name, why);
		return 0;
	}
	return err;
}

static const struct module_checks *checks_of(const struct probe_ops *ops)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(all[i]->module, ops->name))
			return all[i];
	return NULL;
}

static int check_truths(struct validate *validate, const struct module_checks *checks,
			char why[RUN_TEXT])
{
	bool works = false;
	int err;

	validate->part = "truth";
	for (int i = 0; i < MODULE_TRUTHS && checks->truths[i].check; i++) {
		validate->progress(validate->arg, checks->truths[i].name);
		err = check_truth(validate, checks->truths[i].name, checks->truths[i].check, why);
		if (err == -EOPNOTSUPP && works) /* with these knobs only: a filter by process */
			check__skip(validate, checks->truths[i].name, why);
		else if (err)
			return err;
		works = true;
	}
	return 0;
}

int validate__module(struct validate *validate, const struct probe_ops *ops, char why[RUN_TEXT])
{
	const struct module_checks *checks = checks_of(ops);
	int err = 0;

	validate->ops = ops;
	validate->module = ops->name;
	validate->used_rung[0] = '\0';
	if (validate->parts & VALIDATE_TRUTH)
		err = check_truths(validate, checks, why);
	if (!err && validate->parts & VALIDATE_REACTION) {
		validate->part = "reaction";
		err = react__run(validate, checks->experiment, why);
	}
	if (!err && validate->parts & VALIDATE_OVERHEAD) {
		validate->part = "overhead";
		err = overhead__run(validate, checks->overhead, why);
	}
	return err;
}
