// SPDX-License-Identifier: BSD-2-Clause
#include "rmid_source.h"

static int ready(void *state)
{
	return rmid__ready(state);
}

static void start(void *state, uint64_t start_mono_ns)
{
	rmid__start(state, start_mono_ns);
}

static int poll(void *state, struct table *table)
{
	return rmid__poll(state, table);
}

static int stop(void *state, struct table *table, uint64_t end_mono_ns)
{
	return rmid__stop(state, table, end_mono_ns);
}

static int describe(const void *state, struct run_module *module)
{
	return rmid__describe(state, module);
}

struct session_source rmid__source(struct rmid *rmid)
{
	return (struct session_source){
		.state = rmid,
		.poll_ns = RMID_POLL_NS,
		.ready = ready,
		.start = start,
		.poll = poll,
		.stop = stop,
		.describe = describe,
	};
}
