/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the iterator of where and user space share. */
#ifndef LATSCOPE_PROBES_WHERE_TYPES_H
#define LATSCOPE_PROBES_WHERE_TYPES_H

#include <probes/kit/account_types.h>

/* What the iterator writes for each thread. */
struct where_report {
	struct where_key of;
	__u64 start_ns;
	__u64 at_ns; /* when it was read */
	__u64 cgroup; /* in which it is now; that of `of` may be the one in which it was before */
	struct where_witness kernel;
	__u32 torn; /* the account changed each time that it was read */
	__u32 tgid;
	char comm[LAT_COMM_LEN]; /* of the process, or of the thread if that is the key */
	struct where_thread account; /* task 0: it has none */
};
_Static_assert(sizeof(struct where_report) == 368, "where_report has no padding");

#endif
