/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * First touches of fresh anonymous base pages: each is one minor fault of the calling thread, of
 * user code or of a system call's copy to or from the page; by write or by read, which maps the
 * zero page. The first of them may be retried (a mapping's first fault prepares its anon_vma, for
 * which the lock of the mapping alone may not do): still one fault, though two calls of
 * handle_mm_fault().
 */
#ifndef LATSCOPE_SELFTEST_REFERENCE_TOUCH_H
#define LATSCOPE_SELFTEST_REFERENCE_TOUCH_H

#include "reference.h"

struct reference_touch {
	size_t pages;
	bool read;
	bool kernel;
	int zero; /* /dev/zero, which a kernel's write to a page comes from */
	int pipe[2]; /* what a kernel's read of a page goes to */

	struct reference_faults
		faults; /* of the touching alone; their sum is `pages`, or it fails */
	uint64_t elapsed_ns; /* so an upper bound of their sum */
	char why[REFERENCE_WHY];
};

int reference_touch__prepare(struct reference_touch *touch);
int reference_touch__run(struct reference_touch *touch);

#endif
