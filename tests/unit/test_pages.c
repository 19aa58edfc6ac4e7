// SPDX-License-Identifier: BSD-2-Clause
/* tierlat --pages: a fake machine with two sockets and CXL; hostile processes; real ones. */
#include "unit.h"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "host/numa_maps.h"
#include "probes/tierlat/view.h"
#include "probes/tierlat/pages.h"

#define NODES "sys/devices/system/node/"
#define MIB (1 << 20)

static struct table *table;
static struct pages_count count;

static void make_socket(unsigned int node, const char *cpus, unsigned int first)
{
	unit_write(dir, unit_text(NODES "node%u/cpulist", node), cpus);
	unit_write_socket(dir, first, node);
}

/* Nodes 0 and 1 are sockets; node 2 is CXL memory of socket 1. */
static void make_machine(void)
{
	unit_write(dir, NODES "online", "0-2\n");
	unit_write(dir, NODES "has_memory", "0-2\n");
	unit_write(dir, NODES "has_cpu", "0-1\n");
	make_socket(0, "0-3\n", 0);
	make_socket(1, "4-7\n", 4);
	unit_write(dir, NODES "node2/cpulist", "\n");
	unit_write(dir, NODES "node2/distance", "24 14 10\n");
	unit_write(dir, "sys/bus/cxl/devices/mem0/x", "");
	assert_int_equal(table__new(&table, pages_columns, PAGES_COLUMNS), 0);
}

static void remove_machine(void)
{
	table__free(table);
}

/* A process that ran on this CPU last. */
static void make_process(int pid, const char *name, unsigned int cpu, const char *maps)
{
	unit_write(dir, unit_text("proc/%d/numa_maps", pid), maps);
	unit_write(dir, unit_text("proc/%d/stat", pid),
		   unit_text("%d (%s) S 1 2 3 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 99 1000 10 "
			     "18446744073709551615 1 2 3 4 5 0 0 0 65536 0 0 0 17 %u 0 0 0 0 0\n",
			     pid, name, cpu));
}

static int scan(const char *model)
{
	return pages__add(table, 5, tier_model__find(model), dir, &count);
}

/* Bytes of a row with this tier; -1: none, or of another process. */
static int64_t bytes_of(int pid, int socket, int node, const char *tier)
{
	for (size_t i = 0; i < table__rows(table); i++) {
		const struct table_value of = table__value(table, i, PAGES_SOCKET);

		if (table__value(table, i, PAGES_PID).integer == pid &&
		    table__value(table, i, PAGES_NODE).integer == node && of.known &&
		    of.integer == socket && !strcmp(table__value(table, i, PAGES_TIER).text, tier))
			return table__value(table, i, PAGES_BYTES).integer;
	}
	return -1;
}

TEST(a_tier_is_seen_from_the_socket_of_the_process)
{
	const char *maps = "1000 default anon=6 N0=1 N1=2 N2=3 kernelpagesize_kB=4\n";

	make_process(10, "near", 2, maps);
	make_socket(0, "0-3\n", 2);
	make_process(11, "far", 4, maps);
	assert_int_equal(scan("emr"), 0);
	assert_int_equal(table__rows(table), 6);
	assert_int_equal(bytes_of(10, 0, 0, "local-ddr"), 4096);
	assert_int_equal(bytes_of(10, 0, 1, "remote-ddr"), 8192);
	assert_int_equal(bytes_of(11, 1, 0, "remote-ddr"), 4096);
	assert_int_equal(bytes_of(11, 1, 1, "local-ddr"), 8192);
	assert_int_equal(bytes_of(11, 1, 2, "local-cxl"), 12288);
	/* no CPU counts CXL memory of another socket: the name is not of the model */
	assert_int_equal(bytes_of(10, 0, 2, "remote-ext"), 12288);
	assert_int_equal(count.with_pages, 2);
	assert_int_equal(count.refused + count.ended + count.unclear, 0);
}

TEST(tiers_have_the_names_of_the_model)
{
	make_process(10, "a", 0, "1000 default N0=1 N1=1 N2=1 kernelpagesize_kB=4\n");
	assert_int_equal(scan("skx"), 0);
	assert_int_equal(bytes_of(10, 0, 0, "local"), 4096);
	assert_int_equal(bytes_of(10, 0, 1, "remote"), 4096);
	table__rewind(table);
	assert_int_equal(scan("zen5"), 0);
	assert_int_equal(bytes_of(10, 0, 0, "near-dram"), 4096);
	assert_int_equal(bytes_of(10, 0, 2, "far-ext"), 4096);
}

TEST(huge_pages_count_as_they_are)
{
	make_process(10, "a", 0,
		     "1000 default huge anon=3 N0=3 kernelpagesize_kB=2048\n"
		     "2000 bind:1 anon=512 N1=512 kernelpagesize_kB=4\n"
		     "3000 default file=/dev/hugepages/x\\040N0=9 huge N1=1 "
		     "kernelpagesize_kB=1048576\n");
	assert_int_equal(scan("icx"), 0);
	assert_int_equal(bytes_of(10, 0, 0, "local-ddr"), 6 * MIB);
	assert_int_equal(bytes_of(10, 0, 1, "remote-ddr"), 1026LL * MIB);
}

static const char *name_of(int pid)
{
	for (size_t i = 0; i < table__rows(table); i++)
		if (table__value(table, i, PAGES_PID).integer == pid)
			return table__value(table, i, PAGES_NAME).text;
	return NULL;
}

TEST(names_may_be_hostile)
{
	const char *maps = "1000 default N0=1 kernelpagesize_kB=4\n";

	make_process(10, "x) S 1 2 3 (", 0, maps);
	make_process(11, "\033[2J\r\n", 0, maps);
	make_process(12, "", 0, maps);
	make_process(13, "))))) R", 0, maps);
	make_process(14, "\xff\xfe%s%n", 0, maps);
	assert_int_equal(scan("icx"), 0);
	assert_int_equal(table__rows(table), 5);
	assert_string_equal(name_of(10), "x) S 1 2 3 (");
	assert_string_equal(name_of(11), "?[2J??");
	assert_string_equal(name_of(12), "");
	assert_string_equal(name_of(13), "))))) R");
	assert_string_equal(name_of(14), "??%s%n");
	for (int pid = 10; pid < 15; pid++)
		assert_int_equal(bytes_of(pid, 0, 0, "local-ddr"), 4096);
}

TEST(what_is_not_understood_is_counted_and_absent)
{
	static const char *const stats[] = {
		"", "17", "17 (a", "17 a) S", "17 )a( S 1", "17 (a)S 1", "17 (a) S 1", "17 (a)",
	};

	for (unsigned int i = 0; i < COUNT_OF(stats); i++) {
		make_process(20 + i, "", 0, "1000 default N0=1 kernelpagesize_kB=4\n");
		unit_write(dir, unit_text("proc/%u/stat", 20 + i), stats[i]);
	}
	make_process(40, "other text", 0, "Name:\tother text\n");
	make_process(41, "no pages", 0, "1000 default\n2000 default file=/x\n");
	make_process(42, "a kernel thread", 0, "");
	make_process(43, "offline", 99, "1000 default N0=1 kernelpagesize_kB=4\n");
	unit_write(dir, "proc/44/numa_maps", "1000 default N0=1 kernelpagesize_kB=4\n");
	unit_write(dir, "proc/45x/numa_maps", "1000 default N0=1 kernelpagesize_kB=4\n");
	unit_write(dir, "proc/self/numa_maps", "1000 default N0=1 kernelpagesize_kB=4\n");
	assert_int_equal(scan("icx"), 0);
	/* "17 (a) S 1" has a name; its CPU, and that of the process on CPU 99, are unknown */
	assert_int_equal(count.with_pages, 2);
	assert_int_equal(table__rows(table), 2);
	for (size_t i = 0; i < 2; i++) {
		assert_false(table__value(table, i, PAGES_SOCKET).known);
		assert_false(table__value(table, i, PAGES_TIER).known);
		assert_int_equal(table__value(table, i, PAGES_BYTES).integer, 4096);
	}
	assert_int_equal(count.ended, 1); /* an empty stat */
	assert_int_equal(count.unclear, 8);
}

/* Cut or changed anywhere, the text of the kernel must not do more than be refused. */
TEST(random_texts_do_no_harm)
{
	static const char text[] = "7f00 bind:0 file=/a\\040b anon=3 dirty=1 N0=12 N1=7 huge "
				   "kernelpagesize_kB=4\n400000 default N0=1\n";
	static const char bytes[] = "N0123456789=: \n\\kB_ax-\t\x80\xff";
	char made[sizeof(text)];

	for (unsigned int i = 0; i < 400; i++) {
		memcpy(made, text, sizeof(text));
		for (unsigned int j = 0; j < 4; j++)
			made[unit_random() % (sizeof(text) - 1)] =
				bytes[unit_random() % (sizeof(bytes) - 1)];
		made[unit_random() % sizeof(text)] = '\0';
		make_process(10, made, 0, made);
		table__rewind(table);
		assert_int_equal(scan("icx"), 0);
		assert_true(table__rows(table) <= NUMA_NODES);
		assert_true(count.with_pages + count.unclear + count.ended <= 1);
	}
}

TEST(nodes_without_a_list_are_an_error)
{
	unit_write(dir, NODES "has_cpu", "x\n");
	assert_int_equal(scan("icx"), -EUCLEAN);
	assert_int_equal(pages__add(table, 0, tier_model__find("icx"), "/nowhere", &count),
			 -ENOENT);
}

/* Lines of the table as they are printed, without blanks at their ends. */
static char *printed(unsigned int top)
{
	assert_int_equal(table__fold(table), 0);
	assert_int_equal(tierlat_print__pages(unit_print(), table, top), 0);
	return unit_printed();
}

TEST(the_largest_of_each_node_are_printed_with_their_share)
{
	char *text;

	make_process(10, "small", 0, "1000 default N1=256 kernelpagesize_kB=4\n");
	make_process(11, "large", 0, "1000 default N0=512 N1=1024 kernelpagesize_kB=4\n");
	make_process(12, "middle", 0, "1000 default N1=256 kernelpagesize_kB=4\n");
	make_process(13, "other", 4, "1000 default N1=256 kernelpagesize_kB=4\n");
	assert_int_equal(scan("icx"), 0);
	for (size_t i = 1; i < table__rows(table); i++) /* the largest first */
		assert_true(table__value(table, i, PAGES_BYTES).integer <=
			    table__value(table, i - 1, PAGES_BYTES).integer);
	assert_string_equal(table__value(table, 0, PAGES_NAME).text, "large");
	text = printed(2);
	assert_has(text, "     0 local-ddr      0      2 MiB   25.0 %  1 process\n",
		   "     0 remote-ddr     1      6 MiB   75.0 %  3 processes\n",
		   "  4 MiB   50.0 %    large (11)\n", "  1 MiB   12.5 %    small (10)\n");
	assert_lacks(text, "middle");
	assert_has(text, "     1 local-ddr      1      1 MiB    100 %  1 process\n");
}

/* A child that binds its memory to node 0, touches it and waits to be killed. */
static _Noreturn void hold_bound(size_t size, int ready)
{
	unsigned long node = 1;
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (memory == MAP_FAILED ||
	    syscall(SYS_mbind, memory, size, MPOL_BIND, &node, 8 * sizeof(node), 0))
		_exit(write(ready, "n", 1) != 1);
	memset(memory, 1, size);
	if (write(ready, "y", 1) == 1)
		pause();
	_exit(0);
}

TEST(a_process_bound_to_a_node_is_found_there)
{
	const size_t size = 24 * MIB;
	int64_t found = 0;
	int ready[2];
	char answer = 0;
	pid_t pid;

	if (access("/proc/self/numa_maps", R_OK))
		skip();
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid)
		hold_bound(size, ready[1]);
	assert_int_equal(read(ready[0], &answer, 1), 1);
	close(ready[0]);
	close(ready[1]);
	if (answer == 'y')
		assert_int_equal(pages__add(table, 0, tier_model__find("icx"), "", &count), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (answer != 'y')
		skip(); /* this kernel, or a filter, does not allow it */
	for (size_t i = 0; i < table__rows(table); i++)
		if (table__value(table, i, PAGES_PID).integer == pid &&
		    table__value(table, i, PAGES_NODE).integer == 0)
			found += table__value(table, i, PAGES_BYTES).integer;
	assert_true(found >= (int64_t)size);
	for (size_t i = 0; i < table__rows(table); i++) /* not this process itself */
		assert_int_not_equal(table__value(table, i, PAGES_PID).integer, getpid());
}

UNIT_FIXTURES(.each = { make_machine, remove_machine })
