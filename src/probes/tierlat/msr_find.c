// SPDX-License-Identifier: BSD-2-Clause
/* Finds the CPUs through which registers are accessed, and the number of boxes; single accesses. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "msr.h"

#define MSR_TSC 0x10 /* a register that every CPU has */

const char *msr__device_root(const struct tier *tier)
{
	return tier->config.msr_root ? tier->config.msr_root : "/dev/cpu";
}

static int explain_open(struct tier *tier, unsigned int cpu, int err)
{
	const char *root = msr__device_root(tier);
	bool ours = !tier->config.msr_root;

	switch (err) {
	case -EACCES:
	case -EPERM:
		return tier__fail(tier, -EACCES, "run it as root, or with CAP_SYS_RAWIO",
				  "the kernel does not let this user open %s/%u/msr", root, cpu);
	case -ENOENT:
		return tier__fail(tier, -EOPNOTSUPP,
				  ours ? "load the msr module: modprobe msr" : NULL,
				  "there is no %s/%u/msr", root, cpu);
	case -ENXIO:
	case -EIO:
		return tier__fail(tier, -EOPNOTSUPP, NULL, "CPU %u is offline", cpu);
	default:
		return tier__fail(tier, err, NULL, "cannot open %s/%u/msr: %s", root, cpu,
				  strerror(-err));
	}
}

static int open_file(struct tier *tier, unsigned int cpu)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%u/msr", msr__device_root(tier), cpu) >= PATH_MAX)
		return -ENAMETOOLONG;
	tier->calls++;
	return tier->sys->open(path, O_RDWR);
}

/* A file stays open after its CPU went offline: only a read shows that. */
static bool is_offline(struct tier *tier, int fd)
{
	uint64_t value;

	tier->calls++;
	return tier->sys->pread(fd, &value, sizeof(value), MSR_TSC) == -ENXIO;
}

static int open_cpu(struct tier *tier, struct msr_socket *socket)
{
	int *fd = &socket->fds[socket->at];

	if (*fd < 0)
		*fd = open_file(tier, socket->cpus[socket->at]);
	else if (is_offline(tier, *fd))
		return -ENXIO;
	if (*fd < 0)
		return *fd;
	socket->fd = *fd;
	return 0;
}

static void note_moved(struct tier *tier, unsigned int from, unsigned int to)
{
	char what[TIER_TEXT];

	snprintf(what, sizeof(what), "went offline, CPU %u of its socket is read instead", to);
	tier__note(tier, what, "", "CPU %u", from);
}

/* Switches to another CPU of the same package, which has the same registers. */
int msr__next_cpu(struct tier *tier, struct msr_socket *socket)
{
	unsigned int lost = socket->at;

	socket->fd = -1;
	for (unsigned int i = 1; i <= socket->nr_cpus; i++) {
		socket->at = (lost + i) % socket->nr_cpus;
		if (open_cpu(tier, socket))
			continue;
		if (socket->at != lost)
			note_moved(tier, socket->cpus[lost], socket->cpus[socket->at]);
		return 0;
	}
	return -ENXIO;
}

static int transfer(struct tier *tier, const struct msr_socket *socket, uint32_t address,
		    uint64_t *value, bool write)
{
	struct msr *msr = tier->state;
	ssize_t got;

	if (socket->fd < 0)
		return -ENXIO; /* no CPU of the package is online */
	tier->calls++;
	if (write)
		got = tier->sys->pwrite(socket->fd, value, sizeof(*value), address);
	else
		got = tier->sys->pread(socket->fd, value, sizeof(*value), address);
	if (got == sizeof(*value))
		return 0;
	msr->failed_write = write;
	return got < 0 ? (int)got : -ENODATA; /* a short read or write is no register */
}

int msr__get(struct tier *tier, const struct msr_socket *socket, uint32_t address, uint64_t *value)
{
	return transfer(tier, socket, address, value, false);
}

int msr__put(struct tier *tier, const struct msr_socket *socket, uint32_t address, uint64_t value)
{
	return transfer(tier, socket, address, &value, true);
}

const char *msr__text(int err)
{
	return err == -ENODATA ? "short read or write" : strerror(-err);
}

/* Finds the CPUs of every package, so that another can replace one that goes offline. */
static int find_sockets(struct tier *tier, struct msr *msr)
{
	static unsigned int online[TIER_CPUS];
	int nr = sysfs__online(tier->root, online, TIER_CPUS);

	if (nr < 0)
		return tier__fail(tier, nr, NULL, "cannot read which CPUs are online: %s",
				  strerror(-nr));
	for (int i = 0; i < nr; i++) {
		int package = sysfs__package(tier->root, online[i]);
		struct tier_socket *socket = package < 0 ? NULL : tier__socket_of(tier, package);
		struct msr_socket *own;

		if (package < 0)
			continue;
		if (!socket)
			return tier__fail(tier, -EOPNOTSUPP, NULL, "there are too many sockets");
		own = &msr->sockets[socket - tier->sockets];
		if (own->nr_cpus < SYSFS_CPUS)
			own->cpus[own->nr_cpus++] = online[i];
	}
	if (tier->nr_sockets)
		return 0;
	return tier__fail(tier, -EOPNOTSUPP, NULL, "cannot read the CPU topology");
}

/* The packages of a foreign register tree are unknown: they are numbered in the order given. */
static int take_cpus(struct tier *tier, struct msr *msr, const unsigned int *cpus, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		int package = tier->config.msr_root ? (int)i : sysfs__package(tier->root, cpus[i]);

		if (package < 0)
			return tier__fail(tier, -EOPNOTSUPP, NULL, "CPU %u is offline", cpus[i]);
		/* Two CPUs of one socket would overwrite each other's settings. */
		if (tier__socket_of(tier, package) != &tier->sockets[i])
			return tier__fail(tier, -EINVAL, NULL,
					  "CPU %u is of the same socket as another of --cpu",
					  cpus[i]);
		for (unsigned int j = 0; j < i; j++) {
			if (cpus[j] == cpus[i])
				return tier__fail(tier, -EINVAL, NULL, "CPU %u is named twice",
						  cpus[i]);
		}
		msr->sockets[i].cpus[0] = cpus[i];
		msr->sockets[i].nr_cpus = 1;
	}
	return 0;
}

static int cpu_in_tree_above(const char *root, int after)
{
	struct dirent *entry;
	int least = -1;
	DIR *dir;

	dir = opendir(root);
	while (dir && (entry = readdir(dir))) {
		int number;
		char rest;

		if (sscanf(entry->d_name, "%d%c", &number, &rest) == 1 && number > after &&
		    (least < 0 || number < least))
			least = number;
	}
	if (dir)
		closedir(dir);
	return least;
}

int msr__cpu_above(const struct tier *tier, int after)
{
	static unsigned int online[TIER_CPUS];
	int nr;

	if (tier->config.msr_root)
		return cpu_in_tree_above(tier->config.msr_root, after);
	nr = sysfs__online(tier->root, online, TIER_CPUS);
	for (int i = 0; i < nr; i++) {
		if ((int)online[i] > after)
			return (int)online[i];
	}
	return -1;
}

/* The sockets of a register tree from elsewhere are unknown: its first CPU is used. */
static int find_first_cpu(struct tier *tier, struct msr *msr)
{
	const char *root = tier->config.msr_root;
	int first = msr__cpu_above(tier, -1);
	unsigned int cpu = (unsigned int)first;

	if (first >= 0)
		return take_cpus(tier, msr, &cpu, 1);
	if (access(root, R_OK | X_OK))
		return tier__fail(tier, -errno, NULL, "cannot open %s: %s", root, strerror(errno));
	return tier__fail(tier, -EOPNOTSUPP, NULL, "there is no CPU in %s", root);
}

static int find_cpus(struct tier *tier, struct msr *msr)
{
	const struct tier_config *config = &tier->config;

	if (config->cpus)
		return take_cpus(tier, msr, config->cpus, config->nr_cpus);
	return config->msr_root ? find_first_cpu(tier, msr) : find_sockets(tier, msr);
}

/* From what the kernel found, otherwise from the hardware. 0: neither knows. */
static unsigned int count_boxes(struct tier *tier, const struct msr_socket *socket)
{
	const struct tier_layout *layout = tier->model->layout;
	uint64_t value;

	if (layout->boxes_msr && !msr__get(tier, socket, layout->boxes_msr, &value))
		return (unsigned int)(value & layout->boxes_mask);
	if (layout->boxes_pci && !tier->config.msr_root)
		return sysfs__capid_boxes(tier->root, layout->boxes_pci);
	return 0;
}

static unsigned int take_pmu_boxes(const struct tier *tier, struct tier_socket *socket)
{
	struct sysfs_pmu *pmus;
	int nr = sysfs__pmus(tier->root, "uncore_cha_", true, &pmus);

	for (int i = 0; i < nr && i < TIER_BOXES; i++)
		socket->box_ids[i] = pmus[i].box;
	free(pmus);
	return nr < 0 ? 0 : (unsigned int)nr;
}

static void init_box(struct msr_box *box, const struct tier_layout *layout, unsigned int id)
{
	uint32_t address = tier_layout__box(layout, id);

	box->id = id;
	box->address = address;
	for (unsigned int i = 0; i < TIER_COUNTERS; i++) {
		box->registers[MSR_CONTROL + i].address = address + layout->control + i;
		box->registers[MSR_COUNTER + i].address = address + layout->counter + i;
	}
	box->registers[MSR_FILTER0].address = address + layout->filter0;
	if (layout->filter1)
		box->registers[MSR_FILTER1].address = address + layout->filter1;
}

static int find_boxes(struct tier *tier, struct tier_socket *socket, struct msr_socket *own)
{
	unsigned int most = tier->model->layout->boxes, nr = tier->config.boxes;

	for (unsigned int i = 0; i < TIER_BOXES; i++)
		socket->box_ids[i] = i;
	if (!nr && !tier->config.msr_root)
		nr = take_pmu_boxes(tier, socket);
	if (!nr)
		nr = count_boxes(tier, own);
	if (!nr)
		return tier__fail(tier, -EOPNOTSUPP, "give it by --boxes",
				  "cannot find out how many CHAs socket %d has", socket->package);
	if (nr > most || socket->box_ids[nr - 1] >= most)
		return tier__fail(tier, -EINVAL, NULL, "%u CHAs on socket %d: %s has at most %u",
				  nr, socket->package, tier->model->title, most);
	socket->nr_boxes = nr;
	for (unsigned int i = 0; i < nr; i++)
		init_box(&own->boxes[i], tier->model->layout, socket->box_ids[i]);
	return 0;
}

static int open_socket(struct tier *tier, struct msr_socket *socket)
{
	int err;

	err = open_cpu(tier, socket);
	/* -ENOENT: offline by now, and the kernel has removed its file; or none has one. */
	if (err == -ENXIO || err == -EIO || err == -ENOENT)
		err = msr__next_cpu(tier, socket) ? err : 0;
	if (err)
		return explain_open(tier, socket->cpus[socket->at], err);
	for (unsigned int i = 0; i < socket->nr_cpus; i++)
		if (socket->fds[i] < 0)
			socket->fds[i] = open_file(tier, socket->cpus[i]);
	return 0;
}

void msr__forget_files(struct msr_socket *socket)
{
	socket->fd = -1;
	for (unsigned int i = 0; i < SYSFS_CPUS; i++)
		socket->fds[i] = -1;
}

void msr__close_files(struct tier *tier, struct msr_socket *socket)
{
	for (unsigned int i = 0; i < socket->nr_cpus; i++)
		if (socket->fds[i] >= 0)
			tier->sys->close(socket->fds[i]);
	msr__forget_files(socket);
}

int msr__find(struct tier *tier)
{
	struct msr *msr;
	int err;

	if (!tier->model->layout)
		return tier__fail(tier, -EOPNOTSUPP, "use --method perf",
				  "only the kernel's driver can read the registers of %s",
				  tier->model->title);
	/* Shared with the restoring process. */
	msr = mmap(NULL, sizeof(*msr), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (msr == MAP_FAILED)
		return -ENOMEM;
	tier->state = msr;
	msr->lock = -1;
	for (unsigned int i = 0; i < TIER_SOCKETS; i++)
		msr__forget_files(&msr->sockets[i]);
	err = msr__check_root(tier);
	if (!err)
		err = find_cpus(tier, msr);
	if (!err && !tier->config.look)
		err = msr__lock(tier);
	for (unsigned int i = 0; !err && i < tier->nr_sockets; i++) {
		err = open_socket(tier, &msr->sockets[i]);
		if (!err)
			err = find_boxes(tier, &tier->sockets[i], &msr->sockets[i]);
	}
	return err;
}
