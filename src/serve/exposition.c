// SPDX-License-Identifier: BSD-2-Clause
#include "exposition.h"

#include <stdio.h>
#include <string.h>

#define LOWEST (-2) /* 2^-2 us */
#define HIGHEST 26 /* 2^26 us is 67 s */
_Static_assert(HIGHEST - LOWEST + 1 <= EXPOSITION_EDGES, "room for all edges");

static const struct {
	const char *type;
	const struct exposition_ops *ops;
} formats[EXPOSITION_FORMATS] = {
	[EXPOSITION_TEXT] = { "text/plain; version=0.0.4; charset=utf-8", &exposition_text },
	[EXPOSITION_OPENMETRICS] = { "application/openmetrics-text; version=1.0.0; charset=utf-8",
				     &exposition_text },
	[EXPOSITION_PROTOBUF] = { "application/vnd.google.protobuf; "
				  "proto=io.prometheus.client.MetricFamily; encoding=delimited",
				  &exposition_proto },
	[EXPOSITION_OTLP] = { "application/json", &exposition_otlp },
};

const char *exposition__content_type(enum exposition_format format)
{
	return formats[format].type;
}

/*
 * Clients list what they understand in the order of their preference, Prometheus does so too. So
 * the first known type counts, and weights (q=) are ignored.
 */
enum exposition_format exposition__choose(const char *accept)
{
	const char *proto = accept ? strstr(accept, "application/vnd.google.protobuf") : NULL;
	const char *open = accept ? strstr(accept, "application/openmetrics-text") : NULL;
	const char *text = accept ? strstr(accept, "text/plain") : NULL;

	if (proto && (!open || proto < open) && (!text || proto < text) &&
	    strstr(proto, "delimited"))
		return EXPOSITION_PROTOBUF;
	if (open && (!text || open < text))
		return EXPOSITION_OPENMETRICS;
	return EXPOSITION_TEXT;
}

static unsigned int make_edges(struct exposition_edge *edges, int step)
{
	unsigned int nr = 0;

	for (int power = LOWEST; power <= HIGHEST; power += step) {
		struct exposition_edge *edge = &edges[nr++];

		edge->seconds = power < 0 ? 1e-6 / (1 << -power) : 1e-6 * (1 << power);
		snprintf(edge->text, sizeof(edge->text), "%.12g", edge->seconds);
		edge->slots = power < 0 ? (uint32_t)HIST_SUB >> -power
					: (uint32_t)(HIST_SUB + HIST_SUB * power);
	}
	return nr;
}

unsigned int exposition__edges(bool coarse, const struct exposition_edge **edges)
{
	static struct exposition_edge all[2][EXPOSITION_EDGES];
	static unsigned int nr[2];

	if (!nr[coarse])
		nr[coarse] = make_edges(all[coarse], coarse ? 2 : 1);
	*edges = all[coarse];
	return nr[coarse];
}

static void end_family(struct exposition *to)
{
	if (to->is_open && formats[to->format].ops->end_family)
		formats[to->format].ops->end_family(to);
	to->is_open = false;
}

void exposition__family(struct exposition *to, enum exposition_type type, const char *name,
			const char *help)
{
	end_family(to);
	snprintf(to->name, sizeof(to->name), "%s", name);
	to->type = type;
	to->is_open = true;
	formats[to->format].ops->family(to, help);
}

void exposition__value(struct exposition *to, const struct exposition_label *labels, double value)
{
	formats[to->format].ops->value(to, labels, value);
}

void exposition__histogram(struct exposition *to, const struct exposition_label *labels,
			   const struct lat_hist *hist, bool coarse)
{
	formats[to->format].ops->histogram(to, labels, hist, coarse);
}

void exposition__end(struct exposition *to)
{
	end_family(to);
	if (to->format == EXPOSITION_OPENMETRICS)
		bytes__text(&to->out, "# EOF\n");
}
