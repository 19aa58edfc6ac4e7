/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A window without an end sees more keys come and go than there are rows. When most rows are taken,
 * all keys but "(other)" are given up, and those that still have samples get new rows.
 *
 * It takes two steps, so that no sample is lost or counted for another key. The first one, before a
 * reading, removes the keys from the programs' map and waits until each CPU has left the programs
 * that may still have a row: what comes now is counted as (other), and the reading has all of the
 * keys' samples. The second one, after the writers got them, empties the rows.
 */
#ifndef LATSCOPE_PROBES_KIT_RENEW_H
#define LATSCOPE_PROBES_KIT_RENEW_H

#include "bpf_probe.h"

/* Is it time for it? At most every ten seconds. */
bool renew__is_due(const struct bpf_probe *probe, uint64_t now_ns);

/* 0 or -errno; then nothing changes but that new keys are (other). */
int renew__begin(struct bpf_probe *probe, uint64_t now_ns);
int renew__end(struct bpf_probe *probe, struct run_probe *entry, struct run_data *delta);

#endif
