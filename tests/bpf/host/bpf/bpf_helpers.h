/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stands in for libbpf's header where a test compiles BPF programs for this machine. The helpers
 * are functions of tests/bpf/host/kernel.h. They take no const: the test defines it away.
 */
#ifndef LATSCOPE_TESTS_HOST_BPF_HELPERS_H
#define LATSCOPE_TESTS_HOST_BPF_HELPERS_H

#define SEC(name)
#define __uint(name, value) int(*name)[value]
#define __type(name, value) typeof(value) *name
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#undef __noinline
#define __noinline __attribute__((noinline))
#define barrier() __asm__ __volatile__("" ::: "memory")
#define barrier_var(value) __asm__ __volatile__("" : "+r"(value))
#ifndef __clang__
#define __builtin_assume(condition) ((void)0)
#endif

struct task_struct;

__u64 bpf_ktime_get_ns(void);
__u32 bpf_get_smp_processor_id(void);
__u64 bpf_get_current_pid_tgid(void);
struct task_struct *bpf_get_current_task_btf(void);
long bpf_get_current_task(void);
long bpf_get_current_comm(void *to, __u32 size);
long bpf_probe_read_kernel(void *to, __u32 size, void *from);
long bpf_probe_read_kernel_str(void *to, __u32 size, void *from);
void *bpf_map_lookup_elem(void *map, void *key);
long bpf_map_update_elem(void *map, void *key, void *value, __u64 flags);
long bpf_map_delete_elem(void *map, void *key);
void *bpf_task_storage_get(void *map, void *task, void *value, __u64 flags);
__s64 bpf_perf_event_read(void *map, __u64 flags);

/* What only --why and the iterators need does nothing. */
#define bpf_ringbuf_reserve(...) NULL
#define bpf_ringbuf_submit(...) ((void)0)
#ifndef bpf_loop
#define bpf_loop(...) 0
#endif
#define bpf_get_stack(...) 0
#define bpf_task_pt_regs(...) NULL
#define bpf_get_task_stack(...) 0
#define bpf_find_vma(...) 0
#define bpf_kallsyms_lookup_name(...) (-1)
#define bpf_snprintf(...) 0

#endif
