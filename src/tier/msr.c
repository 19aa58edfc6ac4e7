// SPDX-License-Identifier: BSD-2-Clause
/*
 * The registers of the CHAs, read and written through /dev/cpu/N/msr. Nobody arbitrates them: what
 * is found is kept and put back, who has them already is not disturbed, and who takes them later is
 * noticed at the next read, as all controls are read with the counters.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "msr.h"
#include "sysfs.h"

#define LOCKDOWN "/sys/kernel/security/lockdown"
#define ALLOW_WRITES "/sys/module/msr/parameters/allow_writes"

/* What a counter can have gained: no clock is faster, no queue longer than this. */
#define MOST_HZ 10e9
#define MOST_OPEN 512
#define MOST_INSERTS 4 /* a clock */

static const char *device_root(const struct tier *tier)
{
	return tier->config.msr_root ? tier->config.msr_root : "/dev/cpu";
}

static int explain_open(struct tier *tier, unsigned int cpu, int err)
{
	const char *root = device_root(tier);
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

static int open_cpu(struct tier *tier, struct msr_socket *socket)
{
	char path[PATH_MAX];
	int fd;

	if (snprintf(path, sizeof(path), "%s/%u/msr", device_root(tier),
		     socket->cpus[socket->at]) >= PATH_MAX)
		return -ENAMETOOLONG;
	tier->calls++;
	fd = tier->sys->open(path, O_RDWR);
	if (fd < 0)
		return fd;
	socket->fd = fd;
	return 0;
}

/* Another CPU of the same package, whose registers are the same; also one that is back. */
static int take_next_cpu(struct tier *tier, struct msr_socket *socket)
{
	unsigned int lost = socket->at;

	if (socket->fd >= 0)
		tier->sys->close(socket->fd);
	socket->fd = -1;
	for (unsigned int i = 1; i <= socket->nr_cpus; i++) {
		socket->at = (lost + i) % socket->nr_cpus;
		if (open_cpu(tier, socket))
			continue;
		if (socket->at != lost)
			tier__note(tier,
				   "CPU %u went offline, CPU %u of its socket is read instead",
				   socket->cpus[lost], socket->cpus[socket->at]);
		return 0;
	}
	return -ENXIO;
}

static int transfer(struct tier *tier, const struct msr_socket *socket, uint32_t address,
		    uint64_t *value, bool write)
{
	ssize_t got;

	if (socket->fd < 0)
		return -ENXIO; /* no CPU of the package is left */
	tier->calls++;
	if (write)
		got = tier->sys->pwrite(socket->fd, value, sizeof(*value), address);
	else
		got = tier->sys->pread(socket->fd, value, sizeof(*value), address);
	if (got < 0)
		return (int)got;
	return got == sizeof(*value) ? 0 : -ENODATA; /* short: half a register is none */
}

static int read_msr(struct tier *tier, const struct msr_socket *socket, uint32_t address,
		    uint64_t *value)
{
	return transfer(tier, socket, address, value, false);
}

static int write_msr(struct tier *tier, const struct msr_socket *socket, uint32_t address,
		     uint64_t value)
{
	return transfer(tier, socket, address, &value, true);
}

static const char *text_of(int err)
{
	return err == -ENODATA ? "short read or write" : strerror(-err);
}

/* The CPUs of every package, so that another can stand in for one that goes offline. */
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
	return tier__fail(tier, -EOPNOTSUPP, NULL, "no CPU tells which socket it is of");
}

/* Of a foreign tree nobody knows the packages: they are numbered as they are named. */
static int take_cpus(struct tier *tier, struct msr *msr, const unsigned int *cpus, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		int package = tier->config.msr_root ? (int)i : sysfs__package(tier->root, cpus[i]);

		if (package < 0)
			return tier__fail(tier, -EOPNOTSUPP, NULL, "CPU %u is offline", cpus[i]);
		/* Each would undo what the other has set. */
		if (tier__socket_of(tier, package) != &tier->sockets[i])
			return tier__fail(tier, -EINVAL, NULL,
					  "CPU %u is of the same socket as another of --cpu",
					  cpus[i]);
		msr->sockets[i].cpus[0] = cpus[i];
		msr->sockets[i].nr_cpus = 1;
	}
	return 0;
}

/* Of a register tree that is not this machine's nobody knows the sockets: the first CPU it is. */
static int find_first_cpu(struct tier *tier, struct msr *msr)
{
	unsigned int cpu = UINT_MAX;
	struct dirent *entry;
	DIR *dir;

	dir = opendir(tier->config.msr_root);
	if (!dir)
		return tier__fail(tier, -errno, NULL, "cannot open %s: %s", tier->config.msr_root,
				  strerror(errno));
	while ((entry = readdir(dir))) {
		unsigned int number;
		char rest;

		if (sscanf(entry->d_name, "%u%c", &number, &rest) == 1 && number < cpu)
			cpu = number;
	}
	closedir(dir);
	if (cpu == UINT_MAX)
		return tier__fail(tier, -EOPNOTSUPP, NULL, "there is no CPU in %s",
				  tier->config.msr_root);
	return take_cpus(tier, msr, &cpu, 1);
}

static int find_cpus(struct tier *tier, struct msr *msr)
{
	const struct tier_config *config = &tier->config;

	if (config->cpus)
		return take_cpus(tier, msr, config->cpus, config->nr_cpus);
	return config->msr_root ? find_first_cpu(tier, msr) : find_sockets(tier, msr);
}

/* From what the kernel found, else from what the hardware says. 0: neither tells. */
static unsigned int count_boxes(struct tier *tier, const struct msr_socket *socket)
{
	const struct tier_layout *layout = tier->model->layout;
	uint64_t value;

	if (layout->boxes_msr && !read_msr(tier, socket, layout->boxes_msr, &value))
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
		return tier__fail(tier, -EOPNOTSUPP, "say it by --boxes",
				  "nothing tells how many CHAs socket %d has", socket->package);
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
	if (err == -ENXIO || err == -EIO)
		err = take_next_cpu(tier, socket) ? err : 0;
	return err ? explain_open(tier, socket->cpus[socket->at], err) : 0;
}

static int msr__find(struct tier *tier)
{
	struct msr *msr;
	int err;

	if (!tier->model->layout)
		return tier__fail(tier, -EOPNOTSUPP, "use --backend perf",
				  "the registers of %s are read by the kernel's driver only",
				  tier->model->title);
	msr = calloc(1, sizeof(*msr));
	if (!msr)
		return -ENOMEM;
	tier->state = msr;
	for (unsigned int i = 0; i < TIER_SOCKETS; i++)
		msr->sockets[i].fd = -1;
	err = find_cpus(tier, msr);
	for (unsigned int i = 0; !err && i < tier->nr_sockets; i++) {
		err = open_socket(tier, &msr->sockets[i]);
		if (!err)
			err = find_boxes(tier, &tier->sockets[i], &msr->sockets[i]);
	}
	return err;
}

static int keep_registers(struct tier *tier, const struct msr_socket *socket, struct msr_box *box)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < MSR_SLOTS; i++) {
		struct msr_register *reg = &box->registers[i];

		if (!reg->address)
			continue;
		err = read_msr(tier, socket, reg->address, &reg->found);
		if (err)
			tier__fail(tier, err, NULL, "cannot read MSR 0x%x on CPU %u: %s",
				   reg->address, socket->cpus[socket->at], text_of(err));
	}
	return err;
}

static int keep_box(struct tier *tier, const struct msr_socket *socket, struct msr_box *box)
{
	const struct tier_layout *layout = tier->model->layout;
	int err;

	err = read_msr(tier, socket, box->address, &box->control);
	if (err)
		return tier__fail(tier, err, NULL, "cannot read CHA %u on CPU %u: %s", box->id,
				  socket->cpus[socket->at], text_of(err));
	err = keep_registers(tier, socket, box);
	if (err || tier->config.take)
		return err;
	for (unsigned int i = 0; i < TIER_COUNTERS; i++) {
		if (!tier_layout__counts(layout, box->control, box->registers[i].found))
			continue;
		return tier__fail(tier, -EBUSY, "end what uses it (perf, pcm), or --take it",
				  "counter %u of CHA %u is in use, its control is 0x%llx", i,
				  box->id, (unsigned long long)box->registers[i].found);
	}
	return 0;
}

static int explain_write(struct tier *tier, const struct msr_socket *socket, uint32_t address,
			 int err)
{
	char line[128];

	if (err != -EPERM && err != -EACCES)
		return tier__fail(tier, err, NULL, "cannot write MSR 0x%x on CPU %u: %s", address,
				  socket->cpus[socket->at], text_of(err));
	if (!sysfs__line(tier->root, LOCKDOWN, line, sizeof(line)) && !strstr(line, "[none]"))
		return tier__fail(tier, -EOPNOTSUPP, "use --backend perf",
				  "the kernel is locked down and lets nobody write MSRs");
	if (!sysfs__line(tier->root, ALLOW_WRITES, line, sizeof(line)) && !strcmp(line, "off"))
		return tier__fail(tier, -EOPNOTSUPP, "boot with msr.allow_writes=on",
				  "the msr module was told not to write");
	return tier__fail(tier, -EACCES, "run it as root, or with CAP_SYS_RAWIO",
			  "the kernel does not let this user write MSRs");
}

static int set(struct tier *tier, const struct msr_socket *socket, uint32_t address, uint64_t value)
{
	int err;

	err = write_msr(tier, socket, address, value);
	return err ? explain_write(tier, socket, address, err) : 0;
}

/* A hypervisor that ignores the write would give zeros for ever. */
static int set_and_check(struct tier *tier, const struct msr_socket *socket,
			 struct msr_register *reg)
{
	uint64_t value = 0;
	int err;

	err = set(tier, socket, reg->address, reg->ours);
	if (!err)
		err = read_msr(tier, socket, reg->address, &value);
	if (err || value == reg->ours)
		return err;
	return tier__fail(tier, -EOPNOTSUPP, NULL,
			  "MSR 0x%x was written 0x%llx and reads 0x%llx: this is not %s, or its "
			  "hypervisor ignores it",
			  reg->address, (unsigned long long)reg->ours, (unsigned long long)value,
			  tier->model->title);
}

/* Counter 0 is the only one that can count occupancy. Counter 3 without a tier stays off. */
static void plan_box(const struct tier *tier, struct msr_box *box, const struct tier_share *share)
{
	const struct tier_layout *layout = tier->model->layout;
	const struct tier_class *own = tier__class(tier, (unsigned int)share->tier);
	struct msr_register *reg = box->registers;

	box->tier = share->tier;
	box->before.tier = TIER_NO_TIER;
	reg[0].ours = tier_layout__control(layout, own->occupancy);
	reg[1].ours = tier_layout__control(layout, own->inserts);
	reg[2].ours = tier_layout__control(layout, tier->model->clock);
	reg[3].ours = 0;
	box->nr_counters = 3;
	if (share->other != TIER_NO_TIER) {
		reg[3].ours = tier_layout__control(
			layout, tier__class(tier, (unsigned int)share->other)->inserts);
		box->nr_counters = 4;
	}
	reg[MSR_FILTER0].ours = 0;
	if (layout->filter1)
		reg[MSR_FILTER1].ours = own->config1 >> 32;
}

/* Frozen all the while; the reset bits clear themselves on hardware, and are cleared for others. */
static int program_box(struct tier *tier, const struct msr_socket *socket, struct msr_box *box)
{
	const struct tier_layout *layout = tier->model->layout;
	int err;

	box->touched = true;
	err = set(tier, socket, box->address, layout->freeze);
	if (!err)
		err = set(tier, socket, box->address, layout->freeze | layout->reset);
	if (!err)
		err = set(tier, socket, box->address, layout->freeze);
	err = err ? err : set_and_check(tier, socket, &box->registers[MSR_FILTER0]);
	if (!err && layout->filter1)
		err = set_and_check(tier, socket, &box->registers[MSR_FILTER1]);
	for (unsigned int i = 0; !err && i < TIER_COUNTERS; i++)
		err = set_and_check(tier, socket, &box->registers[MSR_CONTROL + i]);
	box->programmed = !err;
	return err;
}

static int read_counters(struct tier *tier, const struct msr_socket *socket,
			 const struct msr_box *box, uint64_t *values)
{
	uint32_t first = box->address + tier->model->layout->counter;
	int err = 0;

	for (unsigned int i = 0; !err && i < box->nr_counters; i++)
		err = read_msr(tier, socket, first + i, &values[i]);
	return err;
}

/* A write takes its time: the moment it took effect is taken to be the middle. */
static int write_control(struct tier *tier, const struct msr_socket *socket,
			 const struct msr_box *box, uint64_t value, uint64_t *when, uint64_t *took)
{
	uint64_t before = tier->sys->now_ns();
	int err;

	err = write_msr(tier, socket, box->address, value);
	*took = tier->sys->now_ns() - before;
	*when = before + *took / 2;
	return err;
}

static int msr__start(struct tier *tier)
{
	struct msr *msr = tier->state;
	int err = 0;

	/* All are looked at before the first is touched: a refusal leaves no trace. */
	for (unsigned int i = 0; !err && i < tier->nr_sockets; i++) {
		for (unsigned int b = 0; !err && b < tier->sockets[i].nr_boxes; b++)
			err = keep_box(tier, &msr->sockets[i], &msr->sockets[i].boxes[b]);
	}
	for (unsigned int i = 0; !err && !tier->config.look && i < tier->nr_sockets; i++) {
		struct msr_socket *socket = &msr->sockets[i];

		for (unsigned int b = 0; !err && b < tier->sockets[i].nr_boxes; b++) {
			struct msr_box *box = &socket->boxes[b];

			plan_box(tier, box, &tier->sockets[i].shares[b]);
			err = program_box(tier, socket, box);
			if (!err)
				err = read_counters(tier, socket, box, box->last.values);
			if (!err)
				err = write_control(tier, socket, box, 0, &box->last.resumed_ns,
						    &box->last.resuming_ns);
			box->last.frozen_ns = box->last.resumed_ns;
		}
	}
	return err;
}

/* Somebody who froze the box has stopped its clock too, but not time. */
static int check_frozen(struct tier *tier, const struct msr_socket *socket,
			const struct msr_box *box, struct msr_moment *moment)
{
	uint64_t value = 0;
	int err;

	err = read_msr(tier, socket, box->address, &value);
	moment->was_frozen = value & tier->model->layout->freeze;
	return err;
}

/* 0: all are as we set them; 1: somebody else has written one; -errno. */
static int is_stolen(struct tier *tier, const struct msr_socket *socket, const struct msr_box *box)
{
	uint64_t value;
	int err;

	for (unsigned int i = 0; i < MSR_COUNTER; i++) {
		const struct msr_register *reg = &box->registers[i];

		if (!reg->address)
			continue;
		err = read_msr(tier, socket, reg->address, &value);
		if (err)
			return err;
		if (value != reg->ours)
			return 1;
	}
	return 0;
}

static void lose(struct tier *tier, const struct msr_socket *socket, struct msr_box *box)
{
	box->lost = true;
	tier__note(tier,
		   "CHA %u (CPU %u) was reprogrammed by somebody else (perf? pcm?) and is left out",
		   box->id, socket->cpus[socket->at]);
}

/* Somebody who sets a counter leaves its control as it is, but what it gains then is absurd. */
static bool is_sound(const struct tier_delta *delta)
{
	double clocks = (double)delta->clocks;

	return clocks <= MOST_HZ * (double)delta->counted_ns / 1e9 + 1e6 &&
	       (double)delta->occupancy <= MOST_OPEN * clocks &&
	       (double)delta->inserts <= MOST_INSERTS * clocks &&
	       (double)delta->other <= MOST_INSERTS * clocks;
}

static void subtract(struct tier_delta *delta, const struct msr_moment *last,
		     const struct msr_moment *now)
{
	delta->occupancy = tier_delta__wrapped(last->values[0], now->values[0]);
	delta->inserts = tier_delta__wrapped(last->values[1], now->values[1]);
	delta->clocks = tier_delta__wrapped(last->values[2], now->values[2]);
	delta->other = tier_delta__wrapped(last->values[3], now->values[3]);
	delta->elapsed_ns = now->frozen_ns - last->frozen_ns;
	delta->counted_ns = now->frozen_ns - last->resumed_ns;
	delta->uncertain_ns = (last->resuming_ns + now->freezing_ns) / 2;
}

/*
 * Where one filter holds for the whole box it sees one tier at a time, and what other boxes miss of
 * a tier cannot be told from them where addresses fall unevenly: so all take turns.
 */
static bool takes_turns(const struct tier *tier)
{
	return tier->model->layout->filter1 && tier->nr_tiers > 1;
}

/* Before the filter that is checked is written anew. 1: somebody else has the box. */
static int take_turn(struct tier *tier, const struct msr_socket *socket, struct msr_box *box)
{
	struct msr_register *filter = &box->registers[MSR_FILTER1];
	unsigned int next = ((unsigned int)box->tier + 1) % tier->nr_tiers;
	uint64_t value = tier__class(tier, next)->config1 >> 32;
	int err;

	err = is_stolen(tier, socket, box);
	if (!err)
		err = write_msr(tier, socket, filter->address, value);
	if (err)
		return err;
	filter->ours = value;
	box->tier = (int)next;
	return 0;
}

/* What it saw of another tier in the interval before stands for what there is of it in this one. */
static void remember_turn(struct msr_box *box, struct tier_share *share, struct tier_delta *delta)
{
	double ns = (double)delta->counted_ns;

	share->other = box->before.tier;
	delta->other = (uint64_t)(box->before.per_ns * ns + 0.5);
	box->before = (struct msr_turn){ share->tier, (double)delta->inserts / ns };
}

/* Frozen, the counters are of one moment. The box is let go whatever happens in between. */
static int sample(struct tier *tier, const struct msr_socket *socket, struct msr_box *box,
		  struct msr_moment *moment)
{
	int err, unfreeze;

	err = check_frozen(tier, socket, box, moment);
	if (err)
		return err;
	err = write_control(tier, socket, box, tier->model->layout->freeze, &moment->frozen_ns,
			    &moment->freezing_ns);
	if (err)
		return err;
	err = read_counters(tier, socket, box, moment->values);
	if (!err && takes_turns(tier))
		err = take_turn(tier, socket, box);
	unfreeze = write_control(tier, socket, box, 0, &moment->resumed_ns, &moment->resuming_ns);
	if (err || unfreeze)
		return err ? err : unfreeze;
	return takes_turns(tier) ? 0 : is_stolen(tier, socket, box);
}

static int read_box(struct tier *tier, const struct msr_socket *socket, struct msr_box *box,
		    struct tier_share *share, struct tier_delta *delta)
{
	struct msr_moment now = { 0 };
	int got;

	delta->valid = false;
	if (box->lost)
		return 0;
	share->tier = box->tier;
	got = sample(tier, socket, box, &now);
	if (got > 0)
		lose(tier, socket, box);
	if (got)
		return got < 0 ? got : 0;
	subtract(delta, &box->last, &now);
	delta->valid = delta->clocks && !now.was_frozen && is_sound(delta);
	if (!delta->valid)
		tier__note(tier, "CHA %u (CPU %u) was %s by somebody else (perf? pcm?); left out",
			   box->id, socket->cpus[socket->at],
			   now.was_frozen || !delta->clocks ? "frozen" : "reset");
	else if (takes_turns(tier))
		remember_turn(box, share, delta);
	box->last = now;
	return 0;
}

static int read_socket(struct tier *tier, unsigned int i, unsigned int *good)
{
	struct msr *msr = tier->state;
	struct msr_socket *socket = &msr->sockets[i];
	struct tier_socket *of = &tier->sockets[i];
	int err, last = 0;

	for (unsigned int b = 0; b < of->nr_boxes; b++) {
		struct msr_box *box = &socket->boxes[b];
		struct tier_share *share = &of->shares[b];

		err = read_box(tier, socket, box, share, &of->deltas[b]);
		if (err == -ENXIO && !take_next_cpu(tier, socket))
			err = read_box(tier, socket, box, share, &of->deltas[b]);
		if (err) {
			last = err;
			tier__note(tier, "cannot read CHA %u on CPU %u: %s", box->id,
				   socket->cpus[socket->at],
				   err == -ENXIO ? "it went offline" : text_of(err));
		}
		*good += of->deltas[b].valid;
	}
	return last;
}

static bool all_lost(const struct tier *tier)
{
	const struct msr *msr = tier->state;

	for (unsigned int i = 0; i < tier->nr_sockets; i++) {
		for (unsigned int b = 0; b < tier->sockets[i].nr_boxes; b++) {
			if (!msr->sockets[i].boxes[b].lost)
				return false;
		}
	}
	return true;
}

static int msr__read(struct tier *tier)
{
	unsigned int good = 0;
	int err, last = 0;

	for (unsigned int i = 0; i < tier->nr_sockets; i++) {
		err = read_socket(tier, i, &good);
		last = err ? err : last;
	}
	if (all_lost(tier))
		return tier__fail(tier, -EBUSY, "end what uses them (perf, pcm)",
				  "every CHA was reprogrammed by somebody else");
	return good || !last ? 0 : tier__fail(tier, last, NULL, "%s", tier->trouble);
}

/* 0 too if nothing is to be put back: somebody else has written it since, and it belongs to him. */
static int restore_own(struct tier *tier, const struct msr_socket *socket,
		       const struct msr_register *reg)
{
	uint64_t value;
	int err;

	err = read_msr(tier, socket, reg->address, &value);
	if (err || value != reg->ours)
		return err;
	return write_msr(tier, socket, reg->address, reg->found);
}

/* What cannot be put back does not keep the rest from it; the first error is told. */
static int restore_registers(struct tier *tier, const struct msr_socket *socket,
			     const struct msr_box *box, bool all)
{
	int first = 0, err;

	for (unsigned int i = 0; i < (all ? MSR_SLOTS : MSR_COUNTER); i++) {
		const struct msr_register *reg = &box->registers[i];

		if (!reg->address)
			continue;
		err = all ? write_msr(tier, socket, reg->address, reg->found)
			  : restore_own(tier, socket, reg);
		first = first ? first : err;
	}
	return first;
}

/* Frozen, so that nothing counts before all of it is back. */
static int restore_box(struct tier *tier, const struct msr_socket *socket,
		       const struct msr_box *box)
{
	const struct tier_layout *layout = tier->model->layout;
	int err, last;

	if (box->programmed && (box->lost || is_stolen(tier, socket, box)))
		return restore_registers(tier, socket, box, false);
	err = write_msr(tier, socket, box->address, layout->freeze);
	if (err)
		return err;
	err = restore_registers(tier, socket, box, true);
	last = write_msr(tier, socket, box->address, box->control & ~layout->reset);
	return err ? err : last;
}

static int restore_socket(struct tier *tier, struct msr_socket *socket, unsigned int boxes)
{
	int first = 0, err;

	for (unsigned int b = 0; b < boxes; b++) {
		struct msr_box *box = &socket->boxes[b];

		if (!box->touched)
			continue;
		err = restore_box(tier, socket, box);
		if (err == -ENXIO && !take_next_cpu(tier, socket))
			err = restore_box(tier, socket, box);
		if (err && !first)
			first = tier__fail(tier, err, "the registers are as latscope had set them",
					   "CHA %u (CPU %u) could not be put back: %s", box->id,
					   socket->cpus[socket->at], text_of(err));
	}
	return first;
}

static int msr__close(struct tier *tier)
{
	struct msr *msr = tier->state;
	int first = 0, err;

	for (unsigned int i = 0; i < tier->nr_sockets; i++) {
		struct msr_socket *socket = &msr->sockets[i];

		if (!socket->nr_cpus)
			continue;
		err = restore_socket(tier, socket, tier->sockets[i].nr_boxes);
		first = first ? first : err;
		if (socket->fd >= 0)
			tier->sys->close(socket->fd);
	}
	free(msr);
	return first;
}

const struct tier_backend_ops tier_msr = {
	.name = "msr",
	.mechanism = "registers of the CHAs through /dev/cpu/N/msr, each box frozen while it is "
		     "read, its controls checked with it",
	.find = msr__find,
	.start = msr__start,
	.read = msr__read,
	.close = msr__close,
};
