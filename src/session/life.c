// SPDX-License-Identifier: BSD-2-Clause
#include "life.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <core/vec.h>
#include <probes/kit/bpf_probe.h>
#include <probes/kit/refusal.h>
#include <probes/kit/tracing.h>

#include "activity.h"
#include "life.skel.h"

#define MOST_ENDED (1 << 14) /* room for processes that end in the window */
#define TASKS_AT_ONCE 256

struct life_watch {
	struct life_bpf *skel;
	uint64_t opened_ns, closed_ns;
	struct run_life *lives; /* processes that lived, then those that ended; by id */
	size_t nr, nr_living; /* number of processes that lived */
	uint64_t not_kept;
	/*
	 * The last look; names of processes that were alive, in case they end before the map is
	 * read.
	 */
	struct lat_life_task *tasks;
	size_t nr_tasks;
	struct activity_watch *activity; /* NULL: nobody wants it */
	struct activity_ended *ended; /* by tgid */
	size_t nr_ended;
};

static int load(struct life_watch *watch, const struct lat_config *config)
{
	int err;

	watch->skel = life_bpf__open();
	if (!watch->skel)
		return -errno;
	if (config) {
		memcpy((void *)&watch->skel->rodata->config, config, sizeof(*config));
		watch->activity = activity__new();
		if (!watch->activity)
			return -ENOMEM;
	}
	err = bpf_map__set_max_entries(watch->skel->maps.ended, MOST_ENDED);
	if (!err)
		err = bpf_object__load_skeleton(watch->skel->skeleton); /* also maps .bss */
	if (err)
		return err;
	watch->skel->links.exited = tracing__attach(watch->skel->progs.exited);
	return watch->skel->links.exited ? 0 : -errno;
}

int life__open(struct life_watch **out, const struct lat_config *config, char why[RUN_TEXT])
{
	struct life_watch *watch = calloc(1, sizeof(*watch));
	int err;

	if (!watch)
		return -ENOMEM;
	refusal__capture();
	err = load(watch, config);
	if (err) {
		refusal__explain(err, "BPF tracepoints with BTF, and iterators", why);
		life__close(watch);
		return err;
	}
	*out = watch;
	return 0;
}

void life__close(struct life_watch *watch)
{
	if (!watch)
		return;
	life_bpf__destroy(watch->skel);
	activity__free(watch->activity);
	free(watch->ended);
	free(watch->lives);
	free(watch->tasks);
	free(watch);
}

static int keep_tasks(struct life_watch *watch, const struct lat_life_task *tasks, size_t nr)
{
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++)
		err = vec__append(&watch->tasks, &watch->nr_tasks, &tasks[i], sizeof(tasks[i]));
	return err;
}

/* The end of the buffer may cut a record: the rest comes with the next read. */
static int read_tasks(struct life_watch *watch, int fd)
{
	struct lat_life_task tasks[TASKS_AT_ONCE];
	size_t have = 0, whole;
	ssize_t got;
	int err = 0;

	for (;;) {
		got = read(fd, (char *)tasks + have, sizeof(tasks) - have);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got <= 0)
			return got < 0 ? -errno : 0;
		have += (size_t)got;
		whole = have / sizeof(tasks[0]);
		err = keep_tasks(watch, tasks, whole);
		if (err)
			return err;
		have -= whole * sizeof(tasks[0]);
		memmove(tasks, tasks + whole, have);
	}
}

int life__look(struct life_watch *watch)
{
	int fd = probe__open_iterator(watch->skel->progs.living, NULL), err;

	if (fd < 0)
		return fd;
	watch->nr_tasks = 0;
	err = read_tasks(watch, fd);
	close(fd);
	if (!err && watch->activity)
		err = activity__look(watch->activity, watch->tasks, watch->nr_tasks);
	return err;
}

int life__arm(struct life_watch *watch, uint64_t opened_ns)
{
	watch->opened_ns = opened_ns;
	__atomic_store_n(&watch->skel->bss->control.opened_ns, opened_ns, __ATOMIC_SEQ_CST);
	return watch->activity ? life__look(watch) : 0;
}

static uint64_t since(const struct life_watch *watch, uint64_t start_ns)
{
	uint64_t from = start_ns > watch->opened_ns ? start_ns : watch->opened_ns;

	return watch->closed_ns > from ? watch->closed_ns - from : 0;
}

static struct run_life *add_life(struct life_watch *watch, uint64_t id)
{
	const struct run_life life = { .id = id };

	if (vec__append(&watch->lives, &watch->nr, &life, sizeof(life)))
		return NULL;
	return &watch->lives[watch->nr - 1];
}

static int by_process(const void *left, const void *right)
{
	const struct lat_life_task *a = left, *b = right;

	return a->tgid < b->tgid ? -1 : a->tgid > b->tgid;
}

static int by_id(const void *left, const void *right)
{
	uint64_t a = ((const struct run_life *)left)->id, b = ((const struct run_life *)right)->id;

	return a < b ? -1 : a > b;
}

/* The threads of a process are adjacent. */
static int add_living(struct life_watch *watch)
{
	struct run_life *life = NULL;

	qsort(watch->tasks, watch->nr_tasks, sizeof(*watch->tasks), by_process);
	for (size_t i = 0; i < watch->nr_tasks; i++) {
		const struct lat_life_task *task = &watch->tasks[i];

		if (!life || life->id != task->tgid)
			life = add_life(watch, task->tgid);
		if (!life)
			return -ENOMEM;
		life->lived_ns = since(watch, task->process_start_ns);
		life->thread_ns += since(watch, task->thread_start_ns);
	}
	watch->nr_living = watch->nr;
	return 0;
}

/* A process that has ended since it was listed as alive is in both lists: skip it. */
static bool ended_since(const struct life_watch *watch, uint32_t tgid, uint64_t start_ns)
{
	const struct lat_life_task wanted = { .tgid = tgid }, *found = NULL;

	if (watch->nr_tasks)
		found = bsearch(&wanted, watch->tasks, watch->nr_tasks, sizeof(wanted), by_process);
	return found && found->process_start_ns == start_ns;
}

static struct run_life *find_life(const struct life_watch *watch, size_t nr, uint64_t id)
{
	const struct run_life wanted = { .id = id };

	return nr ? bsearch(&wanted, watch->lives, nr, sizeof(wanted), by_id) : NULL;
}

/* A process that ended is listed once, so search only among the living ones: they are sorted. */
static int add_ended(void *context, const void *key, const void *value)
{
	uint32_t tgid = *(const uint32_t *)key;
	const struct lat_life *life = value;
	struct life_watch *watch = context;
	struct run_life *to = find_life(watch, watch->nr_living, tgid);
	const struct activity_ended ended = { .tgid = tgid, .life = *life };

	if (watch->activity && vec__append(&watch->ended, &watch->nr_ended, &ended, sizeof(ended)))
		return -ENOMEM;
	if (ended_since(watch, tgid, life->last_start_ns))
		return 0;
	if (!to && !life->lived_ns) /* exiting, with an unknown start */
		return 0;
	if (!to) {
		to = add_life(watch, tgid);
		if (!to)
			return -ENOMEM;
		to->ended = true;
	}
	to->lived_ns += life->lived_ns;
	to->thread_ns += life->thread_ns;
	return 0;
}

/*
 * Reads the living processes first, then those that ended: so each is in at least one of the lists.
 */
int life__read(struct life_watch *watch, uint64_t closed_ns)
{
	int err;

	watch->closed_ns = closed_ns;
	err = life__look(watch);
	__atomic_store_n(&watch->skel->bss->control.opened_ns, 0, __ATOMIC_SEQ_CST);
	if (!err)
		err = add_living(watch);
	if (!err)
		err = probe__each_entry(watch->skel->maps.ended, add_ended, watch);
	watch->not_kept = watch->skel->bss->control.not_kept;
	if (!err && watch->nr)
		qsort(watch->lives, watch->nr, sizeof(*watch->lives), by_id);
	return err;
}

static int add_key(const struct life_watch *watch, uint64_t id, struct run *run)
{
	const struct run_life *life = find_life(watch, watch->nr, id);

	return life ? vec__append(&run->lives, &run->nr_lives, life, sizeof(*life)) : 0;
}

/* A process may be a key of every probe. */
static void keep_each_once(struct run *run)
{
	size_t kept = 0;

	if (run->nr_lives)
		qsort(run->lives, run->nr_lives, sizeof(*run->lives), by_id);
	for (size_t i = 0; i < run->nr_lives; i++) {
		if (!kept || run->lives[kept - 1].id != run->lives[i].id)
			run->lives[kept++] = run->lives[i];
	}
	run->nr_lives = kept;
}

int life__activity(struct life_watch *watch, bool filtered, struct table *table)
{
	return activity__rows(watch->activity, watch->ended, watch->nr_ended, watch->opened_ns,
			      watch->closed_ns, filtered, table);
}

int life__describe(const struct life_watch *watch, struct run *run)
{
	int err = 0;

	for (unsigned int i = 0; i < run->nr_probes; i++) {
		const struct run_data *data = &run->probes[i].total;

		for (size_t j = 0; !err && j < data->nr_keys; j++) {
			if (data->keys[j].key.by == LAT_BY_PROCESS)
				err = add_key(watch, data->keys[j].key.id, run);
		}
	}
	keep_each_once(run);
	if (!err && watch->not_kept)
		snprintf(run->lives_why, RUN_TEXT,
			 "more than %d processes ended; the lifetime of some is unknown",
			 MOST_ENDED);
	return err;
}
