// SPDX-License-Identifier: BSD-2-Clause
#include "fault_count.h"

#include <core/clock.h>
#include <probes/kit/bpf_probe.h>

/*
 * Faults that programs saw of the tasks that the filters leave, and that the kernel counts, too.
 * Those of unknown start may have failed, which the kernel does not count: so for the most that can
 * have been missed, they do not belong to it.
 */
static uint64_t seen(const struct fault_count *count, const struct bpf_probe *probe)
{
	struct lat_cell sum = { 0 };

	bpf_probe__add_cells(probe, 0, &sum);
	if (!count->by_events)
		return run__recorded(&sum) - sum.counts[LAT_ERRORS];
	if (!count->filters) /* those are of other CPUs, and the kernel counts them */
		sum.counts[LAT_UNMATCHED] += sum.counts[LAT_FILTERED];
	return run__recorded(&sum) + sum.counts[LAT_MISSED_START] + sum.counts[LAT_UNMATCHED] +
	       sum.counts[LAT_NEGATIVE];
}

static uint64_t missed(const struct bpf_probe *probe)
{
	struct bpf_probe_usage usage;

	return bpf_probe__usage(probe, &usage) ? 0 : usage.recursion_missed;
}

void fault_count__begin(struct fault_count *count, struct bpf_probe *probe,
			struct memlat_unseen *unseen)
{
	count->before = seen(count, probe);
	unseen->faults = 0;
	unseen->at_events = count->by_events && count->filters;
	unseen->since_ns = clock__now_ns();
	count->known = !bpf_probe__iterate(probe, "unseen_begin");
	__atomic_store_n(&unseen->counts, 1, __ATOMIC_SEQ_CST);
	count->after = seen(count, probe);
	count->missed_after = missed(probe);
}

void fault_count__end(struct fault_count *count, struct bpf_probe *probe,
		      struct memlat_unseen *unseen)
{
	count->missed_next = missed(probe);
	count->next = seen(count, probe);
	count->known = count->known && !bpf_probe__iterate(probe, "unseen_end");
	__atomic_store_n(&unseen->counts, 0, __ATOMIC_SEQ_CST);
	count->faults = unseen->faults;
	count->last = seen(count, probe);
}

static uint64_t beyond(uint64_t all, uint64_t part)
{
	return (int64_t)all > (int64_t)part ? all - part : 0;
}

/* Of a method that sees GUP: the most ends that programs can have missed of these tasks. */
static uint64_t most_missed(const struct fault_count *count, uint64_t first, uint64_t last)
{
	uint64_t outside = (count->missed_after - first) + (last - count->missed_next);

	return beyond(count->faults, count->next - count->after) + outside;
}

void fault_count__apply(const struct fault_count *count, uint64_t first, struct run_probe *entry)
{
	uint64_t all = entry->recursion_missed, most, unseen;

	if (!count->known)
		return;
	if (!count->by_events) {
		most = most_missed(count, first, first + all);
		entry->recursion_missed = count->filters && most < all ? most : all;
		return;
	}
	unseen = count->filters ? beyond(count->faults, 0)
				: beyond(count->faults, count->last - count->before);
	if (count->filters && unseen < all)
		entry->recursion_missed = unseen;
	entry->no_event = beyond(unseen, entry->recursion_missed);
}
