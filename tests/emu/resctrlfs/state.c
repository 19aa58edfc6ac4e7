// SPDX-License-Identifier: BSD-2-Clause
#include "state.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <host/process_stat.h>

const char *const state_events[STATE_EVENTS] = { "llc_occupancy", "mbm_total_bytes",
						 "mbm_local_bytes" };

void state__init(struct state *state)
{
	*state = (struct state){ .rmids = 16, .domains = 2, .mounted = true };
	strcpy(state->groups[0].name, "/");
	state->groups[0].control = true;
}

/* ---- groups ---- */

int state__group(const struct state *state, const char *name, bool control)
{
	for (int i = 0; i < STATE_GROUPS; i++)
		if (state->groups[i].name[0] && state->groups[i].control == control &&
		    !strcmp(state->groups[i].name, name))
			return i;
	return -1;
}

/* A control group has an RMID, too. */
int state__make(struct state *state, const char *name, bool control)
{
	unsigned int used = 0;
	int place = -1;

	if (strlen(name) >= STATE_NAME || strchr(name, '\n'))
		return -EINVAL;
	if (state__group(state, name, control) >= 0)
		return -EEXIST;
	for (int i = 0; i < STATE_GROUPS; i++) {
		used += state->groups[i].name[0] != '\0';
		if (place < 0 && !state->groups[i].name[0])
			place = i;
	}
	if (used >= state->rmids || place < 0)
		return -ENOSPC;
	/* Like the counters of a real RMID, they do not begin at 0. */
	strcpy(state->groups[place].name, name);
	state->groups[place].control = control;
	return 0;
}

int state__remove(struct state *state, const char *name, bool control)
{
	int group = state__group(state, name, control);

	if (group <= 0)
		return group ? -ENOENT : -EPERM;
	for (size_t i = 0; i < state->nr_tasks; i++)
		if (state->tasks[i].group == group)
			state->tasks[i].group = 0;
	state->groups[group].name[0] = '\0';
	return 0;
}

/* ---- tasks ---- */

static struct state_task *find(struct state *state, int tid)
{
	for (size_t i = 0; i < state->nr_tasks; i++)
		if (state->tasks[i].tid == tid)
			return &state->tasks[i];
	return NULL;
}

static struct state_task *add(struct state *state, struct state_task task)
{
	struct state_task *known = find(state, task.tid);

	if (!known) {
		state->tasks = realloc(state->tasks, (state->nr_tasks + 1) * sizeof(task));
		if (!state->tasks)
			abort();
		known = &state->tasks[state->nr_tasks++];
	}
	*known = task;
	return known;
}

/* As fork does: a thread is in the group of its process, a process in that of its parent. */
static struct state_task *adopt(struct state *state, int tgid, int tid, int depth)
{
	struct state_task task = { .tid = tid, .tgid = tgid }, *known = find(state, tid);
	char path[64];
	DIR *there;
	struct process_stat stat;

	snprintf(path, sizeof(path), "/proc/%d/task/%d", tgid, tid);
	there = opendir(path);
	if (!there)
		return NULL;
	closedir(there);
	if (process_stat__read("", tid, &stat))
		return NULL;
	task.start = stat.start_ticks;
	if (known && known->start == task.start)
		return known;
	if (depth < 64 && tid != tgid)
		known = adopt(state, tgid, tgid, depth + 1);
	else
		known = depth < 64 && stat.parent > 0
				? adopt(state, stat.parent, stat.parent, depth + 1)
				: NULL;
	task.group = known ? known->group : 0;
	return add(state, task);
}

struct state_task *state__task(struct state *state, int tgid, int tid)
{
	struct state_task *task;

	if (tid < STATE_MADE)
		return adopt(state, tgid, tid, 0);
	task = find(state, tid);
	return task && task->tgid == tgid ? task : NULL;
}

static bool real_threads(int tgid, void (*found)(void *to, int tid), void *to)
{
	const struct dirent *entry;
	char path[64];
	DIR *list;

	snprintf(path, sizeof(path), "/proc/%d/task", tgid);
	list = opendir(path);
	if (!list)
		return false;
	while (found && (entry = readdir(list)))
		if (isdigit((unsigned char)entry->d_name[0]))
			found(to, atoi(entry->d_name));
	closedir(list);
	return true;
}

/* A thread that begins after the list was read is in the group that its maker is in until then. */
bool state__threads(struct state *state, int tgid, void (*found)(void *to, int tid), void *to)
{
	struct state_task maker = { 0 };

	if (tgid < STATE_MADE)
		return real_threads(tgid, found, to);
	for (size_t i = 0; i < state->nr_tasks; i++)
		if (state->tasks[i].tgid == tgid) {
			maker = state->tasks[i];
			if (found)
				found(to, maker.tid);
		}
	if (found && maker.tid && state->spawner == tgid && state->spawns) {
		state->spawns--;
		maker.tid++;
		add(state, maker);
	}
	return maker.tid != 0;
}

/* The kernel looks a task up by its number alone. */
static struct state_task *any_task(struct state *state, int tid)
{
	char path[64], line[128];
	int tgid = 0;
	FILE *status;

	if (tid >= STATE_MADE)
		return find(state, tid);
	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	status = fopen(path, "r");
	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "Tgid: %d", &tgid) == 1)
			break;
	if (status)
		fclose(status);
	return tgid ? adopt(state, tgid, tid, 0) : NULL;
}

/* 0 would be the writer, which no test wants. */
int state__move(struct state *state, int group, const char *text)
{
	struct state_task *task;
	char *end;
	long tid = strtol(text, &end, 10);

	if (end == text || (*end && strcmp(end, "\n")) || tid <= 0)
		return -EINVAL;
	task = any_task(state, (int)tid);
	if (!task)
		return -ESRCH;
	/* Into a monitoring group: its control group must be that of the task. */
	if (!state->groups[group].control && state->groups[task->group].control && task->group)
		return -EINVAL;
	task->group = group;
	return 0;
}

/* ---- readings ---- */

/* Known, and different for each cache: a task moves some bytes between two readings. */
void state__read(struct state *state, int group, unsigned int domain, enum state_event event,
		 char *text, size_t size)
{
	static const uint64_t each[STATE_EVENTS] = { 1000, 4096, 1024 };
	uint64_t *count = &state->groups[group].counts[domain][event], tasks = 0;
	char line[256];
	int length;

	if (state->answer[event]) {
		snprintf(text, size, "%s\n", state->answer[event]);
		return;
	}
	for (size_t i = 0; i < state->nr_tasks; i++)
		tasks += state->tasks[i].group == group;
	tasks *= each[event] * (domain + 1);
	*count = event == STATE_OCCUPANCY ? tasks : *count + tasks;
	snprintf(text, size, "%llu\n", (unsigned long long)*count);
	length = snprintf(line, sizeof(line), "%s %u %s %llu\n", state->groups[group].name, domain,
			  state_events[event], (unsigned long long)*count);
	state->log = realloc(state->log, state->logged + length + 1);
	if (!state->log)
		abort();
	memcpy(state->log + state->logged, line, length + 1);
	state->logged += length;
}

char *state__describe(const struct state *state)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (int i = 0; out && i < STATE_GROUPS; i++) {
		if (!state->groups[i].name[0])
			continue;
		fprintf(out, "%s:", state->groups[i].name);
		for (size_t t = 0; t < state->nr_tasks; t++)
			if (state->tasks[t].group == i)
				fprintf(out, " %d", state->tasks[t].tid);
		fputc('\n', out);
	}
	if (out)
		fclose(out);
	return text;
}

/* ---- commands ---- */

static int add_made(struct state *state, int tgid, int tid, const char *group)
{
	int at = *group ? state__group(state, group, false) : 0;

	if (at < 0)
		at = state__group(state, group, true);
	if (at < 0 || tgid < STATE_MADE || tid < tgid)
		return -EINVAL;
	add(state, (struct state_task){ .tid = tid, .tgid = tgid, .group = at });
	return 0;
}

static void end_made(struct state *state, int tgid)
{
	size_t kept = 0;

	for (size_t i = 0; i < state->nr_tasks; i++)
		if (state->tasks[i].tgid != tgid)
			state->tasks[kept++] = state->tasks[i];
	state->nr_tasks = kept;
}

static int set_answer(struct state *state, const char *event, const char *answer)
{
	for (int i = 0; i < STATE_EVENTS; i++)
		if (!strcmp(event, state_events[i])) {
			state->answer[i] = *answer ? strdup(answer) : NULL;
			return 0;
		}
	return -EINVAL;
}

int state__command(struct state *state, const char *line)
{
	char text[STATE_NAME] = "", more[STATE_NAME] = "";
	int first, second;

	if (sscanf(line, "task %d %d %63s", &first, &second, text) >= 2)
		return add_made(state, first, second, text);
	if (sscanf(line, "spawn %d %d", &state->spawner, &state->spawns) == 2)
		return 0;
	if (sscanf(line, "answer %63s %63s", text, more) >= 1)
		return set_answer(state, text, more);
	if (sscanf(line, "end %d", &first) == 1)
		end_made(state, first);
	else if (sscanf(line, "rmids %d", &first) == 1)
		state->rmids = (unsigned int)first;
	else if (sscanf(line, "domains %d", &first) == 1 && first <= STATE_DOMAINS)
		state->domains = (unsigned int)first;
	else if (sscanf(line, "vanish %d", &first) == 1)
		state->vanishing = first;
	else if (sscanf(line, "mounted %d", &first) == 1)
		state->mounted = first != 0;
	else
		return -EINVAL;
	return 0;
}
