// SPDX-License-Identifier: BSD-2-Clause
#include "experiment.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <core/clock.h>
#include <core/vec.h>
#include <session/signals.h>
#include <stats/sequential.h>
#include <store/rundb.h>

#include "directory.h"
#include "fio_result.h"

#define RECORD_WORDS 8 /* of the command line, besides options and workload */

static int fail(struct experiment *experiment, int err, const char *why)
{
	snprintf(experiment->why, RUN_TEXT, "%s", why);
	return err;
}

/* ---- one run ---- */

static size_t length(char *const *list)
{
	size_t nr = 0;

	while (list && list[nr])
		nr++;
	return nr;
}

/* latscope record -q -o DIR OPTION... -- WORKLOAD. The words belong to others. */
static char **record_line(const struct plan *plan, size_t side, char *dir)
{
	static char latscope[] = "latscope", record[] = "record", quiet[] = "-q", output[] = "-o",
		    end[] = "--", sh[] = "sh", run[] = "-c";
	char *shell[] = { sh, run, plan->sides[side].command, NULL };
	char *const *workload = plan->workload ? plan->workload : shell;
	char **line = calloc(length(plan->record) + length(workload) + RECORD_WORDS, sizeof(*line));
	size_t nr = 0;

	if (!line)
		return NULL;
	line[nr++] = latscope;
	line[nr++] = record;
	line[nr++] = quiet;
	line[nr++] = output;
	line[nr++] = dir;
	for (size_t i = 0; plan->record[i]; i++)
		line[nr++] = plan->record[i];
	line[nr++] = end;
	for (size_t i = 0; workload[i]; i++)
		line[nr++] = workload[i];
	return line;
}

static int explain_end(struct experiment *experiment, const char *what, int status, off_t log)
{
	directory__last_lines(experiment, log);
	if (WIFSIGNALED(status))
		snprintf(experiment->why, RUN_TEXT, "%s was killed by signal %d", what,
			 WTERMSIG(status));
	else
		snprintf(experiment->why, RUN_TEXT, "%s exited with status %d", what,
			 WEXITSTATUS(status));
	return -ECHILD;
}

/* Sets up a side, if the workload is another command. */
static int prepare_side(struct experiment *experiment, size_t side)
{
	char *line[] = { "sh", "-c", experiment->plan.sides[side].command, NULL };
	off_t log = lseek(experiment->child.log, 0, SEEK_END);
	char what[64];
	int status, err;

	if (!experiment->plan.workload)
		return 0;
	err = child__run(&experiment->child, "sh", line, &status);
	if (err)
		return err == -EINTR ? err : fail(experiment, err, strerror(-err));
	snprintf(what, sizeof(what), "the command of %.40s", experiment->plan.sides[side].name);
	return status ? explain_end(experiment, what, status, log) : 0;
}

/* A workload that -d ended does not count as failed. */
static bool was_ended(const struct plan *plan, int status)
{
	bool by_time = false;

	for (size_t i = 0; plan->record[i]; i++)
		by_time |= !strcmp(plan->record[i], "-d");
	return by_time && WIFSIGNALED(status) &&
	       (WTERMSIG(status) == SIGTERM || WTERMSIG(status) == SIGKILL);
}

static int check_recording(struct experiment *experiment, const char *name, const char *recording,
			   off_t log)
{
	struct run *run = calloc(1, sizeof(*run));
	char path[sizeof(experiment->at) + 2 * NAME_MAX + 8];
	int err = run ? 0 : -ENOMEM, status;

	snprintf(path, sizeof(path), "%s/%s/%s", experiment->at, name, recording);
	if (!err)
		err = rundb__load(path, run);
	if (err) {
		free(run);
		return fail(experiment, err, rundb__explain(err));
	}
	status = run->workload_status;
	if (!run->complete)
		err = fail(experiment, -ECHILD, "its recording is not complete");
	else if (status && status != RUN_NOT_ENDED && !was_ended(&experiment->plan, status))
		err = explain_end(experiment, "the workload", status, log);
	run__free(run);
	return err;
}

static int record_side(struct experiment *experiment, size_t side)
{
	char name[NAME_MAX + 1], recording[NAME_MAX + 1], dir[PATH_MAX + NAME_MAX + 2];
	off_t log = lseek(experiment->child.log, 0, SEEK_END);
	int status, err = directory__begin_run(experiment, side, name);
	char **line;

	if (err)
		return fail(experiment, err, strerror(-err));
	snprintf(dir, sizeof(dir), "%s/%s", experiment->path, name);
	line = record_line(&experiment->plan, side, dir);
	err = line ? child__run(&experiment->child, "/proc/self/exe", line, &status) : -ENOMEM;
	free(line);
	if (err)
		return err == -EINTR ? err : fail(experiment, err, strerror(-err));
	if (status) {
		experiment->code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
		return explain_end(experiment, "the recorder", status, log);
	}
	err = directory__find_recording(experiment, name, recording);
	if (err)
		return fail(experiment, err, "the recorder left no recording");
	err = check_recording(experiment, name, recording, log);
	if (!err && experiment->plan.matrix) {
		err = fio_result__keep(experiment, log, name, recording);
		if (err)
			return fail(experiment, err, strerror(-err));
	}
	return err ? err : directory__keep_run(experiment, side, name, recording);
}

static int run_side(struct experiment *experiment, size_t side)
{
	uint64_t begin = clock__now_ns();
	int err = prepare_side(experiment, side);

	if (!err)
		err = record_side(experiment, side);
	if (err && err != -EINTR) {
		char why[RUN_TEXT];

		snprintf(why, sizeof(why), "%s", experiment->why);
		snprintf(experiment->why, RUN_TEXT, "run %zu of %.60s: %.160s",
			 experiment->done[side] + 1, experiment->plan.sides[side].name, why);
	}
	experiment->spent_ns += clock__now_ns() - begin;
	experiment->runs++;
	return err;
}

/* ---- looks ---- */

int experiment__compare(struct experiment *experiment, size_t off, size_t on, double level)
{
	struct comparison_rules rules = { .judge = experiment->plan.rules,
					  .probe = experiment->plan.probe };
	char name[DIRECTORY_SIDE], sides[2][PATH_MAX + DIRECTORY_SIDE + 1];
	int err;

	for (unsigned int i = 0; i < 2; i++) {
		directory__side(&experiment->plan, i ? on : off, name);
		snprintf(sides[i], sizeof(sides[i]), "%s/%s", experiment->path, name);
	}
	if (experiment->compared)
		comparison__clear(&experiment->comparison);
	rules.judge.confidence = 1 - level;
	experiment->compared = true;
	err = comparison__run(&experiment->comparison, &rules, sides[0], sides[1]);
	if (err == -ENODATA)
		return fail(experiment, err, "no such probe in the recordings");
	return err ? fail(experiment, err, rundb__explain(err)) : 0;
}

static struct sequential sequence(const struct plan *plan)
{
	return (struct sequential){ .planned = plan->planned,
				    .most = plan->most,
				    .effect = plan->effect,
				    .alpha = 1 - plan->rules.confidence,
				    .spent = plan__spent(plan) };
}

static int most_needed_first(const void *left, const void *right)
{
	const struct experiment_power *a = left, *b = right;

	return a->needed < b->needed ? 1 : a->needed > b->needed ? -1 : 0;
}

/* The level of one of so many tests, if none of the others has a verdict: Holm's first step. */
ssize_t experiment__powers(const struct experiment *experiment, struct experiment_power **powers)
{
	const struct comparison *comparison = &experiment->comparison;
	double effect = experiment->plan.effect > 0 ? experiment->plan.effect : EXPERIMENT_EFFECT;
	double level = (1 - comparison->rules.judge.confidence) / fmax(comparison->family, 1);
	size_t runs = experiment->done[0] < experiment->done[1] ? experiment->done[0]
								: experiment->done[1];
	size_t nr = 0;

	*powers = calloc(comparison->nr * JUDGE_STATISTICS + 1, sizeof(**powers));
	if (!*powers)
		return -ENOMEM;
	for (size_t i = 0; i < comparison->nr * JUDGE_STATISTICS; i++) {
		const struct comparison_row *row = &comparison->rows[i / JUDGE_STATISTICS];
		const struct judged *judged = &row->statistics[i % JUDGE_STATISTICS];

		if (!judged->tested || isnan(judged->spread))
			continue;
		(*powers)[nr++] =
			(struct experiment_power){ row, i % JUDGE_STATISTICS, judged->spread,
						   sequential__effect(judged->spread, runs, level),
						   sequential__needed(judged->spread, effect,
								      level) };
	}
	qsort(*powers, nr, sizeof(**powers), most_needed_first);
	return (ssize_t)nr;
}

/* How many runs does the effect need, by the spread so far? Says nothing about the difference. */
static int plan_again(struct experiment *experiment)
{
	struct sequential now = sequence(&experiment->plan);
	struct experiment_power *powers;
	ssize_t nr;
	int err = experiment__compare(experiment, 0, 1, now.alpha - now.spent);

	if (err)
		return err;
	nr = experiment__powers(experiment, &powers);
	if (nr < 0)
		return (int)nr;
	sequential__plan(&now, experiment->done[0], nr ? powers[0].needed : 0);
	experiment->plan.planned = now.planned;
	free(powers);
	return 0;
}

/* Is something worse, or is all that could be tested better? Then more runs change nothing. */
static bool is_answered(const struct comparison *comparison)
{
	const size_t *verdicts = comparison->verdicts;

	return verdicts[JUDGE_WORSE] ||
	       (verdicts[JUDGE_BETTER] && verdicts[JUDGE_BETTER] == comparison->family);
}

static int look(struct experiment *experiment, double level)
{
	struct plan *plan = &experiment->plan;
	int err = experiment__compare(experiment, 0, 1, level);

	if (err)
		return err;
	plan->looks[plan->nr_looks++] = (struct plan_look){ experiment->done[0], level };
	plan->concluded = experiment->done[0] >= plan->planned ||
			  is_answered(&experiment->comparison) || plan->nr_looks == PLAN_LOOKS;
	return directory__write_plan(experiment);
}

/* After a pair of runs: is it time to look? */
static int consider(struct experiment *experiment)
{
	struct plan *plan = &experiment->plan;
	size_t runs = experiment->done[0];
	struct sequential now = sequence(plan);
	bool looked = plan->nr_looks && plan->looks[plan->nr_looks - 1].runs >= runs;
	int err = 0;

	if (looked || !runs)
		return 0;
	if (sequential__plans_again(&now, runs)) {
		err = plan_again(experiment);
		now = sequence(plan);
	}
	if (!err && sequential__is_look(&now, runs))
		err = look(experiment, sequential__level(&now, runs));
	return err;
}

size_t experiment__done(const struct experiment *experiment)
{
	size_t sum = 0;

	for (size_t i = 0; i < experiment->plan.nr_sides; i++)
		sum += experiment->done[i];
	return sum;
}

size_t experiment__planned(const struct experiment *experiment)
{
	return experiment->plan.planned * experiment->plan.nr_sides;
}

/* After a run: is this enough? A matrix has no looks. */
static int conclude(struct experiment *experiment)
{
	struct plan *plan = &experiment->plan;

	if (!plan->matrix)
		return experiment->done[0] == experiment->done[1] ? consider(experiment) : 0;
	if (plan->concluded || experiment__done(experiment) < experiment__planned(experiment))
		return 0;
	plan->concluded = true;
	return directory__write_plan(experiment);
}

int experiment__go(struct experiment *experiment)
{
	struct plan *plan = &experiment->plan;
	int err = 0;

	while (!err) {
		err = conclude(experiment);
		if (experiment->progress)
			experiment->progress(experiment);
		if (err || plan->concluded)
			break;
		err = run_side(experiment, plan__next(plan, experiment->done));
	}
	if (!err && !plan->matrix && !experiment->compared) {
		double level = plan->nr_looks ? plan->looks[plan->nr_looks - 1].level : 0;

		err = experiment__compare(experiment, 0, 1, level);
	}
	return err;
}

/* ---- beginning and end ---- */

static int begin(struct experiment *experiment)
{
	static sigset_t mask;
	int err = directory__count(experiment);

	if (err)
		return err;
	experiment->child.mask = &mask;
	experiment->child.signals = signals__hold(&mask);
	return experiment->child.signals < 0 ? experiment->child.signals : 0;
}

int experiment__create(struct experiment *experiment, const char *parent, const char *label)
{
	int err;

	experiment->dir = experiment->child.log = experiment->child.signals = -1;
	err = directory__create(experiment, parent, label);
	if (!err)
		err = directory__open(experiment);
	if (!err)
		err = directory__write_plan(experiment);
	return err ? err : begin(experiment);
}

static const char *why_no_plan(int err)
{
	switch (err) {
	case -ENOENT:
		return "it has no plan.json, so it is no experiment";
	case -EPERM:
		return "its plan.json belongs to another user, or others may write it";
	case -EBADMSG:
		return "its plan.json is not a plan";
	case -EPROTONOSUPPORT:
		return "its plan.json is of a later version of latscope";
	default:
		return strerror(-err);
	}
}

int experiment__open(struct experiment *experiment, const char *path)
{
	int err;

	experiment->dir = experiment->child.log = experiment->child.signals = -1;
	snprintf(experiment->path, sizeof(experiment->path), "%s", path);
	if (access(path, F_OK))
		return -errno;
	err = directory__open(experiment);
	if (err)
		return err;
	err = plan__read(&experiment->plan, experiment->dir, experiment->owner.uid);
	return err ? fail(experiment, err, why_no_plan(err)) : begin(experiment);
}

void experiment__close(struct experiment *experiment)
{
	if (experiment->compared)
		comparison__clear(&experiment->comparison);
	if (experiment->dir >= 0)
		close(experiment->dir);
	if (experiment->child.log >= 0)
		close(experiment->child.log);
	if (experiment->child.signals >= 0)
		close(experiment->child.signals);
	plan__clear(&experiment->plan);
}

bool experiment__ended_early(const struct experiment *experiment)
{
	return experiment->plan.concluded && experiment->done[0] < experiment->plan.planned;
}
