// SPDX-License-Identifier: BSD-2-Clause
#include "unit.h"

#include "core/split.h"
#include "host/names.h"

TEST(dimensions_both_ways)
{
	char text[SPLIT_TEXT];
	uint32_t mask = 0;

	for (int by = 0; by < LAT_BY_COUNT; by++) {
		assert_int_equal(split__find(split__name(by)), by);
		assert_int_equal(split__parse(split__name(by), &mask), 0);
		assert_int_equal(mask, 1U << by);
	}
	assert_null(split__name(LAT_BY_COUNT));
	assert_int_equal(split__parse("disk,process,disk", &mask), 0);
	assert_int_equal(mask, 1U << LAT_BY_DISK | 1U << LAT_BY_PROCESS);
	assert_string_equal(split__list(mask, text), "process,disk");
	assert_string_equal(split__list(0, text), "");
	assert_string_equal(split__list((1U << LAT_BY_COUNT) - 1, text),
			    "process,thread,cgroup,disk,op,mode,type,access,page,vector,kind,cpu");
	assert_int_equal(split__find("processes"), -EINVAL);
}

TEST(bad_lists_are_refused)
{
	static const char *const bad[] = { "",		",",	 "disk,",   ",disk",
					   "disk,,op",	"Disk",	 "disk op", "proc",
					   "processes", " disk", "disk,x" };
	uint32_t mask = 77;

	for (size_t i = 0; i < COUNT_OF(bad); i++)
		assert_int_equal(split__parse(bad[i], &mask), -EINVAL);
	assert_int_equal(mask, 77);
}

static struct names *names;
static uint64_t slice_id, root_id;

static uint64_t id_of(const char *cgroup)
{
	struct stat st;

	assert_int_equal(stat(unit_path(dir, cgroup), &st), 0);
	return st.st_ino;
}

static void make_tree(void)
{
	unit_enter_dir();
	unit_link(dir, "sys/dev/block/8:0", "../../devices/pci0/block/sda");
	unit_link(dir, "sys/dev/block/8:1", "../../devices/pci0/block/sda/sda1");
	unit_write(dir, "sys/devices/pci0/block/sda/dev", "8:0\n");
	unit_write(dir, "sys/devices/pci0/block/sda/sda1/dev", "8:1\n");
	unit_write(dir, "sys/devices/pci0/block/sda/sda1/partition", "1\n");
	unit_write(dir, "sys/devices/nvme/block/nvme0n1/dev", "259:3\n");
	unit_write(dir, "sys/devices/odd/block/odd/dev", "what\n");
	unit_link(dir, "sys/class/block/sda", "../../devices/pci0/block/sda");
	unit_link(dir, "sys/class/block/sda1", "../../devices/pci0/block/sda/sda1");
	unit_link(dir, "sys/class/block/nvme0n1", "../../devices/nvme/block/nvme0n1");
	unit_link(dir, "sys/class/block/odd", "../../devices/odd/block/odd");
	unit_write(dir, "proc/self/mounts",
		   "proc /proc proc rw 0 0\nnone /sys/fs/cgroup cgroup2 rw 0 0\n");
	unit_write(dir, "sys/fs/cgroup/system.slice/db.service/cgroup.procs", "");
	slice_id = id_of("sys/fs/cgroup/system.slice/db.service");
	root_id = id_of("sys/fs/cgroup");
	assert_int_equal(names__new(&names, dir), 0);
}

static void remove_tree(void)
{
	names__free(names);
	unit_leave_dir();
}

static void assert_name(enum lat_by by, uint64_t id, const char *comm, const char *expected)
{
	struct lat_key key = { .id = id, .by = by };
	char out[RUN_NAME];

	assert_string_equal(names__key(names, &key, comm, out), expected);
}

TEST(names_of_keys)
{
	static const struct {
		enum lat_by by;
		uint64_t id;
		const char *comm, *expected;
	} keys[] = {
		{ LAT_BY_OP, LAT_OP_READ, NULL, "read" },
		{ LAT_BY_OP, LAT_OP_OTHER, NULL, "other" },
		{ LAT_BY_MODE, LAT_MODE_GUP, NULL, "gup" },
		{ LAT_BY_TYPE, LAT_TYPE_FAILED, NULL, "failed" },
		{ LAT_BY_ACCESS, LAT_ACCESS_EXEC, NULL, "exec" },
		{ LAT_BY_PAGE, LAT_PAGE_HUGETLB, NULL, "hugetlb" },
		{ LAT_BY_KIND, LAT_KIND_ANONYMOUS, NULL, "anonymous" },
		{ LAT_BY_KIND, LAT_KIND_UFFD, NULL, "uffd" },
		{ LAT_BY_KIND, 8, NULL, "8" },
		{ LAT_BY_PAGE, 77, NULL, "77" },
		{ LAT_BY_MODE, 3, NULL, "3" },
		{ LAT_BY_OP, RUN_OTHER_ID, NULL, "(other)" },
		{ LAT_BY_PROCESS, RUN_OTHER_ID, "sh", "(other)" },
		{ LAT_BY_PROCESS, 12, "sh", "sh (12)" },
		{ LAT_BY_THREAD, 12, "", "(12)" },
		{ LAT_BY_THREAD, 12, NULL, "(12)" },
		{ LAT_BY_PROCESS, 12, "e\033vil", "e?vil (12)" },
		/* The kernel cuts names at 15 bytes, maybe in a character; no terminator needed. */
		{ LAT_BY_PROCESS, 1, "0123456789abcd\303\251", "0123456789abcd? (1)" },
		{ LAT_BY_DISK, 8ULL << 20, NULL, "sda" },
		{ LAT_BY_DISK, 8ULL << 20 | 1, NULL, "sda1" },
		{ LAT_BY_DISK, 9ULL << 20 | 5, NULL, "9:5" },
		{ LAT_BY_DISK, 0, NULL, "0:0" },
		{ LAT_BY_CPU, 0, NULL, "CPU 0" },
		{ LAT_BY_CPU, 127, NULL, "CPU 127" },
	};

	for (size_t i = 0; i < COUNT_OF(keys); i++)
		assert_name(keys[i].by, keys[i].id, keys[i].comm, keys[i].expected);
}

/* Its requests are reported after it has gone, when another disk has its number. */
TEST(a_disk_that_is_gone_keeps_its_name)
{
	assert_int_equal(unlink(unit_path(dir, "sys/dev/block/8:0")), 0);
	assert_name(LAT_BY_DISK, 8ULL << 20, NULL, "sda");
	unit_link(dir, "sys/dev/block/8:0", "../../devices/pci/block/sdx");
	assert_name(LAT_BY_DISK, 8ULL << 20, NULL, "sda");
	unit_link(dir, "sys/dev/block/8:48", "../../devices/pci/block/sdy");
	assert_name(LAT_BY_DISK, 8ULL << 20 | 48, NULL, "sdy");
}

/* It came and went between two readings: only the kernel has seen it. */
TEST(a_short_lived_disk_has_the_name_that_the_kernel_saw)
{
	assert_name(LAT_BY_DISK, 8ULL << 20 | 64, NULL, "8:64");
	assert_name(LAT_BY_DISK, 8ULL << 20 | 64, "sd\033z", "sd?z");
	assert_name(LAT_BY_DISK, 8ULL << 20 | 64, NULL, "sd?z");
	unit_link(dir, "sys/dev/block/8:80", "../../devices/pci/block/sdq");
	assert_name(LAT_BY_DISK, 8ULL << 20 | 80, "sdx", "sdq");
}

TEST(disks_by_name)
{
	static const char *const unknown[] = { "",   "sdz", "odd",   "../sda",	     ".",
					       "..", "a/b", "/dev/", "/dev/nonesuch" };
	uint32_t id = 0;

	assert_int_equal(names__disk(names, "sda", &id), 0);
	assert_int_equal(id, 8 << 20);
	id = 0;
	assert_int_equal(names__disk(names, "sda1", &id), 1);
	assert_int_equal(id, 8 << 20);
	assert_int_equal(names__disk(names, "/dev/nvme0n1", &id), 0);
	assert_int_equal(id, 259 << 20 | 3);
	for (size_t i = 0; i < COUNT_OF(unknown); i++)
		assert_int_equal(names__disk(names, unknown[i], &id), -ENODEV);
}

#define POD                                                      \
	"sys/fs/cgroup/kubepods.slice/kubepods-burstable.slice/" \
	"kubepods-burstable-pod0123.slice/cri-containerd-4567.scope"

TEST(cgroup_names)
{
	assert_name(LAT_BY_CGROUP, slice_id, NULL, "/system.slice/db.service");
	assert_name(LAT_BY_CGROUP, root_id, NULL, "/");
	assert_name(LAT_BY_CGROUP, 999999999999, NULL, "cgroup 999999999999");
	assert_name(LAT_BY_CGROUP, 999999999999, NULL, "cgroup 999999999999");
	/* one that was made since the first walk */
	unit_write(dir, POD "/cgroup.procs", "");
	assert_name(LAT_BY_CGROUP, id_of(POD), NULL,
		    "...e/kubepods-burstable-pod0123.slice/cri-containerd-4567.scope");
}

/* How many of so many cgroups that are gone still have their name, after one more was asked for? */
static unsigned int named_of(unsigned int nr)
{
	const char *above = "sys/fs/cgroup/crowd", *late = "sys/fs/cgroup/late";
	uint64_t *ids = calloc(nr, sizeof(*ids));
	unsigned int named = 0;
	struct names *own;
	const char *path;

	assert_int_equal(names__new(&own, dir), 0);
	unit_write(dir, "sys/fs/cgroup/crowd/cgroup.procs", "");
	for (unsigned int i = 0; i < nr; i++) {
		path = unit_text("%s/%u", above, i);
		assert_int_equal(mkdir(unit_path(dir, path), 0700), 0);
		ids[i] = id_of(path);
	}
	assert_true(names__are_cheap(own));
	assert_string_equal(names__cgroup_path(own, ids[0]), "/crowd/0");
	assert_false(names__are_cheap(own)); /* a walk has just ended */
	assert_int_equal(mkdir(unit_path(dir, late), 0700), 0);
	for (unsigned int i = 0; i < nr; i++)
		assert_int_equal(rmdir(unit_path(dir, unit_text("%s/%u", above, i))), 0);
	assert_string_equal(names__cgroup_path(own, id_of(late)), "/late");
	for (unsigned int i = 0; i < nr; i++)
		named += names__cgroup_path(own, ids[i]) != NULL;
	assert_int_equal(rmdir(unit_path(dir, late)), 0);
	assert_string_equal(names__cgroup_path(own, slice_id), "/system.slice/db.service");
	names__free(own);
	free(ids);
	return named;
}

TEST(cgroups_that_are_gone_keep_their_names_until_they_are_too_many)
{
	assert_int_equal(named_of(4000), 4000);
	assert_int_equal(named_of(5000), 0);
}

TEST(names_are_cheap_again_after_a_pause)
{
	struct names *own;

	assert_int_equal(names__new(&own, dir), 0);
	assert_true(names__are_cheap(own));
	assert_string_equal(names__cgroup_path(own, slice_id), "/system.slice/db.service");
	for (int i = 0; i < 1000 && !names__are_cheap(own); i++)
		usleep(10000);
	assert_true(names__are_cheap(own));
	names__free(own);
}

TEST(cgroups_by_path)
{
	uint64_t id = 0;

	assert_int_equal(names__cgroup(names, "system.slice/db.service", &id), 0);
	assert_int_equal(id, slice_id);
	id = 0;
	assert_int_equal(names__cgroup(names, "/sys/fs/cgroup/system.slice/db.service/", &id), 0);
	assert_int_equal(id, slice_id);
	assert_int_equal(names__cgroup(names, "/", &id), 0);
	assert_int_equal(id, root_id);
	assert_int_equal(names__cgroup(names, "/sys/fs/cgroup", &id), 0);
	assert_int_equal(names__cgroup(names, "nonesuch", &id), -ENOENT);
	assert_int_equal(names__cgroup(names, "/system.slice/db.service/cgroup.procs", &id),
			 -ENOTDIR);
}

TEST(no_cgroup2_is_no_error)
{
	struct lat_key key = { .id = 5, .by = LAT_BY_CGROUP };
	struct names *bare = NULL;
	char *empty = unit_tmpdir(), out[RUN_NAME];
	uint64_t id;

	assert_int_equal(names__new(&bare, empty), 0);
	assert_string_equal(names__key(bare, &key, NULL, out), "cgroup 5");
	assert_int_equal(names__cgroup(bare, "/", &id), -ENOENT);
	names__free(bare);
	unit_remove(empty);
}

UNIT_FIXTURES(.all = { make_tree, remove_tree })
