/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs before the kernel's entry points while an owner is on its CPU. Only hardware enters it. */
#ifndef RINGLAT_ENTRY_CODE_H
#define RINGLAT_ENTRY_CODE_H

#include <linux/static_call.h>

extern char ringlat_entry_page_fault[];
extern char ringlat_entry_syscall[];
extern char ringlat_entry_syscall_fenced[];

/* The kernel's own entry points, where the entry code continues: patched jumps, not pointers. */
DECLARE_STATIC_CALL(ringlat_kernel_page_fault, void(void));
DECLARE_STATIC_CALL(ringlat_kernel_syscall, void(void));

#endif
