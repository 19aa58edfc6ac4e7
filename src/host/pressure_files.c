// SPDX-License-Identifier: BSD-2-Clause
#include "pressure_files.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroups.h"

#define CONTENT 32768 /* of a file; /proc/vmstat has about 5000 bytes */
#define MOST_LIMITED 64 /* cgroups with a CPU limit that are watched */
#define NS_PER_US 1000

/*
 * Lines of /proc/vmstat, or of memory.stat and memory.events of a cgroup. Those of a column are
 * added up: kernels count by zone, or by the kind of page, under other names. Before Linux 5.9
 * (170b04b7ae49) refaults were not divided.
 */
static const struct {
	const char *name;
	enum pressure_column column;
} counters[] = {
	{ "pgmajfault", PRESSURE_MAJOR_FAULTS },
	{ "workingset_refault", PRESSURE_REFAULTS },
	{ "workingset_refault_anon", PRESSURE_REFAULTS },
	{ "workingset_refault_file", PRESSURE_REFAULTS },
	{ "pgscan_anon", PRESSURE_SCANNED },
	{ "pgscan_file", PRESSURE_SCANNED },
	{ "pgsteal_anon", PRESSURE_RECLAIMED },
	{ "pgsteal_file", PRESSURE_RECLAIMED },
	{ "pgscan_kswapd", PRESSURE_SCANNED_KSWAPD },
	{ "pgscan_direct", PRESSURE_SCANNED_DIRECT },
	{ "allocstall_dma", PRESSURE_DIRECT_STALLS },
	{ "allocstall_dma32", PRESSURE_DIRECT_STALLS },
	{ "allocstall_normal", PRESSURE_DIRECT_STALLS },
	{ "allocstall_high", PRESSURE_DIRECT_STALLS },
	{ "allocstall_movable", PRESSURE_DIRECT_STALLS },
	{ "allocstall_device", PRESSURE_DIRECT_STALLS },
	{ "pswpin", PRESSURE_SWAPPED_IN },
	{ "pswpout", PRESSURE_SWAPPED_OUT },
	{ "oom_kill", PRESSURE_OOM_KILLS },
	{ "pgscan", PRESSURE_SCANNED }, /* only of cgroups, as all that follow */
	{ "pgsteal", PRESSURE_RECLAIMED },
	{ "high", PRESSURE_MEMORY_HIGH },
	{ "max", PRESSURE_MEMORY_MAX },
};

/* Files of PSI. For the machine, "full" of the CPU has no meaning: the kernel says always 0. */
static const struct {
	const char *of_machine, *of_group;
	int some, full; /* columns; -1: none */
} stalls[] = {
	{ "/proc/pressure/cpu", "/cpu.pressure", PRESSURE_CPU_SOME, -1 },
	{ "/proc/pressure/memory", "/memory.pressure", PRESSURE_MEMORY_SOME, PRESSURE_MEMORY_FULL },
	{ "/proc/pressure/io", "/io.pressure", PRESSURE_IO_SOME, PRESSURE_IO_FULL },
};
#define STALLS (sizeof(stalls) / sizeof(stalls[0]))

/* Files with a counter in each line. */
static const struct {
	const char *of_machine, *of_group; /* NULL: there is none */
} lists[] = {
	{ "/proc/vmstat", "/memory.stat" },
	{ NULL, "/memory.events" },
};
#define LISTS (sizeof(lists) / sizeof(lists[0]))

/* A cgroup with a CPU limit. */
struct limited {
	int fd; /* its cpu.stat; -1: it is gone */
	uint64_t us; /* as last read */
};

struct counts {
	uint32_t known; /* mask of 1 << column */
	uint64_t values[PRESSURE_COLUMNS];
};

struct pressure {
	int stalls[STALLS], lists[LISTS]; /* negative: cannot be read */
	struct limited limited[MOST_LIMITED];
	unsigned int nr_limited, more_limited; /* watched; not watched */
	struct counts last;
	char content[CONTENT];
};

static void add_why(char why[RUN_TEXT], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add_why(char why[RUN_TEXT], const char *format, ...)
{
	size_t used = strlen(why);
	va_list arguments;

	if (used)
		used += (size_t)snprintf(why + used, RUN_TEXT - used, "; ");
	if (used >= RUN_TEXT)
		return;
	va_start(arguments, format);
	vsnprintf(why + used, RUN_TEXT - used, format, arguments);
	va_end(arguments);
}

static int open_file(const char *root, const char *path)
{
	char full[PATH_MAX];
	int fd;

	if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full))
		return -ENAMETOOLONG;
	fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

/* The whole file, from its beginning. A seq_file gives at most a page at a time. */
static int read_content(struct pressure *pressure, int fd)
{
	size_t len = 0;
	ssize_t got = 1;

	while (got > 0 && len < CONTENT - 1) {
		got = pread(fd, pressure->content + len, CONTENT - 1 - len, (off_t)len);
		if (got < 0)
			return -errno;
		len += (size_t)got;
	}
	pressure->content[len] = '\0';
	return 0;
}

static void add_count(struct counts *counts, enum pressure_column column, uint64_t value)
{
	counts->known |= 1U << column;
	counts->values[column] += value;
}

static void take_stalls(struct counts *counts, const char *content, int column, const char *word)
{
	const char *line = strstr(content, word);
	const char *total = line ? strstr(line, "total=") : NULL;
	unsigned long long us;

	if (column >= 0 && total && sscanf(total, "total=%llu", &us) == 1)
		add_count(counts, (enum pressure_column)column, us * NS_PER_US);
}

static void take_list(struct counts *counts, char *content)
{
	unsigned long long value;
	char *rest = content, *line;

	while ((line = strsep(&rest, "\n"))) {
		size_t len = strcspn(line, " ");

		for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
			if (!strncmp(line, counters[i].name, len) && !counters[i].name[len] &&
			    sscanf(line + len, " %llu", &value) == 1)
				add_count(counts, counters[i].column, value);
	}
}

/* How long a cgroup was throttled. False: it is gone. */
static bool read_throttled(struct pressure *pressure, int fd, uint64_t *us)
{
	const char *line;
	unsigned long long value;

	if (read_content(pressure, fd))
		return false;
	line = strstr(pressure->content, "throttled_usec ");
	if (!line || sscanf(line, "throttled_usec %llu", &value) != 1)
		return false;
	*us = value;
	return true;
}

/* The growth of each is added, so that one that goes takes nothing away. */
static void take_throttled(struct pressure *pressure, struct counts *counts)
{
	uint64_t sum = pressure->last.values[PRESSURE_THROTTLED], us;
	bool any = false;

	for (unsigned int i = 0; i < pressure->nr_limited; i++) {
		struct limited *limited = &pressure->limited[i];

		if (limited->fd < 0)
			continue;
		if (!read_throttled(pressure, limited->fd, &us)) {
			close(limited->fd);
			limited->fd = -1;
			continue;
		}
		sum += us > limited->us ? (us - limited->us) * NS_PER_US : 0;
		limited->us = us;
		any = true;
	}
	if (any)
		add_count(counts, PRESSURE_THROTTLED, sum);
}

static void read_counts(struct pressure *pressure, struct counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	for (size_t i = 0; i < STALLS; i++) {
		if (pressure->stalls[i] < 0 || read_content(pressure, pressure->stalls[i]))
			continue;
		take_stalls(counts, pressure->content, stalls[i].some, "some ");
		take_stalls(counts, pressure->content, stalls[i].full, "full ");
	}
	for (size_t i = 0; i < LISTS; i++)
		if (pressure->lists[i] >= 0 && !read_content(pressure, pressure->lists[i]))
			take_list(counts, pressure->content);
	take_throttled(pressure, counts);
}

int pressure__read(struct pressure *pressure, struct table *table, uint64_t time_ns)
{
	struct counts counts;
	int err = table ? table__add_row(table, time_ns) : 0;

	if (err)
		return err;
	read_counts(pressure, &counts);
	for (unsigned int i = 0; table && i < PRESSURE_COLUMNS; i++)
		if (counts.known & pressure->last.known & 1U << i &&
		    counts.values[i] >= pressure->last.values[i])
			table__set_integer(table, i,
					   (int64_t)(counts.values[i] - pressure->last.values[i]));
	pressure->last = counts;
	return 0;
}

/* ---- opening ---- */

/* Does the cgroup have a CPU limit? "max 100000": none. */
static bool is_limited(struct pressure *pressure, const char *cgroup)
{
	int fd = open_file(cgroup, "/cpu.max");
	bool limited;

	if (fd < 0)
		return false;
	limited = !read_content(pressure, fd) && pressure->content[0] >= '0' &&
		  pressure->content[0] <= '9';
	close(fd);
	return limited;
}

static void add_limited(struct pressure *pressure, const char *cgroup)
{
	struct limited *limited = &pressure->limited[pressure->nr_limited];

	if (!is_limited(pressure, cgroup))
		return;
	if (pressure->nr_limited == MOST_LIMITED) {
		pressure->more_limited++;
		return;
	}
	limited->fd = open_file(cgroup, "/cpu.stat");
	if (limited->fd >= 0 && read_throttled(pressure, limited->fd, &limited->us))
		pressure->nr_limited++;
	else if (limited->fd >= 0)
		close(limited->fd);
}

/* Those that exist now, from `top` down; walking the tree in each interval would cost too much. */
static int find_limited(struct pressure *pressure, const char *top, char why[RUN_TEXT])
{
	char *paths[2] = { (char *)top, NULL };
	FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	FTSENT *entry;

	if (!walk)
		return -ENOMEM;
	while ((entry = fts_read(walk)))
		if (entry->fts_info == FTS_D)
			add_limited(pressure, entry->fts_path);
	fts_close(walk);
	if (!pressure->nr_limited)
		add_why(why, "throttling: no cgroup has a CPU limit");
	if (pressure->more_limited)
		add_why(why, "throttling: of %d cgroups only, %u more have a limit", MOST_LIMITED,
			pressure->more_limited);
	return 0;
}

static void explain_stalls(const struct pressure *pressure, bool of_group, char why[RUN_TEXT])
{
	unsigned int missing = 0;

	for (size_t i = 0; i < STALLS; i++)
		missing += pressure->stalls[i] < 0;
	if (missing && of_group)
		add_why(why, "PSI: cannot read *.pressure of the cgroup");
	else if (missing == STALLS && pressure->stalls[0] == -ENOENT)
		add_why(why, "PSI: no /proc/pressure, the kernel runs without it; start it with "
			     "psi=1");
	else if (missing)
		add_why(why, "PSI: cannot read /proc/pressure");
}

/* A file can be there and refuse to be read: PSI that is switched off, or hidden by a container. */
static int open_readable(struct pressure *pressure, const char *root, const char *path)
{
	int fd = path ? open_file(root, path) : -ENOENT, err;

	if (fd < 0)
		return fd;
	err = read_content(pressure, fd);
	if (!err && pressure->content[0])
		return fd;
	close(fd);
	return err ? err : -ENODATA;
}

/* `group`: the directory of the cgroup; NULL: of the machine, below `root`. */
static void open_files(struct pressure *pressure, const char *root, const char *group,
		       char why[RUN_TEXT])
{
	const char *from = group ? group : root;

	for (size_t i = 0; i < STALLS; i++)
		pressure->stalls[i] = open_readable(
			pressure, from, group ? stalls[i].of_group : stalls[i].of_machine);
	explain_stalls(pressure, group, why);
	for (size_t i = 0; i < LISTS; i++) {
		const char *path = group ? lists[i].of_group : lists[i].of_machine;

		pressure->lists[i] = open_readable(pressure, from, path);
		if (path && pressure->lists[i] < 0)
			add_why(why, "reclaim: %s: %s", path + (group != NULL),
				strerror(-pressure->lists[i]));
	}
}

/* Opens all, with the limits of cgroups below the mount of version 2, if there is one. */
static int open_all(struct pressure *pressure, const char *root, const char *group,
		    char why[RUN_TEXT])
{
	char path[PATH_MAX] = "";
	struct cgroups *cgroups;
	int err = cgroups__new(&cgroups, root);

	if (err == -ENOMEM)
		return err;
	group = group && strcmp(group, "/") ? group : NULL;
	if (!err) {
		snprintf(path, sizeof(path), "%s%s", cgroups__mount(cgroups), group ? group : "");
		cgroups__free(cgroups);
	}
	open_files(pressure, root, group && path[0] ? path : NULL, why);
	if (path[0])
		return find_limited(pressure, path, why);
	add_why(why, "throttling: no cgroups of version 2");
	return 0;
}

int pressure__open(struct pressure **out, const char *root, const char *group, char why[RUN_TEXT])
{
	struct pressure *pressure = calloc(1, sizeof(*pressure));
	int err;

	why[0] = '\0';
	if (!pressure)
		return -ENOMEM;
	memset(pressure->stalls, -1, sizeof(pressure->stalls));
	memset(pressure->lists, -1, sizeof(pressure->lists));
	err = open_all(pressure, root, group, why);
	if (err) {
		pressure__close(pressure);
		return err;
	}
	*out = pressure;
	return 0;
}

void pressure__close(struct pressure *pressure)
{
	if (!pressure)
		return;
	for (size_t i = 0; i < STALLS; i++)
		if (pressure->stalls[i] >= 0)
			close(pressure->stalls[i]);
	for (size_t i = 0; i < LISTS; i++)
		if (pressure->lists[i] >= 0)
			close(pressure->lists[i]);
	for (unsigned int i = 0; i < pressure->nr_limited; i++)
		if (pressure->limited[i].fd >= 0)
			close(pressure->limited[i].fd);
	free(pressure);
}
