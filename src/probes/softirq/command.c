// SPDX-License-Identifier: BSD-2-Clause
#include <cli/probe_command.h>

extern const struct probe_ops softirq_probe;

const struct probe_command softirq_command = {
	.ops = &softirq_probe,
	.with = "softirq",
	.with_help = "Also how long softirq handlers run",
	.with_top = true,
};
