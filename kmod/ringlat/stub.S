/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stubs: see include/uapi/latscope/ringlat.h for what user code must do to meet them.
 *
 * They run with interrupts off, on the GS base and speculation controls of user space, and must go
 * to the kernel's own entry point exactly as they were entered: what they compare lies in registers
 * or in the frame that the hardware pushed, they write nothing before a crossing is recognised, and
 * jump by static calls, as an indirect jump here would have no mitigation.
 *
 * A cookie alone would not do: a signal handler that interrupts a crossing inherits its registers,
 * and its own sigreturn must go to the kernel. Hence the address.
 *
 * .noinstr.text is out of bounds for kprobes, hardware execution breakpoints and ftrace: an
 * exception in the SYSCALL stub would be delivered on the stack of user space.
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

/* Nothing; in a test build as many nops, by which their half of a crossing must be longer. */
.macro MUTANT nops
.if RINGLAT_MUTANT
	.rept \nops
	nop
	.endr
.endif
.endm

/* The counter to \to, by way of rax and rdx; or left in edx:eax. */
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
 * IRETQ must not fault here, with the GS base of user space: so the frame must be that of 64-bit
 * user code on the flat segments (no LDT, no espfix), and the address it is given must be one of
 * user space. That the error code is exactly this one leaves out instruction fetches, and KVM's
 * asynchronous page faults, which come as page faults with error code 0.
 */
	.balign 64
SYM_CODE_START(ringlat_stub_page_fault)
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
 * The load was the last instruction of user space's half, and there is none to go on at. Without
 * the cookie the same fault goes to the kernel.
 */
.Lnot_user:
	UNWIND_HINT_IRET_REGS offset=8
	xorl	%r12d, %r12d
	addq	$8, %rsp
	UNWIND_HINT_IRET_REGS
	iretq
	int3
SYM_CODE_END(ringlat_stub_page_fault)

/*
 * There is no stack: RSP is user space's, and memory is not touched. SYSRET must not fault either:
 * RCX is where SYSCALL came from, so it is an address of user space or one past its end, which is
 * found out.
 */
.macro SYSCALL_STUB name, fence
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

SYSCALL_STUB ringlat_stub_syscall
SYSCALL_STUB ringlat_stub_syscall_fenced, lfence

/* Never called: static calls go nowhere else until they are given the kernel's entry points. */
	.text
SYM_FUNC_START(ringlat_unset)
	endbr64				/* SYM_FUNC_START has none since 6.15 */
	ud2
	int3
SYM_FUNC_END(ringlat_unset)

	.section .note.GNU-stack, "", @progbits
