// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "own_cgroup.h"
#include "primitives.h"
#include "workers.h"

#define TASKS 16
#define FILES 2 /* the file is so many times as large as the memory */
#define TOUCHES 32 /* between two looks at the clock */
#define READER_BYTES (4UL << 20) /* file of the reader */
#define READER_PAUSE_NS (2 * NSEC_PER_MSEC)
#define LEAST_NS (200 * NSEC_PER_MSEC) /* of a phase */
#define MORE_PRESSURE_NS (400 * NSEC_PER_MSEC) /* at most, besides */
#define MORE_REST_NS (1200 * NSEC_PER_MSEC)

struct pressure {
	struct own_cgroup *cgroup;
	unsigned int tasks; /* in the cgroup; one more process is the reader */
	int file, reader_file;
	size_t bytes; /* of the file */
	uint64_t start_ns; /* of the first phase */
};

/*
 * Phases of pressure and rest have random lengths, the same ones for all processes: what comes and
 * goes at regular times could follow anything that does so, too.
 */
struct phases {
	uint64_t random, end_ns;
	bool is_rest;
};

static void next_phase(struct phases *phases)
{
	uint64_t more;

	phases->is_rest = !phases->is_rest;
	more = phases->is_rest ? MORE_REST_NS : MORE_PRESSURE_NS;
	phases->end_ns += LEAST_NS + load__random(&phases->random) % more;
}

/* Reads random pages: those that do not fit were reclaimed, and come from the disk again. */
static void touch_until(const volatile char *map, size_t pages, uint64_t *random, uint64_t end_ns)
{
	while (clock__now_ns() < end_ns)
		for (int i = 0; i < TOUCHES; i++)
			(void)map[load__random(random) % pages * load__page()];
}

/*
 * Reads a block again and again, whether there is pressure or not, outside of the cgroup and past
 * the page cache: so there are requests in the rests, too, with which others can be compared.
 */
static int read_steadily(const struct load_config *config, const struct pressure *pressure)
{
	static char block[LOAD_BLOCK] __attribute__((aligned(LOAD_BLOCK)));
	uint64_t random = load__seed(config->seed, pressure->tasks);
	int err = 0;

	while (!err) {
		uint64_t at = load__random(&random) % (READER_BYTES / LOAD_BLOCK);

		err = direct_file__transfer(pressure->reader_file, false, block, sizeof(block),
					    (off_t)(at * LOAD_BLOCK));
		load__sleep(READER_PAUSE_NS);
	}
	return err;
}

static int pressure_work(const struct load_config *config, unsigned int index, const void *arg)
{
	const struct pressure *pressure = arg;
	struct phases phases = { .random = load__seed(config->seed, LOAD_MAX_TASKS),
				 .end_ns = pressure->start_ns };
	uint64_t random = load__seed(config->seed, index), now;
	char *map;
	int err;

	if (index == pressure->tasks)
		return read_steadily(config, pressure);
	err = own_cgroup__enter(pressure->cgroup);
	if (err)
		return err;
	map = mmap(NULL, pressure->bytes, PROT_READ, MAP_SHARED, pressure->file, 0);
	if (map == MAP_FAILED)
		return -errno;
	madvise(map, pressure->bytes, MADV_RANDOM); /* no read-ahead: many small requests */
	for (phases.is_rest = true;; next_phase(&phases)) {
		now = clock__now_ns();
		if (!phases.is_rest)
			touch_until(map, pressure->bytes / load__page(), &random, phases.end_ns);
		else if (phases.end_ns > now)
			load__sleep(phases.end_ns - now);
	}
}

/*
 * Written past the page cache, in few large requests: a recording has them, too, and many slow ones
 * would hide what follows. The caller closes the file, also after an error.
 */
static int make_file(const char *dir, uint64_t bytes, bool direct, int *file)
{
	int err;

	*file = direct_file__create(dir);
	if (*file < 0)
		return *file;
	if (direct_file__is_in_memory(*file)) /* it has nothing to reclaim */
		return -EMEDIUMTYPE;
	direct_file__switch(*file);
	err = direct_file__fill(*file, 0, bytes);
	if (err)
		return err;
	if (!direct && fcntl(*file, F_SETFL, 0))
		return -errno;
	return -posix_fadvise(*file, 0, 0, POSIX_FADV_DONTNEED);
}

static int pressure_run(const struct load_config *config)
{
	uint64_t limit = config->bytes ? config->bytes : LOAD_PRESSURE_BYTES;
	struct pressure pressure = { .tasks = config->tasks ? config->tasks : TASKS,
				     .bytes = FILES * limit / load__page() * load__page(),
				     .reader_file = -1 };
	int err = make_file(config->dir, pressure.bytes, false, &pressure.file), free_err;

	if (pressure.tasks == LOAD_MAX_TASKS)
		pressure.tasks--;
	if (!err)
		err = make_file(config->dir, READER_BYTES, true, &pressure.reader_file);
	if (!err)
		err = own_cgroup__new(&pressure.cgroup, OWN_CGROUP_MEMORY, limit);
	if (!err) {
		pressure.start_ns = clock__now_ns();
		err = workers__run(pressure.tasks + 1, pressure_work, config, &pressure);
		free_err = own_cgroup__free(pressure.cgroup);
		err = err ? err : free_err;
	}
	close(pressure.file);
	close(pressure.reader_file);
	return err;
}

const struct load_ops load_pressure = {
	.name = "pressure",
	.help = "reads of more than fits into a cgroup's memory: reclaim, I/O",
	.uses_dir = true,
	.uses_bytes = true,
	.needs_cgroup = true,
	.run = pressure_run,
};

int load__check_cgroup(void)
{
	struct own_cgroup *cgroup;
	int err = own_cgroup__new(&cgroup, OWN_CGROUP_MEMORY, LOAD_PRESSURE_BYTES);

	return err ? err : own_cgroup__free(cgroup);
}
