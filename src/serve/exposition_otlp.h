/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OTLP 1 as JSON: the body of ExportMetricsServiceRequest. Integers of 64 bits are strings there,
 * enumerations are numbers.
 */
#ifndef LATSCOPE_SERVE_EXPOSITION_OTLP_H
#define LATSCOPE_SERVE_EXPOSITION_OTLP_H

#include "exposition.h"

/* What was sent before, for differences. */
struct otlp_past;

/* NULL: out of memory. */
struct otlp_past *otlp_past__new(void);
void otlp_past__free(struct otlp_past *past); /* NULL is allowed */

/* What comes before the families, and after exposition__end(). */
void exposition_otlp__begin(struct exposition *to, const char *host);
void exposition_otlp__end(struct exposition *to);

#endif
