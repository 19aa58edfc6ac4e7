/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code of the private guest. User mode loops over crossings; kernel mode returns at once.
 * Interrupts are always off. Registers in a loop:
 *
 *   rdi  the sample to be written next, struct ring_sample	rsi  samples left
 *   r8   user_out	r9   kernel_in		r10  kernel_out		r12  user_in
 *   r14  where user mode goes on		r15  the address that is absent
 *
 * rax, rcx and rdx are used by the stamps. No other register is changed.
 */
#include "cet.h"
#include "guest_layout.h"

/* The stamps at both ends of a window, as in tsc.h. An empty window has nothing between them. */
.macro begin to
	lfence
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%rax, \to
	lfence
.endm

.macro end to
	rdtscp
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%rax, \to
.endm

/*
 * For tests of the tests: with MUTANT_fault_u2k this crossing has one more instruction; with
 * MUTANT_all every crossing has.
 */
.macro crossing name
	.ifdef MUTANT_\name
	nop
	.endif
	.ifdef MUTANT_all
	nop
	.endif
.endm

.macro loop_on from
	mov	%r8, 0(%rdi)
	mov	%r9, 8(%rdi)
	mov	%r10, 16(%rdi)
	mov	%r12, 24(%rdi)
	add	$32, %rdi
	dec	%rsi
	jnz	\from
	int	$GUEST_VECTOR_DONE
	ud2
.endm

.macro symbol name
	.balign 64
	.globl guest_\name
guest_\name:
.endm

	.section .rodata
	.balign 4096

/* ---- user mode ---- */
symbol user_start

symbol user_empty
1:	begin	%r8
	end	%r9
	begin	%r10
	end	%r12
	loop_on	1b

symbol user_page_fault
	lea	2f(%rip), %r14
1:	begin	%r8
	crossing fault_u2k
	movb	(%r15), %al
	ud2				/* the kernel resumes after it */
2:	end	%r12
	loop_on	1b

/* As xperf does it, with an address of a page of its own for each sample. */
symbol user_fresh
	lea	2f(%rip), %r14
1:	mfence
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%rax, 0(%rdi)
	crossing fresh_u2k
	movb	(%r15), %al
	ud2
2:	rdtsc
	mfence
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%rax, %r12
	mov	0(%rdi), %r8
	add	$GUEST_PAGE, %r15
	loop_on	1b

symbol user_syscall
	lea	2f(%rip), %r14
1:	begin	%r8
	crossing syscall_u2k
	syscall
2:	end	%r12
	loop_on	1b

symbol user_int
1:	begin	%r8
	crossing int80_u2k
	int	$GUEST_VECTOR_INT
	end	%r12
	loop_on	1b

/*
 * CPUID exits the guest: it shows that exits are counted, and their cost. It also overwrites rbx.
 */
symbol user_cpuid
1:	begin	%r8
	xor	%eax, %eax
	cpuid
	end	%r9
	mov	%r9, %r10
	mov	%r9, %r12
	loop_on	1b

symbol user_end

/* ---- kernel mode ---- */
	.balign 4096
symbol kernel_start

symbol kernel_page_fault
	end	%r9
	mov	%cr2, %rax		/* outside both windows: is it the expected fault? */
	cmp	%rax, %r15
	jne	guest_stray_fault
	add	$8, %rsp		/* the error code */
	mov	%r14, (%rsp)
	begin	%r10
	crossing fault_k2u
	iretq

symbol kernel_syscall
	end	%r9
	mov	%r14, %rcx		/* SYSRET's target, which the stamp has overwritten */
	begin	%r10
	crossing syscall_k2u
	sysretq

symbol kernel_int
	end	%r9
	begin	%r10
	crossing int80_k2u
	iretq

symbol kernel_done
	movq	$GUEST_DONE, GUEST_REPORT
	hlt
	ud2

/* ---- what should not happen: report it and stop ---- */
guest_stray_fault:
	push	$GUEST_VECTOR_PF
	jmp	guest_report_exception

#define HAS_ERROR_CODE 0x60227d00	/* vectors 8, 10 to 14, 17, 21, 29, 30 */

symbol kernel_exceptions
vector = 0
.rept GUEST_EXCEPTIONS
	.balign GUEST_STUB
	/* Where the CPU pushes no error code, push a zero, so that all frames are alike. */
	.if !(HAS_ERROR_CODE >> vector & 1)
	push	$0
	.endif
	push	$vector
	jmp	guest_report_exception
	vector = vector + 1
.endr

guest_report_exception:
	pop	GUEST_REPORT + 8	/* vector */
	pop	GUEST_REPORT + 16	/* error code */
	pop	GUEST_REPORT + 24	/* rip */
	mov	%cr2, %rax
	mov	%rax, GUEST_REPORT + 32
	movq	$GUEST_LOST, GUEST_REPORT
	hlt
	ud2

symbol kernel_end

	.section .note.GNU-stack, "", @progbits
