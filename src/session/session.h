/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One window in which probes measure at the same time: it is opened, intervals are read and passed
 * to the writers, the window is closed, all programs are detached. Signals and privileges are
 * handled here and nowhere else.
 */
#ifndef LATSCOPE_SESSION_SESSION_H
#define LATSCOPE_SESSION_SESSION_H

#include <probes/kit/opening.h>
#include <probes/kit/probe.h>
#include <store/recording.h>

#include "seccomp.h"
#include "workload.h"

struct session;

/*
 * A process that already exists and takes the place of the workload, so that a filter can name it.
 */
struct session_task {
	int go; /* a byte is written to it when the window has opened */
	int done; /* readable when the window must close */
};

/* What the caller does meanwhile. */
struct session_watcher {
	int fd; /* watched together with the session's own descriptors */
	/* Called when it is readable. May change the interval. False: close the window. */
	bool (*ready)(void *arg, uint64_t *interval_ns);
	/* Called when the window wakes up: when `fd` is readable, and several times a second. */
	void (*awake)(void *arg); /* may be NULL, as the other one */
	void *arg;
	struct seccomp_needs calls; /* system calls that ready() and awake() make */
};

struct session_config {
	uint64_t duration_ns; /* 0: until the workload ends or a signal arrives */
	uint64_t interval_ns;
	char *const *workload; /* argv, NULL-terminated; NULL: none */
	bool accounts_workload; /* probes that account for time do so of the workload alone */
	struct workload_user user; /* of the workload */
	const struct session_task *task; /* NULL: none; not with a workload */
	const struct session_watcher *watcher; /* NULL: none */
	/* The caller opens more sessions: keep privileges and type information. */
	bool keeps_privileges;
	struct recording *recording; /* NULL: nothing is kept */
	bool written_later; /* by the caller: the session only keeps the privileges for it */
	/* Called several times a second with the progress of the window. May be NULL. */
	void (*progress)(void *arg, uint64_t elapsed_ns, uint64_t duration_ns);
	void *progress_arg;
	bool renews; /* keys that have no sample any more make room for new ones: see renew.h */
	unsigned int keys_every; /* read the keys only in each n-th interval; 0: in all */
	uint64_t check_ns; /* compare with the kernel's account this often; 0: only at the end */
	/* Called at once with a warning of a probe. May be NULL. */
	void (*warn)(const char *probe, const char *why);
	/* Called at once for the first writer that fails; the window goes on. As `recording`. */
	void (*write_failed)(const struct writer *writer, int err);
};

/* From now on the session blocks the signals that end the window: see signals.h. */
int session__new(struct session **session, struct run *run);

/*
 * From now on no names are looked up for the stacks of slow samples. For a caller that does not
 * show them: finding names takes CPU time during the window.
 */
void session__skip_stacks(struct session *session);

/* Those of its keys, as long as the session exists. */
const struct names *session__names(const struct session *session);

/*
 * Opens a probe and adds it to the run. If it cannot be opened, run->probes[] has the reason, and
 * the others can still measure. -EINVAL: the request is wrong; -EOPNOTSUPP: this machine cannot, or
 * another -errno. The caller may free `request` afterwards.
 */
int session__add(struct session *session, const struct probe_ops *ops,
		 const struct probe_request *request);

/*
 * The same for several probes at once, which takes less time. Sets opening->err of each, and adds
 * all to the run, in this order.
 */
void session__add_all(struct session *session, struct opening openings[], unsigned int nr);

/*
 * What failed, in addition to the errno. Each is the cause of a non-zero return of session__run(),
 * which then has still closed the window, called the writers and filled in the run, as far as it
 * came.
 */
enum session_fault {
	SESSION_OK,
	SESSION_PRIVILEGE, /* privileges could not be dropped; there is no recording */
	SESSION_WORKLOAD, /* could not be started; there is no recording */
	SESSION_READ, /* a probe could not be read */
	SESSION_RESTORE, /* a probe could not restore what it had changed */
	SESSION_WRITE, /* a writer failed; write_failed() was called */
};

struct session_result {
	enum session_fault fault;
	const char *probe; /* SESSION_READ: the probe */
	char why[RUN_TEXT]; /* empty: the errno is enough */
	/* Not empty, whatever failed: what a probe could not restore, and which probe. */
	char left[RUN_TEXT];
	const char *left_by;
	bool workload_ended_early; /* it was terminated with the window */
	bool interrupted; /* a signal ended the window */
	int room; /* not 0: the recording could not grow further, see recording__room() */
};

int session__run(struct session *session, const struct session_config *config,
		 struct session_result *result);

/*
 * Closes the probes of a session that was not run; otherwise session__run() does it. 0, or as
 * SESSION_RESTORE with `why`.
 */
int session__close(struct session *session, char why[RUN_TEXT]);

/* Closes the probes, too. NULL is allowed. */
void session__free(struct session *session);

#endif
