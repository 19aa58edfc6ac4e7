// SPDX-License-Identifier: BSD-2-Clause
/* Pages by node, nodes by tier: the texts of the kernel, made up below a temporary root. */
#include "unit.h"

#include <sys/mman.h>

#include "host/numa_maps.h"
#include "host/numa_nodes.h"

#define NODES "sys/devices/system/node/"

static struct numa_mapping mapping;
static struct numa_nodes nodes;

TEST(test_lines_of_the_kernel_are_parsed)
{
	assert_true(numa_maps__parse("7f0000000000 default anon=10 dirty=10 N0=6 N1=4 "
				     "kernelpagesize_kB=4\n",
				     &mapping));
	assert_int_equal(mapping.start, 0x7f0000000000);
	assert_int_equal(mapping.page_bytes, 4096);
	assert_int_equal(mapping.pages[0], 6);
	assert_int_equal(mapping.pages[1], 4);
	assert_false(mapping.file || mapping.hugetlb || mapping.bound);
	assert_true(numa_maps__parse("400000 bind=static:1 file=/tmp/a\\040N0=9 mapped=2 mapmax=3 "
				     "N63=2 kernelpagesize_kB=4",
				     &mapping));
	assert_true(mapping.file && mapping.bound);
	assert_int_equal(mapping.pages[0], 0);
	assert_int_equal(mapping.pages[63], 2);
	assert_true(numa_maps__parse("7f00 weighted interleave:0-1 huge anon=1 dirty=1 N1=1 "
				     "kernelpagesize_kB=2048",
				     &mapping));
	assert_true(mapping.hugetlb && !mapping.bound);
	assert_int_equal(mapping.page_bytes, 2 << 20);
	assert_true(numa_maps__parse("7ffc00 default stack anon=3 dirty=3 active=0", &mapping));
}

TEST(test_other_lines_are_refused)
{
	static const char *const bad[] = {
		"",
		"x default N0=1",
		"7f00default N0=1",
		"7f00 default N64=1",
		"7f00 default N0=",
		"7f00 default N0=1x",
		"7f00 default N0=99999999999999999999",
		"7f00 default N0=1 kernelpagesize_kB=0",
		"7f00 default N0=1 kernelpagesize_kB=4k",
		"fffffffffffffffff default",
	};
	for (unsigned int i = 0; i < COUNT_OF(bad); i++)
		assert_false(numa_maps__parse(bad[i], &mapping));
}

TEST(test_mappings_of_a_process_add_up_in_bytes)
{
	struct numa_pages pages = { 0 };

	unit_write(dir, "proc/7/numa_maps",
		   "1000 default anon=3 N0=2 N1=1 kernelpagesize_kB=4\n"
		   "7000 default huge N1=2 kernelpagesize_kB=2048\n"
		   "9000 default stack\n");
	assert_int_equal(numa_maps__add(&pages, dir, 7), 0);
	assert_int_equal(pages.bytes[0], 2 * 4096);
	assert_int_equal(pages.bytes[1], 4096 + (4 << 20));
	assert_int_equal(pages.mappings, 3);
	assert_int_equal(numa_maps__add(&pages, dir, 8), -ESRCH);
	unit_write(dir, "proc/9/stat", "");
	assert_int_equal(numa_maps__add(&pages, dir, 9), -ENOENT);
	unit_write(dir, "proc/9/numa_maps", "nothing known\n");
	assert_int_equal(numa_maps__add(&pages, dir, 9), -EUCLEAN);
}

/* The kernel's own text: as much as was touched must be on the nodes, more or less the rest. */
TEST(test_touched_pages_are_seen_in_this_process)
{
	const size_t size = 16 << 20;
	struct numa_pages before = { 0 }, after = { 0 };
	uint64_t gained = 0;
	void *memory;

	if (access("/proc/self/numa_maps", R_OK))
		skip();
	assert_int_equal(numa_maps__add(&before, "", getpid()), 0);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(memory != MAP_FAILED);
	memset(memory, 1, size);
	assert_int_equal(numa_maps__add(&after, "", getpid()), 0);
	for (unsigned int i = 0; i < NUMA_NODES; i++)
		gained += after.bytes[i] - before.bytes[i];
	munmap(memory, size);
	assert_in_range(gained, size, size + (4 << 20));
}

TEST(test_lists_of_nodes_are_masks)
{
	static const char *const bad[] = { "x", "1-", "2-1", "64", "1,", "1;2", "-1", "1-2-3" };
	uint64_t mask;

	assert_int_equal(numa_list__parse("0-2,5,63", &mask), 0);
	assert_int_equal(mask, 0x8000000000000027);
	assert_int_equal(numa_list__parse("", &mask), 0);
	assert_int_equal(mask, 0);
	for (unsigned int i = 0; i < COUNT_OF(bad); i++)
		assert_int_equal(numa_list__parse(bad[i], &mask), -EUCLEAN);
}

/* Two sockets, nodes 0 and 1, and CXL memory of the second one, node 4. */
static void make_machine(void)
{
	unit_write(dir, NODES "online", "0-1,4\n");
	unit_write(dir, NODES "has_memory", "0-1,4\n");
	unit_write(dir, NODES "has_cpu", "0-1\n");
	unit_write(dir, NODES "node0/cpulist", "0-3\n");
	unit_write(dir, NODES "node1/cpulist", "4-7\n");
	unit_write(dir, NODES "node4/cpulist", "\n");
	unit_write(dir, NODES "node4/distance", "24 14 10\n");
	unit_write(dir, NODES "node4/access0/initiators/read_latency", "250\n");
	unit_write(dir, NODES "node4/access0/initiators/read_bandwidth", "8000\n");
	unit_write(dir, NODES "node4/meminfo",
		   "Node 4 MemTotal:        1024 kB\nNode 4 MemFree:          512 kB\n");
	unit_write(dir, NODES "node0/meminfo",
		   "Node 0 MemTotal:        2048 kB\nNode 0 MemFree:           64 kB\n");
	unit_write_socket(dir, 0, 0);
	unit_write_socket(dir, 4, 1);
	unit_write(dir, "sys/devices/virtual/memory_tiering/memory_tier4/nodelist", "0-1\n");
	unit_write(dir, "sys/devices/virtual/memory_tiering/memory_tier22/nodelist", "4\n");
}

static void read_machine(void)
{
	make_machine();
	assert_int_equal(numa_nodes__read(&nodes, dir), 0);
}

TEST(test_nodes_have_sockets_tiers_and_latencies)
{
	read_machine();
	assert_int_equal(nodes.nr, 5);
	assert_int_equal(nodes.nodes[1].socket, 1);
	assert_int_equal(nodes.nodes[4].socket, 1);
	assert_int_equal(nodes.nodes[0].memory_tier, 4);
	assert_int_equal(nodes.nodes[4].memory_tier, 22);
	assert_int_equal(nodes.nodes[4].read_latency_ns, 250);
	assert_int_equal(nodes.nodes[4].read_bandwidth_mb, 8000);
	assert_int_equal(nodes.nodes[0].read_latency_ns, 0);
	assert_int_equal(nodes.nodes[4].total_bytes, 1 << 20);
	assert_int_equal(numa_nodes__free_bytes(0x11, dir), (512 + 64) << 10);
	assert_false(nodes.nodes[2].online);
}

TEST(test_tiers_are_nodes_seen_from_a_socket)
{
	read_machine();
	assert_int_equal(numa_nodes__mask(&nodes, NUMA_LOCAL_DRAM, 0), 1 << 0);
	assert_int_equal(numa_nodes__mask(&nodes, NUMA_REMOTE_DRAM, 0), 1 << 1);
	assert_int_equal(numa_nodes__mask(&nodes, NUMA_LOCAL_EXT, 0), 0);
	assert_int_equal(numa_nodes__mask(&nodes, NUMA_REMOTE_EXT, 0), 1 << 4);
	assert_int_equal(numa_nodes__mask(&nodes, NUMA_LOCAL_EXT, 1), 1 << 4);
	assert_int_equal(numa_class__of_tier("local-cxl"), NUMA_LOCAL_EXT);
	assert_int_equal(numa_class__of_tier("far-dram"), NUMA_REMOTE_DRAM);
	assert_int_equal(numa_class__of_tier("local-tape"), -1);
}

TEST(test_unexpected_texts_of_nodes_are_refused)
{
	assert_int_equal(numa_nodes__read(&nodes, dir), -ENOENT);
	make_machine();
	unit_write(dir, NODES "has_cpu", "none\n");
	assert_int_equal(numa_nodes__read(&nodes, dir), -EUCLEAN);
}
