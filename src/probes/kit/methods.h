/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses the method of a probe, for the open() of probes with a list of methods. */
#ifndef LATSCOPE_PROBES_KIT_METHODS_H
#define LATSCOPE_PROBES_KIT_METHODS_H

#include "probe.h"

struct bpf_object;

/*
 * One attempt, which cleans up after itself if it fails: -errno; `reason` stays empty if the
 * explanation of libbpf or the errno is enough.
 */
typedef int method_attempt(void *context, const struct probe_method *method, char reason[RUN_TEXT]);

/*
 * Tries the methods, best first, or only the one named. `why` says "name: reason" of each that did
 * not work, empty if the first one did. -EINVAL: no such method; -EOPNOTSUPP: none works; -ENOMEM.
 */
int methods__try(const struct probe_ops *ops, const char *wanted, method_attempt *attempt,
		 void *context, char why[RUN_TEXT]);

/* Loads the programs of the method, with the copies if `copied`, and no other of the object. */
int methods__select(const struct probe_method *method, bool copied, struct bpf_object *obj);

#endif
