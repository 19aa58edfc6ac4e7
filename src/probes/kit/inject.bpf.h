/* SPDX-License-Identifier: GPL-2.0-only */
/* Faults that tests inject into the samples of a probe; only compiled with -DLATSCOPE_FAULTS. */
#ifndef LATSCOPE_PROBES_KIT_INJECT_BPF_H
#define LATSCOPE_PROBES_KIT_INJECT_BPF_H

const volatile enum lat_inject inject = LAT_INJECT_NONE;
__u64 nr_injected; /* samples that were given to inject_fault() */
__u64 last_start_ns[LAT_METRICS]; /* of the last of them */

static __always_inline bool injects(void)
{
	return inject != LAT_INJECT_NONE;
}

/* Is it this fault, in what `why` says? And in every third call? */
#define injected(fault) (inject == LAT_INJECT_##fault)
#define injected_third(fault) (injected(fault) && __sync_fetch_and_add(&nr_injected, 1) % 3 == 2)

/* As if the sample began at the start of the sample before it. */
static __always_inline __u64 since_last_start(__u64 *last_start, __u64 ns)
{
	__u64 start = bpf_ktime_get_ns() - ns, last = *last_start;

	*last_start = start;
	return last && last < start ? ns + (start - last) : ns;
}

/* Changes a sample that is split by key, before it is added. false: do not add it. */
static __always_inline bool inject_fault(const volatile struct lat_config *config, __u32 metric,
					 struct lat_cell *cell, __u64 *ns)
{
	bool tenth = __sync_fetch_and_add(&nr_injected, 1) % 10 == 9;

	if (inject == LAT_INJECT_DROP && tenth)
		cell->counts[LAT_SEEN]--;
	if (inject == LAT_INJECT_DROP || inject == LAT_INJECT_LEAK)
		return !tenth;
	if (inject == LAT_INJECT_DOUBLE && tenth) {
		cell->counts[LAT_SEEN]++;
		hist_add(&cell->hist, *ns, config->tail_ns);
	}
	if (inject == LAT_INJECT_SHIFT) {
		cell->hist.slots[bounded_slot(hist_slot(*ns))]--; /* where it will be added */
		cell->hist.slots[bounded_slot(hist_slot(2 * *ns))]++;
	}
	if (inject == LAT_INJECT_UNIT)
		*ns *= 1000;
	if (inject == LAT_INJECT_STALE)
		*ns = since_last_start(&last_start_ns[metric], *ns);
	if (inject == LAT_INJECT_LATE)
		*ns -= *ns / 4;
	return true;
}

#endif
