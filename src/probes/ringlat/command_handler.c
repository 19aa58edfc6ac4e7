// SPDX-License-Identifier: BSD-2-Clause
#include "command_handler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cli/options.h>
#include <core/units.h>
#include <selftest/child.h>
#include <selftest/reference/faults.h>
#include <session/session.h>

#define FAULTS 65536
#define ROWS 64

CHILD_WORK(static, touch, reference_touch);

static int run_session(struct session *session, struct child *child, char why[RUN_TEXT])
{
	struct session_task task = { child->go, child->done };
	/* The caller drops privileges: it must still end the child and write a recording. */
	struct session_config config = { .interval_ns = UNITS_MAX_NS,
					 .task = &task,
					 .keeps_privileges = true };
	struct session_result result;
	int err;

	err = session__run(session, &config, &result);
	if (err)
		snprintf(why, RUN_TEXT, "memlat cannot be read: %s", strerror(-err));
	if (err || result.interrupted)
		return err;
	err = child__result(child);
	if (err)
		snprintf(why, RUN_TEXT, "no page faults for memlat: %s", child__why(child, err));
	return err;
}

static int watch_child(struct run *run, struct child *child, char why[RUN_TEXT])
{
	struct lat_config config = { .tail_ns = PROBE_TAIL_NS,
				     .rows = ROWS,
				     .tgid = (__u32)child->pid };
	const struct probe_request request = { .config = &config };
	struct session *session;
	int err;

	err = session__new(&session, run);
	if (err)
		goto out;
	err = session__add(session, probe__find("memlat"), &request);
	if (!err)
		err = run_session(session, child, why);
	else if (err == -EOPNOTSUPP)
		err = 0; /* refused: the entry says why */
	session__free(session);
out:
	if (err && !why[0])
		snprintf(why, RUN_TEXT, "memlat cannot be opened: %s", strerror(-err));
	return err;
}

int ringlat__measure_handler(struct run_probe *probe, char why[RUN_TEXT])
{
	struct reference_touch touch = { .pages = FAULTS, .read = true };
	struct run *run = calloc(1, sizeof(*run));
	struct child child;
	int err;

	why[0] = '\0';
	if (!run)
		return -ENOMEM;
	err = child__start(&child, &touch_work, &touch);
	if (err)
		snprintf(why, RUN_TEXT, "no page faults for memlat: %s", child__why(&child, err));
	else
		err = watch_child(run, &child, why);
	child__free(&child);
	*probe = run->probes[0];
	memset(&run->probes[0], 0, sizeof(run->probes[0]));
	run__free(run);
	return err;
}
