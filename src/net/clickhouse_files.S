/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of packaging/clickhouse, see clickhouse_sql.h. */
#ifdef __CET__
#include <cet.h> /* marks the object: it has no code that could jump */
#endif

	.section .rodata

	.macro file name
	.globl clickhouse_\name
clickhouse_\name:
	.incbin "packaging/clickhouse/\name\().sql"
	.byte 0
	.endm

	file tables
	file problem
	file distributed
	file retention
	file ttl
	file hours
	file days
	file steps

	.section .note.GNU-stack, "", %progbits
