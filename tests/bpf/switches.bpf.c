// SPDX-License-Identifier: GPL-2.0-only
/* The program of tests/reference/disturbance.c: counts the switches for which it is run. */
#include "kernel.bpf.h"

__u64 switches = 0;

SEC("raw_tp/sched_switch")
int count(void *context)
{
	__sync_fetch_and_add(&switches, 1);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
