/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU time, counters and cache occupancy by process and slot of 1 ms. Rows go to the table of the
 * probe's entry, in order of time, as soon as their slots are complete.
 */
#ifndef LATSCOPE_PROBES_RMID_RMID_H
#define LATSCOPE_PROBES_RMID_RMID_H

#include <stdbool.h>
#include <stdio.h>

#include <probes/kit/probe.h>

extern const struct probe_ops rmid_probe;

/* Its own options; by default no counters are read. */
struct rmid_config {
	uint32_t counters; /* mask of 1 << counters_kinds[] */
	bool counters_optional; /* those that this machine lacks are left out */
	uint32_t rmids; /* so many, emulated or as groups of resctrl; 0: the default, or `module` */
	const char *resctrl_root; /* see resctrl_tree.h */
	bool selects; /* the filters of the request choose who gets a group of resctrl */
	FILE *trace; /* write here who gets and loses an RMID; NULL: do not */
	FILE *dump; /* at the end, write here who has one, as /proc/latscope_rmid; NULL: do not */
};

#endif
