/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The service: what is done with the intervals of a session that has no end. The exporter shows the
 * totals, the flight recorder keeps the last intervals. All of it runs in the one thread of the
 * session: requests are answered between two readings of the probes, so nothing needs a lock.
 */
#ifndef LATSCOPE_SERVE_SERVE_H
#define LATSCOPE_SERVE_SERVE_H

#include <session/session.h>
#include <store/recording.h>

struct serve;
struct recorder;
struct keeper;
struct otlp;
struct clickhouse;

#define SERVE_INTERVAL_NS 100000000ULL
#define SERVE_KEYS_NS 1000000000ULL /* the keys are read this often */
#define SERVE_CHECK_NS 10000000000ULL

struct serve_config {
	struct run *run;
	const struct names *names; /* of the session */
	int socket; /* listens; taken over */
	const char *token; /* NULL: none is needed */
	unsigned int max_series; /* cgroups with their own histograms, by metric */
	unsigned int max_keys; /* rows in the kernel */
	struct recorder *recorder; /* taken over; NULL: none */
	struct keeper *keeper; /* taken over; NULL: none */
	struct otlp *otlp; /* taken over; NULL: none */
	struct clickhouse *clickhouse; /* taken over; NULL: none */
};

/* 0 or -errno. */
int serve__new(struct serve **serve, const struct serve_config *config);
void serve__free(struct serve *serve); /* NULL is allowed */

/* Sets what the session needs for it, and adds its writers to the recording. */
void serve__attach(struct serve *serve, struct session_config *config, struct recording *recording);

#endif
