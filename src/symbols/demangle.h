/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of C++ functions as their authors wrote them, and of Rust functions in the older of its two
 * forms, which has the same grammar. The C++ library of the machine knows how. It is loaded only
 * for this, and names stay as they are where it is missing.
 */
#ifndef LATSCOPE_SYMBOLS_DEMANGLE_H
#define LATSCOPE_SYMBOLS_DEMANGLE_H

#include <stddef.h>

/* Loads the library: to be called where files may be opened. */
void demangle__load(void);

/*
 * `len` bytes of a symbol's name, to be freed with free(); NULL: it is no such name, or the library
 * is not loaded. Not for processes with privileges: a name from a file can make it crash.
 */
char *demangle__name(const char *name, size_t len);

#endif
