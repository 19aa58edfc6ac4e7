/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens several probes. Most of the time the kernel's verifier reads their programs, which it can
 * do on several CPUs: each probe has a thread. While the verifier works for one, another may run;
 * in all else they take turns, so probes need no locks. The one that accounts, and then the one
 * that hosts that (account_host.h), are opened in the calling thread.
 */
#ifndef LATSCOPE_PROBES_KIT_OPENING_H
#define LATSCOPE_PROBES_KIT_OPENING_H

#include "probe.h"
#include "why.h"

/* A probe to open, and what became of it. */
struct opening {
	const struct probe_ops *ops;
	struct probe_request request;
	struct why_request slow; /* request.why, where the probe has a threshold of its own */
	bool why_can_go; /* if it cannot be opened otherwise, slow samples are not explained */
	struct probe *probe; /* NULL: it could not be opened */
	char why[RUN_TEXT]; /* ...or why slow samples are not explained; empty: they are */
	struct lat_config plain; /* the request's, without that */
	int err; /* as ops->open() */
};

/* Returns when no thread is left. Threads have all signals blocked. */
void opening__all(struct opening openings[], unsigned int nr);

/*
 * Ends, and begins again, this thread's turn, around a long call into the kernel by ops->open().
 * Between them, use nothing that the probe does not own.
 */
void opening__end_turn(void);
void opening__begin_turn(void);

#endif
