/* SPDX-License-Identifier: BSD-2-Clause */
/* record, the commands of probes, why and top: they measure the same, and show it differently. */
#ifndef LATSCOPE_CLI_RECORD_H
#define LATSCOPE_CLI_RECORD_H

#include <probes/kit/why.h>
#include <session/session.h>
#include <session/workload.h>
#include <store/recording.h>

#include "options.h"
#include "probe_command.h"
#include "top.h"

/* What a command has of its own. */
struct record_kind {
	const char *command; /* NULL: of probes */
	bool accounts; /* of those that divide the whole time of threads */
	struct usage usage;
	const char *dir; /* of the recording without -o; NULL: none is kept */
	bool explains; /* only the slow samples: why */
	bool answers; /* prints the first answer: record, and what runs without a command */
	uint64_t duration_ns; /* without -d and a workload; 0: until Ctrl-C */
	bool on_screen; /* top */
};

struct record_why {
	bool wanted;
	const char *over; /* as given; NULL: the default */
	struct why_request request;
};

#define RECORD_ROWS (2 * RUN_PROBES + 8) /* options add probes; then those of record */

#define RECORD_ABSENT 10
#define RECORD_DOC 1024

struct record {
	const char *command;
	int argc;
	char **argv;
	const struct record_kind *kind;
	const struct probe_ops *only; /* NULL: the command is record, why or top */
	const struct probe_command *its; /* of `only`; NULL: it has none */
	struct options options;
	struct lat_config config;
	struct run *run;
	struct session *session;
	struct recording recording;
	struct restore *lent; /* gives the recording back to root */
	struct option_row rows[RECORD_ROWS]; /* of record and top */
	char doc[RECORD_DOC]; /* of the help of the one probe */
	const char *absent[RECORD_ABSENT + 1]; /* options that the one probe cannot follow */
	bool with_report; /* of record */
	bool without_why; /* slow samples are not explained; of an account: no other probe runs */
	bool folded; /* of the same: it prints stacks */
	/* One for each probe, in the order of probe_list: */
	void *own[RUN_PROBES]; /* what new() of the probe's command returned */
	bool with[RUN_PROBES]; /* an option adds it */
	char *place[RUN_PROBES]; /* value of the hidden option of record; NULL: not given */
	char at[RUN_PROBES][RUN_NAME]; /* the name of that option */
	struct record_why why;
	struct top_command top;
	struct workload_user user; /* of the workload */
};

/* That of the command, or of the probe. */
const struct record_kind *record_kind__find(const char *command, const struct probe_ops *ops);

/*
 * Sets options, and what depends on them alone. `own`: of the one probe; or NULL. Returns
 * OPTIONS_RUN or the exit code.
 */
int record__parse(struct record *record, void *own);

#endif
