# SPDX-License-Identifier: BSD-2-Clause
# A 32-bit program that sleeps for 4 * 20 ms. Without a library, as there may be none of 32 bits.
	.globl _start
_start:
	mov	$4, %esi
1:	mov	$162, %eax # nanosleep
	mov	$step, %ebx
	xor	%ecx, %ecx
	int	$0x80
	dec	%esi
	jnz	1b
	mov	$1, %eax # exit
	xor	%ebx, %ebx
	int	$0x80

	.data
step:	.long	0, 20000000

	.section .note.GNU-stack, "", @progbits
