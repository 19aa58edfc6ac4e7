/* SPDX-License-Identifier: BSD-2-Clause */
/* Results of checks: what was expected and what was measured. They go to validate->report(). */
#ifndef LATSCOPE_SELFTEST_CHECK_H
#define LATSCOPE_SELFTEST_CHECK_H

#include "validate.h"

/* Passes if low <= got <= high: a number of events. */
void check__count(const struct validate *validate, const char *name, uint64_t low, uint64_t high,
		  uint64_t got);

/* The same in ns. low 0: no lower bound; high UINT64_MAX: no upper bound. */
void check__time(const struct validate *validate, const char *name, uint64_t low, uint64_t high,
		 uint64_t got);

/* Passes if got >= factor * base; `format` prints both. */
void check__rise(const struct validate *validate, const char *name, double base, double factor,
		 double got, const char *(*format)(char *, double));

void check__number(const struct validate *validate, const char *name, double low, double high,
		   double got);

/* True of every window: the account balances, the slots agree with the sum. */
void check__sound(const struct validate *validate, const struct run_probe *probe);

void check__skip(const struct validate *validate, const char *name, const char *why);
void check__error(const struct validate *validate, const char *name, const char *why);
void check__note(const struct validate *validate, const char *name, const char *got);

/* Samples in the slots from that of low_ns to that of high_ns. */
uint64_t check__between(const struct lat_hist *hist, uint64_t low_ns, uint64_t high_ns);

#endif
