// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page-fault latency. Three methods, of which user space loads one:
 *   fentry      handle_mm_fault(), entry to return
 *   kprobe      the same by kprobe and kretprobe
 *   perf-event  software perf events at both ends, where neither is allowed; the window is wider
 *               (metric page_fault): VMA lookup and mmap_lock wait are in it
 *
 * The task and the address of the frame on the kernel stack identify a call: no two calls in
 * progress share both. Calls nest (GUP inside a fault): the inner one is below the outer, even if
 * programs missed events in between. A retried fault is one sample, from its first call to its last
 * return: the same function calls again, so the frame has the same address.
 */
#include "event.bpf.h"
#include "kind.bpf.h"

#define FAULT_FLAG(name) bpf_core_enum_value(enum fault_flag, FAULT_FLAG_##name)
#define FAULT_RESULT(name) bpf_core_enum_value(enum vm_fault_reason, VM_FAULT_##name)

static __always_inline bool knows_vma_lock(void)
{
	return bpf_core_enum_value_exists(enum fault_flag, FAULT_FLAG_VMA_LOCK);
}

static __always_inline bool under_vma_lock(__u64 flags)
{
	return knows_vma_lock() && flags & FAULT_FLAG(VMA_LOCK);
}

static __always_inline __u32 lock_bit(__u32 flags)
{
	return under_vma_lock(flags) ? CALL_VMA_LOCK : 0;
}

static __always_inline __u32 result_error(void)
{
	return FAULT_RESULT(OOM) | FAULT_RESULT(SIGBUS) | FAULT_RESULT(SIGSEGV) |
	       FAULT_RESULT(HWPOISON) | FAULT_RESULT(HWPOISON_LARGE) | FAULT_RESULT(FALLBACK);
}

/* ---- handle_mm_fault(), entry to return: fentry and kprobe ---- */

/* Only for splits. */
static __always_inline __u32 call_bits(__u32 flags, struct vm_area_struct *vma)
{
	__u32 bits = 0;

	if (flags & FAULT_FLAG(USER))
		bits |= CALL_USER;
	if (flags & FAULT_FLAG(WRITE))
		bits |= CALL_WRITE;
	if (flags & FAULT_FLAG(INSTRUCTION))
		bits |= CALL_EXEC;
	/* As in mm_account_fault(), a second attempt is major. */
	if (flags & FAULT_FLAG(TRIED))
		bits |= CALL_MAJOR;
	if (config_split(&config, LAT_BY_PAGE) && BPF_CORE_READ(vma, vm_flags) & VM_HUGETLB)
		bits |= CALL_HUGETLB;
	if (config_split(&config, LAT_BY_KIND))
		bits |= mapping_kind(vma);
	return bits;
}

/*
 * May the call continue a fault that was in progress at the attach? If its first attempt, under the
 * VMA's lock, was not seen, it looks like a new fault: then neither is measured, once.
 */
static __always_inline bool follows_unseen(__u32 flags)
{
	return others.marked && knows_vma_lock() && !under_vma_lock(flags) && unmark();
}

/*
 * Is the call by its flags the first of a fault? A further attempt has TRIED, except after a failed
 * attempt under the VMA's lock: that one returned "retry".
 */
static __always_inline bool begins_fault(__u64 flags)
{
	return !(flags & FAULT_FLAG(TRIED)) && (!knows_vma_lock() || under_vma_lock(flags));
}

/*
 * Handles a call that continues a fault; false: the call is the first of a fault. A retry that is
 * abandoned for a signal leaves its place taken, and a later fault at the same address must not
 * inherit it. If the first call is unknown, the rest would be too short a sample: it gets no start,
 * and its return counts as missed_start.
 */
static __always_inline bool call_goes_on(__u64 id, __u64 address, __u32 flags, __u32 bits)
{
	bool tried = flags & FAULT_FLAG(TRIED), same;
	struct memlat_call *call;

	if (begins_fault(flags))
		return false;
	call = call_find(id);
	if (!call)
		return tried;
	same = (call->address == address || !call->address) &&
	       (tried || call->bits & CALL_VMA_LOCK);
	if (same && (tried || call->pending)) {
		call->bits = higher_kind(bits | (call->bits & CALL_MAJOR), call->bits);
		call->pending = false;
		return true;
	}
	if (!same && !tried)
		return false;
	if (!same) /* the fault of that call has ended */
		count_start_loss(LAT_ABANDONED);
	call->address = address;
	call->bits = bits;
	call->pending = false;
	call->start_ns = 0;
	return true;
}

/* The arguments of handle_mm_fault(), each read only where it is needed. */
typedef const unsigned long long fault_args;
#define ARG_VMA(args) ((struct vm_area_struct *)(args)[0])
#define ARG_ADDRESS(args) ((args)[1])
#define ARG_FLAGS(args) ((__u32)(args)[2])
#define ARG_REGS(args) ((args)[3])
#define ARG_RESULT(args) ((__u32)(args)[4])

/* A call that may continue a fault, or for which the first place is taken. */
static __noinline int call_enter_rare(__u64 id, __u64 address, __u32 flags, __u32 bits, bool again)
{
	struct memlat_call *call;
	bool held, unseen;

	bits |= lock_bit(flags);
	if (call_goes_on(id, address, flags, bits))
		return 0;
	unseen = follows_unseen(flags);
	call = call_claim(id, &held);
	if (!call) {
		if (!again)
			count_start_loss(LAT_NOT_KEPT);
		return 0;
	}
	if (held) {
		count_start_loss(LAT_ABANDONED);
		call->id = id;
	}
	call_begins(call, address, bits);
	if (unseen)
		call->start_ns = 0;
	return 0;
}

/*
 * Most calls: the first one of a fault, and its place is free. False: nothing is done. The flags
 * are 32 bits of a register: bits above them have no meaning, and none of them is looked at.
 */
static __always_inline bool call_enter_first(__u64 id, fault_args *args, __u32 bits)
{
	struct memlat_call *call = place_at(first_place(id_tid(id)));

	if (!begins_fault(args[2]) || !call_take(call, id))
		return false;
	call_begins(call, ARG_ADDRESS(args), bits | CALL_VMA_LOCK);
	return true;
}

/*
 * `frame`: see call_id(), which is called where it is needed: so it takes no registers before.
 * `again`: the second program at this entry, see below; the first one counts the losses.
 */
static __always_inline int call_enter(const void *frame, fault_args *args, bool again)
{
	__u32 bits = again ? 0 : CALL_NEW;
	__u64 id;

	if (control.closed_ns)
		return 0;
	if (!current_wanted(&config))
		return 0;
	if (!ARG_REGS(args))
		bits |= CALL_GUP;
	if (config.by) {
		bits |= call_bits(ARG_FLAGS(args), ARG_VMA(args));
		take_mark(); /* left by an earlier call, whose return was missed */
	}
	id = call_id(frame);
	if (!call_enter_first(id, args, bits))
		call_enter_rare(id, ARG_ADDRESS(args), ARG_FLAGS(args), bits, again);
	return 0;
}

/* The place stays taken until the fault continues. */
static __always_inline void call_retried(struct lat_cell *cell, struct memlat_call *call,
					 __u32 result)
{
	if (result & FAULT_RESULT(MAJOR))
		call->bits |= CALL_MAJOR;
	call->tries++;
	call->pending = true;
	if (cell) {
		COUNT(&config, cell->counts[LAT_SEEN]);
		COUNT(&config, cell->counts[LAT_CONTINUED]);
	}
}

static __always_inline __u32 result_bits(__u32 result)
{
	return (result & FAULT_RESULT(MAJOR) ? CALL_MAJOR : 0) |
	       (result & result_error() ? CALL_FAILED : 0);
}

/* The VMA, where its lock is still held, so that it can be read; else NULL. */
static __always_inline struct vm_area_struct *held_vma(struct vm_area_struct *vma, __u32 result)
{
	return bpf_core_enum_value_exists(enum vm_fault_reason, VM_FAULT_COMPLETED) &&
			       result & FAULT_RESULT(COMPLETED)
		       ? NULL
		       : vma;
}

/* `from`: the call, or the begin of the exception that made it. */
static __noinline int explain_call(const struct memlat_call *call, const struct memlat_call *from,
				   __u64 now, struct vm_area_struct *vma)
{
	struct slow slow = {
		.id = from->id,
		.start_ns = from->start_ns,
		.end_ns = now,
		.ns = now - from->start_ns,
		.address = call->address,
		.own_memory = !(call->bits & CALL_GUP),
	};

	explain_slow(&slow, vma);
	return 0;
}

/* A fault has ended, in a time that is not negative. */
static __always_inline void call_measured(struct lat_cell *cell, const struct memlat_call *call,
					  __u64 now, __u32 result, struct vm_area_struct *vma)
{
	const struct memlat_call *from = entry_of(call) ?: call;
	__u64 ns = now - from->start_ns;
	__u32 bits = 0;

	COUNT(&config, cell->counts[LAT_SEEN]);
	if (on_other_cpu(cell, from))
		return;
	if (call->tries)
		COUNT_MORE(&config, cell->counts[LAT_JOINED], call->tries);
	if (result & result_error())
		COUNT(&config, cell->counts[LAT_ERRORS]);
	if (config.by)
		bits = with_cpu(call->bits, from) | result_bits(result) | take_mark();
	record(cell, ns, bits);
	if (why_slow(ns))
		explain_call(call, from, now, held_vma(vma, result));
}

/* Adds a fault that has ended, and frees its place. */
static __always_inline void call_ends(struct memlat_call *call, __u64 now, __u32 result,
				      struct vm_area_struct *vma)
{
	struct lat_cell *cell = cells_here(&cells);

	if (!cell)
		return;
	call_measured(cell, call, now, result, vma);
	entry_ends(call);
	call_free(call);
}

/* Counts a fault that has ended; false: it cannot be measured. */
static __always_inline bool call_measurable(struct lat_cell *cell, const struct memlat_call *call,
					    __u64 now, __u32 result)
{
	if (!call->start_ns || call->pending) {
		call_unknown(cell, LAT_MISSED_START);
		return false;
	}
	if (now >= call->start_ns)
		return true;
	COUNT(&config, cell->counts[LAT_SEEN]);
	COUNT(&config, cell->counts[LAT_NEGATIVE]);
	return false;
}

/*
 * Counts the return of a call; `call`: its entry, or NULL. Returns the call if it is the end of a
 * fault that call_ends() is to add.
 */
static __always_inline struct memlat_call *call_leave(struct memlat_call *call, __u64 now,
						      __u32 result)
{
	struct lat_cell *cell = control.armed ? cells_here(&cells) : NULL;

	if (control.closed_ns)
		return NULL;
	if (!call) {
		if (cell)
			call_unknown(cell, LAT_MISSED_START);
		return NULL;
	}
	if (result & FAULT_RESULT(RETRY)) {
		call_retried(cell, call, result);
		return NULL;
	}
	if (call->pending) /* the retry never happened; this is the return of another fault */
		count_start_loss(LAT_ABANDONED);
	if (cell && call_measurable(cell, call, now, result))
		return call;
	entry_ends(call);
	call_free(call);
	return NULL;
}

/*
 * The entry was missed, and the call returned "retry". Marks the fault as unknown, so that its next
 * attempt is not recorded as a short fault. `address` is 0, and `bits` is CALL_VMA_LOCK, where they
 * are not known. `again`: the first program was skipped, and the kernel has counted the return as
 * missed.
 */
static __always_inline int call_leave_unknown(__u64 id, __u64 address, __u32 bits, bool again)
{
	struct lat_cell *cell = control.armed && !again ? cells_here(&cells) : NULL;
	struct memlat_call *call;
	bool held;

	if (control.closed_ns)
		return 0;
	if (cell)
		call_unknown(cell, LAT_CONTINUED);
	if (!current_wanted(&config))
		return 0;
	call = call_claim(id, &held);
	if (!call)
		return 0;
	if (held) {
		count_start_loss(LAT_ABANDONED);
		call->id = id;
	}
	call->address = address;
	call->bits = bits;
	call->pending = true;
	call->tries = 0;
	call->start_ns = 0;
	return 0;
}

/*
 * For a program that also gets the arguments at the return. If the call in the table has another
 * address, it belongs to an earlier fault, and no program saw the end of that fault.
 */
static __always_inline struct memlat_call *call_leave_at(struct memlat_call *call, __u64 address,
							 __u64 now, __u32 result)
{
	if (call)
		call->pending = call->address != address;
	return call_leave(call, now, result);
}

/*
 * Most returns: the fault had one call without an error, which is in the first place. `entry`: the
 * program gets the arguments of the entry, too. While it is armed, the window is not closed.
 */
static __always_inline bool ends_plainly(const struct memlat_call *call, __u64 id, fault_args *args,
					 bool entry, __u64 now)
{
	__u32 result = ARG_RESULT(args);

	if (call->id != id || (entry && call->address != ARG_ADDRESS(args)) ||
	    call->state > MEMLAT_ONE_CALL || !call->start_ns || now < call->start_ns ||
	    !control.armed)
		return false;
	return !result || !(result & (FAULT_RESULT(RETRY) | result_error()));
}

/*
 * The context of fentry and fexit is in the frame of their common trampoline: its address is the
 * same at entry and return of a call, and lower in an inner call.
 */
SEC("fentry/handle_mm_fault")
int fault_enter(fault_args *ctx)
{
	return call_enter(ctx, ctx, false);
}

static __noinline struct memlat_call *fault_leave_rare(fault_args *ctx, __u64 id, __u64 now)
{
	struct memlat_call *call = call_find(id);
	__u32 result = ARG_RESULT(ctx);
	__u64 address = ARG_ADDRESS(ctx);

	if (!(result & FAULT_RESULT(RETRY)) || (call && call->address == address))
		return call_leave_at(call, address, now, result);
	call_leave_unknown(id, address, lock_bit(ARG_FLAGS(ctx)), false);
	return NULL;
}

SEC("fexit/handle_mm_fault")
int fault_leave(fault_args *ctx)
{
	__u64 now = bpf_ktime_get_ns(), id = call_id(ctx);
	struct memlat_call *call = place_at(first_place(id_tid(id)));

	if (!ends_plainly(call, id, ctx, true, now))
		call = fault_leave_rare(ctx, id, now);
	if (call)
		call_ends(call, now, ARG_RESULT(ctx), ARG_VMA(ctx));
	return 0;
}

/*
 * A second copy of the programs. If a program is preempted, the kernel skips it for all other tasks
 * on that CPU until it resumes; then the copy does its work. An event is lost if both are skipped.
 */
SEC("fentry/handle_mm_fault")
int fault_enter_again(fault_args *ctx)
{
	__u64 id = call_id(ctx);
	struct memlat_call *call = call_find(id);

	if (call && call->bits & CALL_NEW && call->address == ARG_ADDRESS(ctx) && !call->pending) {
		call->bits &= ~CALL_NEW;
		return 0;
	}
	return call_enter(ctx, ctx, true);
}

/* The first program has already freed the call, or marked it as pending. */
SEC("fexit/handle_mm_fault")
int fault_leave_again(fault_args *ctx)
{
	__u64 now = bpf_ktime_get_ns(), id = call_id(ctx);
	struct memlat_call *call = call_find(id);
	__u32 result = ARG_RESULT(ctx);

	if (!call && result & FAULT_RESULT(RETRY))
		return call_leave_unknown(id, ARG_ADDRESS(ctx), lock_bit(ARG_FLAGS(ctx)), true);
	if (!call || (call->pending && result & FAULT_RESULT(RETRY)))
		return 0;
	call = call_leave_at(call, ARG_ADDRESS(ctx), now, result);
	if (call)
		call_ends(call, now, result, ARG_VMA(ctx));
	return 0;
}

/* The call in progress gets a transparent huge page. */
static __always_inline int mark_thp(__u32 result)
{
	struct memlat_task *task;

	if (result & (FAULT_RESULT(FALLBACK) | result_error()))
		return 0;
	task = task_mark(BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (task)
		task->bits = CALL_THP;
	return 0;
}

SEC("fexit/do_huge_pmd_anonymous_page")
int BPF_PROG(thp_leave, struct vm_fault *vmf, vm_fault_t result)
{
	return mark_thp(result);
}

SEC("kprobe/handle_mm_fault")
int BPF_KPROBE(fault_enter_kprobe, unsigned long long vma, unsigned long long address,
	       unsigned long long flags, unsigned long long regs)
{
	fault_args args[] = { vma, address, flags, regs };

	return call_enter((void *)PT_REGS_SP(ctx), args, false);
}

static __noinline struct memlat_call *fault_leave_kprobe_rare(__u64 id, __u32 result, __u64 now)
{
	struct memlat_call *call = call_find(id);

	if (call || !(result & FAULT_RESULT(RETRY)))
		return call_leave(call, now, result);
	call_leave_unknown(id, 0, CALL_VMA_LOCK, false);
	return NULL;
}

SEC("kretprobe/handle_mm_fault")
int BPF_KRETPROBE(fault_leave_kprobe, unsigned long long result)
{
	__u64 now = bpf_ktime_get_ns();
	__u64 id = call_id((void *)(PT_REGS_SP(ctx) - KRETPROBE_SP_SHIFT));
	struct memlat_call *call = place_at(first_place(id_tid(id)));
	fault_args args[] = { 0, 0, 0, 0, result };

	if (!ends_plainly(call, id, args, false, now))
		call = fault_leave_kprobe_rare(id, result, now);
	if (call)
		call_ends(call, now, result, NULL);
	return 0;
}

SEC("kretprobe/do_huge_pmd_anonymous_page")
int BPF_KRETPROBE(thp_leave_kprobe, unsigned long result)
{
	return mark_thp(result);
}

/* Removes the calls of an ID from the table. Each counts as abandoned. */
static __always_inline void forget_calls(__u32 tid)
{
	__u32 place = first_place(tid);

#pragma clang loop unroll(disable)
	for (int i = 0; i < MEMLAT_PLACES; i++) {
		struct memlat_call *call = place_at(place + i);

		if (id_tid(call->id) != tid)
			continue;
		if (is_entry(call->id)) {
			call_free(call);
			continue;
		}
		count_start_loss(LAT_ABANDONED);
		event_free(call, i && is_event(call->id) ? NULL : call);
	}
}

/*
 * A task exits: removes its calls from the table: never retried, or the return was missed.
 * Where user space sees the end of the task earlier than this program, and closes the window, they
 * are among the waits in flight.
 */
static __always_inline int forget_task(struct task_struct *task)
{
	struct memlat_task *own;

	if (control.closed_ns)
		return 0;
	unseen_at_exit(task);
	forget_calls(task->pid);
	own = others.any ? bpf_task_storage_get(&tasks, task, NULL, 0) : NULL;
	if (own && own->call.start_ns) {
		count_start_loss(LAT_ABANDONED);
		event_free(&own->call, NULL);
	}
	if (own && own->before) {
		own->before = 0; /* the second copy must not count it, too */
		__sync_fetch_and_add(&others.marked, -1);
	}
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(task_exit, struct task_struct *task)
{
	return forget_task(task);
}

/* The second copy: see fault_enter_again(). */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(task_exit_again, struct task_struct *task)
{
	return forget_task(task);
}

/*
 * A thread that is not the first one of its process executes a program: it gets the ID of the
 * process. What is left of its calls is found neither by its new ID nor when it exits.
 */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(task_exec, struct task_struct *task, int old_tid)
{
	if (!control.closed_ns && old_tid != task->pid)
		forget_calls(old_tid);
	return 0;
}

SEC("raw_tp/task_rename")
int BPF_PROG(renamed, struct task_struct *task, const char *comm)
{
	const struct split split = { &keys, &owners, &rows, &light, &control, &config };

	split_rename(&split, 1, task, comm);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
