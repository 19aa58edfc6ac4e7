// SPDX-License-Identifier: BSD-2-Clause
#include "live.h"

#include <curses.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <core/clock.h>
#include <core/units.h>
#include <session/signals.h>

static const uint64_t intervals_ns[] = { 100000000ULL,	200000000ULL,  500000000ULL,  1000000000ULL,
					 2000000000ULL, 5000000000ULL, 10000000000ULL };
#define NR_INTERVALS (sizeof(intervals_ns) / sizeof(intervals_ns[0]))

static void record_or_end(struct live *live)
{
	struct view *view = &live->view;

	if (tui_recorder__toggle(&live->recorder)) {
		snprintf(view->note, sizeof(view->note), "cannot record: its process has ended");
		return;
	}
	snprintf(view->note, sizeof(view->note), "%s",
		 view->recording ? "ending the recording" : "");
	if (!view->recording)
		snprintf(view->note, sizeof(view->note),
			 "recording into %.100s from now on; r ends it", live->where);
	view->recording = true;
}

/* False: the user wants to quit. */
static bool act(struct live *live, enum view_action action, uint64_t *interval_ns)
{
	struct view *view = &live->view;
	char text[UNITS_TEXT];

	switch (action) {
	case ACTION_QUIT:
		return false;
	case ACTION_PAUSE:
		view->paused = !view->paused;
		return true;
	case ACTION_LONGER:
	case ACTION_SHORTER:
		*interval_ns = keys__step(intervals_ns, NR_INTERVALS, *interval_ns,
					  action == ACTION_LONGER);
		view->interval_ns = *interval_ns;
		snprintf(view->note, sizeof(view->note), "interval %s",
			 units__duration(text, *interval_ns));
		return true;
	case ACTION_RECORD:
		record_or_end(live);
		return true;
	case ACTION_NONE:
		return true;
	default:
		snprintf(view->note, sizeof(view->note),
			 "steps in time are for recordings: top --replay DIR");
		return true;
	}
}

static void hear_recorder(struct live *live)
{
	bool ended = false;

	if (!tui_recorder__read(&live->recorder, live->view.note, &ended) &&
	    live->recorder.socket >= 0)
		epoll_ctl(live->view.terminal.ready, EPOLL_CTL_DEL, live->recorder.socket, NULL);
	if (ended)
		live->view.recording = false;
}

static bool handle_input(void *arg, uint64_t *interval_ns)
{
	struct live *live = arg;
	bool goes_on = true;
	int key;

	hear_recorder(live);
	while (goes_on && (key = terminal__next(&live->view.terminal)) != TERMINAL_NONE) {
		if (key == TERMINAL_GONE)
			return false;
		if (key != TERMINAL_RESIZED)
			goes_on = act(live, keys__press(&live->view, key), interval_ns);
	}
	if (goes_on)
		view__draw(&live->view);
	return goes_on;
}

static uint64_t cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000ULL + (uint64_t)time.tv_nsec;
}

int live__open(struct live *live, const char *loading)
{
	static const struct run none;
	sigset_t before;
	int signals = signals__hold(&before), err;

	if (signals < 0)
		return signals;
	close(signals);
	live->view.model.run = &none;
	live->view.loading = loading;
	err = view__open(&live->view);
	if (!err)
		view__draw(&live->view);
	return err;
}

int live__show(struct live *live, const struct run *run)
{
	struct epoll_event event = { .events = EPOLLIN };

	live->view.loading = NULL;
	live->view.model.run = run;
	live->view.interval_ns = run->interval_ns;
	live->watcher = (struct session_watcher){ .fd = live->view.terminal.ready,
						  .ready = handle_input,
						  .arg = live,
						  .calls = { .terminal = true } };
	if (live->recorder.socket >= 0 &&
	    epoll_ctl(live->watcher.fd, EPOLL_CTL_ADD, live->recorder.socket, &event))
		return -errno;
	view__begin(&live->view);
	view__draw(&live->view);
	return 0;
}

void live__close(struct live *live)
{
	view__close(&live->view);
}

static int screen__open(struct writer *writer, const struct run *run)
{
	struct live *live = writer->state;

	(void)run;
	live->cpu_ns = cpu_ns();
	live->wall_ns = clock__now_ns();
	return 0;
}

/* From one interval to the next, the drawing of the last one included. */
static void measure_cost(struct live *live)
{
	uint64_t cpu = cpu_ns(), wall = clock__now_ns();

	if (wall > live->wall_ns && live->next_frame)
		live->view.cost = (double)(cpu - live->cpu_ns) / (double)(wall - live->wall_ns);
	live->cpu_ns = cpu;
	live->wall_ns = wall;
}

/* While it is paused, the heat map goes on in the background. */
static int screen__interval(struct writer *writer, const struct run *run,
			    const struct run_interval *interval)
{
	struct live *live = writer->state;
	struct view *view = &live->view;
	uint64_t frame = live->next_frame++;
	int err;

	(void)run;
	err = model__add_column(&view->model, frame, interval);
	if (!err && (!view->paused || !view->model.has_frame)) {
		model__begin(&view->model, frame);
		err = model__add(&view->model, interval);
	}
	measure_cost(live);
	if (!err)
		view__draw(view);
	return err;
}

const struct writer_ops writer_screen = {
	.name = "screen",
	.open = screen__open,
	.interval = screen__interval,
};
