/* SPDX-License-Identifier: BSD-2-Clause */
/* A guest without an operating system: guest_code.S, laid out by guest_layout.h. */
#ifndef LATSCOPE_PROBES_RINGLAT_GUEST_H
#define LATSCOPE_PROBES_RINGLAT_GUEST_H

#include <stdint.h>
#include <linux/kvm.h>

#include "guest_layout.h"

extern const char guest_user_start[], guest_user_end[];
extern const char guest_user_empty[], guest_user_page_fault[], guest_user_syscall[];
extern const char guest_user_int[], guest_user_cpuid[], guest_user_fresh[];
extern const char guest_kernel_start[], guest_kernel_end[], guest_kernel_syscall[];

/* At GUEST_REPORT: how the guest stopped, and by which unexpected exception. */
struct guest_report {
	uint64_t state;
	uint64_t vector;
	uint64_t error;
	uint64_t rip;
	uint64_t cr2;
};

/* The guest address of a symbol in guest_code.S. */
uint64_t guest__user_address(const char *symbol);
uint64_t guest__kernel_address(const char *symbol);

/* Fills GUEST_SIZE zero bytes with the guest's memory. */
void guest__build(void *memory);

/* Sets up user mode in that memory. The caller sets the entry point and the general registers. */
void guest__set_sregs(struct kvm_sregs *sregs);

/* STAR, LSTAR and SFMASK; returns how many. */
unsigned int guest__msrs(struct kvm_msr_entry entries[3]);

#endif
