/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What fio says of its own latencies. If a command of a matrix prints fio's result as JSON, it is
 * kept in the recording of the run as fio.json, and its values are in the table, too.
 */
#ifndef LATSCOPE_EXPERIMENT_FIO_RESULT_H
#define LATSCOPE_EXPERIMENT_FIO_RESULT_H

#include "table.h"

/*
 * Keeps what the command printed to the log from this place on, in `recording` of the directory
 * `name`. 0 also if that has no result of fio, or one that is not whole; otherwise -errno.
 */
int fio_result__keep(const struct experiment *experiment, off_t from, const char *name,
		     const char *recording);

/*
 * Adds the rows "fio read" and "fio write": percentiles and mean of the completion latency, and
 * the rate. Of runs with several jobs it has none: percentiles of jobs cannot be merged. 0 or
 * -ENOMEM.
 */
int fio_result__add_rows(struct cell_table *table);

#endif
