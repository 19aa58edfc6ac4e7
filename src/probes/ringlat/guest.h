/* SPDX-License-Identifier: BSD-2-Clause */
/* A guest without an operating system, for crossings of its own: guest_code.S in guest_layout.h. */
#ifndef LATSCOPE_PROBES_RINGLAT_GUEST_H
#define LATSCOPE_PROBES_RINGLAT_GUEST_H

#include <stdint.h>
#include <linux/kvm.h>

#include "guest_layout.h"

extern const char guest_user_start[], guest_user_end[];
extern const char guest_user_empty[], guest_user_page_fault[], guest_user_syscall[];
extern const char guest_user_int[], guest_user_cpuid[];
extern const char guest_kernel_start[], guest_kernel_end[], guest_kernel_syscall[];

/* At GUEST_REPORT: how the guest stopped, and if it was lost, by which exception. */
struct guest_report {
	uint64_t state;
	uint64_t vector;
	uint64_t error;
	uint64_t rip;
	uint64_t cr2;
};

/* Where a place in guest_code.S lies in the guest. */
uint64_t guest__user_address(const char *symbol);
uint64_t guest__kernel_address(const char *symbol);

/* GUEST_SIZE bytes that are zero become the guest's memory. */
void guest__build(void *memory);

/* User mode in that memory, all but the entry: general registers are the caller's. */
void guest__set_sregs(struct kvm_sregs *sregs);

/* STAR, LSTAR and SFMASK; returns how many. */
unsigned int guest__msrs(struct kvm_msr_entry entries[3]);

#endif
