/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What precedes the kernel's entry points while an owner is on its CPU. Entered by hardware only.
 */
#ifndef RINGLAT_STUB_H
#define RINGLAT_STUB_H

#include <linux/static_call.h>

extern char ringlat_stub_page_fault[];
extern char ringlat_stub_syscall[];
extern char ringlat_stub_syscall_fenced[];

/*
 * The kernel's own entry points, where the stubs go on: jumps that the kernel patches, not
 * pointers.
 */
DECLARE_STATIC_CALL(ringlat_kernel_page_fault, void(void));
DECLARE_STATIC_CALL(ringlat_kernel_syscall, void(void));

#endif
