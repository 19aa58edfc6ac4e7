/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * /dev/latscope-ringlat: lets one thread time its crossings into the kernel and back.
 *
 * While a thread that asked for it is on its CPU, the kernel's entry points for page faults and for
 * SYSCALL are preceded by stubs of the ringlat module. A stub recognises a crossing that is meant
 * for it by a cookie in a register *and* the address of the instruction that crosses, reads the
 * time stamp counter twice, and returns. It passes on everything else: after at most four
 * instructions, jumps included, or twelve while the owner has the cookie in its register. All other
 * threads enter the kernel by its own entry points and pay nothing.
 *
 * The module measures nothing and keeps no samples: user code reads the counter before and after
 * the crossing, the stub hands it the two values between in registers.
 *
 *	fd = open(RINGLAT_DEVICE, O_RDWR | O_CLOEXEC);
 *	ioctl(fd, RINGLAT_INFO, &info);		which events, or why none
 *	sched_setaffinity(0, ...);		to one CPU
 *	ioctl(fd, RINGLAT_START, &start);	this thread is the owner now
 *	ioctl(fd, RINGLAT_READ, &before);
 *	... cross a few hundred times, see below ...
 *	ioctl(fd, RINGLAT_READ, &after);	was the CPU left alone?
 *	ioctl(fd, RINGLAT_STOP);
 *
 * Page fault (RINGLAT_PF). The address in %rdi must be one of user space with nothing mapped, in a
 * region that may be read or not (PROT_NONE); the instruction must be the two bytes 8a 07.
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
 * Then %r8 = u2k_k, or 0 if the stub was not there. That is a miss: the page fault went to the
 * kernel, which sent SIGSEGV or mapped a page. The crossings took u2k_k - u2k_u and k2u_u - k2u_k.
 *
 * System call (RINGLAT_SYSCALL). As above, but the crossing is
 *
 *	mov	$-1, %eax		so that a miss is ENOSYS
 *	syscall
 * 1:
 *
 * that is, %r13 has the address *after* the instruction. %rcx and %r11 are as SYSCALL leaves them.
 * Nothing in SYSCALL and SYSRET waits for what is under way in the CPU. RINGLAT_SYSCALL_FENCED is
 * the same with LFENCE before each RDTSC of the stub; it takes the place of RINGLAT_SYSCALL.
 *
 * A stub changes %rax, %rdx and %r8 and nothing else, flags and memory included. It returns to no
 * address beyond 47 bits: a load there has its fault again, with 0 in %r12, so that it goes to the
 * kernel; SYSCALL returns to 0, as %rcx says. The cookie must be in %r12 only around the crossing;
 * signal handlers may interrupt anywhere and inherit it harmlessly.
 *
 * What is in the numbers beside the crossing: from entry to its first RDTSC the page-fault stub
 * executes RINGLAT_PF_PROLOGUE instructions (endbr64 and five pairs of compare and jump: %r12 with
 * an immediate, %r13 with memory, 32 bit with an immediate in memory, twice 16 bit likewise), that
 * of SYSCALL RINGLAT_SYSCALL_PROLOGUE (endbr64; %r12 with an immediate, jump; %r13 with %rcx,
 * jump), the fenced one LFENCE besides. The same code in user space, without a crossing, is the
 * baseline to take off. Between the second RDTSC and the return there is nothing (page fault:
 * IRETQ, SYSCALL: SYSRETQ).
 */
#ifndef UAPI_LATSCOPE_RINGLAT_H
#define UAPI_LATSCOPE_RINGLAT_H

#define RINGLAT_DEVICE "/dev/latscope-ringlat"

/* "RING". Positive as 32 bit, so that a compare with an immediate has it as it is. */
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
	__u32 version; /* RINGLAT_VERSION; another one means another protocol */
	__u32 events; /* that can be had on this machine; 0: none, and refusal says why */
	char refusal[120]; /* one line: why none, and what to do; "" if there are any */
};

struct ringlat_start {
	__u32 events; /* one or more */
	__u32 zero;
};

/*
 * What happened to the measurement. `interrupts` counts what CPU `cpu` took since the machine was
 * started, NMIs included: between two reads that differ in it, or in `arrivals`, a crossing may
 * have been interrupted. (A read may itself be: those who need no interrupt at all compare
 * neighbours.)
 */
struct ringlat_counts {
	__u64 arrivals; /* stubs were put in place: by START, and when the owner was switched in */
	__u64 busy; /* they were not, crossings miss: another IDT or SYSCALL entry, or no TSC */
	__u64 lost; /* they were no longer there when they were to be taken away */
	__u64 interrupts;
	__u32 cpu;
	__u32 running; /* 1 from START to STOP, or the owner's end */
	__u32 kept; /* 1: the module cannot be unloaded until the next boot, see below */
	__u32 zero;
};

/*
 * RINGLAT_START: EINVAL, no event, unknown ones, or those that exclude each other; EBUSY, already
 * started through this descriptor, the thread is an owner already, or the CPU's entry points are
 * not the kernel's own now; EPERM, no CAP_SYS_RAWIO, the kernel is locked down, or the thread may
 * not read the time stamp counter (PR_SET_TSC, strict seccomp); EOPNOTSUPP, see
 * ringlat_info.refusal; ENOTUNIQ, the thread may run on more than one CPU.
 *
 * RINGLAT_STOP: EINVAL, not running; EPERM, by another thread than the owner, while that lives.
 * What stops as well: the owner ends, closes any descriptor of this open file, or loads a kernel
 * module; the last descriptor is closed, by anyone. A child made by fork is not an owner.
 *
 * An owner that forbids itself the counter later, is told it by the stubs until it is next switched
 * out: from then on they are not placed (`busy`).
 *
 * RINGLAT_READ: by whoever has the descriptor; after the end, as it was then. EINVAL, never
 * started.
 *
 * VMX makes the hypervisor remember the SYSCALL entry that it finds when it is switched on, and put
 * it in place after a guest. If VMX is on when a SYSCALL stub is taken away, that may be the stub.
 * So the module then stays loaded (`kept`): all that comes to the stub is passed on, as ever, and
 * where a guest has been, that may be the system calls of all: RINGLAT_START is EBUSY there.
 */
#define RINGLAT_INFO _IOR(0xdc, 0, struct ringlat_info)
#define RINGLAT_START _IOW(0xdc, 1, struct ringlat_start)
#define RINGLAT_READ _IOR(0xdc, 2, struct ringlat_counts)
#define RINGLAT_STOP _IO(0xdc, 3)

#endif /* __ASSEMBLY__ */
#endif
