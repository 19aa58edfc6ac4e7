/* SPDX-License-Identifier: BSD-2-Clause */
/* The packets of a trace of Perfetto. Times are ns since the window opened, and may be before. */
#ifndef LATSCOPE_EXPORT_PACKETS_H
#define LATSCOPE_EXPORT_PACKETS_H

#include <core/frames.h>
#include <core/run.h>

#include "messages.h"

struct packets {
	struct messages messages;
	uint64_t start_ns; /* CLOCK_MONOTONIC when the window opened */
	uint64_t uuids, flows; /* given so far */
};

void packets__begin(struct packets *packets, FILE *out, const struct run *run);
int packets__end(struct packets *packets); /* 0 or the first -errno; must always be called */

/* ---- tracks ---- */

/* What is not needed is 0 or NULL. Texts are sanitized. */
struct packet_track {
	uint64_t parent; /* UUID */
	const char *name, *what;
	int rank; /* place among its siblings */
	bool ranks; /* it has children with ranks */
	int64_t pid, tid; /* it is that of this process, or thread, with this name */
	bool counts; /* it is a counter... */
	const char *unit; /* ...in this unit, on one scale with those of the same... */
	const char *scale; /* ...name */
};

/* Returns its UUID. */
uint64_t packets__track(struct packets *packets, const struct packet_track *track);

/* ---- events ---- */

#define PACKET_ARGS 24
#define PACKET_TEXT 512

struct packet_args; /* names and values that are shown with an event */

struct packet_args *packet_args__new(void); /* NULL: out of memory */
void packet_args__free(struct packet_args *args); /* NULL is fine */
void packet_args__clear(struct packet_args *args);

/* Empty texts and stacks, and what is beyond PACKET_ARGS, are left out. Names must stay. */
void packet_args__text(struct packet_args *args, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void packet_args__number(struct packet_args *args, const char *name, int64_t value);
/* The functions of a stack, as tables have it; one of each pid != 0 and pid 0 at a time. */
void packet_args__stack(struct packet_args *args, const char *name, const struct frames *frames,
			int64_t pid, const char *stack);

struct packet_slice {
	uint64_t track;
	const char *category, *name;
	const struct packet_args *args; /* NULL: none */
	uint64_t flow_from, flow_to; /* an arrow begins or ends here; 0: none */
};

uint64_t packets__new_flow(struct packets *packets);

/* Slices of a track nest: one ends before what it is in. */
void packets__slice_begin(struct packets *packets, int64_t at_ns, const struct packet_slice *slice);
void packets__slice_end(struct packets *packets, int64_t at_ns, uint64_t track);
/* One without a length. */
void packets__instant(struct packets *packets, int64_t at_ns, const struct packet_slice *slice);

/* The value of a counter from now on. */
void packets__count(struct packets *packets, int64_t at_ns, uint64_t track, double value);

#endif
