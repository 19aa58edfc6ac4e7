/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A completed request, as the BPF programs of requests.c report it. */
#ifndef LATSCOPE_TESTS_REQUESTS_H
#define LATSCOPE_TESTS_REQUESTS_H

struct request_times {
	__u64 start_ns; /* 0: not seen */
	__u64 issue_ns;
	__u64 done_ns;
	__u64 kernel_start_ns; /* 0: the kernel keeps none */
	__u64 kernel_issue_ns;
};

enum request_kind {
	REQUEST_READ,
	REQUEST_WRITE, /* with data */
	REQUEST_FLUSH, /* that the kernel made */
	REQUEST_END, /* of a write with data, after its flushes */
	REQUEST_SYNC, /* end of a flush without data */
	REQUEST_OTHER,
	REQUEST_KINDS,
};

#endif
