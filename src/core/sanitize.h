/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Task names, labels and command lines are untrusted: their control characters must not reach a
 * terminal.
 */
#ifndef LATSCOPE_CORE_SANITIZE_H
#define LATSCOPE_CORE_SANITIZE_H

#include <stddef.h>

/*
 * Copies valid, visible UTF-8; replaces each other byte, and each character that is invisible or
 * changes the direction of text, by '?'. Never cuts a character. Returns dst, which is terminated
 * unless size is 0.
 */
char *sanitize__text(char *dst, size_t size, const char *src);

/* The same in place: the text does not grow. NULL is fine. */
void sanitize__in_place(char *text);

/* Columns of len bytes of a sanitized text, one per character. */
size_t sanitize__columns(const char *text, size_t len);

#endif
