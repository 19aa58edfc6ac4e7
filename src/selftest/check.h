/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings: an expectation and what came of it, told to the one who asked for the validation. */
#ifndef LATSCOPE_SELFTEST_CHECK_H
#define LATSCOPE_SELFTEST_CHECK_H

#include "validate.h"

/* low <= got <= high, numbers of events. */
void check__count(const struct validate *validate, const char *name, uint64_t low, uint64_t high,
		  uint64_t got);

/* The same of ns. low 0: there is no lower bound; high UINT64_MAX: no upper one. */
void check__time(const struct validate *validate, const char *name, uint64_t low, uint64_t high,
		 uint64_t got);

/* got >= factor * base; `unit` formats both. */
void check__rise(const struct validate *validate, const char *name, double base, double factor,
		 double got, const char *(*observation)(char *, double));

void check__number(const struct validate *validate, const char *name, double low, double high,
		   double got);

/* What holds of every window: the account balances, the slots agree with the sum. */
void check__sound(const struct validate *validate, const struct run_probe *probe);

void check__skip(const struct validate *validate, const char *name, const char *why);
void check__error(const struct validate *validate, const char *name, const char *why);
void check__note(const struct validate *validate, const char *name, const char *got);

/* Samples whose slot is that of low_ns, that of high_ns or between. */
uint64_t check__between(const struct lat_hist *hist, uint64_t low_ns, uint64_t high_ns);

#endif
