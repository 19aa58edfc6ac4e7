// SPDX-License-Identifier: BSD-2-Clause
/* What doctor says of where: which parts this kernel tells, and what checks them. */
#include <unistd.h>

#include <cli/doctor.h>
#include <cli/probe_command.h>
#include <probes/kit/kernel.h>

extern const struct probe_ops where_probe;

static void examine(void)
{
	bool locks = kernel__has_tracepoint("contention_begin");
	bool pressure = !access("/proc/pressure/cpu", R_OK);

	doctor__finding(" ", "locks", locks ? "yes" : "no",
			locks ? "waits for locks of the kernel, by its contention tracepoints"
			      : "waits for locks of the kernel are in 'other'; needs Linux 5.19");
	doctor__finding(" ", "pressure", pressure ? "yes" : "no",
			pressure ? "checked against /proc/pressure (PSI)"
				 : "not checked against PSI: the kernel has none, or 'psi=1' is "
				   "missing on its command line");
}

const struct probe_command where_command = {
	.ops = &where_probe,
	.examine = examine,
};
