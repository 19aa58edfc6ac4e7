// SPDX-License-Identifier: BSD-2-Clause
#include "validate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "probe_checks.h"

#define TRIES 5

#define PROBE(name) extern const struct probe_checks name##_checks __attribute__((weak));
#include <probes.h>
#undef PROBE

#define PROBE(name) &name##_checks,
static const struct probe_checks *const all[] = {
#include <probes.h>
	NULL
};
#undef PROBE

/* The reference was disturbed; the probe did not fail. */
static bool disturbed(const struct window *window, int err)
{
	if (err == -EAGAIN)
		return true;
	return err && err != -EINTR && err != -EOPNOTSUPP && window->child.shared &&
	       window->child.shared->err == err;
}

static int check_reference(struct validate *validate, reference_check check, char why[RUN_TEXT])
{
	struct window window;
	int err, tries = 0;
	bool again;

	do {
		validate->last_try = tries + 1 == TRIES;
		err = check(validate, &window);
		if (err)
			snprintf(why, RUN_TEXT, "%s", window.why);
		again = disturbed(&window, err);
		window__close(&window);
	} while (again && ++tries < TRIES);
	return err;
}

const struct probe_checks *probe_checks__of(const struct probe_ops *ops)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i] && !strcmp(all[i]->probe, ops->name))
			return all[i];
	return NULL;
}

/* The state of the checks of a probe. */
struct course {
	struct validate *validate;
	int err; /* the first error */
	char *why; /* of that error */
};

/* Reports the error of a part. false: the other parts cannot run either. */
static bool go_on(struct course *course, const char *name, int err, const char *why)
{
	struct validate *validate = course->validate;
	bool cannot = validate->refused && !validate->used_method[0];

	if (err == -EOPNOTSUPP && !cannot)
		check__skip(validate, name, why);
	else if (err && err != -EINTR && err != -EOPNOTSUPP)
		check__error(validate, name, why);
	if (err && (!course->err || course->err == -EOPNOTSUPP || err == -EINTR)) {
		course->err = err;
		snprintf(course->why, RUN_TEXT, "%s", why);
	}
	return err != -EINTR && !(err == -EOPNOTSUPP && cannot);
}

static bool check_references(struct course *course, const struct probe_checks *checks)
{
	struct validate *validate = course->validate;
	char why[RUN_TEXT] = "";
	bool goes_on = true;

	validate->part = "reference";
	for (int i = 0; goes_on && i < PROBE_REFERENCES && checks->references[i].check; i++) {
		validate->progress(validate->arg, checks->references[i].name);
		validate->refused = false;
		goes_on = go_on(course, checks->references[i].name,
				check_reference(validate, checks->references[i].check, why), why);
	}
	return goes_on;
}

static bool check_reaction(struct course *course, const struct probe_checks *checks)
{
	struct validate *validate = course->validate;
	char why[RUN_TEXT] = "";

	validate->part = "reaction";
	validate->refused = false;
	return go_on(course, "loads on and off", react__run(validate, checks->experiment, why),
		     why);
}

static bool check_overhead(struct course *course, const struct probe_checks *checks)
{
	struct validate *validate = course->validate;
	char why[RUN_TEXT] = "";

	validate->part = "overhead";
	validate->refused = false;
	return go_on(course, checks->overhead->name, overhead__run(validate, checks->overhead, why),
		     why);
}

int validate__probe(struct validate *validate, const struct probe_ops *ops, char why[RUN_TEXT])
{
	const struct probe_checks *checks = probe_checks__of(ops);
	struct course course = { .validate = validate, .why = why };
	bool goes_on = true;

	validate->ops = ops;
	validate->probe = ops->name;
	validate->used_method[0] = '\0';
	if (checks->run) {
		validate->refused = true;
		return checks->run(validate, why);
	}
	if (validate->parts & VALIDATE_REFERENCE)
		goes_on = check_references(&course, checks);
	if (goes_on && validate->parts & VALIDATE_REACTION)
		goes_on = check_reaction(&course, checks);
	if (goes_on && validate->parts & VALIDATE_OVERHEAD)
		check_overhead(&course, checks);
	if (course.err == -EOPNOTSUPP && validate->used_method[0])
		return 0;
	return course.err;
}
