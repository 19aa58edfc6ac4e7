// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which process has the CPU, from when to when, and what the CPU's counters counted in that time.
 *
 * A span ends when another process gets the CPU. It also ends at the first switch between threads
 * of one process in a later slot than that of its start: so all switches of a span are in one slot.
 * If perf events are read, a span ends at every tick of a timer, too, because a counter can only be
 * divided among slots by reading it. Without them there is no timer: the edges of the slots are
 * calculated from the times of the switches. Spans within a slot are added up here, by process, and
 * sent when the first span ends that goes beyond the slot.
 *
 * All code that changes the state of a CPU runs on that CPU with interrupts off: the scheduler, the
 * timer's interrupt and that of `prime`. None interrupts another, so there are no atomics.
 */
#include <probes/kit/kernel.bpf.h>
#include <latscope/rmid_record.h>

const volatile __u32 counters = 0; /* number of perf events to read: the first ones of `events` */
const volatile __u32 cpus_possible = 1;
const volatile __u32 cell_size = RMID_CELL_SIZE; /* with counters: size of all counters of a cell */
/* User space emulates RMIDs: programs tell of each task that begins, calls exec or ends. */
const volatile __u32 emulated = 0;
struct lat_rmid_control control = {};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lat_rmid_cpu);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} ring SEC(".maps");

/* Event c of CPU n is number c * cpus_possible + n. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} events SEC(".maps");

/* NULL cannot happen: the map has an entry per possible CPU. */
static __always_inline struct lat_rmid_cpu *state_of(__u32 cpu)
{
	return bpf_map_lookup_elem(&cpus, &cpu);
}

/* The same while the window is open; else NULL. */
static __always_inline struct lat_rmid_cpu *armed_state(__u32 cpu)
{
	return control.armed ? state_of(cpu) : NULL;
}

/* What a counter counted since it was last read; saves the new reading. */
static __always_inline void read_counter(struct lat_rmid_cpu *state, __u32 cpu, __u32 i,
					 struct lat_rmid_counter *out)
{
	struct bpf_perf_event_value now;
	__u64 bit = 1ULL << i;
	__u64 enabled, running;

	if (bpf_perf_event_read_value(&events, i * cpus_possible + cpu, &now, sizeof(now))) {
		state->failed_reads++;
		state->valid &= ~bit;
		*out = (struct lat_rmid_counter){};
		return;
	}
	enabled = now.enabled - state->enabled_ns[i];
	running = now.running - state->running_ns[i];
	if (!(state->valid & bit) || enabled >> 32)
		*out = (struct lat_rmid_counter){};
	else
		*out = (struct lat_rmid_counter){ now.counter - state->values[i], enabled,
						  running };
	state->values[i] = now.counter;
	state->enabled_ns[i] = now.enabled;
	state->running_ns[i] = now.running;
	state->valid |= bit;
}

static __always_inline void read_counters(struct lat_rmid_cpu *state, __u32 cpu,
					  struct lat_rmid_counter out[RMID_COUNTERS])
{
	for (__u32 i = 0; i < RMID_COUNTERS; i++) {
		if (i < counters)
			read_counter(state, cpu, i, &out[i]);
		else
			out[i] = (struct lat_rmid_counter){};
	}
}

static __always_inline void fill_span(struct lat_rmid_span *span, const struct lat_rmid_cpu *state,
				      __u32 cpu, __u64 now, __u32 flags)
{
	span->head.time_ns = now;
	span->head.cpu = cpu;
	span->head.flags = flags;
	span->start_ns = state->since_ns;
	span->born_ns = state->born_ns;
	span->who = state->tgid ? RMID_WHO_PROCESS : RMID_WHO_IDLE;
	span->id = state->tgid;
	span->switches = state->switches + !!(flags & RMID_SWITCHED);
}

/* ---- the open batch ---- */

/* End of the slot of this time. Divides only if the slot has changed. */
static __always_inline __u64 edge_of(struct lat_rmid_cpu *state, __u64 time_ns)
{
	if (time_ns - (state->edge_ns - RMID_SLOT_NS) >= RMID_SLOT_NS)
		state->edge_ns = (time_ns / RMID_SLOT_NS + 1) * RMID_SLOT_NS;
	return state->edge_ns;
}

/* Cell number n - 1; NULL: beyond the memory for cells. */
static __always_inline struct lat_rmid_cell *cell_at(struct lat_rmid_cpu *state, __u32 n)
{
	__u64 at = (__u64)(n - 1) * cell_size;

	if (at > RMID_CELLS - sizeof(struct lat_rmid_cell))
		return NULL;
	barrier_var(at); /* checks before computing the address: the verifier requires it */
	return (void *)&state->cells[at];
}

/* Is it the cell of this process, or of the idle task (0, 0)? */
static __always_inline bool is_cell_of(const struct lat_rmid_cell *cell, __u64 tgid, __u64 born_ns)
{
	return cell && cell->id == tgid && cell->born_ns == born_ns;
}

/* Returns the number of the new cell; 0: no room. */
static __always_inline __u32 add_cell(struct lat_rmid_cpu *state, __u32 place,
				      const struct lat_rmid_span *span)
{
	struct lat_rmid_cell *cell = cell_at(state, state->batch.nr + 1);

	if (!cell)
		return 0;
	if (!state->batch.nr)
		state->batch.start_ns = span->start_ns;
	cell->born_ns = span->born_ns;
	cell->who = span->who;
	cell->id = span->id;
	cell->cpu_ns = 0;
	cell->switches = 0;
	cell->flags = 0;
	cell->unknown = 0;
	for (__u32 i = 0; i < RMID_COUNTERS; i++)
		if (i < counters)
			cell->counters[i] = (struct lat_rmid_counter){};
	state->index[place] = ++state->batch.nr;
	return state->batch.nr;
}

#define PLACES 8 /* places of the index to look for a cell in */

/* The number of the cell of the span's process, which may be new; 0: no room. */
static __always_inline __u32 cell_of(struct lat_rmid_cpu *state, const struct lat_rmid_span *span)
{
	__u32 hash = ((span->id + span->who) * 0x9e3779b1U) >> 16;

	for (__u32 i = 0; i < PLACES; i++) {
		__u32 place = (hash + i) % RMID_INDEX, number = state->index[place];
		struct lat_rmid_cell *cell;

		if (!number)
			return add_cell(state, place, span);
		cell = cell_at(state, number);
		if (is_cell_of(cell, span->id, span->born_ns) && cell->who == span->who)
			return number;
	}
	return 0;
}

static __always_inline void send_batch(struct lat_rmid_cpu *state)
{
	struct lat_rmid_batch *batch = &state->batch;
	__u64 size = sizeof(*batch) + (__u64)batch->nr * cell_size;

	if (!batch->nr)
		return;
	/* keeps the checked value: the verifier must see the check of what is passed */
	barrier_var(size);
	if (size <= sizeof(*batch) + RMID_CELLS &&
	    bpf_ringbuf_output(&ring, batch, size, BPF_RB_NO_WAKEUP))
		state->lost_spans++;
	batch->nr = 0;
	state->last_cell = 0;
	__builtin_memset(state->index, 0, sizeof(state->index));
}

static __always_inline void add_counters(struct lat_rmid_cell *cell,
					 const struct lat_rmid_span *span)
{
	for (__u32 i = 0; i < RMID_COUNTERS; i++) {
		const struct lat_rmid_counter *counter = &span->counters[i];

		if (i >= counters)
			continue;
		if (!counter->running_ns)
			cell->unknown |= 1U << i;
		cell->counters[i].value += counter->value;
		cell->counters[i].enabled_ns += counter->enabled_ns;
		cell->counters[i].running_ns += counter->running_ns;
	}
}

/* Adds to the open batch if the span is adjacent and in the same slot; otherwise to a new batch. */
static __always_inline void add_span(struct lat_rmid_cpu *state, const struct lat_rmid_span *span)
{
	struct lat_rmid_batch *batch = &state->batch;
	__u32 number = cell_of(state, span);
	struct lat_rmid_cell *cell;

	if (!number) {
		send_batch(state);
		number = cell_of(state, span);
	}
	cell = cell_at(state, number);
	if (!cell)
		return; /* cannot happen, because the batch is empty */
	batch->head = span->head;
	batch->head.record = counters ? RMID_COUNTED_BATCH : RMID_BATCH;
	cell->cpu_ns += span->head.time_ns - span->start_ns;
	cell->switches += span->switches;
	cell->flags |= span->head.flags & RMID_LAST;
	add_counters(cell, span);
	state->older_cell = state->last_cell;
	state->last_cell = number;
}

static __always_inline void send_span(struct lat_rmid_cpu *state, struct lat_rmid_span *span)
{
	__u64 size = counters ? sizeof(*span) : RMID_SPAN_SIZE;

	span->head.record = counters ? RMID_COUNTED_SPAN : RMID_SPAN;
	/* No wakeup: user space looks for records periodically. */
	if (bpf_ringbuf_output(&ring, span, size, BPF_RB_NO_WAKEUP))
		state->lost_spans++;
}

/* Reads the counters even if the span is not sent: the next span starts from these values. */
static __noinline void take_span(struct lat_rmid_cpu *state, __u32 cpu, struct lat_rmid_span *span)
{
	bool alone;

	if (counters)
		read_counters(state, cpu, span->counters);
	if (!span->start_ns)
		return;
	alone = span->head.time_ns >= edge_of(state, span->start_ns) ||
		span->head.flags & RMID_TICKED;
	if (alone || span->start_ns != state->batch.head.time_ns)
		send_batch(state);
	if (alone)
		send_span(state, span);
	else
		add_span(state, span);
}

/* Ends the open span of this CPU. */
static __always_inline void end_span(struct lat_rmid_cpu *state, __u32 cpu, __u64 now, __u32 flags)
{
	struct lat_rmid_span span = {};

	fill_span(&span, state, cpu, now, flags);
	take_span(state, cpu, &span);
}

static __always_inline void open_span(struct lat_rmid_cpu *state, struct task_struct *task,
				      __u32 pid, __u32 tgid, __u64 born_ns, __u64 now)
{
	state->tgid = tgid;
	state->born_ns = born_ns;
	state->since_ns = now;
	state->switches = 0;
	state->pid = pid;
	state->ran_ns = task->se.sum_exec_runtime;
}

/* Begins the span of `task`. It is not known which cell its process has. */
static __always_inline void begin_span(struct lat_rmid_cpu *state, struct task_struct *task,
				       __u64 now)
{
	__u32 tgid = task->tgid;

	open_span(state, task, task->pid, tgid, tgid ? task->group_leader->start_boottime : 0, now);
	state->cell = 0;
}

/*
 * A reader takes the state only as it was before open_state() or is after close_state(). The time
 * of a switch is read between the two. So if a reader extends the open span to its own time, the
 * span does not go past the switch.
 */
static __always_inline void open_state(struct lat_rmid_cpu *state)
{
	store_ordered(&state->version, state->version + 1);
}

static __always_inline void close_state(struct lat_rmid_cpu *state)
{
	store_ordered(&state->version, state->version + 1);
}

/*
 * Has the last thread of the process now run for the last time? signal->live counts the threads
 * that have not started to exit; since exiting can take long, nr_threads also counts those that are
 * exiting. A thread has left nr_threads before it is switched out for the last time. The leader
 * leaves it only when it is reaped, and so do the threads of a traced process: then it may be that
 * no thread is seen as the last.
 */
static __always_inline bool is_last(struct task_struct *task)
{
	int threads = task->signal->nr_threads;

	if (!(task_state(task) & TASK_DEAD) || task->signal->live.counter || threads > 1)
		return false;
	return !threads || task->pid == task->tgid || task->group_leader->exit_state;
}

/*
 * Switches of this CPU so far, including this one, by the scheduler's count. It shows whether this
 * program ran for each: the kernel skips it while another program runs on that CPU. The run queue
 * is found from either task, except from the idle task.
 */
static __always_inline __u64 count_switches(struct task_struct *task)
{
	if (!bpf_core_field_exists(task->se.cfs_rq))
		return 0;
	return task->se.cfs_rq->rq->nr_switches;
}

/* Number of switches that this program did not see, up to the last one. */
static __always_inline __u64 missed_switches(struct lat_rmid_cpu *state, __u64 count)
{
	__u64 before = state->count;

	state->count = count;
	if (!before || count == before + 1)
		return 0;
	state->hidden += count - before - 1;
	return count - before - 1;
}

/*
 * Switches were missed, and `prev` leaves the CPU now. The scheduler knows when `prev` got it.
 * Before that, the thread of the open span had the CPU, and then others. If one switch was missed,
 * that thread had it all the time until then. If that thread is `prev`, which came back, its CPU
 * time shows how long it had the CPU. No record exists of the rest: that time is missing.
 */
static __always_inline void resume_span(struct lat_rmid_cpu *state, __u32 cpu,
					struct task_struct *prev, __u64 missed, __u64 now)
{
	__u64 since = state->since_ns, arrival, left = 0;

	if (counters || !since || !prev->pid || !bpf_core_field_exists(prev->sched_info) ||
	    !bpf_core_field_exists(prev->se.cfs_rq)) {
		state->since_ns = 0;
		return;
	}
	arrival = now - (prev->se.cfs_rq->rq->clock - prev->sched_info.last_arrival);
	if (prev->pid == state->pid)
		left = since + (prev->se.sum_exec_runtime - state->ran_ns) - (now - arrival);
	else if (missed == 1)
		left = arrival;
	if (arrival < since || arrival > now) {
		state->since_ns = 0;
		return;
	}
	if (left > since && left <= arrival)
		end_span(state, cpu, left, RMID_SWITCHED);
	begin_span(state, prev, arrival);
	state->pid = 0;
}

static __always_inline void fill_head(struct lat_rmid_head *head, enum lat_rmid_record record,
				      __u64 now)
{
	head->time_ns = now;
	head->cpu = bpf_get_smp_processor_id();
	head->record = record;
}

/* For records that are not spans; interrupts may be on. */
static __always_inline void count_lost(void)
{
	struct lat_rmid_cpu *state = state_of(bpf_get_smp_processor_id());

	if (state)
		__sync_fetch_and_add(&state->lost_others, 1);
}

/* Kernel threads have no RMID. */
static __always_inline void tell_task(struct task_struct *task, enum lat_rmid_life life,
				      int threads, __u64 now)
{
	struct lat_rmid_task told = {};

	if (!emulated || task->flags & PF_KTHREAD)
		return;
	fill_head(&told.head, RMID_TASK, now);
	told.head.flags = life;
	told.key = (__u64)task->signal;
	told.born_ns = task->group_leader->start_boottime;
	told.tgid = task->tgid;
	told.pid = task->pid;
	told.threads = threads;
	told.runner = (__u32)bpf_get_current_pid_tgid();
	bpf_probe_read_kernel_str(told.comm, sizeof(told.comm), task->group_leader->comm);
	if (bpf_ringbuf_output(&ring, &told, sizeof(told), BPF_RB_NO_WAKEUP))
		count_lost();
}

/* If the task has run for the last time, tells so. */
static __always_inline int tell_end(struct task_struct *task, bool preempt, __u64 now)
{
	if (!emulated || preempt || !(task_state(task) & TASK_DEAD))
		return 0;
	tell_task(task, is_last(task) ? RMID_ENDS_ALL : RMID_ENDS, task->signal->live.counter, now);
	return 0;
}

/* The CPU was offline: no process had it since the span began, and no switches were missed. */
static __always_inline void come_back(struct lat_rmid_cpu *state)
{
	state->left = 0;
	state->since_ns = 0;
	state->count = 0;
	state->cell = 0;
}

/* Without counters: a cell by its number; NULL: there is none. */
static __always_inline struct lat_rmid_cell *plain_cell(struct lat_rmid_cpu *state, __u32 number)
{
	__u64 at = (__u64)number - 1;

	if (at >= RMID_CELLS / RMID_CELL_SIZE)
		return NULL;
	at *= RMID_CELL_SIZE;
	barrier_var(at);
	return (void *)&state->cells[at];
}

/*
 * The usual switch, in as few instructions as possible: the last one was seen, and the span that
 * ends is in the slot of the open batch, which has a cell for its process. Returns false, and has
 * changed nothing, if anything else is the case: then switched_any() does it.
 */
static __always_inline bool switched_usual(struct lat_rmid_cpu *state, __u64 *ctx, __u64 now)
{
	struct lat_rmid_cell *cell = plain_cell(state, state->cell);
	__u32 pid = NEXT->pid, tgid, last;
	struct task_struct *queued;
	__u64 count, born_ns;

	if (!cell || now >= state->edge_ns || state->left)
		return false;
	if (task_state(PREV) & TASK_DEAD)
		return false;
	queued = NEXT;
	if (!pid)
		queued = PREV;
	count = count_switches(queued);
	if (count != state->count + 1)
		return false;
	state->count = count;
	tgid = NEXT->tgid;
	if (tgid == state->tgid) {
		state->switches++;
		state->pid = 0;
		return true;
	}
	cell->cpu_ns += now - state->since_ns;
	cell->switches += state->switches + 1;
	state->batch.head.time_ns = now;
	last = state->last_cell;
	state->last_cell = state->cell;
	born_ns = tgid ? NEXT->group_leader->start_boottime : 0;
	open_span(state, NEXT, pid, tgid, born_ns, now);
	cell = plain_cell(state, last);
	state->cell = is_cell_of(cell, tgid, born_ns) ? last : 0;
	return true;
}

/*
 * If the span that begins now is of the same process as the last but one, its cell is known without
 * the index: so it is if two processes wake up each other, or one has the CPU now and then.
 */
static __always_inline void know_cell(struct lat_rmid_cpu *state, __u64 now)
{
	const struct lat_rmid_head *head = &state->batch.head;
	const struct lat_rmid_cell *cell = plain_cell(state, state->older_cell);

	if (!counters && state->batch.nr && head->time_ns == now && head->flags == RMID_SWITCHED &&
	    is_cell_of(cell, state->tgid, state->born_ns))
		state->cell = state->older_cell;
}

static __noinline int switched_any(struct lat_rmid_cpu *state, bool preempt,
				   struct task_struct *prev, struct task_struct *next, __u64 now)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u64 missed;

	tell_end(prev, preempt, now);
	if (state->left)
		come_back(state);
	missed = missed_switches(state, count_switches(next->pid ? next : prev));
	if (missed)
		resume_span(state, cpu, prev, missed, now);
	if (prev->tgid == next->tgid && state->since_ns && now < edge_of(state, state->since_ns)) {
		state->switches++;
		state->pid = 0;
		return 0;
	}
	end_span(state, cpu, now, RMID_SWITCHED | (is_last(prev) ? RMID_LAST : 0));
	begin_span(state, next, now);
	know_cell(state, now);
	return 0;
}

SEC("tp_btf/sched_switch")
int switched(__u64 *ctx)
{
	struct lat_rmid_cpu *state = armed_state(bpf_get_smp_processor_id());
	__u64 now;

	if (!state)
		return tell_end(PREV, ctx[0], bpf_ktime_get_ns());
	open_state(state);
	now = bpf_ktime_get_ns();
	if (!switched_usual(state, ctx, now))
		switched_any(state, ctx[0], PREV, NEXT, now);
	close_state(state);
	return 0;
}

/* Every millisecond, on every CPU, if perf events are read. */
SEC("perf_event")
int tick(struct bpf_perf_event_data *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct lat_rmid_cpu *state = armed_state(cpu);
	__u64 now;

	if (!state)
		return 0;
	open_state(state);
	now = bpf_ktime_get_ns();
	end_span(state, cpu, now, RMID_TICKED);
	if (state->since_ns) {
		state->since_ns = now;
		state->switches = 0;
		state->pid = 0;
	}
	close_state(state);
	return 0;
}

/*
 * User space runs it once on every CPU when the window opens: which task has the CPU now. Not
 * attached.
 */
SEC("raw_tp/sched_switch")
int prime(void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct lat_rmid_cpu *state = state_of(cpu);

	if (!state || state->since_ns)
		return 0;
	open_state(state);
	end_span(state, cpu, 0, 0);
	begin_span(state, bpf_get_current_task_btf(), bpf_ktime_get_ns());
	close_state(state);
	return 0;
}

/* ---- who there is ---- */

static __always_inline void tell_process(struct task_struct *task, const char *comm)
{
	struct lat_rmid_process process = {};

	fill_head(&process.head, RMID_PROCESS, bpf_ktime_get_ns());
	process.tgid = task->tgid;
	process.born_ns = task->start_boottime;
	bpf_probe_read_kernel_str(process.comm, sizeof(process.comm), comm);
	if (bpf_ringbuf_output(&ring, &process, sizeof(process), BPF_RB_NO_WAKEUP))
		count_lost();
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(forked, struct task_struct *parent, struct task_struct *child)
{
	if (child->pid == child->tgid)
		tell_process(child, child->comm);
	return 0;
}

/*
 * Also runs at exec. The kernel module reports only its own processes, so this is attached as well.
 */
SEC("tp_btf/task_rename")
int BPF_PROG(renamed, struct task_struct *task, const char *comm)
{
	if (task->pid == task->tgid)
		tell_process(task, comm);
	return 0;
}

/* The task is about to run for the first time. Threads of io_uring do not pass through fork. */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(began, struct task_struct *task)
{
	tell_task(task, RMID_BEGINS, 1, bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(execed, struct task_struct *task)
{
	tell_task(task, RMID_EXECS, 0, bpf_ktime_get_ns());
	return 0;
}

/*
 * A leader that has ended is counted until the others have. A thread that begins meanwhile may be
 * counted here and by `began`: the end of all its process tells.
 */
static __always_inline void tell_existing(struct task_struct *leader)
{
	int threads = leader->signal->nr_threads - !!leader->exit_state;

	if (threads > 0)
		tell_task(leader, RMID_EXISTS, threads, bpf_ktime_get_ns());
}

/* Runs once, after the other programs are attached: reports the existing processes. */
SEC("iter/task")
int existing(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task && task->pid && task->pid == task->tgid) {
		tell_process(task, task->comm);
		tell_existing(task);
	}
	return 0;
}

/*
 * ---- the kernel module's tracepoints ----
 *
 * Raw ones, and the record is copied: type information of the kernel module may be missing.
 */

SEC("raw_tp/rmid_sample")
int sampled(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct lat_rmid_cpu *state = armed_state(cpu);
	struct latscope_rmid_sample sample;
	struct lat_rmid_span span = {};

	if (!state || bpf_probe_read_kernel(&sample, sizeof(sample), (void *)ctx->args[0]))
		return 0;
	fill_head(&span.head, RMID_SPAN, sample.time_ns);
	span.head.flags = sample.end == LATSCOPE_RMID_TICK ? RMID_TICKED : RMID_SWITCHED;
	span.start_ns = sample.since_ns;
	span.id = sample.rmid;
	span.switches = sample.switches;
	span.who = sample.rmid				  ? RMID_WHO_RMID
		   : sample.kind == LATSCOPE_RMID_WAITING ? RMID_WHO_WAITING
		   : sample.kind == LATSCOPE_RMID_KERNEL  ? RMID_WHO_KERNEL
							  : RMID_WHO_IDLE;
	take_span(state, cpu, &span);
	return 0;
}

static __always_inline int tell_owner(void *from, enum lat_rmid_fate fate)
{
	struct lat_rmid_owner owner = {};

	if (bpf_probe_read_kernel(&owner.owner, sizeof(owner.owner), from))
		return 0;
	fill_head(&owner.head, RMID_OWNER, owner.owner.time_ns);
	owner.head.flags = fate;
	if (bpf_ringbuf_output(&ring, &owner, sizeof(owner), BPF_RB_NO_WAKEUP))
		count_lost();
	return 0;
}

SEC("raw_tp/rmid_alloc")
int allocated(struct bpf_raw_tracepoint_args *ctx)
{
	return tell_owner((void *)ctx->args[0], RMID_ALLOCATED);
}

SEC("raw_tp/rmid_free")
int freed(struct bpf_raw_tracepoint_args *ctx)
{
	return tell_owner((void *)ctx->args[0], RMID_FREED);
}

SEC("raw_tp/rmid_existing")
int listed(struct bpf_raw_tracepoint_args *ctx)
{
	return tell_owner((void *)ctx->args[0], RMID_LISTED);
}

SEC("raw_tp/rmid_read")
int was_read(struct bpf_raw_tracepoint_args *ctx)
{
	struct lat_rmid_read reading = {};

	if (!control.armed ||
	    bpf_probe_read_kernel(&reading.read, sizeof(reading.read), (void *)ctx->args[0]))
		return 0;
	fill_head(&reading.head, RMID_READ, reading.read.time_ns);
	if (bpf_ringbuf_output(&ring, &reading, sizeof(reading), BPF_RB_NO_WAKEUP))
		count_lost();
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
