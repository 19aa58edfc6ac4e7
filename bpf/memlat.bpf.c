// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page-fault latency.
 *
 * Three rungs, of which user space loads one:
 *   fentry      handle_mm_fault(), entry to return, open calls in task storage
 *   kprobe      the same by kprobe and kretprobe, open calls in a hash keyed by pid_tgid
 *   perf-event  software perf events at both ends of the fault, where neither is allowed; the
 *               window is wider (metric page_fault): VMA lookup and mmap_lock wait are in it
 *
 * A fault that the kernel retries is one sample, from its first call to its last return. Calls nest
 * (GUP inside a fault), so a task has a stack of open ones. A call is known by where its frame lies
 * on the kernel stack: an inner call lies below the outer, whatever probe runs were missed between.
 */
#include "filter.bpf.h"
#include "sample.bpf.h"

const volatile struct lat_knobs knobs = {};
struct lat_control control = {};
struct lat_open open_waits = {};

CELLS_MAP(1) cells SEC(".maps");
struct keys_map keys SEC(".maps");
struct rows_map rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct memlat_task);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 14);
	__type(key, __u64);
	__type(value, struct memlat_task);
} start_ts SEC(".maps");

/* What is known of a fault besides its time. */
enum memlat_bit {
	FRAME_PENDING = 1 << 0, /* its last call returned "retry" */
	FRAME_USER = 1 << 1,
	FRAME_GUP = 1 << 2,
	FRAME_WRITE = 1 << 3,
	FRAME_EXEC = 1 << 4,
	FRAME_MAJOR = 1 << 5,
	FRAME_FAILED = 1 << 6,
	FRAME_THP = 1 << 7,
	FRAME_HUGETLB = 1 << 8,
	FRAME_VMA_LOCK = 1 << 9, /* the call was the attempt under the VMA's lock */
};

#define VM_HUGETLB 0x00400000

#define FAULT_FLAG(name) bpf_core_enum_value(enum fault_flag, FAULT_FLAG_##name)
#define FAULT_RESULT(name) bpf_core_enum_value(enum vm_fault_reason, VM_FAULT_##name)

/* The attempt under the VMA's lock came in 6.4 (CONFIG_PER_VMA_LOCK, 0b6cc04f3db3). */
enum fault_flag___vma_lock { FAULT_FLAG_VMA_LOCK___probe = 1 << 12 };

static __always_inline __u32 flag_vma_lock(void)
{
	if (bpf_core_enum_value_exists(enum fault_flag___vma_lock, FAULT_FLAG_VMA_LOCK___probe))
		return bpf_core_enum_value(enum fault_flag___vma_lock, FAULT_FLAG_VMA_LOCK___probe);
	return 0;
}

static __always_inline __u32 result_error(void)
{
	return FAULT_RESULT(OOM) | FAULT_RESULT(SIGBUS) | FAULT_RESULT(SIGSEGV) |
	       FAULT_RESULT(HWPOISON) | FAULT_RESULT(HWPOISON_LARGE) | FAULT_RESULT(FALLBACK);
}

/* Frame `depth`; the mask is for the verifier, callers check the depth. */
static __always_inline struct memlat_frame *frame_at(struct memlat_task *task, __u32 depth)
{
	return &task->frames[depth & (MEMLAT_DEPTH - 1)];
}

static __always_inline void count_start_loss(__u32 which)
{
	struct lat_cell *cell = control.armed ? cells_here(&cells) : NULL;

	if (cell)
		__sync_fetch_and_add(&cell->counts[which], 1);
}

static __always_inline void split_by_bits(const struct split *split, struct lat_cell *cell,
					  __u32 by, __u64 ns, __u32 value)
{
	struct lat_key key = { .by = by, .id = value };

	if (knobs_split(&knobs, by))
		split_add(split, cell, &key, NULL, ns);
}

/* Adds a finished fault to the histogram and to the splits that are on. */
static __always_inline void record(struct lat_cell *cell, struct task_struct *task, __u64 ns,
				   __u32 bits)
{
	const struct split split = { &keys, &rows, &control, &knobs };

	if (bits & FRAME_FAILED)
		cell->counts[LAT_ERRORS]++;
	if (!knobs.by) {
		hist_add(&cell->hist, ns, knobs.tail_ns);
		return;
	}
	if (!tell(&knobs, &control, 0, cell, &ns))
		return;
	hist_add(&cell->hist, ns, knobs.tail_ns);
	split_by_task(&split, cell, task, false, ns);
	split_by_bits(&split, cell, LAT_BY_MODE, ns,
		      bits & FRAME_GUP	  ? LAT_MODE_GUP
		      : bits & FRAME_USER ? LAT_MODE_USER
					  : LAT_MODE_KERNEL);
	split_by_bits(&split, cell, LAT_BY_TYPE, ns,
		      bits & FRAME_FAILED  ? LAT_TYPE_FAILED
		      : bits & FRAME_MAJOR ? LAT_TYPE_MAJOR
					   : LAT_TYPE_MINOR);
	split_by_bits(&split, cell, LAT_BY_ACCESS, ns,
		      bits & FRAME_WRITE  ? LAT_ACCESS_WRITE
		      : bits & FRAME_EXEC ? LAT_ACCESS_EXEC
					  : LAT_ACCESS_READ);
	split_by_bits(&split, cell, LAT_BY_PAGE, ns,
		      bits & FRAME_HUGETLB ? LAT_PAGE_HUGETLB
		      : bits & FRAME_THP   ? LAT_PAGE_THP
					   : LAT_PAGE_BASE);
}

/* ---- handle_mm_fault(), entry to return: fentry and kprobe ---- */

struct call {
	__u64 address;
	__u64 stack; /* lower for an inner call */
	__u32 flags;
	__u32 bits;
};

static __always_inline __u32 call_bits(__u32 flags, bool has_regs, struct vm_area_struct *vma)
{
	__u32 bits = 0;

	if (flags & FAULT_FLAG(USER))
		bits |= FRAME_USER;
	if (!has_regs)
		bits |= FRAME_GUP;
	if (flags & FAULT_FLAG(WRITE))
		bits |= FRAME_WRITE;
	if (flags & FAULT_FLAG(INSTRUCTION))
		bits |= FRAME_EXEC;
	if (flags & flag_vma_lock())
		bits |= FRAME_VMA_LOCK;
	/* mm_account_fault() calls every second attempt major, and so do we. */
	if (flags & FAULT_FLAG(TRIED))
		bits |= FRAME_MAJOR;
	if (knobs_split(&knobs, LAT_BY_PAGE) && BPF_CORE_READ(vma, vm_flags) & VM_HUGETLB)
		bits |= FRAME_HUGETLB;
	return bits;
}

/*
 * Does the call go on with the fault whose last call said "retry"? The second attempt carries
 * TRIED, save for the one that follows a failed attempt under the VMA's lock. A retry given up for
 * a signal leaves a pending frame behind, which a later fault at the same address must not inherit.
 */
static __always_inline bool call_continues(const struct memlat_frame *frame,
					   const struct call *call)
{
	if (!(frame->bits & FRAME_PENDING) || frame->address != call->address)
		return false;
	return call->flags & FAULT_FLAG(TRIED) ||
	       (frame->bits & FRAME_VMA_LOCK && !(call->bits & FRAME_VMA_LOCK));
}

static __always_inline void call_enter(struct memlat_task *task, const struct call *call)
{
	struct memlat_frame *frame;

	/* Calls at or below this one on the stack have returned, though we were not told. */
	for (int i = 0; i < MEMLAT_DEPTH; i++) {
		if (!task->depth || frame_at(task, task->depth - 1)->stack > call->stack)
			break;
		task->depth--;
		count_start_loss(LAT_ABANDONED);
	}
	if (task->depth >= MEMLAT_DEPTH) {
		count_start_loss(LAT_NOT_KEPT);
		return;
	}
	frame = frame_at(task, task->depth++);
	if (!call_continues(frame, call)) {
		if (frame->bits & FRAME_PENDING)
			count_start_loss(LAT_ABANDONED);
		frame->tries = 0;
		frame->address = call->address;
		frame->bits = 0;
		frame->start_ns = bpf_ktime_get_ns();
	}
	frame->bits = (frame->bits & FRAME_MAJOR) | call->bits;
	frame->stack = call->stack;
}

/* Ends the innermost call if it is this one. Returns its frame, or NULL and the reason in `why`. */
static __always_inline struct memlat_frame *call_leave(struct memlat_task *task, __u64 stack,
						       __u32 *why)
{
	struct memlat_frame *frame;

	*why = LAT_MISSED_START;
	for (int i = 0; i < MEMLAT_DEPTH; i++) {
		if (!task->depth)
			return NULL;
		frame = frame_at(task, task->depth - 1);
		if (frame->stack > stack) /* an outer call: this one's entry was missed */
			return NULL;
		task->depth--;
		if (frame->stack == stack)
			return frame;
		count_start_loss(LAT_ABANDONED);
		*why = LAT_UNMATCHED;
	}
	return NULL;
}

static __always_inline int call_enter_stored(const struct call *call)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct memlat_task *task;

	if (filter_by_task(&knobs) && !task_wanted(&knobs, current, false))
		return 0;
	task = bpf_task_storage_get(&tasks, current, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (task)
		call_enter(task, call);
	else
		count_start_loss(LAT_NOT_KEPT);
	return 0;
}

/* Counts the return of a call. `task` is NULL for a task without open calls. */
static __always_inline int call_finish(struct task_struct *current, struct memlat_task *task,
				       __u64 stack, __u32 result)
{
	struct memlat_frame *frame = NULL;
	__u32 why = LAT_MISSED_START;
	struct lat_cell *cell;
	__u64 now, start;

	now = bpf_ktime_get_ns();
	if (task)
		frame = call_leave(task, stack, &why);
	if (frame && result & FAULT_RESULT(RETRY)) {
		frame->bits |= FRAME_PENDING | (result & FAULT_RESULT(MAJOR) ? FRAME_MAJOR : 0);
		frame->tries++;
	}
	cell = control.armed ? cells_here(&cells) : NULL;
	if (!cell)
		return 0;
	cell->counts[LAT_SEEN]++;
	if (!frame) {
		if (filter_by_task(&knobs) && !task_wanted(&knobs, current, false))
			why = LAT_FILTERED;
		cell->counts[why]++;
		return 0;
	}
	if (result & FAULT_RESULT(RETRY)) {
		cell->counts[LAT_CONTINUED]++;
		return 0;
	}
	cell->counts[LAT_JOINED] += frame->tries;
	start = frame->start_ns;
	frame->bits |= (result & FAULT_RESULT(MAJOR) ? FRAME_MAJOR : 0) |
		       (result & result_error() ? FRAME_FAILED : 0);
	if (now < start)
		cell->counts[LAT_NEGATIVE]++;
	else
		record(cell, current, now - start, frame->bits);
	frame->bits = 0;
	return 0;
}

/*
 * The context of fentry and fexit lies in the frame of the trampoline that both share: its address
 * is the same at entry and return of one call, and lower in an inner call.
 */
SEC("fentry/handle_mm_fault")
int BPF_PROG(fault_enter, struct vm_area_struct *vma, unsigned long address, unsigned int flags,
	     struct pt_regs *regs)
{
	struct call call = {
		.address = address,
		.stack = (__u64)ctx,
		.flags = flags,
		.bits = call_bits(flags, regs, vma),
	};

	return call_enter_stored(&call);
}

SEC("fexit/handle_mm_fault")
int BPF_PROG(fault_leave, struct vm_area_struct *vma, unsigned long address, unsigned int flags,
	     struct pt_regs *regs, vm_fault_t result)
{
	struct task_struct *current = bpf_get_current_task_btf();

	return call_finish(current, bpf_task_storage_get(&tasks, current, NULL, 0), (__u64)ctx,
			   result);
}

/* Marks the fault that is open as one that a transparent huge page served. */
static __always_inline void mark_thp(struct memlat_task *task, __u32 result)
{
	if (!task || !task->depth || result & (FAULT_RESULT(FALLBACK) | result_error()))
		return;
	frame_at(task, task->depth - 1)->bits |= FRAME_THP;
}

SEC("fexit/do_huge_pmd_anonymous_page")
int BPF_PROG(thp_leave, struct vm_fault *vmf, vm_fault_t result)
{
	mark_thp(bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), NULL, 0), result);
	return 0;
}

SEC("kprobe/handle_mm_fault")
int BPF_KPROBE(fault_enter_kprobe, struct vm_area_struct *vma, unsigned long address,
	       unsigned int flags, struct pt_regs *regs)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct memlat_task *task, fresh;
	struct call call = {
		.address = address,
		.stack = PT_REGS_SP(ctx),
		.flags = flags,
		.bits = call_bits(flags, regs, vma),
	};

	if (filter_by_task(&knobs) && !task_wanted(&knobs, bpf_get_current_task_btf(), false))
		return 0;
	task = bpf_map_lookup_elem(&start_ts, &id);
	if (!task) {
		__builtin_memset(&fresh, 0, sizeof(fresh));
		bpf_map_update_elem(&start_ts, &id, &fresh, BPF_NOEXIST);
		task = bpf_map_lookup_elem(&start_ts, &id);
	}
	if (task)
		call_enter(task, &call);
	else
		count_start_loss(LAT_NOT_KEPT);
	return 0;
}

SEC("kretprobe/handle_mm_fault")
int BPF_KRETPROBE(fault_leave_kprobe, unsigned long result)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct memlat_task *task = bpf_map_lookup_elem(&start_ts, &id);

	/* The return address has been popped: the stack is one word above where it was at entry. */
	call_finish(bpf_get_current_task_btf(), task, PT_REGS_SP(ctx) - sizeof(long), result);
	if (task && !task->depth && !(task->frames[0].bits & FRAME_PENDING))
		bpf_map_delete_elem(&start_ts, &id);
	return 0;
}

SEC("kretprobe/do_huge_pmd_anonymous_page")
int BPF_KRETPROBE(thp_leave_kprobe, unsigned long result)
{
	__u64 id = bpf_get_current_pid_tgid();

	mark_thp(bpf_map_lookup_elem(&start_ts, &id), result);
	return 0;
}

/* A task that dies takes the retry it never made with it. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(task_exit, struct task_struct *task)
{
	__u64 id = (__u64)task->tgid << 32 | (__u32)task->pid;

	bpf_map_delete_elem(&start_ts, &id);
	return 0;
}

/* ---- software perf events ---- */

SEC("perf_event")
int event_start(struct bpf_perf_event_data *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct memlat_frame *frame;
	struct memlat_task *task;

	if (filter_by_task(&knobs) && !task_wanted(&knobs, current, false))
		return 0;
	task = bpf_task_storage_get(&tasks, current, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!task) {
		count_start_loss(LAT_NOT_KEPT);
		return 0;
	}
	/* A fault that failed has no end event: its start is still here. */
	frame = frame_at(task, 0);
	if (frame->start_ns)
		count_start_loss(LAT_ABANDONED);
	frame->address = ctx->addr;
	frame->bits = from_user_mode(ctx) ? FRAME_USER : 0;
	frame->start_ns = bpf_ktime_get_ns();
	task->depth = 1;
	return 0;
}

static __always_inline int event_end(struct bpf_perf_event_data *ctx, __u32 bits)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct memlat_frame *frame = NULL;
	struct memlat_task *task;
	struct lat_cell *cell;
	__u64 now, start = 0;

	now = bpf_ktime_get_ns();
	task = bpf_task_storage_get(&tasks, current, NULL, 0);
	if (task) {
		frame = frame_at(task, 0);
		start = frame->start_ns;
		frame->start_ns = 0;
		task->depth = 0;
	}
	cell = control.armed ? cells_here(&cells) : NULL;
	if (!cell)
		return 0;
	cell->counts[LAT_SEEN]++;
	if (!start)
		cell->counts[filter_by_task(&knobs) && !task_wanted(&knobs, current, false)
				     ? LAT_FILTERED
				     : LAT_MISSED_START]++;
	else if (frame->address != ctx->addr)
		cell->counts[LAT_UNMATCHED]++;
	else if (now < start)
		cell->counts[LAT_NEGATIVE]++;
	else
		record(cell, current, now - start, frame->bits | bits);
	return 0;
}

SEC("perf_event")
int event_minor(struct bpf_perf_event_data *ctx)
{
	return event_end(ctx, 0);
}

SEC("perf_event")
int event_major(struct bpf_perf_event_data *ctx)
{
	return event_end(ctx, FRAME_MAJOR);
}

/* ---- what is open when the window has closed ---- */

SEC("iter/task")
int census(struct bpf_iter__task *ctx)
{
	struct task_struct *current = ctx->task;
	struct memlat_task *task;
	__u64 now;

	if (!current)
		return 0;
	task = bpf_task_storage_get(&tasks, current, NULL, 0);
	if (!task || !task->depth)
		return 0;
	now = bpf_ktime_get_ns();
	open_waits.count += task->depth;
	if (now - task->frames[0].start_ns > open_waits.oldest_ns)
		open_waits.oldest_ns = now - task->frames[0].start_ns;
	return 0;
}

SEC("raw_tp/task_rename")
int BPF_PROG(renamed, struct task_struct *task, const char *comm)
{
	const struct split split = { &keys, &rows, &control, &knobs };

	split_rename(&split, 1, task, comm);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
