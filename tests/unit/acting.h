/* SPDX-License-Identifier: BSD-2-Clause */
/* What tests of --act share: a machine made up below `dir`, and one actor there. */
#ifndef LATSCOPE_TESTS_ACTING_H
#define LATSCOPE_TESTS_ACTING_H

#include "unit.h"

#include "probes/tierlat/act.h"

#define NODES "sys/devices/system/node/"
#define STAT " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "

static const struct act_nodes nodes = { .near = 1, .far = 2 };

static struct act *act;
static struct act_place place;
static struct act_done done __attribute__((unused));
static char why[TIER_TEXT];

/* Nodes with memory, as the kernel lists them; node 0 has CPUs, and process 7 runs. */
static inline void make_nodes(const char *list)
{
	unit_write(dir, NODES "online", list);
	unit_write(dir, NODES "has_memory", list);
	unit_write(dir, NODES "has_cpu", "0\n");
	unit_write(dir, NODES "node0/meminfo",
		   "Node 0 MemTotal:  320000 kB\nNode 0 MemFree:  10300 kB\n");
	unit_write(dir, NODES "node1/meminfo",
		   "Node 1 MemTotal:  320000 kB\nNode 1 MemFree: 100000 kB\n");
	unit_write(dir, "proc/7/stat", "7 (a b) c) S" STAT "5000 1\n");
	unit_write(dir, "run/.empty", "");
}

static inline int open_act(struct act_config config)
{
	config.socket = -1;
	why[0] = '\0';
	config.root = dir;
	return act__open(&act, &config, &nodes, why);
}

static inline void begin(struct act_config config)
{
	if (open_act(config))
		fail_msg("%s", why);
}

static inline void end(void)
{
	assert_int_equal(act__close(act, why), 0);
}

static inline void read_place(void)
{
	assert_int_equal(act__place(act, &place, why), 0);
}

static inline void assert_refused(struct act_config config, int err, const char *reason)
{
	assert_int_equal(open_act(config), err);
	assert_has(why, reason);
}

/* The first line of a file. */
static inline void assert_line(const char *name, const char *text)
{
	char *found = unit_read(dir, name);

	found[strcspn(found, "\n")] = '\0';
	assert_string_equal(found, text);
}

/* What is done until regain_root() is done by a user without privileges. */
static inline void drop_root(void)
{
	assert_int_equal(chmod(dir, 0755), 0);
	if (!geteuid())
		assert_int_equal(seteuid(65534), 0);
}

static inline void regain_root(void)
{
	if (!getuid())
		assert_int_equal(seteuid(0), 0);
}

#endif
