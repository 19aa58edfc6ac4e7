/* SPDX-License-Identifier: BSD-2-Clause */
/* Bodies of HTTP, compressed. */
#ifndef LATSCOPE_NET_GZIP_H
#define LATSCOPE_NET_GZIP_H

#include <stdbool.h>
#include <stddef.h>

/* Is a body in gzip welcome, by the header Accept-Encoding? NULL: there is none. */
bool gzip__is_accepted(const char *header);

/* Returns a new buffer of *packed bytes; NULL: out of memory, or more than 2 GiB. */
void *gzip__pack(const void *from, size_t len, bool fast, size_t *packed);

#endif
