/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Task names, labels and command lines come from outside: a control character in one must not reach
 * a terminal.
 */
#ifndef LATSCOPE_CORE_SANITIZE_H
#define LATSCOPE_CORE_SANITIZE_H

#include <stddef.h>

/*
 * Copies what is valid UTF-8 and can be seen; '?' for each other byte, and for each character that
 * is invisible or changes the direction of text. Never half a character.
 * Returns dst, which holds a string unless size is 0.
 */
char *sanitize__text(char *dst, size_t size, const char *src);

/* The same of a text where it is: it does not grow. NULL is fine. */
void sanitize__in_place(char *text);

/* Columns that so many bytes of a clean text take, a character being one. */
size_t sanitize__columns(const char *text, size_t len);

#endif
