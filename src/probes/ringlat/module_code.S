/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Crossings that the kernel module handles; see module.c. Registers in a loop:
 *
 *   rbx  the sample to be written next		rbp  samples left
 *   rdi  the address that is absent		r12, r13, r8  as the module wants them
 *   r15:r9  user_out				r14:r10  kernel_out
 *
 * An empty window has, instead of the crossing, the instructions that the module's entry code
 * executes before its first stamp, with the same kinds of operands. The difference is the crossing.
 */
#define __ASSEMBLY__
#include <uapi/latscope/ringlat.h>

#include "cet.h"

#define PAGE 4096
#define FRAME 48 /* error code, rip, cs, rflags, rsp, ss */
#define USER_CS 0x33
#define USER_SS 0x2b
#define ERROR_USER_READ_ABSENT 4

.macro function name
	.balign 64
	.globl \name
	.type \name, @function
\name:
	_CET_ENDBR
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	sub	$FRAME, %rsp
	mov	%rdi, %rbx
	mov	%rsi, %rbp
	mov	%rdx, %rdi
.endm

/* Store the stamps in the sample; kernel_in is already in r8. */
.macro next_sample from
	shl	$32, %rdx
	or	%rdx, %rax
	shl	$32, %r14
	or	%r14, %r10
	shl	$32, %r15
	or	%r15, %r9
	mov	%r9, 0(%rbx)
	mov	%r8, 8(%rbx)
	mov	%r10, 16(%rbx)
	mov	%rax, 24(%rbx)
	loop_on	\from
.endm

.macro loop_on from
	add	$32, %rbx
	dec	%rbp
	jnz	\from
	add	$FRAME, %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret
.endm

.macro begin
	mov	$RINGLAT_COOKIE, %r12d
	xor	%r8d, %r8d
	mfence
	lfence
	rdtsc
	mov	%rax, %r9
	mov	%rdx, %r15
.endm

.macro end
	mov	%rax, %r10
	mov	%rdx, %r14
	rdtsc
	lfence
	xor	%r12d, %r12d
.endm

/*
 * As xperf does it: MFENCE alone, and the stamp goes to memory within the window. user_out is in
 * the sample from here on, and not in registers.
 */
.macro begin_fresh
	mov	$RINGLAT_COOKIE, %r12d
	xor	%r8d, %r8d
	mfence
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%rax, 0(%rbx)
.endm

/* Without the cookie, so the kernel maps the page, which cools the caches for the next crossing. */
.macro end_fresh from
	mov	%rax, %r10
	mov	%rdx, %r14
	rdtsc
	mfence
	xor	%r12d, %r12d
	shl	$32, %rdx
	or	%rdx, %rax
	shl	$32, %r14
	or	%r14, %r10
	mov	%r8, 8(%rbx)
	mov	%r10, 16(%rbx)
	mov	%rax, 24(%rbx)
	movb	$1, (%rdi)
	add	$PAGE, %rdi
	loop_on	\from
.endm

/* What the entry code does between its two stamps is in no window. */
.macro stub_stamps fence
	\fence
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%rax, %r8
	\fence
	rdtsc
.endm

.macro prologue_page_fault
	endbr64
	cmpq	$RINGLAT_COOKIE, %r12
	jne	9f
	cmpq	%r13, 8(%rsp)
	jne	9f
	cmpl	$ERROR_USER_READ_ABSENT, (%rsp)
	jne	9f
	cmpw	$USER_CS, 16(%rsp)
	jne	9f
	cmpw	$USER_SS, 40(%rsp)
	jne	9f
9:
.endm

/* RCX as SYSCALL would leave it. */
.macro prologue_syscall
	endbr64
	cmpq	$RINGLAT_COOKIE, %r12
	jne	9f
	cmpq	%r13, %rcx
	jne	9f
9:
.endm

	.text

function module__page_fault
	lea	module__load(%rip), %r13
1:	begin
	.globl module__load
module__load:
	.byte	0x8a, 0x07		/* movb (%rdi), %al */
	end
	next_sample 1b

/* What the entry code would find on its stack. */
.macro frame
	movq	$ERROR_USER_READ_ABSENT, (%rsp)
	mov	%r13, 8(%rsp)
	movq	$USER_CS, 16(%rsp)
	movq	$USER_SS, 40(%rsp)
.endm

function module__page_fault_empty
	lea	2f(%rip), %r13
	frame
1:	begin
2:	prologue_page_fault
	stub_stamps
	end
	next_sample 1b

/* rdi: as many pages as crossings, which the kernel maps one by one. */
function module__fresh
	lea	2f(%rip), %r13
1:	begin_fresh
2:	.byte	0x8a, 0x07		/* movb (%rdi), %al */
	end_fresh 1b

function module__fresh_empty
	lea	2f(%rip), %r13
	frame
1:	begin_fresh
2:	prologue_page_fault
	stub_stamps
	end_fresh 1b

function module__syscall
	lea	2f(%rip), %r13
1:	begin
	/* no such system call: without the module it does nothing */
	mov	$-1, %eax
	syscall
2:	end
	next_sample 1b

.macro syscall_empty fence
	lea	2f(%rip), %r13
	mov	%r13, %rcx
1:	begin
	mov	$-1, %eax
2:	prologue_syscall
	stub_stamps \fence
	end
	next_sample 1b
.endm

function module__syscall_empty
	syscall_empty

function module__syscall_fenced_empty
	syscall_empty lfence

	.section .note.GNU-stack, "", @progbits
