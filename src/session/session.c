// SPDX-License-Identifier: BSD-2-Clause
#include "session.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <core/clock.h>
#include <host/pressure_files.h>
#include <probes/kit/kernel.h>

#include "descendants.h"
#include "privilege.h"
#include "signals.h"
#include "stacks.h"
#include "workload.h"

#define PROGRESS_NS 250000000ULL

struct session {
	struct run *run;
	struct probe *probes[RUN_PROBES]; /* as run->probes; NULL: it could not be opened */
	struct run_data delta[RUN_PROBES];
	struct names *names;
	struct pressure *pressure; /* NULL: not recorded */
	struct symbols *symbols; /* NULL: no stacks are taken, or there is no way to name them */
	bool skips_stacks; /* nobody wants their names */
	struct workload workload;
	struct descendants descendants; /* of the workload */
	const struct session_config *config; /* while it runs */
	int signals; /* signalfd of the signals that end the window */
	struct workload_origin origin; /* the state before latscope changed it */
	uint64_t last_ns; /* end of the last interval, since the window opened */
	uint64_t checked_ns; /* when the totals were compared with the kernel's account */
	unsigned int intervals; /* since the keys were read */
	bool broken; /* no probe can be read any more */
	struct recording *recording;
	struct recording none; /* used as the recording where nothing is kept */
	int err; /* of the first fault */
};

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

int session__new(struct session **out, struct run *run)
{
	struct session *session = calloc(1, sizeof(*session));
	int err;

	if (!session)
		return -ENOMEM;
	session->run = run;
	getrlimit(RLIMIT_NOFILE, &session->origin.files);
	err = names__new(&session->names, "");
	if (err)
		goto free_session;
	session->signals = signals__hold(&session->origin.mask);
	signals__note_ignored(session->origin.ignored);
	if (session->signals < 0) {
		err = session->signals;
		goto free_names;
	}
	*out = session;
	return 0;

free_names:
	names__free(session->names);
free_session:
	free(session);
	return err;
}

/*
 * Closes the probes. Returns the index of one that could not restore what it had changed; -1: none.
 */
static int close_probes(struct session *session, char why[RUN_TEXT], int *err)
{
	char reason[RUN_TEXT];
	int failed = -1, got;

	for (unsigned int i = 0; i < RUN_PROBES; i++) {
		got = probe__close(session->probes[i], reason);
		session->probes[i] = NULL;
		if (!got || failed >= 0)
			continue;
		failed = (int)i;
		*err = got;
		snprintf(why, RUN_TEXT, "%s", reason);
	}
	return failed;
}

int session__close(struct session *session, char why[RUN_TEXT])
{
	int err = 0;

	close_probes(session, why, &err);
	return err;
}

void session__free(struct session *session)
{
	char why[RUN_TEXT];

	if (!session)
		return;
	session__close(session, why);
	for (unsigned int i = 0; i < RUN_PROBES; i++)
		run__clear_data(&session->delta[i]);
	pressure__close(session->pressure);
	symbols__free(session->symbols);
	descendants__clear(&session->descendants);
	close(session->signals);
	names__free(session->names);
	free(session);
}

void session__skip_stacks(struct session *session)
{
	session->skips_stacks = true;
}

const struct names *session__names(const struct session *session)
{
	return session->names;
}

/* Of a probe that is about to be opened. */
static void add_entry(struct session *session, const struct opening *opening)
{
	const struct lat_config *config = opening->request.config;
	struct run_probe *entry = &session->run->probes[session->run->nr_probes++];

	snprintf(entry->name, sizeof(entry->name), "%s", opening->ops->name);
	if (config && opening->ops->tail_ns)
		entry->tail_ns = config->tail_ns;
	/* Now, because the process that finds names must not have a copy of the kernel's types. */
	if (config && config->why && !session->symbols && !session->skips_stacks)
		stacks__begin(&session->symbols, session->run);
}

/* 0 or -errno, as opening->err. */
static int take_probe(struct session *session, unsigned int i, const struct opening *opening)
{
	struct run_probe *entry = &session->run->probes[i];
	struct probe *probe = opening->probe;

	if (opening->err) {
		snprintf(entry->refused, sizeof(entry->refused), "%s",
			 opening->why[0] ? opening->why : strerror(-opening->err));
		return opening->err;
	}
	session->probes[i] = probe;
	probe->entry = entry;
	probe->delta = &session->delta[i];
	probe->names = session->names;
	probe->symbols = session->symbols;
	return probe->ops->describe(probe);
}

void session__add_all(struct session *session, struct opening openings[], unsigned int nr)
{
	unsigned int first = session->run->nr_probes;

	for (unsigned int i = 0; i < nr; i++)
		add_entry(session, &openings[i]);
	opening__all(openings, nr);
	for (unsigned int i = 0; i < nr; i++)
		openings[i].err = take_probe(session, first + i, &openings[i]);
}

int session__add(struct session *session, const struct probe_ops *ops,
		 const struct probe_request *request)
{
	struct opening opening = { .ops = ops, .request = *request };

	session__add_all(session, &opening, 1);
	return opening.err;
}

/* Keeps only the first error. err 0 is none. */
static void fault(struct session *session, struct session_result *result, enum session_fault which,
		  int err)
{
	if (!err || session->err)
		return;
	session->err = err;
	result->fault = which;
}

/* If no writer failed, a probe could not be read. */
static void recording_fault(struct session *session, struct session_result *result,
			    const struct writer *writer, int err)
{
	if (err && !session->err && writer)
		session->config->write_failed(writer, err);
	fault(session, result, writer ? SESSION_WRITE : SESSION_READ, err);
}

static void probe_fault(struct session *session, struct session_result *result,
			const struct probe *probe, int err)
{
	if (!err || session->err)
		return;
	fault(session, result, SESSION_READ, err);
	result->probe = probe->ops->name;
	snprintf(result->why, sizeof(result->why), "%s", probe->why);
}

static void warn_of_trouble(const struct session *session, struct probe *probe)
{
	const char *why;

	while (probe->ops->trouble && (why = probe->ops->trouble(probe)) != NULL)
		if (session->config->warn)
			session->config->warn(probe->ops->name, why);
}

/* Calls the step of all probes. Returns how many succeeded. */
static unsigned int step_all(struct session *session, struct session_result *result,
			     enum probe_step step, uint64_t at_ns)
{
	unsigned int able = 0;
	struct probe *probe;
	int err;

	for (unsigned int i = 0; i < session->run->nr_probes; i++) {
		probe = session->probes[i];
		if (!probe)
			continue;
		err = probe__step(probe, step, session->run->start_mono_ns + at_ns);
		probe_fault(session, result, probe, err);
		warn_of_trouble(session, probe);
		able += !err;
	}
	return able;
}

/* Maximum time between two readings of the probes. */
static uint64_t patience_ns(const struct session *session)
{
	uint64_t least = PROGRESS_NS;
	const struct probe_ops *ops;

	for (unsigned int i = 0; i < session->run->nr_probes; i++) {
		ops = session->probes[i] ? session->probes[i]->ops : NULL;
		if (ops && ops->steps[PROBE_POLL])
			least = earlier(least, ops->poll_ns);
	}
	return least;
}

static uint64_t elapsed_ns(const struct session *session)
{
	return clock__now_ns() - session->run->start_mono_ns;
}

/* Which of the slower readings does this interval have? */
static void choose_readings(struct session *session, uint64_t end, bool last)
{
	const struct session_config *config = session->config;
	bool check = config->check_ns && end - session->checked_ns >= config->check_ns;
	bool keys = last || ++session->intervals >= config->keys_every;

	if (keys)
		session->intervals = 0;
	if (check)
		session->checked_ns = end;
	for (unsigned int i = 0; i < session->run->nr_probes; i++) {
		if (!session->probes[i])
			continue;
		session->probes[i]->skip_keys = !keys;
		session->probes[i]->check = check && !last;
	}
}

/* Reads all probes and passes the interval, which ends at `end`, to the recording. */
static void end_interval(struct session *session, struct session_result *result, uint64_t end,
			 bool last)
{
	struct run *run = session->run;
	struct run_interval interval = { .start_ns = session->last_ns,
					 .end_ns = end,
					 .delta = session->delta };
	const struct writer *writer = NULL;
	int err;

	choose_readings(session, end, last);
	session->broken = !step_all(session, result, PROBE_INTERVAL, end);
	if (session->broken)
		return;
	run->duration_ns = end;
	session->last_ns = end;
	if (session->pressure)
		fault(session, result, SESSION_READ,
		      pressure__read(session->pressure, run->pressure.table, elapsed_ns(session)));
	err = recording__interval(session->recording, run, &interval, &writer);
	recording_fault(session, result, writer, err);
}

/* Is there too little room for more, after the last interval? */
static bool is_full(const struct session *session, struct session_result *result)
{
	result->room = recording__room(session->recording, session->run);
	return result->room;
}

/* It has a terminal. */
static bool is_watched(const struct session *session)
{
	return session->config->watcher && session->config->watcher->calls.terminal;
}

static bool accounts(const struct session *session)
{
	for (unsigned int i = 0; i < session->run->nr_probes; i++)
		if (session->probes[i] && session->probes[i]->ops->accounts)
			return true;
	return false;
}

/*
 * Of recordings, since they have a time line, of a screen, where a cgroup filters, for its sums,
 * and next to an account of all time, which it checks. Intervals may be read late, so the pressure
 * of an interval is that between two readings, as with the probes.
 */
static void watch_pressure(struct session *session, struct session_result *result)
{
	struct run_pressure *to = &session->run->pressure;
	int err;

	if (session->recording->is_endless || (!session->recording->dir[0] && !to->cgroup &&
					       !is_watched(session) && !accounts(session)))
		return;
	err = pressure__open(&session->pressure, "", to->cgroup, to->why);
	if (!err)
		err = table__new(&to->table, pressure_columns, PRESSURE_COLUMNS);
	fault(session, result, SESSION_READ, err);
}

static void open_window(struct session *session, struct session_result *result)
{
	struct run *run = session->run;

	step_all(session, result, PROBE_PREPARE, 0);
	recording__start(run);
	if (session->pressure)
		pressure__read(session->pressure, NULL, 0);
	for (enum probe_step step = PROBE_BEFORE_OPEN; step <= PROBE_START; step++)
		step_all(session, result, step, 0);
}

/*
 * After PROBE_STOP no sample can arrive any more: every program that saw the window open has
 * returned. Returns when the window was closed.
 */
static uint64_t close_window(struct session *session, struct session_result *result)
{
	const struct timespec while_running = { .tv_nsec = 20000000 };
	uint64_t end;

	step_all(session, result, PROBE_BEFORE_CLOSE, elapsed_ns(session));
	step_all(session, result, PROBE_CLOSE, elapsed_ns(session));
	end = elapsed_ns(session);
	step_all(session, result, PROBE_IN_FLIGHT, end);
	step_all(session, result, PROBE_AFTER_CLOSE, end);
	/* It fails with nohz_full: then wait instead. */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		nanosleep(&while_running, NULL);
	step_all(session, result, PROBE_STOP, end);
	return end;
}

/* Fills in what is known of the probes only after the window. */
static void describe_probes(struct session *session, struct session_result *result)
{
	struct probe *probe;

	for (unsigned int i = 0; i < session->run->nr_probes; i++) {
		probe = session->probes[i];
		if (probe)
			probe_fault(session, result, probe, probe->ops->describe(probe));
	}
}

/* Call before anything is printed: whatever fails later, the machine is as before. */
static void put_back(struct session *session, struct session_result *result)
{
	int err = 0, failed = close_probes(session, result->left, &err);

	if (failed >= 0)
		result->left_by = session->run->probes[failed].name;
	fault(session, result, SESSION_RESTORE, err);
}

/*
 * Sleeps until `at` (since the window opened). True: a signal or the workload's end closes the
 * window.
 */
static bool window_ends(struct session *session, uint64_t at, uint64_t *interval_ns,
			struct session_result *result)
{
	struct pollfd fds[3] = { { .fd = session->signals, .events = POLLIN },
				 { .fd = -1, .events = POLLIN },
				 { .fd = -1, .events = POLLIN } };
	uint64_t elapsed = elapsed_ns(session);
	struct timespec left = clock__timespec(at > elapsed ? at - elapsed : 0);
	const struct session_watcher *watcher = session->config->watcher;
	const struct session_task *task = session->config->task;
	struct signalfd_siginfo info;

	if (task)
		fds[1].fd = task->done;
	if (session->workload.pid)
		fds[1].fd = session->workload.ended;
	if (watcher)
		fds[2].fd = watcher->fd;
	if (ppoll(fds, 3, &left, NULL) <= 0)
		return false;
	if (fds[0].revents && read(session->signals, &info, sizeof(info)) == sizeof(info)) {
		result->interrupted = true;
		return true;
	}
	if (fds[2].revents && watcher->ready && !watcher->ready(watcher->arg, interval_ns))
		return true;
	if (task)
		return fds[1].revents;
	return fds[1].revents && workload__reap(&session->workload, &session->run->workload_status);
}

/* Does a probe need no more samples? */
static bool is_done(const struct session *session)
{
	for (unsigned int i = 0; i < session->run->nr_probes; i++)
		if (session->probes[i] && session->probes[i]->done)
			return true;
	return false;
}

/* From the opening of the window to its end. */
static void watch(struct session *session, struct session_result *result)
{
	const struct session_config *config = session->config;
	uint64_t end = config->duration_ns ? config->duration_ns : UINT64_MAX;
	uint64_t interval_ns = config->interval_ns, before;
	uint64_t next = interval_ns, patience = patience_ns(session), wake, elapsed = 0;
	uint64_t shown = 0;
	bool ends = false;

	while (!ends && elapsed < end) {
		wake = earlier(earlier(next, end), elapsed + patience);
		before = interval_ns;
		ends = window_ends(session, wake, &interval_ns, result);
		elapsed = elapsed_ns(session);
		if (interval_ns != before)
			next = session->last_ns + interval_ns;
		if (config->progress && elapsed - shown >= PROGRESS_NS / 2) {
			config->progress(config->progress_arg, elapsed, config->duration_ns);
			shown = elapsed;
		}
		if (config->workload)
			descendants__reap(&session->descendants, session->workload.pid);
		if (config->watcher && config->watcher->awake)
			config->watcher->awake(config->watcher->arg);
		step_all(session, result, PROBE_POLL, elapsed);
		ends = ends || is_done(session);
		if (!ends && elapsed >= next && elapsed < end) {
			end_interval(session, result, elapsed, false);
			ends = session->broken || is_full(session, result);
			next += (elapsed - next) / interval_ns * interval_ns + interval_ns;
		}
	}
}

static int start_workload(struct session *session)
{
	char *const *argv = session->config->workload;
	int err;

	if (!argv)
		return 0;
	err = descendants__watch(&session->descendants);
	if (err)
		return err;
	return workload__prepare(&session->workload, argv, &session->origin,
				 &session->config->user);
}

/* The window is open: starts the workload or the task. */
static int release(struct session *session)
{
	const struct session_task *task = session->config->task;

	if (session->config->workload)
		return workload__release(&session->workload);
	if (task && write(task->go, "", 1) != 1)
		return -errno;
	return 0;
}

/* Everything is attached, and the workload waits. If this fails, the workload does not run. */
static int drop_privileges(struct session *session, struct session_result *result)
{
	const struct session_config *config = session->config;
	struct privilege_needs needs = {
		.recording = config->recording,
		.removes_dir = config->workload || config->written_later,
	};
	const struct probe *probe;
	int err;

	if (config->watcher)
		needs.calls = config->watcher->calls;
	needs.calls.workload = session->workload.pid;
	for (unsigned int i = 0; i < session->run->nr_probes; i++) {
		probe = session->probes[i];
		if (probe && probe->capability)
			needs.capability = probe->capability;
		needs.times_calls |= probe && probe->times_calls;
	}
	err = config->keeps_privileges ? 0 : privilege__drop(&needs, result->why);
	if (err)
		workload__cancel(&session->workload);
	fault(session, result, SESSION_PRIVILEGE, err);
	return err;
}

/* Call when the workload runs (its recording stays), or has ended (it needs no signal any more). */
static void drop_more(struct session *session, struct session_result *result, int (*drop)(void))
{
	if (session->config->workload && !session->config->keeps_privileges)
		fault(session, result, SESSION_PRIVILEGE, drop());
}

/*
 * If the workload outlives the window, it is terminated, unless it has ended since. Ctrl-C goes to
 * both.
 */
static void end_workload(struct session *session, struct session_result *result)
{
	if (session->workload.pid &&
	    !workload__reap(&session->workload, &session->run->workload_status)) {
		result->workload_ended_early = true;
		session->run->workload_status = workload__end(&session->workload);
	}
	descendants__reap(&session->descendants, 0);
	session->run->workload_uncounted =
		descendants__count(&session->descendants, &session->run->workload_outlived) != 0;
}

int session__run(struct session *session, const struct session_config *config,
		 struct session_result *result)
{
	const struct writer *writer = NULL;
	uint64_t end;
	int err;

	memset(result, 0, sizeof(*result));
	session->config = config;
	session->recording = &session->none;
	if (config->recording && !config->written_later)
		session->recording = config->recording;
	session->run->workload_status = RUN_NOT_ENDED;
	for (unsigned int i = 0; i < session->run->nr_probes; i++) {
		if (!session->probes[i])
			continue;
		session->probes[i]->renews = config->renews;
		warn_of_trouble(session, session->probes[i]);
	}
	watch_pressure(session, result);
	if (!config->keeps_privileges)
		kernel__forget();
	err = start_workload(session);
	if (err) {
		fault(session, result, SESSION_WORKLOAD, err);
		return err;
	}
	for (unsigned int i = 0; i < session->run->nr_probes; i++)
		if (session->probes[i] && config->accounts_workload)
			session->probes[i]->workload = session->workload.pid;
	err = drop_privileges(session, result);
	if (err)
		return err;
	open_window(session, result);
	err = release(session);
	if (err) {
		fault(session, result, SESSION_WORKLOAD, err);
	} else {
		drop_more(session, result, privilege__keep_dir);
		err = recording__open(session->recording, session->run, &writer);
		recording_fault(session, result, writer, err);
		watch(session, result);
	}

	end = close_window(session, result);
	if (!session->broken)
		end_interval(session, result, end, true);
	describe_probes(session, result);
	fault(session, result, SESSION_READ, stacks__describe(session->symbols, session->run));
	if (config->workload)
		end_workload(session, result);
	drop_more(session, result, privilege__end_workload);
	put_back(session, result);
	session->run->complete = !session->err;
	err = recording__close(session->recording, session->run, &writer);
	recording_fault(session, result, writer, err);
	return session->err;
}
