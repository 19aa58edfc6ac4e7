/* SPDX-License-Identifier: BSD-2-Clause */
/* Durations, counts and sizes as text. */
#ifndef LATSCOPE_CORE_UNITS_H
#define LATSCOPE_CORE_UNITS_H

#include <stdint.h>

#define UNITS_MAX_NS (30ULL * 24 * 3600 * 1000000000) /* longest valid duration: 30 days */
#define UNITS_TEXT 32 /* enough for any of the texts below */

/*
 * "10s", "500ms", "1.5h": a number and ns, us, ms, s, m, min, h or d; seconds without a unit.
 * -EINVAL: not a duration; -ERANGE: one, but 0 or more than UNITS_MAX_NS.
 */
int units__parse_duration(const char *text, uint64_t *ns);

/* A decimal number and nothing else. -EINVAL: not a number; -ERANGE: outside [low, high]. */
int units__parse_count(const char *text, uint64_t low, uint64_t high, uint64_t *value);

/*
 * "10%", "99.9": percent, with or without the sign, to a share. -EINVAL: not a number; -ERANGE:
 * outside [low, high], which are percent.
 */
int units__parse_percent(const char *text, double low, double high, double *share);

/*
 * "100M", "1.5G", "65536": bytes, with K, M, G, T (or KiB ...) powers of 1024. -EINVAL: not a size;
 * -ERANGE: more than 2^60.
 */
int units__parse_size(const char *text, uint64_t *bytes);

/* All of these write to buf and return it. */
const char *units__size(char buf[UNITS_TEXT], uint64_t bytes); /* "64 MiB", "1.5 GiB" */
const char *units__ns(char buf[UNITS_TEXT], double ns); /* "870 ns", "1.23 ms" */
const char *units__duration(char buf[UNITS_TEXT], uint64_t ns); /* "8 us", "1.5 s" */
const char *units__count(char buf[UNITS_TEXT], uint64_t count); /* "12,345" */
/* The same up to 9,999,999; then "12.3 M". */
const char *units__short_count(char buf[UNITS_TEXT], uint64_t count);
const char *units__rate(char buf[UNITS_TEXT], double per_second); /* "12,345/s", "0.25/s" */
const char *units__share(char buf[UNITS_TEXT], uint64_t part, uint64_t whole); /* "0.84 %" */
/* Range of a log2 bucket in us: "[512, 1K)"; K, M and G are powers of 1024. */
const char *units__bucket(char buf[UNITS_TEXT], unsigned int bucket);
const char *units__ratio(char buf[UNITS_TEXT], double ratio); /* the same, of a share */
/* "95 %", with decimals only from 99 % on. */
const char *units__confidence(char buf[UNITS_TEXT], double confidence);

#endif
