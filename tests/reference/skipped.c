// SPDX-License-Identifier: BSD-2-Clause
/*
 * skipped [-w] PAGES: first touches of fresh pages, by a thread that preempts tasks inside bpf().
 *
 * On each CPU one thread walks an empty hash map with BPF_MAP_LOOKUP_BATCH, over and over. Nearly
 * all its time is spent between bpf_disable_instrumentation() and its end, where the kernel runs no
 * program of a kprobe or a perf event on that CPU. The main thread sleeps, wakes up and touches a
 * few pages, until it has touched PAGES. A kernel that preempts in system calls lets it do so in
 * the midst of a walk: a recorder on perf events cannot see these faults and must say so.
 *
 * Reference: minflt_window, as for touch.
 */

#include <bpf/bpf.h>

#include "reference.h"

#define ENTRIES (1 << 20) /* as many buckets, a few ms to walk */
#define BURST 16

static int map;
static atomic_bool is_over, is_open;

static void *walk(void *cpu)
{
	uint64_t key, value;
	uint32_t count, at;

	load__pin((int)(intptr_t)cpu);
	while (!is_open)
		usleep(1000);
	while (!is_over) {
		count = 1;
		bpf_map_lookup_batch(map, NULL, &at, &key, &value, &count, NULL);
	}
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
	struct bpf_map_create_opts sparse = { .sz = sizeof(sparse),
					      .map_flags = BPF_F_NO_PREALLOC };
	struct reference_window window = {};
	char **args = reference_arguments(&window, argc, argv, 1, "skipped [-w] PAGES");
	size_t pages = reference_number(args[0], "PAGES", 1, 1 << 20);
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	pthread_t threads[CPU_SETSIZE];
	char *touched;

	map = bpf_map_create(BPF_MAP_TYPE_HASH, "skipped", 8, 8, ENTRIES, &sparse);
	if (map < 0)
		reference_die(REFERENCE_CANNOT, "bpf: %s", strerror(-map));
	reference_begin();
	for (long i = 0; i < cpus; i++)
		threads[i] = reference_thread(walk, (void *)i);
	reference_open(&window);
	is_open = true;
	touched = reference_map(pages);
	touch_all(touched, pages);
	is_over = true;
	for (long i = 0; i < cpus; i++)
		pthread_join(threads[i], NULL);
	printf("pages=%zu\n", pages);
	reference_close(&window);
	return 0;
}
