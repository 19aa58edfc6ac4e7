/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The entry code: include/uapi/latscope/ringlat.h says how user code reaches it.
 *
 * It runs with interrupts off, and with the GS base and the speculation controls of user space. It
 * must continue at the kernel's own entry point with the state unchanged: so it compares only
 * registers and the frame that the hardware pushed, writes nothing before it has recognised a
 * crossing, and jumps by static calls, because an indirect jump would have no mitigation here.
 *
 * A cookie alone is not enough: a signal handler that interrupts a crossing inherits its registers,
 * and its own sigreturn must go to the kernel. The address tells them apart.
 *
 * Kprobes, hardware execution breakpoints and ftrace stay out of .noinstr.text: an exception in the
 * SYSCALL entry code would be delivered on the stack of user space.
 */
#include <linux/linkage.h>
#include <asm/asm.h>
#include <asm/segment.h>
#include <asm/unwind_hints.h>

#include <uapi/latscope/ringlat.h>

#define ERROR_USER_READ_ABSENT 4 /* X86_PF_USER and nothing else */
#define USER_ADDRESS_BITS 47

/* The frame of a page fault. */
#define FRAME_ERROR 0
#define FRAME_RIP 8
#define FRAME_CS 16
#define FRAME_SS 40

/* Nothing; in a test build this many nops, which must make that half of a crossing longer. */
.macro MUTANT nops
.if RINGLAT_MUTANT
	.rept \nops
	nop
	.endr
.endif
.endm

/* Reads the counter into \to, using rax and rdx; without \to into edx:eax. */
.macro READ_TSC to
	rdtsc
.ifnb \to
	shlq	$32, %rdx
	orq	%rdx, %rax
	movq	%rax, \to
.endif
.endm

.section .noinstr.text, "ax"

/*
 * IRETQ must not fault here, with the GS base of user space. So the frame must be that of 64-bit
 * user code on the flat segments (no LDT, no espfix), and the return address must be in user space.
 * Comparing the whole error code excludes instruction fetches and KVM's asynchronous page faults,
 * which arrive as page faults with error code 0.
 */
	.balign 64
SYM_CODE_START(ringlat_entry_page_fault)
	UNWIND_HINT_IRET_REGS offset=8
	endbr64
	cmpq	$RINGLAT_COOKIE, %r12
	jne	__SCT__ringlat_kernel_page_fault
	cmpq	%r13, FRAME_RIP(%rsp)
	jne	__SCT__ringlat_kernel_page_fault
	cmpl	$ERROR_USER_READ_ABSENT, (FRAME_ERROR)(%rsp)
	jne	__SCT__ringlat_kernel_page_fault
	cmpw	$__USER_CS, FRAME_CS(%rsp)
	jne	__SCT__ringlat_kernel_page_fault
	cmpw	$__USER_DS, FRAME_SS(%rsp)
	jne	__SCT__ringlat_kernel_page_fault
	MUTANT	1
	READ_TSC %r8

	leaq	RINGLAT_LOAD_LEN(%r13), %rax
	movq	%rax, %rdx
	shrq	$USER_ADDRESS_BITS, %rdx
	jnz	.Lnot_user
	movq	%rax, FRAME_RIP(%rsp)
	addq	$8, %rsp			/* the error code */
	UNWIND_HINT_IRET_REGS
	READ_TSC
	MUTANT	2
	iretq
	int3

/*
 * The load was the last instruction of the user half of the address space, so there is no next one.
 * Return to the load without the cookie: the same fault then goes to the kernel.
 */
.Lnot_user:
	UNWIND_HINT_IRET_REGS offset=8
	xorl	%r12d, %r12d
	addq	$8, %rsp
	UNWIND_HINT_IRET_REGS
	iretq
	int3
SYM_CODE_END(ringlat_entry_page_fault)

/*
 * There is no stack: RSP is that of user space, and this code does not touch memory. SYSRET must
 * not fault either: RCX is the address after SYSCALL, so it is in user space or one past its end,
 * which is checked.
 */
.macro SYSCALL_ENTRY name, fence
	.balign 64
SYM_CODE_START(\name)
	UNWIND_HINT_ENTRY
	endbr64
	cmpq	$RINGLAT_COOKIE, %r12
	jne	__SCT__ringlat_kernel_syscall
	cmpq	%r13, %rcx
	jne	__SCT__ringlat_kernel_syscall
	MUTANT	3
	\fence
	READ_TSC %r8

	movq	%rcx, %rax
	shrq	$USER_ADDRESS_BITS, %rax
	jz	1f
	xorl	%ecx, %ecx		/* SIGSEGV in user space, not a fault in the kernel */
1:
	\fence
	READ_TSC
	MUTANT	4
	sysretq
	int3
SYM_CODE_END(\name)
.endm

SYSCALL_ENTRY ringlat_entry_syscall
SYSCALL_ENTRY ringlat_entry_syscall_fenced, lfence

/* Never called: the target of the static calls until they get the kernel's entry points. */
	.text
SYM_FUNC_START(ringlat_unset)
	endbr64				/* SYM_FUNC_START has none since 6.15 */
	ud2
	int3
SYM_FUNC_END(ringlat_unset)

	.section .note.GNU-stack, "", @progbits
