// SPDX-License-Identifier: BSD-2-Clause
#include "replay.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <core/clock.h>
#include <core/units.h>
#include <session/signals.h>
#include <store/rundb.h>

#include "view.h"

#define FAR 10 /* frames */
#define MOST_PLAY_NS 1000000000ULL /* between two frames */
#define LEAST_PLAY_NS 100000000ULL
#define RELOAD_NS 1000000000ULL /* of a recording that is still being written */
#define RELOAD_SHARE 20 /* reloading may take this part of the time */

static const uint64_t per_frame[] = { 1, 2, 5, 10, 30, 60, 300, 1800, 3600 };
#define NR_PER_FRAME (sizeof(per_frame) / sizeof(per_frame[0]))

struct replay {
	struct view view;
	const char *path;
	struct run runs[2]; /* the one that is shown, and the one that is being loaded */
	unsigned int current;
	struct rundb *db; /* NULL: closed, so that the recorder can fold its log in */
	uint64_t nr; /* intervals */
	uint64_t next; /* interval that rundb__next() gives */
	bool with_keys; /* of that walk */
	uint64_t frame;
	uint64_t reload_at_ns; /* CLOCK_MONOTONIC */
	int signals;
};

static void close_db(struct replay *replay)
{
	rundb__close(replay->db);
	replay->db = NULL;
}

/* Reads the recording again if it is not open. */
static int open_db(struct replay *replay)
{
	struct run *run = &replay->runs[!replay->current];
	uint64_t begun = clock__now_ns(), took;
	struct rundb *db;
	ssize_t nr;
	int err;

	if (replay->db)
		return 0;
	err = rundb__open(&db, replay->path, run);
	if (err)
		return err;
	nr = rundb__intervals(db);
	if (nr < 0) {
		rundb__close(db);
		run__clear(run);
		return (int)nr;
	}
	run__clear(&replay->runs[replay->current]);
	replay->current = !replay->current;
	replay->db = db;
	replay->nr = (uint64_t)nr;
	replay->next = 0;
	replay->with_keys = true;
	replay->view.model.run = run;
	replay->view.running = run->running;
	model__forget_keys(&replay->view.model);
	if (replay->view.per_frame > 1)
		model__forget_columns(&replay->view.model); /* the last one was not complete */
	replay->view.nr_frames = (replay->nr + replay->view.per_frame - 1) / replay->view.per_frame;
	took = clock__now_ns() - begun;
	replay->reload_at_ns =
		begun + took + (took * RELOAD_SHARE > RELOAD_NS ? took * RELOAD_SHARE : RELOAD_NS);
	return 0;
}

/* Lets rundb__next() give this interval. */
static int seek(struct replay *replay, uint64_t interval, bool keys)
{
	int got = 1;

	if (replay->next > interval || replay->with_keys != keys) {
		rundb__rewind(replay->db, keys);
		replay->next = 0;
		replay->with_keys = keys;
	}
	for (; got > 0 && replay->next < interval; replay->next++)
		got = rundb__next(replay->db, NULL);
	return got < 0 ? got : 0;
}

/* Calls one of the functions of the model with each interval of a frame. */
static int read_frame(struct replay *replay, uint64_t frame, bool keys, bool column)
{
	struct model *model = &replay->view.model;
	uint64_t first = frame * replay->view.per_frame, end = first + replay->view.per_frame;
	struct run_interval interval;
	int err = seek(replay, first, keys), got = 1;

	while (!err && replay->next < end) {
		got = rundb__next(replay->db, &interval);
		if (got <= 0)
			break;
		replay->next++;
		if (keys)
			err = model__add(model, &interval);
		if (!err && column)
			err = model__add_column(model, frame, &interval);
	}
	return err ? err : got < 0 ? got : 0;
}

/* The columns of the heat map that are not known yet, except that of the current frame. */
static int read_columns(struct replay *replay)
{
	uint64_t columns = view__columns(), last = view__last_column(&replay->view);
	uint64_t first = last + 1 > columns ? last + 1 - columns : 0;
	int err = 0;

	for (uint64_t frame = first; !err && frame <= last; frame++)
		if (frame != replay->frame && !model__column(&replay->view.model, frame))
			err = read_frame(replay, frame, false, true);
	return err;
}

/* Shows the frame, or the nearest that there is. */
static int show(struct replay *replay, uint64_t frame)
{
	struct model *model = &replay->view.model;
	int err = open_db(replay);

	if (err)
		return err;
	if (!replay->view.nr_frames)
		goto draw;
	replay->frame = frame < replay->view.nr_frames ? frame : replay->view.nr_frames - 1;
	model__begin(model, replay->frame);
	err = read_columns(replay);
	if (!err)
		err = read_frame(replay, replay->frame, true, !model__column(model, replay->frame));
draw:
	if (replay->view.running)
		close_db(replay);
	if (!err)
		view__draw(&replay->view);
	return err;
}

static int show_merged(struct replay *replay, bool more)
{
	struct view *view = &replay->view;
	uint64_t interval = replay->frame * view->per_frame;

	if (!more || view->per_frame < replay->nr)
		view->per_frame = keys__step(per_frame, NR_PER_FRAME, view->per_frame, more);
	snprintf(view->note, sizeof(view->note), "%llu interval%s per step",
		 (unsigned long long)view->per_frame, view->per_frame == 1 ? "" : "s");
	model__forget_columns(&view->model);
	view->nr_frames = (replay->nr + view->per_frame - 1) / view->per_frame;
	return show(replay, interval / view->per_frame);
}

static int step_by(struct replay *replay, int64_t frames)
{
	replay->view.paused = true;
	if (frames < 0 && (uint64_t)-frames > replay->frame)
		return show(replay, 0);
	return show(replay, replay->frame + (uint64_t)frames);
}

/* 1: the user quits; 0 or -errno. */
static int act_on(struct replay *replay, enum view_action action)
{
	struct view *view = &replay->view;

	switch (action) {
	case ACTION_QUIT:
		return 1;
	case ACTION_PAUSE:
		view->paused = !view->paused;
		break;
	case ACTION_LONGER:
	case ACTION_SHORTER:
		return show_merged(replay, action == ACTION_LONGER);
	case ACTION_RECORD:
		snprintf(view->note, sizeof(view->note), "this is a recording already");
		break;
	case ACTION_BACK:
		return step_by(replay, -1);
	case ACTION_FORWARD:
		return step_by(replay, 1);
	case ACTION_FAR_BACK:
		return step_by(replay, -FAR);
	case ACTION_FAR_FORWARD:
		return step_by(replay, FAR);
	case ACTION_FIRST:
		view->paused = true;
		return show(replay, 0);
	case ACTION_LAST:
		view->paused = !view->running;
		return show(replay, UINT64_MAX);
	case ACTION_NONE:
		break;
	}
	view__draw(view);
	return 0;
}

/* 1: the user quits, or the terminal is gone; 0 or -errno. */
static int read_keys(struct replay *replay)
{
	int key, got = 0;

	while (!got && (key = terminal__next(&replay->view.terminal)) != TERMINAL_NONE) {
		if (key == TERMINAL_GONE)
			return 1;
		if (key == TERMINAL_RESIZED)
			got = show(replay, replay->frame);
		else
			got = act_on(replay, keys__press(&replay->view, key));
	}
	return got;
}

/* When something is to be done without a key; 0: never. */
static uint64_t due_ns(const struct replay *replay)
{
	const struct view *view = &replay->view;
	uint64_t length = view->model.end_ns - view->model.start_ns;

	if (view->running)
		return replay->reload_at_ns;
	if (view->paused)
		return 0;
	length = length > MOST_PLAY_NS ? MOST_PLAY_NS : length;
	return clock__now_ns() + (length < LEAST_PLAY_NS ? LEAST_PLAY_NS : length);
}

/* Plays the next frame; follows a recording that is still being written. */
static int go_on(struct replay *replay)
{
	struct view *view = &replay->view;

	if (view->running)
		return show(replay, view->paused ? replay->frame : UINT64_MAX);
	if (replay->frame + 1 >= view->nr_frames) {
		view->paused = true;
		view__draw(view);
		return 0;
	}
	return show(replay, replay->frame + 1);
}

static int watch_keys(struct replay *replay)
{
	struct pollfd fds[2] = { { .fd = replay->signals, .events = POLLIN },
				 { .fd = replay->view.terminal.ready, .events = POLLIN } };
	uint64_t due = due_ns(replay), now;
	struct timespec left;
	int got = 0;

	while (!got) {
		now = clock__now_ns();
		left = clock__timespec(due > now ? due - now : 0);
		if (ppoll(fds, 2, due ? &left : NULL, NULL) < 0 && errno != EINTR)
			return -errno;
		if (fds[0].revents)
			return 0;
		if (fds[1].revents) {
			got = read_keys(replay);
			due = due_ns(replay);
		} else if (due && clock__now_ns() >= due) {
			got = go_on(replay);
			due = due_ns(replay);
		}
	}
	return got < 0 ? got : 0;
}

int replay__new(struct replay **out, const char *path)
{
	struct replay *replay = calloc(1, sizeof(*replay));
	int err;

	if (!replay)
		return -ENOMEM;
	replay->path = path;
	replay->signals = -1;
	replay->view.replay = true;
	replay->view.source = path;
	replay->view.per_frame = 1;
	err = open_db(replay);
	if (err) {
		free(replay);
		return err;
	}
	*out = replay;
	return 0;
}

int replay__run(struct replay *replay)
{
	sigset_t before;
	int err;

	replay->signals = signals__hold(&before);
	if (replay->signals < 0)
		return replay->signals;
	err = view__open(&replay->view);
	if (!err) {
		replay->view.paused = !replay->view.running;
		view__begin(&replay->view);
		err = show(replay, replay->view.running ? UINT64_MAX : 0);
	}
	if (!err)
		err = watch_keys(replay);
	terminal__close(&replay->view.terminal);
	return err;
}

void replay__free(struct replay *replay)
{
	if (!replay)
		return;
	view__close(&replay->view);
	close_db(replay);
	run__clear(&replay->runs[0]);
	run__clear(&replay->runs[1]);
	if (replay->signals >= 0)
		close(replay->signals);
	free(replay);
}
