/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who keeps the account of each thread (account.bpf.h). The probe where reads it. Each program at a
 * switch costs its entry and a clock, so a probe that has one anyway changes the account there,
 * too: it hosts that part. What nobody hosts, the programs of where do.
 *
 * There is at most one account in this process. The order is: where offers it in its open(), the
 * other probes host it in theirs, and where attaches the rest when all probes are open.
 */
#ifndef LATSCOPE_PROBES_KIT_ACCOUNT_HOST_H
#define LATSCOPE_PROBES_KIT_ACCOUNT_HOST_H

#include <stdbool.h>
#include <stdint.h>

struct bpf_object;
struct bpf_object_skeleton;

struct account_host {
	const struct bpf_object *obj; /* loaded; its maps are the account */
	uint32_t line_mask; /* of its programs */
	bool is_hosted; /* another probe's programs change it at switches */
};

/* The account must stay until account_host__withdraw(). */
void account_host__offer(struct account_host *account);
void account_host__withdraw(const struct account_host *account);

/*
 * Between open and load of an object that can host: makes the maps of the account its own. NULL in
 * `account`: none is offered, and the object gets no such maps; its programs must not need them.
 * 0 or -errno.
 */
int account_host__share(struct bpf_object_skeleton *skeleton, struct account_host **account);

/* The programs that hosted are gone. */
void account_host__leave(void);

#endif
