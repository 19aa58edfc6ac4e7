// SPDX-License-Identifier: BSD-2-Clause
/*
 * skipped [-w] PAGES: first touches of fresh pages, by a thread that preempts tasks inside bpf().
 *
 * On each CPU one thread walks an empty hash map over and over (see walk.h). The main thread
 * sleeps, wakes up and touches a few pages, until it has touched PAGES. A kernel that preempts in
 * system calls lets it do so during a walk: a recorder on perf events cannot see these
 * faults and must say so.
 *
 * Reference: minflt_window, as for touch.
 */

#include "walk.h"

#define BURST 16

static atomic_bool is_over, is_open;

static void *walk(void *cpu)
{
	load__pin((int)(intptr_t)cpu);
	while (!is_open)
		usleep(1000);
	while (!is_over)
		walk_once();
	return NULL;
}

static void touch_all(char *pages, size_t nr)
{
	for (size_t i = 0; i < nr; i += BURST) {
		usleep(200);
		load__touch(pages + i * load__page(), nr - i < BURST ? nr - i : BURST, false);
	}
}

int main(int argc, char **argv)
{
	char **args = reference_arguments(argc, argv, 1, "skipped [-w] PAGES");
	size_t pages = reference_number(args[0], "PAGES", 1, 1 << 20);
	char *touched;

	walk_open();
	walk_start(walk);
	reference_open();
	is_open = true;
	touched = reference_map(pages);
	touch_all(touched, pages);
	is_over = true;
	walk_join();
	printf("pages=%zu\n", pages);
	reference_close();
	return 0;
}
