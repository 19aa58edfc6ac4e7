// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memlat counts each fault once and at its full length. A simulated kernel runs the programs for
 * random faults of tasks that share the places of the table: faults that nest, are retried, fail,
 * or whose retry never comes, and tasks that end. Times are at each edge where the code branches.
 *
 * Where the kernel skips no program, the samples must be those that the simulation has counted
 * itself. Where it skips some, each end that a program saw must be counted under one name.
 */
#define const /* the test sets the config */
/* The one instruction of BPF in the programs: the low half of an address. */
#define asm
#define volatile(...) frame = (__u32)(unsigned long)address
#include <probes/memlat/memlat.bpf.c>
#undef volatile
#undef asm
#undef const

#include <core/split.h>

#include "twins.h"

#define TASKS 12
#define DEPTH 3
#define LOCKED 0x200 /* VM_FAULT_LOCKED */
#define FRAME 64 /* words of the stack of a call */

enum method { BY_FENTRY, BY_EVENT, BY_KPROBE, METHODS };

/* A call in progress of the fault handler. */
struct fault {
	__u64 address, flags, registers;
	__u64 began_ns;
	__u32 tries; /* attempts that returned "retry" */
	bool between; /* two attempts */
};

static struct lat_cell *counted;
static struct vm_area_struct *mapping; /* of the next call */

/* How this run is. */
static struct {
	enum method method;
	__u32 calm; /* of so many steps, one is of another task, and the others are short */
} kind;

static struct task_struct tasks_of[TASKS];
static struct signal_struct process;
static __u64 frames[TASKS][FRAME * (DEPTH + 2)] __attribute__((aligned(4096)));
static struct fault faults[TASKS][DEPTH];
static __u32 depths[TASKS];

/* What the programs should count. */
static struct {
	struct lat_hist hist;
	__u64 errors, joined;
} expected;

/* ---- a run ---- */

/* All tasks have the first place of the first one, or one of the next few. */
static void begin_tasks(void)
{
	__u32 apart = one_in(3) ? MEMLAT_CALLS : 6 * below(2), tid = 1000;

	for (__u32 i = 0; i < TASKS; i++, tid++) {
		while (first_place(tid) - first_place(1000) > apart)
			tid++;
		tasks_of[i] = (struct task_struct){ .pid = (int)tid,
						    .tgid = (int)(1000 + (i & 1)),
						    .group_leader = &tasks_of[i],
						    .signal = &process };
		depths[i] = 0;
	}
	current = &tasks_of[0];
}

/* `marked`: as if a fault of no task began before the attach, which is looked for then. */
static void begin_run(__u64 seed, bool marked, bool skipping)
{
	static __u64 tails[] = { 4000, 8000, 1000000 };
	struct lat_config chosen = { .rows = 4, .first_rows = 4 };

	random_begin(seed);
	kind.method = below(BY_KPROBE + 1);
	skips = skipping ? 3 + below(30) : 0;
	kind.calm = 1 + 6 * below(3);
	chosen.tail_ns = tails[below(3)];
	chosen.tgid = skipping && one_in(4) ? 1000 : 0;
	begin_kernel(&chosen);
	no_storage = skipping && one_in(4);
	counted = add_array(&cells, sizeof(*counted), 1);
	add_hash(&tasks, sizeof(void *), sizeof(struct memlat_task));
	memset(&expected, 0, sizeof(expected));
	memset(calls, 0, sizeof(calls));
	others.any = 0;
	others.marked = marked;
	control.armed = 1;
	begin_tasks();
}

static void keep_left(struct left *left)
{
	keep_maps(left);
	for (int i = 0; i < MEMLAT_CALLS; i++) {
		if (!calls[i].id)
			memset(&calls[i], 0, sizeof(calls[0]));
		calls[i].bits &= CALL_VMA_LOCK | CALL_MAJOR; /* others are for splits */
	}
	keep_bytes(left, calls, sizeof(calls));
	others.marked = 0;
	keep_bytes(left, &others.any, sizeof(others.any));
}

/* ---- programs ---- */

static __u64 *frame_at(__u32 task, __u32 depth)
{
	return &frames[task][FRAME * (DEPTH - depth)];
}

static void enter(__u32 task, __u32 depth)
{
	struct fault *fault = &faults[task][depth];
	__u64 *frame = frame_at(task, depth), above = (__u64)below(4) << 32;

	if (!is_seen())
		return;
#if defined(__TARGET_ARCH_x86)
	if (kind.method == BY_KPROBE) {
		struct pt_regs registers = { .sp = (unsigned long)frame,
					     .si = fault->address,
					     .dx = fault->flags | above,
					     .cx = fault->registers };

		fault_enter_kprobe(&registers);
		return;
	}
#endif
	frame[0] = (__u64)(unsigned long)mapping;
	frame[1] = fault->address;
	frame[2] = fault->flags | above; /* 32 bits have a meaning */
	frame[3] = fault->registers;
	fault_enter(frame);
}

static void leave(__u32 task, __u32 depth, __u32 result)
{
	struct fault *fault = &faults[task][depth];
	__u64 *frame = frame_at(task, depth), above = (__u64)below(4) << 32;

	if (!is_seen())
		return;
#if defined(__TARGET_ARCH_x86)
	if (kind.method == BY_KPROBE) {
		struct pt_regs registers = { .sp = (unsigned long)frame + sizeof(long),
					     .ax = result | above };

		fault_leave_kprobe(&registers);
		return;
	}
#endif
	frame[1] = fault->address;
	frame[2] = fault->flags;
	frame[4] = result | above;
	fault_leave(frame);
}

static void run_event(int (*program)(struct bpf_perf_event_data *), __u64 address)
{
	struct bpf_perf_event_data data = { .addr = address };

	if (is_seen())
		program(&data);
}

/* ---- page faults ---- */

/* Time passes, and another task may be current. */
static void step(void)
{
	static __u64 edges[] = {
		0,    1,    31,	  32,	62,   63,   999,  1000, 1999,	 2000,
		3999, 4000, 4001, 7999, 8000, 8001, 8032, 9000, 1000000, 1ULL << 30
	};

	if (one_in(3))
		now_ns += edges[below(COUNT_OF(edges))];
	else
		now_ns += kind.calm == 1 ? below(600) : below(16);
	if (one_in(500))
		now_ns += 5000000000ULL;
	if (skips && one_in(60))
		now_ns -= below(100);
	if (one_in(kind.calm))
		current = &tasks_of[below(TASKS)];
}

/* A fault has ended, and must be counted. */
static void count_expected(struct fault *fault, bool failed)
{
	__u64 ns = now_ns - fault->began_ns;

	expected.joined += fault->tries;
	expected.errors += failed;
	expected.hist.slots[hist_slot(ns)]++;
	expected.hist.sum_ns += ns;
	if (ns > expected.hist.max_ns)
		expected.hist.max_ns = ns;
	expected.hist.tail += ns >= config.tail_ns;
}

static void begin_fault(__u32 task)
{
	__u32 depth = depths[task]++;
	bool user = !depth && !one_in(8);

	faults[task][depth] =
		(struct fault){ .address = 0x1000 + 0x1000 * below(3),
				.flags = user ? FAULT_FLAG_VMA_LOCK | FAULT_FLAG_USER : 0,
				.registers = !depth,
				.began_ns = now_ns };
	enter(task, depth);
}

/* The next attempt, or a signal ends the fault. */
static void retry(__u32 task)
{
	struct fault *fault = &faults[task][depths[task] - 1];

	fault->between = false;
	if (skips && one_in(6)) {
		depths[task]--;
		return;
	}
	if (fault->flags & FAULT_FLAG_VMA_LOCK)
		fault->flags &= ~FAULT_FLAG_VMA_LOCK;
	else
		fault->flags |= FAULT_FLAG_TRIED;
	enter(task, depths[task] - 1);
}

static void end_attempt(__u32 task)
{
	static __u32 successes[] = { 0, 0, LOCKED, VM_FAULT_MAJOR, VM_FAULT_COMPLETED };
	static __u32 errors[] = { VM_FAULT_OOM,	     VM_FAULT_SIGBUS,
				  VM_FAULT_SIGSEGV,  VM_FAULT_HWPOISON,
				  VM_FAULT_FALLBACK, VM_FAULT_HWPOISON_LARGE | 0x10000 };
	__u32 depth = depths[task] - 1, failed = below(11) >= 5;

	if (one_in(6)) {
		leave(task, depth, VM_FAULT_RETRY | (one_in(2) ? VM_FAULT_MAJOR : 0));
		faults[task][depth].tries++;
		faults[task][depth].between = true;
		return;
	}
	leave(task, depth,
	      failed ? errors[below(COUNT_OF(errors))] : successes[below(COUNT_OF(successes))]);
	count_expected(&faults[task][depth], failed);
	depths[task]--;
}

static void act_calls(__u32 task)
{
	__u32 depth = depths[task];

	if (depth && faults[task][depth - 1].between)
		retry(task);
	else if (!depth || (depth < DEPTH && one_in(10)))
		begin_fault(task);
	else
		end_attempt(task);
}

static void act_events(__u32 task)
{
	struct fault *fault = &faults[task][0];

	if (!depths[task]) {
		*fault =
			(struct fault){ .address = 0x1000 + 0x1000 * below(3), .began_ns = now_ns };
		run_event(event_start, fault->address);
		depths[task] = 1;
		return;
	}
	depths[task] = 0;
	if (one_in(8)) /* it has failed, which no event shows */
		return;
	run_event(one_in(2) ? event_minor : event_major, fault->address);
	count_expected(fault, false);
}

static void end_task(__u32 task)
{
	void *ends = &tasks_of[task];

	task_exit((__u64 *)&ends);
	depths[task] = 0;
	bpf_map_delete_elem(&tasks, &ends);
}

static void simulate(__u64 seed, bool marked, bool skipping, struct left *left)
{
	__u32 task;

	begin_run(seed, marked, skipping);
	for (int i = 0; i < 2000; i++) {
		step();
		task = (__u32)(current - tasks_of);
		if (skipping && one_in(500))
			control.armed = !one_in(4);
		if (one_in(300))
			end_task(task);
		else if (kind.method == BY_EVENT)
			act_events(task);
		else
			act_calls(task);
	}
	keep_left(left);
}

/*
 * A row is a schedule, and what is left: "gup 2 8 5 1" are two of 8 us, the longest of 5, 1 in the
 * tail.
 *   uA, gA   user space, GUP faults at A     !       no program is run for what is next
 *   vA, tA   a further attempt of each       r, d    the newest call returns "retry", is done
 *   +N       N us pass                       m, x    the task is in a fault at the attach, ends
 */
static const struct row {
	const char *state, *script, *left;
} states[] = {
	{ "GUP in a fault", "uA +1 gB +5 d +1 d gA +3 d", ", user 1 7 7 1, gup 2 8 5 1" },
	{ "retried", "gA +2 r +1 tA +3 d", ", gup 1 6 6 1, continued 1, joined 1" },
	{ "not retried", "uA +2 r +9 uB +3 d", ", user 1 3 3 0, continued 1, abandoned 1" },
	{ "GUP, not retried", "gA r +9 gB +3 d", ", gup 1 3 3 0, continued 1, abandoned 1" },
	{ "no program saw the end", "uA ! d +9 uA +3 d", ", user 1 3 3 0, abandoned 1" },
	{ "nor that of the outer one", "! uA gB ! d ! d uA +3 d", ", user 1 3 3 0, abandoned 1" },
	{ "nor a first attempt", "gA ! d ! gB ! r tB +3 d", ", missed_start 1, abandoned 1" },
	{ "nor its entry", "gA ! d ! gB r tB d", ", missed_start 1, continued 1, abandoned 1" },
	{ "nor the next entry", "uA ! d ! uB +3 d", ", missed_start 1, abandoned 1" },
	{ "no program saw the entry", "! uA r vA +3 d", ", missed_start 1, continued 1" },
	{ "nor the only entry", "! uA +3 d", ", missed_start 1" },
	{ "its place was taken", "uA ! d uB +1 r vB +2 d",
	  ", user 1 3 3 0, continued 1, abandoned 1, joined 1" },
	{ "began before the attach", "m gA +3 d gA +3 d", ", gup 1 3 3 0, missed_start 1" },
	{ "the task ended", "uA gB x", ", abandoned 2" },
};

static void run_word(const char *word)
{
	static const __u64 flags[] = { ['u'] = FAULT_FLAG_VMA_LOCK | FAULT_FLAG_USER,
				       ['v'] = FAULT_FLAG_USER,
				       ['t'] = FAULT_FLAG_TRIED };
	int act = word[0];

	if (strchr("uvgt", act)) {
		faults[0][depths[0]] = (struct fault){ (__u64)word[1], flags[act], act > 't' };
		enter(0, depths[0]++);
	} else if (strchr("rd", act)) {
		leave(0, --depths[0], act == 'r' ? VM_FAULT_RETRY : 0);
	} else if (act == 'x') {
		end_task(0);
	} else if (act == 'm') {
		((struct memlat_task *)bpf_task_storage_get(&tasks, current, NULL, 1))->before = 1;
		others.marked++;
	} else {
		now_ns += act == '+' ? 1000ULL * (__u64)atoi(word + 1) : 0;
	}
	skips = act == '!';
}

static struct lat_hist all; /* modes */

static void say_mode(const char *name, __u32 mode)
{
	struct lat_key key = { .by = LAT_BY_MODE, .id = mode };
	__u32 *row = bpf_map_lookup_elem(&keys, &key);
	struct lat_hist *hist = row ? bpf_map_lookup_elem(&rows, row) : NULL;

	if (!hist)
		return;
	hist__add(&all, hist);
	fprintf(unit_output.out, ", %s %llu %llu %llu %llu", name,
		(unsigned long long)hist__count(hist), hist->sum_ns / 1000, hist->max_ns / 1000,
		hist->tail);
}

TEST(a_fault_is_recorded_or_counted)
{
	for (const struct row *row = states; row < states + COUNT_OF(states); row++) {
		char *rest = unit_text("%s", row->script), *word;

		begin_run(0, true, false);
		kind.method = BY_FENTRY;
		config.by = 1U << LAT_BY_MODE;
		config.tail_ns = 5000;
		control.next_row = 1;
		while ((word = strsep(&rest, " ")))
			run_word(word);
		unit_print();
		memset(&all, 0, sizeof(all));
		say_mode("user", LAT_MODE_USER);
		say_mode("gup", LAT_MODE_GUP);
		for (int i = LAT_SEEN + 1; i < LAT_COUNTS; i++)
			if (counted->counts[i])
				fprintf(unit_output.out, ", %s %llu", counts__name(i),
					counted->counts[i]);
		assert_string_equal(unit_printed(), row->left);
		same_histogram(0, &counted->hist, &all);
	}
}

/* ---- kinds ---- */

static struct vm_operations_struct {
	int unused;
} operations;
static struct vm_area_struct anonymous, file = { .vm_ops = &operations },
					shared = { .vm_ops = &operations, .vm_flags = VM_SHARED },
					huge = { .vm_ops = &operations, .vm_flags = VM_HUGETLB };

/* A function that the kernel calls in the newest call. */
static void call_function(char which)
{
	__u64 *frame = frame_at(0, depths[0] ? depths[0] - 1 : 0) - FRAME / 2;
	struct vm_fault fault = { .vma = mapping };

	frame[0] = (__u64)(unsigned long)&fault;
	if (which == 's')
		kind_swap(frame);
	else if (which == 'u')
		kind_uffd(frame);
	else if (which == 'm')
		kind_migration(frame);
	else if (which == 'n')
		kind_numa(frame);
	else
		kind_cow(frame);
}

/*
 * A row is a schedule, and how many faults of each kind are left. As above, and
 *   .A       the mapping of the next calls: a, f, s(hared file), h(ugetlb)
 *   kA       the newest call asks for a s(wap device), waits for u(serfaultfd) or for a page that
 *            m(oves), handles a n(uma hint), or a c(opy)
 *   R        reclaim begins, or ends
 */
static const struct row kinds_of[] = {
	{ "mappings", ".a uA d .f uA d uB d .s uA d .h uA d", ", anonymous 1, file 3, hugetlb 1" },
	{ "on the way", ".a uA kc d uA kn d uA ks d", ", cow 1, numa 1, swap 1" },
	{ "waits", ".a uA km d uA ku d", ", migration 1, uffd 1" },
	{ "a swap-in that copies", ".a uA ks kc d uA kc ks d", ", swap 2" },
	{ "a write to a shared file", ".s uA kc d", ", file 1" },
	{ "a write to a private one", ".f uA kc d", ", cow 1" },
	{ "hugetlb with userfaultfd", ".h uA ku d uA kc d", ", hugetlb 1, uffd 1" },
	{ "found in the first attempt", ".a uA ku r vA d uA d", ", anonymous 1, uffd 1" },
	{ "found in the second one", ".a uA r vA ks d", ", swap 1" },
	{ "nobody's", ".a ks uA d ku uA d", ", anonymous 2" },
	{ "of the inner call", ".a uA .f gB ks d d", ", anonymous 1, swap 1" },
	{ "of the outer call", ".a uA .f gB d ks d", ", file 1, swap 1" },
	{ "swap in reclaim", ".a uA R ks R d", ", anonymous 1" },
	{ "no program saw the entry", ".a ! uA ks ! d uA d", ", anonymous 1" },
	{ "nor the end", ".a uA ks ! d uB d", ", anonymous 1" },
};

static void run_kind_word(const char *word)
{
	static struct vm_area_struct *const mappings[] = {
		['a'] = &anonymous, ['f'] = &file, ['s'] = &shared, ['h'] = &huge
	};

	if (*word == '.')
		mapping = mappings[(int)word[1]];
	else if (*word == 'k')
		call_function(word[1]);
	else if (*word == 'R')
		current->flags ^= PF_MEMALLOC;
	else
		run_word(word);
}

static void say_kind(__u32 id)
{
	struct lat_key key = { .by = LAT_BY_KIND, .id = id };
	__u32 *row = bpf_map_lookup_elem(&keys, &key);
	struct lat_hist *hist = row ? bpf_map_lookup_elem(&rows, row) : NULL;

	if (hist)
		fprintf(unit_output.out, ", %s %llu", split__id_name(LAT_BY_KIND, id),
			(unsigned long long)hist__count(hist));
}

TEST(a_fault_has_the_kind_that_its_own_call_found)
{
	for (const struct row *row = kinds_of; row < kinds_of + COUNT_OF(kinds_of); row++) {
		char *rest = unit_text("%s", row->script), *word;

		begin_run(0, true, false);
		kind.method = BY_FENTRY;
		config.by = 1U << LAT_BY_KIND;
		control.next_row = 1;
		while ((word = strsep(&rest, " ")))
			run_kind_word(word);
		unit_print();
		for (__u32 id = 0; id <= LAT_KIND_UFFD; id++)
			say_kind(id);
		assert_string_equal(unit_printed(), row->left);
	}
}

/* ---- tests ---- */

/* Calls that find no place are not measured: so there are none. */
static void compare_with_expected(__u64 seed)
{
	simulate(seed, !(seed % 8), false, &straight);
	if (counted->counts[LAT_NOT_KEPT])
		return;
	same_histogram(seed, &counted->hist, &expected.hist);
	same_count(seed, LAT_ERRORS, counted->counts[LAT_ERRORS], expected.errors);
	same_count(seed, LAT_JOINED, counted->counts[LAT_JOINED], expected.joined);
	same_count(seed, LAT_MISSED_START, counted->counts[LAT_MISSED_START], 0);
	recorded += hist__count(&counted->hist);
}

TEST(each_fault_is_counted_once_and_in_full)
{
	for_seeds(compare_with_expected, 400, 100 * 400);
}

static void compare_marked(__u64 seed)
{
	simulate(seed, true, true, &general);
	simulate(seed, false, true, &straight);
	same_cells(seed, counted, 1);
	same_left(seed);
	assert_int_equal(run__imbalance(counted), 0);
	recorded += hist__count(&counted->hist);
}

TEST(each_end_is_counted_once_and_a_fault_of_another_task_changes_nothing)
{
	for_seeds(compare_marked, 400, 100 * 400);
}
