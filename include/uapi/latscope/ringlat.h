/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * /dev/latscope-ringlat: a thread measures its crossings into the kernel and back.
 *
 * While a thread that requested it (the owner) is on its CPU, entry code of the kernel module
 * ringlat runs before the kernel's entry points for page faults and SYSCALL. The entry code
 * recognises a crossing by a cookie in a register *and* the address of the crossing instruction,
 * reads the time stamp counter twice, and returns. Everything else continues at the kernel's entry
 * point: after at most four instructions, jumps included, or twelve while the owner has the cookie
 * in its register. All other threads enter the kernel at its own entry points, without any cost.
 *
 * The kernel module measures nothing and keeps no samples: user code reads the counter before and
 * after the crossing, and the entry code returns its two values in registers.
 *
 *	fd = open(RINGLAT_DEVICE, O_RDWR | O_CLOEXEC);
 *	ioctl(fd, RINGLAT_INFO, &info);		the events, or why there are none
 *	sched_setaffinity(0, ...);		to one CPU
 *	ioctl(fd, RINGLAT_START, &start);	makes this thread the owner
 *	ioctl(fd, RINGLAT_READ, &before);
 *	... cross a few hundred times, see below ...
 *	ioctl(fd, RINGLAT_READ, &after);	was the CPU interrupted?
 *	ioctl(fd, RINGLAT_STOP);
 *
 * Page fault (RINGLAT_PF). The address in %rdi must be in user space and have no page; its mapping
 * may be readable or PROT_NONE. The instruction must be the two bytes 8a 07.
 *
 *	mov	$RINGLAT_COOKIE, %r12d
 *	lea	1f(%rip), %r13
 *	xor	%r8d, %r8d
 *	mfence; lfence
 *	rdtsc				edx:eax = u2k_u; save it, not in %rax, %rdx or %r8
 * 1:	movb	(%rdi), %al		crosses; loads nothing
 *	...				edx:eax = k2u_k; save it
 *	rdtsc				edx:eax = k2u_u
 *	lfence
 *	xor	%r12d, %r12d
 *
 * Then %r8 = u2k_k, or 0 if the entry code was not there. That is a miss: the page fault went to
 * the kernel, which sent SIGSEGV or mapped a page. The crossings took u2k_k - u2k_u and
 * k2u_u - k2u_k.
 *
 * System call (RINGLAT_SYSCALL). As above, but the crossing is
 *
 *	mov	$-1, %eax		so that a miss is ENOSYS
 *	syscall
 * 1:
 *
 * that is, %r13 has the address *after* the instruction. %rcx and %r11 are as SYSCALL leaves them.
 * SYSCALL and SYSRET do not wait for earlier instructions. RINGLAT_SYSCALL_FENCED is the same with
 * LFENCE before each RDTSC of the entry code; it replaces RINGLAT_SYSCALL.
 *
 * The entry code changes %rax, %rdx and %r8, but no other register, no flags and no memory. It does
 * not return to an address beyond 47 bits: a load there faults again, with 0 in %r12, so that it
 * goes to the kernel; SYSCALL returns to 0, as %rcx says. The cookie must be in %r12 only around
 * the crossing; a signal handler may interrupt anywhere, and inheriting the cookie does no harm.
 *
 * The numbers also contain: from entry to the first RDTSC, RINGLAT_PF_PROLOGUE instructions of the
 * page-fault entry code (endbr64 and five pairs of compare and jump: %r12 with an immediate, %r13
 * with memory, 32 bits of memory with an immediate, twice 16 bits of memory with an immediate), or
 * RINGLAT_SYSCALL_PROLOGUE of that of SYSCALL (endbr64; %r12 with an immediate, jump; %r13 with
 * %rcx, jump), and LFENCE if fenced. Subtract the same code in user space, without a crossing.
 * Nothing is between the second RDTSC and the return (page fault: IRETQ, SYSCALL: SYSRETQ).
 */
#ifndef UAPI_LATSCOPE_RINGLAT_H
#define UAPI_LATSCOPE_RINGLAT_H

#define RINGLAT_DEVICE "/dev/latscope-ringlat"

/* "RING". Positive as 32 bits, so that it is an immediate operand without change. */
#define RINGLAT_COOKIE 0x52494e47
#define RINGLAT_LOAD_LEN 2 /* bytes: 8a 07 */

#define RINGLAT_PF_PROLOGUE 11
#define RINGLAT_SYSCALL_PROLOGUE 5

#ifndef __ASSEMBLY__

#include <linux/ioctl.h>
#include <linux/types.h>

#define RINGLAT_VERSION 1

/* Events. */
#define RINGLAT_PF (1u << 0)
#define RINGLAT_SYSCALL (1u << 1)
#define RINGLAT_SYSCALL_FENCED (1u << 2) /* not together with RINGLAT_SYSCALL */

struct ringlat_info {
	__u32 version; /* RINGLAT_VERSION; another value is another protocol */
	__u32 events; /* available on this machine; 0: none, see refusal */
	char refusal[120]; /* one line: why there are none, and what to do; otherwise "" */
};

struct ringlat_start {
	__u32 events; /* one or more */
	__u32 zero;
};

/*
 * What disturbed the measurement. `interrupts` counts those of CPU `cpu` since boot, NMIs included:
 * between two reads that differ in it, or in `arrivals`, a crossing may have been interrupted. (The
 * read itself may be interrupted, too; to exclude that, compare neighbouring reads.)
 */
struct ringlat_counts {
	__u64 arrivals; /* entry code placed: by START, and when the owner was switched in */
	__u64 busy; /* not placed, crossings miss: other IDT or SYSCALL entry, or no TSC */
	__u64 lost; /* no longer there when it was to be removed */
	__u64 interrupts;
	__u32 cpu;
	__u32 running; /* 1 from START to STOP, or to the end of the owner */
	__u32 kept; /* 1: the kernel module cannot be unloaded until the next boot, see below */
	__u32 zero;
};

/*
 * RINGLAT_START: EINVAL, no event, unknown ones, or those that exclude each other; EBUSY, already
 * started through this descriptor, the thread is an owner already, or the CPU does not have the
 * kernel's own entry points now; EPERM, no CAP_SYS_RAWIO, the kernel is locked down, or the thread
 * may not read the time stamp counter (PR_SET_TSC, strict seccomp); EOPNOTSUPP, see
 * ringlat_info.refusal; ENOTUNIQ, the thread may run on more than one CPU.
 *
 * RINGLAT_STOP: EINVAL, not running; EPERM, called by another thread while the owner lives. It also
 * stops when the owner ends, closes any descriptor of this open file, or loads a kernel module, and
 * when the last descriptor is closed. A child made by fork is not an owner.
 *
 * If an owner gives up its right to read the counter, the entry code still returns it until the
 * owner is next switched out; from then on it is not placed (`busy`).
 *
 * RINGLAT_READ: works for all holders of the descriptor; after the end it gives the last state.
 * EINVAL, never started.
 *
 * A hypervisor saves the SYSCALL entry that it finds when it enables VMX, and restores it after a
 * guest. If VMX is on when the SYSCALL entry code is removed, that may be our entry code. Then the
 * module stays loaded (`kept`): the entry code continues at the kernel's entry point, as always.
 * Where a guest has run, the system calls of all threads may go through it; RINGLAT_START then
 * returns EBUSY on that CPU.
 */
#define RINGLAT_INFO _IOR(0xdc, 0, struct ringlat_info)
#define RINGLAT_START _IOW(0xdc, 1, struct ringlat_start)
#define RINGLAT_READ _IOR(0xdc, 2, struct ringlat_counts)
#define RINGLAT_STOP _IO(0xdc, 3)

#endif /* __ASSEMBLY__ */
#endif
