/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A matrix: one command in all combinations of named values, each a cell. Its file:
 *
 *   # comment
 *   rw: read write              an axis and its values
 *   depth: 1 8 32
 *   reference: depth=8          the cell to compare with; by default the first
 *   run: fio --rw={rw} --iodepth={depth}
 *   record: --disk $DIR         more options of record
 *
 * {name} becomes the value as one word of the shell, {{ becomes {. Braces around anything else than
 * a name stay, and so does ${name}, which is the shell's.
 */
#ifndef LATSCOPE_EXPERIMENT_MATRIX_H
#define LATSCOPE_EXPERIMENT_MATRIX_H

#include <core/run.h>

#include "plan.h"

#define MATRIX_AXES 16
#define MATRIX_VALUES 64 /* of an axis */
#define MATRIX_COMMAND 4096 /* bytes */
#define MATRIX_RECORD 64 /* words */

struct matrix_axis {
	const char *name;
	const char *values[MATRIX_VALUES];
	size_t nr;
	uint64_t only; /* mask of the values that were chosen; 0: all */
	uint64_t reference; /* mask of the values of the reference; 0: all */
};

struct matrix {
	char *text; /* owned; the others point into it */
	struct matrix_axis axes[MATRIX_AXES];
	size_t nr;
	const char *command;
	const char *record; /* options, with quotes and variables of the shell; NULL: none */
	char error[RUN_TEXT];
};

/* -EINVAL and other -errno: `error` says why. The caller must always call matrix__clear(). */
int matrix__read(struct matrix *matrix, const char *path);
int matrix__parse(struct matrix *matrix, const char *text);

/* Only these values: "depth=1,depth=8,rw=read". The errors of matrix__read(). */
int matrix__choose(struct matrix *matrix, const char *only);

/*
 * Adds the cells to the sides of a plan, with its reference, and sets its options of record. The
 * errors of matrix__read().
 */
int matrix__plan(struct matrix *matrix, struct plan *plan);

void matrix__clear(struct matrix *matrix);

#endif
