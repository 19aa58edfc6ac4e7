/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Holds a module against what is known from somewhere else: against references (src/reference),
 * whose number and length the kernel accounts for; against loads, to which it has to react; and
 * against itself switched off, for what it costs. Measures through the same sessions as `record`.
 * Prints nothing: each finding goes to `report` as it is made.
 */
#ifndef LATSCOPE_SELFTEST_VALIDATE_H
#define LATSCOPE_SELFTEST_VALIDATE_H

#include <stdbool.h>
#include <stdint.h>

#include <probes/probe.h>

enum check_verdict {
	CHECK_PASS,
	CHECK_FAIL,
	CHECK_SKIP, /* could not be made: why */
	CHECK_NOTE, /* a figure that is not judged */
	CHECK_ERROR, /* could not be made though it should have been: why */
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
	const char *disk; /* its node: that is read instead, and nothing written; NULL: none */
	unsigned int replicates;
	uint64_t window_ns; /* of an experiment */
	uint64_t seed;
	void (*report)(void *arg, const struct check *check);
	void (*progress)(void *arg, const char *doing);
	void *arg;

	/* While a module is validated. */
	const struct probe_ops *ops; /* of one that is a module of record */
	const char *probe;
	const char *part;
	char used_method[RUN_NAME]; /* empty: nothing was measured yet */
	bool last_try; /* of a reference: it is judged as it is */
	bool refused; /* by the module, not by what it was to measure */
};

/*
 * All checks of a module. 0: they were made, whatever their verdict; -EOPNOTSUPP: none could be,
 * because the module cannot run here or, if it has not `refused`, because what it is to measure
 * cannot be made; -EINTR: a signal came, and ended it; else the first error, which did not: it is
 * one of the checks. `why` says what, unless it is 0.
 */
int validate__probe(struct validate *validate, const struct probe_ops *ops, char why[RUN_TEXT]);

#endif
