/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that does the measured work. It prepares, waits for the start, works, reports the end
 * and waits until it is killed. A window that opens and closes while it waits contains all of the
 * work and nothing else of the process.
 */
#ifndef LATSCOPE_SELFTEST_CHILD_H
#define LATSCOPE_SELFTEST_CHILD_H

#include <stddef.h>
#include <sys/types.h>

#include <selftest/reference/reference.h>

/* The memory that a child shares with its parent: the request, and the results. */
struct child_work {
	size_t size;
	size_t why; /* offset of a char[REFERENCE_WHY] in it */
	int (*prepare)(void *reference); /* NULL: nothing to do */
	int (*run)(void *reference);
	bool locks; /* locks its memory, so that only its work has page faults */
};

/*
 * The work of a reference, static or not: NAME_work, of REFERENCE__prepare() and REFERENCE__run().
 */
#define CHILD_WORK(storage, name, reference)            \
	static int prepare_##name(void *asked)          \
	{                                               \
		return reference##__prepare(asked);     \
	}                                               \
	static int run_##name(void *asked)              \
	{                                               \
		return reference##__run(asked);         \
	}                                               \
	storage const struct child_work name##_work = { \
		.size = sizeof(struct reference),       \
		.why = offsetof(struct reference, why), \
		.prepare = prepare_##name,              \
		.run = run_##name,                      \
		.locks = true,                          \
	}

struct child_shared {
	int err;
	struct reference_faults faults; /* of the process, while it worked */
	_Alignas(16) char reference[];
};

struct child {
	const struct child_work *work;
	struct child_shared *shared;
	void *reference; /* in it */
	pid_t pid; /* 0: ended */
	int go; /* a byte starts the work */
	int done; /* readable when the work is done, and when the child dies */
};

/* Returns when it is prepared: the result of prepare, with child__why(), or -errno. */
int child__start(struct child *child, const struct child_work *work, const void *asked);
int child__go(const struct child *child);

/*
 * Waits for the end of the work. Returns its result; -ECHILD: the child died; -EINTR: a signal
 * arrived.
 */
int child__result(struct child *child);
const char *child__why(const struct child *child, int err);

/* Kills the process; its results stay readable until child__free(), which does both. */
void child__end(struct child *child);
void child__free(struct child *child);

#endif
