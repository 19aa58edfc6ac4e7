/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends what the exporter shows to an OpenTelemetry collector, again and again. */
#ifndef LATSCOPE_SERVE_OTLP_H
#define LATSCOPE_SERVE_OTLP_H

#include <net/sender.h>

#include "metrics.h"

#define OTLP_EVERY_NS 60000000000ULL
#define OTLP_HEADERS "OTEL_EXPORTER_OTLP_HEADERS" /* environment: "name=value,name=value" */

struct otlp;

struct otlp_config {
	const char *url; /* without a path: /v1/metrics */
	bool delta;
	uint64_t every_ns;
	/* Called when sending begins to fail, with the reason, and when it works again (NULL). */
	void (*changed)(const char *url, const char *why);
};

/* To be called before privileges are dropped. 0, -EINVAL: OTLP_HEADERS is not valid; or -ENOMEM. */
int otlp__new(struct otlp **otlp, const struct otlp_config *config);
void otlp__free(struct otlp *otlp); /* NULL is allowed */

/* Call often: `at_ns` is CLOCK_MONOTONIC. Sends when it is time to, or if `is_last`. */
void otlp__work(struct otlp *otlp, const struct metrics *metrics, uint64_t at_ns, bool is_last);

/* Sends what is in the queue, for a moment. */
void otlp__end(struct otlp *otlp);

void otlp__counts(const struct otlp *otlp, struct sender_counts *counts);

#endif
