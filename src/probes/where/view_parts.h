/* SPDX-License-Identifier: BSD-2-Clause */
/* The pieces of where's text. `out` is at the start of a line, and all text fits 80 columns. */
#ifndef LATSCOPE_PROBES_WHERE_VIEW_PARTS_H
#define LATSCOPE_PROBES_WHERE_VIEW_PARTS_H

#include <stdio.h>

#include <core/pressure.h>
#include <print/wrap.h>

#include "view_blame.h"

/* Smaller parts of a life are one line together. */
#define PARTS_SHOWN 0.0005

/* ---- view_parts.c ---- */

/* A line for each part, with what is known of it: system calls, who caused it. */
void parts__print(FILE *out, const struct reasons *reasons);

/* All parts as one paragraph. */
void parts__print_line(FILE *out, const struct where_account *all);

/*
 * Of one state, or of all (WHERE_STATES): time by system call, largest first; up to `top` lines, 0:
 * all. 0 or -ENOMEM.
 */
int parts__print_calls(FILE *out, const struct run_probe *probe, double life_ns, unsigned int top);

/* A paragraph for each state: its time, and those that had most of it. 0 or -ENOMEM. */
int parts__print_states(FILE *out, const struct accounts *accounts);

/* ---- view_rows.c ---- */

/* Those that suffered most: for what they waited, and because of what; up to `top` rows, 0: all. */
void rows__print(FILE *out, const struct reasons *reasons, const struct blame *blame,
		 unsigned int top);

/*
 * "backup 47 %": the largest reason of its longest wait that has one, another one than itself if
 * there is; the name in so many columns.
 */
void rows__because(struct wrap *wrap, const struct reasons *reasons,
		   const struct where_account *row, unsigned int columns);

/* All parts of each row, as shares of its life. */
void rows__print_shares(FILE *out, const struct accounts *accounts, unsigned int top);

/* ---- view_waits.c ---- */

/* The worst waits with their chains; up to `top`. 0 or -ENOMEM. */
int waits__print(FILE *out, const struct table *waits, unsigned int top);

/* "db (9): ready" of "web (7): futex < db (9): ready": it made all others wait. */
const char *waits__last_link(const char *chain);

/* Of these states, a mask: "; the longest 92.8 ms: web (7) < db (9): ready", if there is one. */
void waits__add_worst(struct wrap *wrap, const struct table *waits, uint32_t states);

/* ---- view_checks.c ---- */

/*
 * The share of the window in which a task stalled for it, by PSI, of the machine or of the cgroup
 * that filters. False: it is unknown, or not that of these tasks.
 */
bool checks__pressure(const struct run *run, const struct run_probe *probe,
		      enum pressure_column column, double *share);

/* What is unknown, and why; and what the kernel's own accounts say. */
void checks__print(FILE *out, const struct run *run, const struct run_probe *probe,
		   const struct where_account *all);

#endif
