// SPDX-License-Identifier: BSD-2-Clause
/* What slow samples are made of, in words. */
#include <core/pressure.h>
#include <core/why.h>

#include "types.h"

static const struct why_part parts[] = {
	[WHY_RUNQLAT_UNKNOWN] = {
		.name = "unknown",
		.what = "who had the CPU is not known",
	},
	[WHY_RUNQLAT_OWN] = {
		.name = "own",
		.what = "its own process had the CPU",
		.without = "its own threads had the CPU",
		.of_all = "other threads of the same process had the CPU",
		.of_task = true,
	},
	[WHY_RUNQLAT_OTHER] = {
		.name = "other",
		.what = "another process had the CPU",
		.with = "%s had the CPU",
		.without = "other processes had the CPU",
		.within = "its other processes had the CPU",
		.of_task = true,
	},
	[WHY_RUNQLAT_KERNEL] = {
		.name = "kernel",
		.what = "a kernel thread had the CPU",
		.with = "the kernel thread %s had the CPU",
		.without = "kernel threads had the CPU",
		.of_cgroup = "kernel threads had the CPU", /* of which cgroup does not matter */
		.of_task = true,
	},
	[WHY_RUNQLAT_REALTIME] = {
		.name = "realtime",
		.what = "a real-time task had the CPU",
		.with = "the real-time task %s had the CPU",
		.without = "real-time tasks had the CPU",
		.of_cgroup = "real-time tasks of %s had the CPU",
		.of_task = true,
	},
	[WHY_RUNQLAT_LATSCOPE] = {
		.name = "latscope",
		.what = "latscope itself had the CPU",
	},
	[WHY_RUNQLAT_INTERRUPTS] = {
		.name = "interrupts",
		.what = "interrupts and softirqs had the CPU",
		.with = "%s had the CPU",
		.without = "interrupts had the CPU",
	},
	[WHY_RUNQLAT_STEAL] = {
		.name = "steal",
		.what = "the hypervisor had the CPU",
		.without = "the hypervisor had the CPU",
	},
	[WHY_RUNQLAT_IDLE] = {
		.name = "idle",
		.what = "the CPU was idle: wakeup latency",
		.without = "the CPU was idle, and took that long to wake up",
	},
	[WHY_RUNQLAT_FORCED] = {
		.name = "forced",
		.what = "the CPU was kept idle: core scheduling",
		.without = "the CPU had to stay idle: core scheduling",
	},
	[WHY_RUNQLAT_SCHEDULER] = {
		.name = "scheduler",
		.what = "queued by sched_ext, the CPU was idle",
		.without = "the CPU was idle, and the sched_ext scheduler kept it queued",
	},
	[WHY_RUNQLAT_QUOTA] = {
		.name = "quota",
		.what = "the cgroup was out of its CPU quota",
		.with = "out of the quota of %s",
		.without = "out of its CPU quota (cpu.max)",
		.of_quota = true,
	},
	[WHY_RUNQLAT_BUDGET] = {
		.name = "budget",
		.what = "out of the real-time or deadline budget",
		.without = "the real-time or deadline budget was used up",
	},
	[WHY_RUNQLAT_MOVED] = {
		.name = "moved",
		.what = "in the queue of another CPU, before a move",
		.without = "it was queued for another CPU, before a move",
	},
};

const struct why_words runqlat_words = {
	.probe = "runqlat",
	.wait = "wait for a CPU",
	.waits = "waits for a CPU",
	.parts = parts,
	.nr_parts = sizeof(parts) / sizeof(parts[0]),
	.metric = 0,
	.traits = true,
	.of_cpu = true,
	.resource = "CPU",
	.stall = PRESSURE_CPU_SOME,
};
