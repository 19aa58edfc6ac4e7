/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One window in which all modules measure at once: probes opened, window opened, intervals read and
 * handed to the writers, window shut, all detached.
 */
#ifndef LATSCOPE_SESSION_SESSION_H
#define LATSCOPE_SESSION_SESSION_H

#include <probes/probe.h>
#include <store/recording.h>

#include "workload.h"

struct session;

/* Somebody who does the workload's part but is there already, so that a filter could name it. */
struct session_task {
	int go; /* a byte is written to it when the window has opened */
	int done; /* readable when the window is to be shut */
};

/*
 * A module that is no probe but measures in the same window: its rows go to the table of
 * run->modules[]. What it has no use for is NULL, but for describe(). All but start() return 0 or
 * -errno; one that fails does not end the window, and is asked again.
 */
struct session_source {
	void *state;
	uint64_t poll_ns; /* how often poll() wants to be called, at least */
	int (*ready)(void *state); /* the window is about to open */
	void (*start)(void *state, uint64_t start_mono_ns); /* it has */
	int (*poll)(void *state, struct table *table);
	int (*stop)(void *state, struct table *table, uint64_t end_mono_ns); /* it has shut */
	/* An interval ends, since the window opened; the last one after stop(). */
	int (*interval)(void *state, struct table *table, uint64_t end_ns);
	int (*describe)(const void *state, struct run_probe *entry); /* also makes the table */
};

struct session_config {
	uint64_t duration_ns; /* 0: until the workload ends or a signal comes */
	uint64_t interval_ns;
	char *const *workload; /* argv, NULL-terminated; NULL: none */
	struct workload_user user; /* of the workload */
	const struct session_task *task; /* NULL: none; not with a workload */
	bool untimed; /* the workload is timed, so the programs are not */
	bool again; /* the caller opens further sessions: privileges and type information stay */
	struct recording *recording; /* NULL: nothing is kept */
	/* Told several times a second how far the window is. NULL: nobody wants to know. */
	void (*progress)(uint64_t elapsed_ns, uint64_t duration_ns);
	/* Told at once of the first writer that fails; the window goes on. As `recording`. */
	void (*write_failed)(const struct writer *writer, int err);
};

/* From here on the signals that end the window are held back: SIGINT, SIGTERM, SIGHUP, SIGPIPE. */
int session__new(struct session **session, struct run *run);

/*
 * Adds a module to the run, refused or not. 0 also when it is refused: run->modules[] says why.
 * -EINVAL: no such method; -ENOMEM.
 */
int session__add(struct session *session, const struct probe_ops *ops,
		 const struct lat_config *config, const char *method);

/* Adds a source, and its module to the run. It must stay. 0 or -errno. */
int session__add_source(struct session *session, const struct session_source *source);

/* The module of a source that could not be opened, and why. */
void session__add_refused(struct session *session, const char *name, const char *why);

/*
 * What went wrong, beyond the errno. Each is the cause of a non-zero return of session__run(),
 * which then has still closed the window, told the writers and filled in the run, as far as it
 * came.
 */
enum session_fault {
	SESSION_OK,
	SESSION_PRIVILEGE, /* what is not needed could not be given up; there is no recording */
	SESSION_WORKLOAD, /* could not be started; there is no recording */
	SESSION_READ, /* a probe or source could not be read */
	SESSION_WRITE, /* a writer failed, and has been told of */
};

struct session_result {
	enum session_fault fault;
	char why[RUN_TEXT]; /* SESSION_PRIVILEGE: what failed */
	bool workload_ended_early; /* we ended it with the window */
	bool interrupted; /* a signal ended the window */
	int room; /* not 0: the recording could not grow further, see recording__room() */
};

int session__run(struct session *session, const struct session_config *config,
		 struct session_result *result);

void session__free(struct session *session);

#endif
