/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the programs of requests.c tell of a request that has completed. */
#ifndef LATSCOPE_TESTS_REQUESTS_H
#define LATSCOPE_TESTS_REQUESTS_H

struct request_times {
	__u64 start_ns; /* 0: not seen */
	__u64 issue_ns;
	__u64 done_ns;
	__u64 kernel_start_ns; /* 0: the kernel keeps none */
	__u64 kernel_issue_ns;
	__u32 op;
	__u32 pad;
};

#endif
