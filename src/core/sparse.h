/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A histogram of event.h without its empty slots, for keys: a key has samples in a few dozen of
 * more than a thousand slots. Latencies are in ns.
 */
#ifndef LATSCOPE_CORE_SPARSE_H
#define LATSCOPE_CORE_SPARSE_H

#include <stdint.h>

#include <latscope/event.h>

struct sparse_slot {
	uint32_t slot;
	uint64_t count;
};

/* Empty when zeroed. */
struct sparse {
	uint64_t sum_ns;
	uint64_t max_ns;
	uint64_t tail;
	struct sparse_slot *slots; /* owned; in order, none empty */
	uint64_t nr; /* may be set to 0 to empty it */
	uint64_t room;
};

/* Converts the histogram. 0, or -ENOMEM and `sparse` is unchanged. */
int sparse__set(struct sparse *sparse, const struct lat_hist *hist);

/* The same from memory that programs add to meanwhile: its tail first. */
int sparse__read(struct sparse *sparse, const struct lat_hist *shared);

/* As hist__settle_tail(). */
void sparse__settle_tail(struct sparse *now, const struct sparse *before, uint64_t tail_ns);

/* As hist__delta(). `before` has no slot that `now` has not. */
int sparse__delta(struct sparse *delta, const struct sparse *now, const struct sparse *before);

/* Fills in a full histogram and returns it. */
const struct lat_hist *sparse__expand(const struct sparse *sparse, struct lat_hist *hist);

void sparse__add_to(struct lat_hist *hist, const struct sparse *sparse);

/* 0, -ENOMEM, or -EOVERFLOW: the count does not fit. */
int sparse__add_slot(struct sparse *sparse, uint32_t slot, uint64_t count);

/* The same. */
int sparse__add(struct sparse *to, const struct sparse *from);

/* Number of samples, in the slot `first` and above; in all slots. */
uint64_t sparse__count_from(const struct sparse *sparse, uint32_t first);
uint64_t sparse__count(const struct sparse *sparse);

/* Empties it and keeps its memory. */
void sparse__zero(struct sparse *sparse);

/* Empties it and frees its memory. */
void sparse__clear(struct sparse *sparse);

#endif
