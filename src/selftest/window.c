// SPDX-License-Identifier: BSD-2-Clause
#include "window.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <probes/kit/inject.h>
#include <session/session.h>

#include "validate.h"

#define ROWS 64
#define INTERVAL_NS 1000000000ULL

static int keep_why(struct window *window, int err)
{
	if (err)
		snprintf(window->why, RUN_TEXT, "%s", child__why(&window->child, err));
	return err;
}

int window__open(struct window *window, const struct child_work *work, const void *asked)
{
	memset(window, 0, sizeof(*window));
	if (interrupt__came())
		return keep_why(window, -EINTR);
	return keep_why(window, child__start(&window->child, work, asked));
}

static int run_session(struct window *window, struct session *session)
{
	struct session_task task = { window->child.go, window->child.done };
	struct session_config config = {
		.interval_ns = INTERVAL_NS,
		.task = &task,
		.keeps_privileges = true,
	};
	struct session_result result;
	int err;

	err = session__run(session, &config, &result);
	if (!err && result.interrupted)
		err = -EINTR;
	return err ? err : keep_why(window, child__result(&window->child));
}

static int add_probe(struct window *window, struct session *session, struct validate *validate,
		     struct lat_config *config)
{
	const struct run_probe *probe = &window->run->probes[0];
	struct probe_request request = { .config = config,
					 .method = validate->method,
					 .why = window->explain,
					 .untimed = window->untimed };
	int err;

	config->tail_ns = 1;
	config->rows = ROWS;
#ifdef LATSCOPE_FAULTS
	if (inject__fault && !config->by)
		config->by = 1U << (validate->ops->splits & 1U << LAT_BY_OP ? LAT_BY_OP
									    : LAT_BY_PROCESS);
#endif
	err = session__add(session, validate->ops, &request);
	window->probe = probe;
	validate->refused = err == -EOPNOTSUPP;
	if (validate->refused)
		snprintf(window->why, RUN_TEXT, "%s", probe->refused);
	if (err)
		return err;
	snprintf(validate->used_method, RUN_NAME, "%s", probe->method);
	return 0;
}

int window__measure(struct window *window, struct validate *validate, struct lat_config config)
{
	struct session *session;
	int err;

	window->run = calloc(1, sizeof(*window->run));
	if (!window->run)
		return keep_why(window, -ENOMEM);
	err = session__new(&session, window->run);
	if (err)
		return keep_why(window, err);
	err = add_probe(window, session, validate, &config);
	if (!err)
		err = run_session(window, session);
	if (err && interrupt__came()) /* the error comes from the signal, or no longer matters */
		err = -EINTR;
	if (err && !window->why[0])
		keep_why(window, err);
	session__free(session);
	return err;
}

int window__without(struct window *window)
{
	int err = child__go(&window->child);

	return keep_why(window, err ? err : child__result(&window->child));
}

void window__close(struct window *window)
{
	child__free(&window->child);
	run__free(window->run);
	window->run = NULL;
}

const struct lat_cell *window__cell(const struct window *window, unsigned int metric)
{
	return &window->probe->total.metrics[metric];
}

void window__key(const struct window *window, unsigned int metric, enum lat_by by, uint64_t id,
		 struct lat_hist *hist)
{
	static const struct sparse empty;
	struct lat_key key = { .id = id, .by = by, .metric = metric };
	const struct run_key *found = run__find_key(&window->probe->total, &key);

	sparse__expand(found ? &found->hist : &empty, hist);
}
