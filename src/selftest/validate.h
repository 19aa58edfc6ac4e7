/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks a probe in three ways: with reference latencies (selftest/reference), whose number and
 * duration the kernel accounts for; with loads, to which it must react; and against the same work
 * without the probe. Measures with the sessions that `record` uses. Prints nothing: `report` gets
 * each result.
 */
#ifndef LATSCOPE_SELFTEST_VALIDATE_H
#define LATSCOPE_SELFTEST_VALIDATE_H

#include <stdbool.h>
#include <stdint.h>

#include <probes/kit/probe.h>

enum check_verdict {
	CHECK_PASS,
	CHECK_FAIL,
	CHECK_SKIP, /* not possible here; `why` has the reason */
	CHECK_NOTE, /* a number without a verdict */
	CHECK_ERROR, /* failed to run; `why` has the reason */
	CHECK_DISTURBED, /* something else may have changed it; `why` has the reason */
	CHECK_VERDICTS,
};

struct check {
	const char *probe; /* "iolat" */
	const char *method;
	const char *part; /* "reference", "reaction", "overhead" */
	const char *name;
	enum check_verdict verdict;
	char expected[RUN_NAME], got[RUN_NAME];
	char why[RUN_TEXT];
};

enum validate_part { VALIDATE_REFERENCE = 1, VALIDATE_REACTION = 2, VALIDATE_OVERHEAD = 4 };

struct validate {
	unsigned int parts; /* mask of enum validate_part */
	const char *method; /* NULL: the best that works */
	const char *dir; /* for the temporary file */
	const char *disk; /* device node to read instead, and never to write; NULL: none */
	unsigned int replicates;
	uint64_t window_ns; /* of an experiment */
	uint64_t seed;
	const char *situation; /* of `why`: only this one; NULL: all */
	const char *place; /* of what is checked, as probe_checks.place; NULL: this machine */
	void (*report)(void *arg, const struct check *check);
	void (*progress)(void *arg, const char *doing);
	void *arg;

	/* While a probe is checked. */
	const struct probe_ops *ops; /* NULL: `why` */
	const char *probe;
	const char *part;
	char used_method[RUN_NAME]; /* empty: nothing was measured yet */
	const char *doubt; /* why no check can have a verdict now; NULL: each has one */
	bool last_try; /* of a reference: it gets a verdict, even if it was disturbed */
	bool refused; /* the probe cannot run, as opposed to its reference */
};

/*
 * Runs all checks of a probe. 0: they were run, whatever their verdicts. -EOPNOTSUPP: none was
 * possible, because the probe cannot run here (`refused`) or its reference cannot be made. -EINTR:
 * a signal ended it. Otherwise the first error, which is also reported as a check; the other checks
 * were run.
 */
int validate__probe(struct validate *validate, const struct probe_ops *ops, char why[RUN_TEXT]);

/*
 * The same for what `why` says: makes situations in which it is known who makes a task wait, by the
 * clocks of those that do, and compares. Each removes what it made, also if this process is killed.
 */
int validate__why(struct validate *validate, char why[RUN_TEXT]);

/* The names of the situations; NULL: there are no more. */
const char *validate__situation(unsigned int nth);

/*
 * A terminal sends Ctrl-C to all of its foreground processes. The measured children must not die of
 * it, which would look like an error. So signals stay blocked from here on, also in the children,
 * until the process ends; validate kills the children. Call this before the first child.
 */
int interrupt__hold(void);

/* Readable when a signal has arrived; -1 before interrupt__hold(). */
int interrupt__fd(void);

/* A signal has arrived, now or earlier. A session that a signal ended has read it, and says so. */
bool interrupt__came(void);

#endif
