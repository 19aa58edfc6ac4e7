/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What Prometheus reads, in its three formats:
 *
 *   text 0.0.4 and OpenMetrics 1.0   histograms with classic buckets. Their edges are powers of two
 *                                    of a microsecond, which are edges of our slots, so the counts
 *                                    are exact. A bucket of Prometheus includes its upper edge and
 *                                    ours does not: a sample of exactly 4096000 ns is in the next.
 *   protobuf, delimited              histograms also with native buckets of schema 3, which are
 *                                    1/8 of a power of two of a second wide (9 %). A slot, at most
 *                                    1/32 wide, is counted where its upper edge is: a sample can be
 *                                    one slot too high, never too low.
 *
 * And what an OpenTelemetry collector is sent: OTLP as JSON, with exponential histograms of scale
 * 3, which have the same buckets.
 */
#ifndef LATSCOPE_SERVE_EXPOSITION_H
#define LATSCOPE_SERVE_EXPOSITION_H

#include <latscope/event.h>

#include <net/bytes.h>

enum exposition_format {
	EXPOSITION_TEXT,
	EXPOSITION_OPENMETRICS,
	EXPOSITION_PROTOBUF,
	EXPOSITION_OTLP, /* never asked for by a client */
	EXPOSITION_FORMATS,
};

enum exposition_type { EXPOSITION_COUNTER, EXPOSITION_GAUGE, EXPOSITION_HISTOGRAM };

struct exposition_label {
	const char *name;
	const char *value; /* any text; NULL or empty: the label is absent */
};

#define EXPOSITION_LABELS 6
#define EXPOSITION_NAME 128

struct exposition {
	enum exposition_format format;
	struct bytes out;
	char name[EXPOSITION_NAME]; /* of the family that is open */
	enum exposition_type type;
	size_t family; /* protobuf: where the family began */
	bool is_open;
	/* OTLP: */
	bool has_points; /* the family */
	uint64_t start_ns, time_ns; /* Unix time: when counting began, and now */
	struct otlp_past *past; /* counters are differences to it; NULL: they are totals */
};

/* For the header Content-Type. */
const char *exposition__content_type(enum exposition_format format);

/* The format that the header Accept asks for; NULL: no header. */
enum exposition_format exposition__choose(const char *accept);

/* Begins a family; what follows are its samples. A counter's name ends in _total. */
void exposition__family(struct exposition *to, enum exposition_type type, const char *name,
			const char *help);

/* A sample of a counter or gauge. The labels end with one without name. */
void exposition__value(struct exposition *to, const struct exposition_label *labels, double value);

/*
 * A sample of a histogram in seconds. `coarse`: every second power of two is an edge of the classic
 * buckets, and protobuf has only native ones.
 */
void exposition__histogram(struct exposition *to, const struct exposition_label *labels,
			   const struct lat_hist *hist, bool coarse);

/* Ends the last family and the exposition. */
void exposition__end(struct exposition *to);

/* ---- shared by the formats ---- */

#define EXPOSITION_EDGES 32

struct exposition_edge {
	double seconds; /* upper edge */
	char text[24]; /* the same for a label */
	uint32_t slots; /* slots below it */
};

/* The upper edges of the classic buckets without the last, +Inf. Returns their number. */
unsigned int exposition__edges(bool coarse, const struct exposition_edge **edges);

struct exposition_ops {
	void (*family)(struct exposition *to, const char *help);
	void (*end_family)(struct exposition *to); /* NULL: it needs no end */
	void (*value)(struct exposition *to, const struct exposition_label *labels, double value);
	void (*histogram)(struct exposition *to, const struct exposition_label *labels,
			  const struct lat_hist *hist, bool coarse);
};

extern const struct exposition_ops exposition_text, exposition_proto, exposition_otlp;

/* The native bucket of schema 3 in which a slot is counted. */
int exposition_proto__bucket(uint32_t slot);

/*
 * ---- OTLP 1 as JSON: the body of ExportMetricsServiceRequest. Integers of 64 bits are strings
 * there, enumerations are numbers. ----
 */

/* What was sent before, for differences. */
struct otlp_past;

/* NULL: out of memory. */
struct otlp_past *otlp_past__new(void);
void otlp_past__free(struct otlp_past *past); /* NULL is allowed */

/* What comes before the families, and after exposition__end(). */
void exposition_otlp__begin(struct exposition *to, const char *host);
void exposition_otlp__end(struct exposition *to);

#endif
