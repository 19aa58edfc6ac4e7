// SPDX-License-Identifier: BSD-2-Clause
#include "rig.h"

#include <json-c/json.h>
#include <sys/file.h>

const struct rig_generation rig_generations[RIG_GENERATIONS] = {
	{ "skx", "local,remote", "drd", 28, true },
	{ "clx", "local,remote", "drd", 28, true },
	{ "icx", "local-ddr,remote-ddr", "drd", 40, false },
	{ "spr", "local-ddr,remote-ddr", "drd", 60, false },
	{ "emr", "local-ddr,remote-ddr", "drd", 64, false },
	{ "gnr", "local-ddr,remote-ddr", "drd", 120, false },
	{ "srf", "local,remote", "drd_opt", 108, false },
};

uint64_t rig_calls;
void (*rig_wrote)(void);
pid_t rig_denied;
bool rig_closed;
uint64_t rig_first;

/* There is no other /dev/cpu than the emulator's. */
static int rig_open(const char *path, int flags)
{
	char moved[256];
	int fd;

	if (rig_closed)
		return -EACCES;
	if (!strncmp(path, "/dev/cpu/", 9)) {
		snprintf(moved, sizeof(moved), "%s/%s", emu__root(), path + 9);
		path = moved;
	}
	fd = open(path, flags);
	rig_calls++;
	return fd < 0 ? -errno : fd;
}

static ssize_t rig_pread(int fd, void *buf, size_t size, off_t offset)
{
	ssize_t ret = pread(fd, buf, size, offset);

	rig_calls++;
	return ret < 0 ? -errno : ret;
}

static ssize_t rig_pwrite(int fd, const void *buf, size_t size, off_t offset)
{
	ssize_t ret;

	rig_calls++;
	if (rig_denied == getpid())
		return -EACCES;
	ret = pwrite(fd, buf, size, offset);
	if (rig_wrote)
		rig_wrote();
	return ret < 0 ? -errno : ret;
}

static ssize_t rig_plain_read(int fd, void *buf, size_t size)
{
	ssize_t ret = read(fd, buf, size);

	rig_calls++;
	return ret < 0 ? -errno : ret;
}

static int rig_perf(struct perf_event_attr *attr, int cpu, int group)
{
	return -ENOENT;
}

static int rig_lock(int fd)
{
	rig_calls++;
	return flock(fd, LOCK_EX | LOCK_NB) ? -errno : 0;
}

static uint64_t rig_count;

static uint64_t rig_first_count(void)
{
	return rig_first ? rig_first : 1ULL << 46 | (rig_count++ << 32 & ((1ULL << 46) - 1));
}

static void rig_close(int fd)
{
	rig_calls++;
	close(fd);
}

static const struct tier_sys rig_sys = {
	.open = rig_open,
	.pread = rig_pread,
	.pwrite = rig_pwrite,
	.read = rig_plain_read,
	.perf_event_open = rig_perf,
	.lock = rig_lock,
	.close = rig_close,
	.now_ns = emu__now,
	.first_count = rig_first_count,
};

static unsigned int boxes_of(const struct rig_setup *setup)
{
	return setup->boxes ? setup->boxes : setup->gen->boxes;
}

static unsigned int sockets_of(const struct rig_setup *setup)
{
	return setup->sockets ? setup->sockets : 1;
}

void rig__machine(const struct rig_setup *setup)
{
	emu__tell("heal");
	emu__tell("machine gen=%s sockets=%u boxes=%u", setup->gen->name, sockets_of(setup),
		  boxes_of(setup));
	emu__tell("time virtual=1 step=1000");
	emu__tell("stream name=near opcode=%s rate=2e8 latency=90", setup->gen->opcode);
	emu__tell("stream name=far opcode=%s rate=1e8 latency=180 remote=1", setup->gen->opcode);
	if (setup->litter)
		emu__tell("litter seed=%u", setup->litter);
	emu__tell("mark");
}

int rig__open(struct rig *rig, const struct rig_setup *setup)
{
	unsigned int cpus[TIER_SOCKETS], sockets = sockets_of(setup);
	struct tier_config config = {
		.model = tier_model__find(setup->gen->name),
		.method = TIER_MSR,
		.root = setup->root ? setup->root : "",
		.msr_root = setup->root ? NULL : emu__root(),
		.cpus = setup->root ? NULL : cpus,
		.nr_cpus = sockets,
		.boxes = setup->count ? 0 : boxes_of(setup),
		.tiers = setup->tiers ? setup->tiers : setup->gen->tiers,
		.take = setup->take,
		.restore = setup->restore,
		.min_inserts = setup->min_inserts ? setup->min_inserts : 1,
		.sys = &rig_sys,
	};
	int err;

	for (unsigned int i = 0; i < sockets; i++)
		cpus[i] = 2 * i;
	*rig = (struct rig){ 0 };
	if (setup->reset)
		return tier__reset(&config, rig->done, rig->why, &rig->todo);
	err = tier__open(&rig->tier, &config, rig->why, &rig->todo);
	if (err)
		return err;
	rig->samples = calloc(tier__samples(rig->tier), sizeof(*rig->samples));
	assert_non_null(rig->samples);
	rig->measured = tier__samples(rig->tier) / tier__sockets(rig->tier);
	return 0;
}

void rig__start(struct rig *rig, const struct rig_setup *setup)
{
	if (!rig__open(rig, setup))
		return;
	fail_msg("%s: %s", setup->gen->name, rig->why);
}

int rig__read(struct rig *rig, double ns)
{
	emu__tell("advance ns=%.0f", ns);
	return tier__read(rig->tier, rig->samples, rig->why);
}

const struct tier_latency *rig__latency(const struct rig *rig, unsigned int socket,
					unsigned int tier)
{
	return &rig->samples[socket * rig->measured + tier].latency;
}

unsigned int rig__changed(const char *part)
{
	struct json_object *all = emu__changed(), *changed;
	unsigned int count;

	assert_true(json_object_object_get_ex(all, part, &changed));
	count = json_object_array_length(changed);
	if (count)
		print_message("%s: %s\n", part, json_object_to_json_string(changed));
	json_object_put(all);
	return count;
}

unsigned int rig__left_behind(void)
{
	return rig__changed("box") + rig__changed("control") + rig__changed("filter");
}

int rig__close(struct rig *rig)
{
	int err = tier__close(rig->tier, rig->why);

	free(rig->samples);
	return err;
}

void rig__finish(struct rig *rig)
{
	if (rig__close(rig))
		fail_msg("close: %s", rig->why);
	assert_int_equal(rig__left_behind(), 0);
}

void rig__assert_near(const char *what, double got, double wanted, double share)
{
	if (fabs(got - wanted) <= share * wanted)
		return;
	fail_msg("%s: %g instead of %g, %.2f %% off", what, got, wanted, (got / wanted - 1) * 100);
}
