/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What kind of fault a call of handle_mm_fault() handles. The mapping alone shows whether its
 * memory is anonymous, of a file or of hugetlb. The other kinds are recognized by functions that
 * the kernel calls for them alone, within the call. Only memlat.bpf.c includes it.
 *
 * The page tables at the entry would show more, but only what was there before the kernel took
 * their lock: what it then does can differ.
 */
#ifndef LATSCOPE_PROBES_MEMLAT_KIND_BPF_H
#define LATSCOPE_PROBES_MEMLAT_KIND_BPF_H

#include "entry.bpf.h"

/* Only for the split. */
static __always_inline __u32 mapping_kind(struct vm_area_struct *vma)
{
	__u32 kind = BPF_CORE_READ(vma, vm_flags) & VM_HUGETLB ? LAT_KIND_HUGETLB
		     : BPF_CORE_READ(vma, vm_ops)	       ? LAT_KIND_FILE
							       : LAT_KIND_ANONYMOUS;

	return kind << CALL_KIND_SHIFT;
}

/*
 * The page fault for which the kernel has called a function in the current task. A fault can happen
 * within another one, so this takes the last one that began before the function did: its stack
 * frame is above that of the function. NULL: there is none, or it is not measured.
 */
static __always_inline struct memlat_call *call_around(__u32 frame)
{
	__u32 tid = bpf_get_current_pid_tgid(), place = first_place(tid);
	struct memlat_call *found = NULL;
	__u64 least = ~0ULL;

#pragma clang loop unroll(disable)
	for (int i = 0; i < MEMLAT_PLACES; i++) {
		struct memlat_call *call = place_at(place + i);
		__u64 id = call->id;

		if (id_tid(id) != tid || is_entry(id) || call->pending || (__u32)id <= frame ||
		    id >= least)
			continue;
		least = id;
		found = call;
	}
	barrier_var(found);
	return found;
}

static __noinline int kind_found(__u32 frame, __u32 kind)
{
	struct memlat_call *call = call_around(frame);

	if (call)
		call->bits = higher_kind(call->bits, kind << CALL_KIND_SHIFT);
	return 0;
}

/* A write to a page that is mapped for reading: is it a file's, which gets it? */
static __always_inline __u32 write_kind(__u64 fault)
{
	struct vm_fault *vmf = (void *)fault;

	return BPF_CORE_READ(vmf, vma, vm_flags) & VM_SHARED ? LAT_KIND_FILE : LAT_KIND_COW;
}

/*
 * The method fentry has a second copy, for what the first one missed: see fault_enter_again(). Of a
 * kind that was found twice, nothing changes.
 */
#define KIND_PROGRAMS(name, function, kind)                                       \
	SEC("fentry/" #function)                                                  \
	int name(const __u64 *ctx)                                                \
	{                                                                         \
		return kind_found(frame_of(ctx), kind);                           \
	}                                                                         \
	SEC("fentry/" #function)                                                  \
	int name##_again(const __u64 *ctx)                                        \
	{                                                                         \
		return kind_found(frame_of(ctx), kind);                           \
	}                                                                         \
	SEC("kprobe/" #function)                                                  \
	int BPF_KPROBE(name##_kprobe)                                             \
	{                                                                         \
		return kind_found(frame_of((const void *)PT_REGS_SP(ctx)), kind); \
	}

KIND_PROGRAMS(kind_uffd, handle_userfault, LAT_KIND_UFFD)
KIND_PROGRAMS(kind_migration, migration_entry_wait, LAT_KIND_MIGRATION)
KIND_PROGRAMS(kind_migration_thp, pmd_migration_entry_wait, LAT_KIND_MIGRATION)
KIND_PROGRAMS(kind_migration_huge, migration_entry_wait_huge, LAT_KIND_MIGRATION)
/* Which the kernel counts as numa_hint_faults just before. */
KIND_PROGRAMS(kind_numa, mpol_misplaced, LAT_KIND_NUMA)
KIND_PROGRAMS(kind_cow_thp, do_huge_pmd_wp_page, LAT_KIND_COW)

#undef KIND_PROGRAMS

static __always_inline int cow_found(__u32 frame, __u64 fault)
{
	return kind_found(frame, write_kind(fault));
}

SEC("fentry/do_wp_page")
int kind_cow(const __u64 *ctx)
{
	return cow_found(frame_of(ctx), ctx[0]);
}

SEC("fentry/do_wp_page")
int kind_cow_again(const __u64 *ctx)
{
	return cow_found(frame_of(ctx), ctx[0]);
}

SEC("kprobe/do_wp_page")
int BPF_KPROBE(kind_cow_kprobe, unsigned long long fault)
{
	return cow_found(frame_of((const void *)PT_REGS_SP(ctx)), fault);
}

/*
 * A page table's entry, or one of tmpfs, is in swap: on each kernel the handler asks for the swap
 * device before it looks for the page. do_swap_page() also has entries that are not in swap.
 */
static __always_inline int swap_found(__u32 frame)
{
	return reclaims() ? 0 : kind_found(frame, LAT_KIND_SWAP);
}

SEC("fentry/get_swap_device")
int kind_swap(const __u64 *ctx)
{
	return swap_found(frame_of(ctx));
}

SEC("fentry/get_swap_device")
int kind_swap_again(const __u64 *ctx)
{
	return swap_found(frame_of(ctx));
}

SEC("kprobe/get_swap_device")
int BPF_KPROBE(kind_swap_kprobe)
{
	return swap_found(frame_of((const void *)PT_REGS_SP(ctx)));
}

#endif
