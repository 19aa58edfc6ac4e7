/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The private guest's memory, for C and assembly: one slot of 2 MiB in 4 KiB pages. Linear
 * addresses equal physical ones.
 */
#ifndef LATSCOPE_PROBES_RINGLAT_GUEST_LAYOUT_H
#define LATSCOPE_PROBES_RINGLAT_GUEST_LAYOUT_H

#define GUEST_SIZE 0x200000
#define GUEST_PAGE 0x1000

/* Page 0 is absent. Kernel pages, not accessible from user mode: */
#define GUEST_PML4 0x1000
#define GUEST_PDPT 0x2000
#define GUEST_PD 0x3000
#define GUEST_PT 0x4000
#define GUEST_GDT 0x5000
#define GUEST_IDT 0x6000
#define GUEST_TSS 0x7000
#define GUEST_REPORT 0x8000 /* struct guest_report */
#define GUEST_KERNEL_STACK 0xa000 /* its top */
#define GUEST_FAULT_STACK 0xc000 /* stack of double faults */
#define GUEST_KERNEL_CODE 0x10000
#define GUEST_KERNEL_END 0x18000

/* User pages: */
#define GUEST_USER_CODE 0x20000
#define GUEST_USER_STACK 0x30000 /* its top, and the end of the mapping that starts at the code */
#define GUEST_ABSENT 0x31000 /* never mapped: the page faults hit this address */
#define GUEST_ABSENT_PAGES 200 /* and so many are absent from there on */
#define GUEST_SAMPLES 0x100000 /* struct ring_sample of a window */
#define GUEST_SAMPLES_END 0x104000

/* SYSRET loads USER_BASE + 8 into SS and + 16 into CS; both request ring 3. */
#define GUEST_KERNEL_CS 0x08
#define GUEST_KERNEL_SS 0x10
#define GUEST_USER_BASE 0x18
#define GUEST_USER_SS 0x23
#define GUEST_USER_CS 0x2b
#define GUEST_TR 0x30
#define GUEST_GDT_SIZE 0x40

#define GUEST_EXCEPTIONS 32
#define GUEST_STUB 16 /* bytes per exception entry */
#define GUEST_VECTOR_PF 14
#define GUEST_VECTOR_DF 8
#define GUEST_VECTOR_INT 0x80
#define GUEST_VECTOR_DONE 0x81

/* guest_report.state */
#define GUEST_DONE 0xd01e
#define GUEST_LOST 0x105e

#endif
