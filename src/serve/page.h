/* SPDX-License-Identifier: BSD-2-Clause */
/* The page /report: the last minutes of the flight recorder, as `latscope report` shows them. */
#ifndef LATSCOPE_SERVE_PAGE_H
#define LATSCOPE_SERVE_PAGE_H

#include <stddef.h>

/*
 * `last` is a duration, "10m"; NULL: 10 minutes. The caller frees *body. 0 or -errno; -EINVAL: not
 * a duration; -ENOSYS: this version has no page.
 */
int page__make(const char *last, char **body, size_t *len);

#endif
