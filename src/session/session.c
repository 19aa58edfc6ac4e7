// SPDX-License-Identifier: BSD-2-Clause
#include "session.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <core/clock.h>
#include <core/summary.h>
#include <probes/kernel.h>
#include <probes/kernel_check.h>

#include "cost.h"
#include "descendants.h"
#include "life.h"
#include "privilege.h"
#include "workload.h"

#define PROGRESS_NS 250000000ULL

struct session {
	struct run *run;
	struct probe *probes[RUN_PROBES]; /* by module; NULL: refused */
	struct run_data delta[RUN_PROBES];
	const struct session_source *sources[RUN_PROBES]; /* by module; NULL: it is of none */
	struct names *names;
	struct cost cost[RUN_PROBES];
	struct verify verify[RUN_PROBES];
	struct life_watch *life; /* NULL: nobody asks for processes, or it cannot be had */
	int stats; /* the kernel times BPF programs while this is open; -1: not */
	struct workload workload;
	struct descendants descendants; /* of the workload */
	const struct session_task *task; /* NULL: none */
	int signals; /* signalfd of those that end the window */
	struct workload_origin origin; /* what was before we changed it */
	uint64_t last_ns; /* end of the last interval, since the window opened */
	struct recording *recording;
	void (*write_failed)(const struct writer *writer, int err);
	struct recording none; /* stands for it where nothing is kept */
	int err; /* of the first fault */
};

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * SIGHUP: the terminal was closed; nohup has it ignored. SIGPIPE: the reader of our output exited.
 */
static int hold_signals(sigset_t *before)
{
	struct sigaction hangup;
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGPIPE);
	if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler != SIG_IGN)
		sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, before))
		return -errno;
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int session__new(struct session **out, struct run *run)
{
	struct session *session = calloc(1, sizeof(*session));
	int err;

	if (!session)
		return -ENOMEM;
	session->run = run;
	session->stats = -1;
	getrlimit(RLIMIT_NOFILE, &session->origin.files);
	err = names__new(&session->names, "");
	if (err)
		goto free_session;
	session->signals = hold_signals(&session->origin.mask);
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

void session__free(struct session *session)
{
	if (!session)
		return;
	for (unsigned int i = 0; i < RUN_PROBES; i++) {
		probe__close(session->probes[i]);
		run__clear_data(&session->delta[i]);
	}
	life__close(session->life);
	descendants__clear(&session->descendants);
	if (session->stats >= 0)
		close(session->stats);
	close(session->signals);
	names__free(session->names);
	free(session);
}

int session__add(struct session *session, const struct probe_ops *ops,
		 const struct lat_config *config, const char *method)
{
	unsigned int i = session->run->nr_probes;
	struct run_probe *entry = &session->run->probes[i];
	int err;

	err = probe__open(&session->probes[i], ops, config, method, entry->refused);
	snprintf(entry->name, sizeof(entry->name), "%s", ops->name);
	if (err && err != -EOPNOTSUPP)
		return err;
	if (!err)
		probe__describe(session->probes[i], entry);
	session->run->nr_probes++;
	return 0;
}

int session__add_source(struct session *session, const struct session_source *source)
{
	unsigned int i = session->run->nr_probes;
	int err;

	err = source->describe(source->state, &session->run->probes[i]);
	if (err)
		return err;
	session->sources[i] = source;
	session->run->nr_probes++;
	return 0;
}

void session__add_refused(struct session *session, const char *name, const char *why)
{
	struct run_probe *entry = &session->run->probes[session->run->nr_probes++];

	snprintf(entry->name, sizeof(entry->name), "%s", name);
	snprintf(entry->refused, sizeof(entry->refused), "%s", why);
}

/* Only the first is kept; err 0 is none. */
static void fault(struct session *session, struct session_result *result, enum session_fault which,
		  int err)
{
	if (!err || session->err)
		return;
	session->err = err;
	result->fault = which;
}

/* Without a writer it was not the writing. */
static void recording_fault(struct session *session, struct session_result *result,
			    const struct writer *writer, int err)
{
	if (err && !session->err && writer)
		session->write_failed(writer, err);
	fault(session, result, writer ? SESSION_WRITE : SESSION_READ, err);
}

/* What a source may be called for, in the order of struct session_source. */
enum moment { MOMENT_READY, MOMENT_START, MOMENT_POLL, MOMENT_STOP, MOMENT_INTERVAL };

/* `at_ns` is since the window opened. */
static int tell_source(const struct session_source *source, const struct run *run,
		       struct table *table, enum moment moment, uint64_t at_ns)
{
	switch (moment) {
	case MOMENT_READY:
		return source->ready ? source->ready(source->state) : 0;
	case MOMENT_START:
		if (source->start)
			source->start(source->state, run->start_mono_ns);
		return 0;
	case MOMENT_POLL:
		return source->poll ? source->poll(source->state, table) : 0;
	case MOMENT_STOP:
		return source->stop ? source->stop(source->state, table, run->start_mono_ns + at_ns)
				    : 0;
	case MOMENT_INTERVAL:
		return source->interval ? source->interval(source->state, table, at_ns) : 0;
	}
	return -EINVAL;
}

static void tell_sources(struct session *session, struct session_result *result, enum moment moment,
			 uint64_t at_ns)
{
	struct run *run = session->run;
	int err;

	for (unsigned int i = 0; i < run->nr_probes; i++) {
		if (!session->sources[i])
			continue;
		err = tell_source(session->sources[i], run, run->probes[i].table, moment, at_ns);
		fault(session, result, SESSION_READ, err);
	}
}

/* How long the window may be left alone. */
static uint64_t patience_ns(const struct session *session)
{
	uint64_t least = PROGRESS_NS;

	for (unsigned int i = 0; i < session->run->nr_probes; i++)
		if (session->sources[i] && session->sources[i]->poll)
			least = earlier(least, session->sources[i]->poll_ns);
	return least;
}

static uint64_t elapsed_ns(const struct session *session)
{
	return clock__now_ns() - session->run->start_mono_ns;
}

/* Reads all probes and hands the interval, which ends at `end`, to the recording. */
static void end_interval(struct session *session, struct session_result *result, uint64_t end)
{
	struct run *run = session->run;
	struct run_interval interval = { session->last_ns, end, session->delta };
	const struct writer *writer = NULL;
	struct probe *probe;
	int err;

	for (unsigned int i = 0; i < run->nr_probes; i++) {
		probe = session->probes[i];
		if (!probe)
			continue;
		err = probe__read(probe, &run->probes[i].total, &session->delta[i], session->names);
		if (!err)
			err = probe__tick(probe, &run->probes[i].total);
		fault(session, result, SESSION_READ, err);
	}
	tell_sources(session, result, MOMENT_INTERVAL, end);
	run->duration_ns = end;
	session->last_ns = end;
	err = recording__interval(session->recording, run, &interval, &writer);
	recording_fault(session, result, writer, err);
}

/* True: what was recorded last leaves too little room for more. */
static bool is_full(const struct session *session, struct session_result *result)
{
	result->room = recording__room(session->recording, session->run);
	return result->room;
}

/* Waits of processes are shares of their lives. What is missing is said, and all else goes on. */
static void watch_lives(struct session *session)
{
	struct run *run = session->run;
	bool wanted = false;

	for (unsigned int i = 0; i < run->nr_probes; i++)
		wanted |= (run->probes[i].by & 1U << LAT_BY_PROCESS) != 0;
	if (wanted)
		life__open(&session->life, run->lives_why);
}

static void describe_lives(struct session *session, struct session_result *result)
{
	int err;

	if (!session->life)
		return;
	err = life__describe(session->life, session->run);
	fault(session, result, SESSION_READ, err);
}

static void arm_all(struct session *session, bool armed)
{
	for (unsigned int i = 0; i < session->run->nr_probes; i++)
		if (session->probes[i])
			probe__arm(session->probes[i], armed);
}

/* What the kernel says now of what the probes measure. */
static void read_accounts(struct session *session, enum verify_moment moment)
{
	for (unsigned int i = 0; i < session->run->nr_probes; i++)
		if (session->probes[i])
			verify__read(&session->verify[i], session->probes[i], moment);
}

/* What the kernel ran none of their programs for, where it does not count that itself. */
static void count_missed(struct session *session, bool shuts)
{
	for (unsigned int i = 0; i < session->run->nr_probes; i++)
		if (session->probes[i])
			probe__count_missed(session->probes[i], shuts);
}

static void open_window(struct session *session, struct session_result *result)
{
	struct run *run = session->run;

	for (unsigned int i = 0; i < run->nr_probes; i++)
		if (session->probes[i])
			cost__begin(&session->cost[i], session->probes[i]);
	recording__start(run);
	if (session->life)
		life__arm(session->life, run->start_mono_ns);
	read_accounts(session, VERIFY_BEFORE_OPEN);
	arm_all(session, true);
	read_accounts(session, VERIFY_AFTER_OPEN);
	count_missed(session, false);
	tell_sources(session, result, MOMENT_START, 0);
}

/* What a probe costs is known once its first events have been timed. */
static void end_cost(struct session *session, unsigned int i, uint64_t elapsed)
{
	struct run_cost *cost = &session->run->probes[i].cost;

	if (!cost->timed_ns)
		cost__end(&session->cost[i], session->probes[i], elapsed, cost);
}

/* If they have been timed for long enough, the programs run without from here on. */
static void end_timing(struct session *session, uint64_t elapsed, bool ends)
{
	unsigned int probes = 0, enough = 0;

	if (session->stats < 0 || (!ends && elapsed < SUMMARY_TIMED_NS))
		return;
	for (unsigned int i = 0; i < session->run->nr_probes; i++) {
		if (!session->probes[i])
			continue;
		probes++;
		if (probe__seen(session->probes[i]) < SUMMARY_COST_EVENTS)
			continue;
		enough++;
		end_cost(session, i, elapsed);
	}
	if (!ends && !summary__is_timed(elapsed, probes, enough))
		return;
	for (unsigned int i = 0; i < session->run->nr_probes; i++)
		if (session->probes[i])
			end_cost(session, i, elapsed);
	close(session->stats);
	session->stats = -1;
}

static void count_open(struct session *session, struct session_result *result)
{
	struct run_probe *entry;
	int err;

	for (unsigned int i = 0; i < session->run->nr_probes; i++) {
		entry = &session->run->probes[i];
		if (!session->probes[i])
			continue;
		err = probe__in_flight(session->probes[i], &entry->open, &entry->open_age_known);
		fault(session, result, SESSION_READ, err);
	}
}

/*
 * Counts what is open at once: what ends between the two would be in neither number. Afterwards no
 * sample is on its way any more: every program that saw the window open has returned. Returns when
 * it was shut.
 */
static uint64_t shut_window(struct session *session, struct session_result *result)
{
	const struct timespec while_running = { .tv_nsec = 20000000 };
	uint64_t end;
	int err = 0;

	count_missed(session, true);
	read_accounts(session, VERIFY_BEFORE_SHUT);
	arm_all(session, false);
	end = elapsed_ns(session);
	count_open(session, result);
	read_accounts(session, VERIFY_AFTER_SHUT);
	if (session->life)
		err = life__shut(session->life, session->run->start_mono_ns + end);
	fault(session, result, SESSION_READ, err);
	/* Not to be had with nohz_full: there it takes a little patience. */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		nanosleep(&while_running, NULL);
	tell_sources(session, result, MOMENT_STOP, end);
	return end;
}

/* What is known of the probes only when the window has shut. */
static void describe_probes(struct session *session)
{
	struct run_probe *entry;

	for (unsigned int i = 0; i < session->run->nr_probes; i++) {
		entry = &session->run->probes[i];
		if (session->sources[i])
			session->sources[i]->describe(session->sources[i]->state, entry);
		if (!session->probes[i])
			continue;
		cost__missed(&session->cost[i], session->probes[i], entry);
		probe__rename(session->probes[i], &entry->total, session->names);
		probe__describe(session->probes[i], entry);
		verify__conclude(&session->verify[i], session->probes[i], entry);
	}
}

/* Sleeps until `at`, since the window opened. True: a signal or the workload's end shuts it. */
static bool window_ends(struct session *session, uint64_t at, struct session_result *result)
{
	struct pollfd fds[2] = { { .fd = session->signals, .events = POLLIN },
				 { .fd = -1, .events = POLLIN } };
	uint64_t elapsed = elapsed_ns(session);
	struct timespec left = clock__timespec(at > elapsed ? at - elapsed : 0);
	struct signalfd_siginfo info;

	if (session->task)
		fds[1].fd = session->task->done;
	if (session->workload.pid)
		fds[1].fd = session->workload.ended;
	if (ppoll(fds, 2, &left, NULL) <= 0)
		return false;
	if (fds[0].revents && read(session->signals, &info, sizeof(info)) == sizeof(info)) {
		result->interrupted = true;
		return true;
	}
	if (session->task)
		return fds[1].revents;
	return fds[1].revents && workload__reap(&session->workload, &session->run->workload_status);
}

/* From the open window to its end. */
static void watch(struct session *session, const struct session_config *config,
		  struct session_result *result)
{
	uint64_t end = config->duration_ns ? config->duration_ns : UINT64_MAX;
	uint64_t next = config->interval_ns, patience = patience_ns(session), wake, elapsed = 0;
	bool ends = false;

	while (!ends && elapsed < end) {
		wake = earlier(earlier(next, end), elapsed + patience);
		if (session->stats >= 0 && elapsed < SUMMARY_TIMED_NS)
			wake = earlier(wake, SUMMARY_TIMED_NS);
		ends = window_ends(session, wake, result);
		elapsed = elapsed_ns(session);
		end_timing(session, elapsed, false);
		if (config->progress)
			config->progress(elapsed, config->duration_ns);
		if (config->workload)
			descendants__reap(&session->descendants, session->workload.pid);
		tell_sources(session, result, MOMENT_POLL, elapsed);
		if (!ends && elapsed >= next && elapsed < end) {
			end_interval(session, result, elapsed);
			ends = is_full(session, result);
			next += (elapsed - next) / config->interval_ns * config->interval_ns +
				config->interval_ns;
		}
	}
}

static int start_workload(struct session *session, const struct session_config *config)
{
	int err;

	if (!config->workload)
		return 0;
	err = descendants__watch(&session->descendants);
	if (err)
		return err;
	return workload__prepare(&session->workload, config->workload, &session->origin,
				 &config->user);
}

/* The window is open: whoever is to be measured may go. */
static int release(struct session *session, const struct session_config *config)
{
	if (config->workload)
		return workload__release(&session->workload);
	if (config->task && write(config->task->go, "", 1) != 1)
		return -errno;
	return 0;
}

/* All is attached, and the workload waits. Whatever fails, nothing was run. */
static int drop_privileges(struct session *session, const struct session_config *config,
			   struct session_result *result)
{
	const struct privilege_needs needs = {
		.recording = session->recording,
		.removes_dir = config->workload,
		.workload = session->workload.pid,
	};
	int err = config->again ? 0 : privilege__drop(&needs, result->why);

	if (err)
		workload__cancel(&session->workload);
	fault(session, result, SESSION_PRIVILEGE, err);
	return err;
}

/* The workload runs, so that its recording stays; or it has ended, and needs no signal any more. */
static void drop_more(struct session *session, const struct session_config *config,
		      struct session_result *result, int (*drop)(void))
{
	if (config->workload && !config->again)
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
	session->recording = config->recording ? config->recording : &session->none;
	session->run->workload_status = RUN_NOT_ENDED;
	session->write_failed = config->write_failed;
	watch_lives(session);
	if (!config->again)
		kernel__forget();
	err = start_workload(session, config);
	if (err) {
		fault(session, result, SESSION_WORKLOAD, err);
		return err;
	}
	if (!config->untimed)
		session->stats = cost__start(); /* needs a privilege that goes now */
	err = drop_privileges(session, config, result);
	if (err)
		return err;
	session->task = config->task;
	tell_sources(session, result, MOMENT_READY, 0);
	open_window(session, result);
	err = release(session, config);
	if (err) {
		fault(session, result, SESSION_WORKLOAD, err);
	} else {
		drop_more(session, config, result, privilege__keep_dir);
		err = recording__open(session->recording, session->run, &writer);
		recording_fault(session, result, writer, err);
		watch(session, config, result);
	}

	end = shut_window(session, result);
	end_timing(session, end, true);
	end_interval(session, result, end);
	describe_probes(session);
	describe_lives(session, result);
	if (config->workload)
		end_workload(session, result);
	drop_more(session, config, result, privilege__end_workload);
	session->run->complete = !session->err;
	err = recording__close(session->recording, session->run, &writer);
	recording_fault(session, result, writer, err);
	return session->err;
}
