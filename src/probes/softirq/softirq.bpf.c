// SPDX-License-Identifier: GPL-2.0-only
/*
 * Softirq latency: how long a handler runs, from softirq_entry to softirq_exit on its CPU,
 * including interrupts in between. A CPU runs one handler at a time, so the start is in a slot of
 * its CPU.
 */
#include <probes/kit/filter.bpf.h>
#include <probes/kit/sample.bpf.h>

#include "types.h"

const volatile struct lat_config config = {};
struct lat_control control = {};

CELLS_MAP(lat_cell) cells SEC(".maps");
struct keys_map keys SEC(".maps");
struct owners_map owners SEC(".maps");
struct rows_map rows SEC(".maps");
struct light_map light SEC(".maps");

/* By CPU: the handler that runs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct softirq_start);
} starts SEC(".maps");

static __always_inline struct softirq_start *start_here(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&starts, &cpu);
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(softirq_entry, unsigned int vector)
{
	struct softirq_start *start = start_here();

	if (!start)
		return 0;
	start->vector = vector;
	start->ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline void record(struct lat_cell *cell, __u32 vector, __u64 ns)
{
	const struct split split = { &keys, &owners, &rows, &light, &control, &config };
	const struct lat_key key = { .by = LAT_BY_VECTOR, .id = vector };
	const struct sample sample = sample_of(ns);

	hist_add_cell(&config, &cell->hist, sample);
	if (config_split(&config, LAT_BY_VECTOR))
		split_add(&split, cell, &key, NULL, sample);
	split_by_cpu(&split, cell, 0, bpf_get_smp_processor_id(), sample);
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(softirq_exit, unsigned int vector)
{
	struct softirq_start *start = start_here();
	struct lat_cell *cell = cells_here(&cells);
	__u64 now = bpf_ktime_get_ns(), began;

	if (!start || !cell)
		return 0;
	began = start->ns;
	start->ns = 0;
	if (!control.armed)
		return 0;
	COUNT(&config, cell->counts[LAT_SEEN]);
	if (!cpu_wanted(&config, bpf_get_smp_processor_id()))
		COUNT(&config, cell->counts[LAT_FILTERED]);
	else if (!began)
		COUNT(&config, cell->counts[LAT_MISSED_START]);
	else if (start->vector != vector)
		COUNT(&config, cell->counts[LAT_UNMATCHED]);
	else if (now < began)
		COUNT(&config, cell->counts[LAT_NEGATIVE]);
	else
		record(cell, vector, now - began);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
