// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every order in which three processes of up to two threads can be born, run, wait, and die on two
 * CPUs with three RMIDs: all states that can be reached are visited, and must keep what is
 * promised.
 *
 * One step is what one CPU does without another being able to come between: an operation under the
 * lock, or a single look without it. Time passes in steps of half a limbo. States are the same if
 * they differ only in absolute time, in counters, or in which process or thread it is that does
 * what.
 */
#include "unit.h"

#include "../../kmod/rmid/book.h"

#define RMIDS 3
#define PROCESSES 3
#define THREADS 2
#define CPUS 2
#define HALF_NS 1000000ULL
#define LIMBO_NS (2 * HALF_NS)

/* The state of a thread. From LOOKED to ENDED it occupies a CPU. */
enum at {
	ABSENT,
	QUEUED, /* may be switched in */
	LOOKED, /* is being switched in, saw that it waits and that an RMID is available */
	SERVED, /* is being switched in, is about to read its RMID */
	RUNNING, /* the CPU carries the RMID that it read */
	ENDED, /* was switched out for the last time, but is still counted */
};

struct thread {
	uint8_t at;
	uint8_t carries;
};

struct state {
	struct rmid_book book;
	struct rmid_info infos[RMIDS + 1];
	__u64 keys[PROCS_WAYS];
	struct rmid_process places[PROCS_WAYS];
	struct thread threads[PROCESSES][THREADS];
	__u64 now_ns;
	/* State that only the test keeps. */
	__u64 freed_ns[RMIDS + 1];
	uint8_t freed[RMIDS]; /* in the order of freeing */
	uint8_t freed_count;
	uint8_t owner[RMIDS + 1]; /* process + 1 */
};

/* A canonical form of a state: equal states have equal shapes. */
struct shape {
	uint8_t bytes[32];
};

static const char *broken;
static uint64_t transitions;

static void must(bool good, const char *what)
{
	if (!good && !broken)
		broken = what;
}

static __u64 key_of(int process)
{
	return 0x1000 + process;
}

/* The book has pointers into the state that it was copied from. */
static void settle(struct state *state)
{
	state->book.alloc.infos = state->infos;
	state->book.procs.keys = state->keys;
	state->book.procs.places = state->places;
}

static struct state first_state(void)
{
	struct state state = { .now_ns = 10 * LIMBO_NS };

	settle(&state);
	rmid_alloc__init(&state.book.alloc, state.infos, RMIDS, LIMBO_NS);
	procs__init(&state.book.procs, state.keys, state.places, PROCESSES + 1);
	book__init(&state.book);
	for (int i = 0; i < RMIDS; i++)
		state.freed[state.freed_count++] = (uint8_t)(i + 1);
	return state;
}

static int threads_of(const struct state *state, int process)
{
	int count = 0;

	for (int t = 0; t < THREADS; t++)
		count += state->threads[process][t].at != ABSENT;
	return count;
}

static uint8_t remaining(const struct state *state, __u64 ready_ns)
{
	return ready_ns > state->now_ns ? (uint8_t)((ready_ns - state->now_ns) / HALF_NS) : 0;
}

/* A process: its RMID, threads counted, place in the queue, and its threads in either order. */
#define CHUNK (3 + THREADS)

static int compare_chunks(const void *a, const void *b)
{
	return memcmp(a, b, CHUNK);
}

static uint8_t queued_at(const struct state *state, __u32 place)
{
	uint8_t position = 1;

	for (__u32 at = state->book.first; at != PROCS_NONE;
	     at = state->places[at].next, position++)
		if (at == place)
			return position;
	return 0;
}

static void shape_process(const struct state *state, int p, uint8_t *chunk)
{
	__u32 place = procs__find(&state->book.procs, key_of(p));
	uint8_t *threads = chunk + 3, swap;

	if (place != PROCS_NONE) {
		chunk[0] = (uint8_t)(1 + state->places[place].rmid);
		chunk[1] = (uint8_t)state->places[place].threads;
		chunk[2] = queued_at(state, place);
	}
	for (int t = 0; t < THREADS; t++)
		threads[t] = (uint8_t)(state->threads[p][t].at << 4 | state->threads[p][t].carries);
	if (threads[0] > threads[1]) {
		swap = threads[0];
		threads[0] = threads[1];
		threads[1] = swap;
	}
}

static struct shape shape_of(const struct state *state)
{
	struct shape shape = { { 0 } };
	uint8_t *byte = shape.bytes;
	__u32 rmid;

	for (int p = 0; p < PROCESSES; p++, byte += CHUNK)
		shape_process(state, p, byte);
	qsort(shape.bytes, PROCESSES, CHUNK, compare_chunks);
	for (rmid = state->book.alloc.head; rmid; rmid = state->infos[rmid].next)
		*byte++ = (uint8_t)(rmid << 4 | remaining(state, state->infos[rmid].ready_ns));
	return shape;
}

static void take_alloc(struct state *state, const struct latscope_rmid_owner *record)
{
	__u32 rmid = record->rmid;

	must(rmid >= 1 && rmid <= RMIDS, "an RMID that is none");
	must(state->freed_count && state->freed[0] == rmid, "not the one that was freed first");
	must(!state->owner[rmid], "an RMID with two owners");
	must(!state->freed_ns[rmid] || state->now_ns - state->freed_ns[rmid] >= LIMBO_NS,
	     "an RMID before its limbo was over");
	state->owner[rmid] = (uint8_t)(record->tgid + 1);
	memmove(state->freed, state->freed + 1, RMIDS - 1);
	state->freed_count--;
}

static void serve(struct state *state)
{
	struct latscope_rmid_owner record;

	for (int most = 2; most > 0 && book__serve(&state->book, state->now_ns, &record); most--)
		take_alloc(state, &record);
}

static bool free_cpu(const struct state *state)
{
	int busy = 0;

	for (int p = 0; p < PROCESSES; p++)
		for (int t = 0; t < THREADS; t++)
			busy += state->threads[p][t].at > QUEUED;
	return busy < CPUS;
}

/* As on_wakeup_new() does. */
static bool step_begin(struct state *state, int p, int t)
{
	struct rmid_birth birth = { .key = key_of(p), .tgid = (__u32)p, .threads = 1 };
	int others = threads_of(state, p);

	if (others) {
		must(book__thread(&state->book, key_of(p)), "a process with threads was forgotten");
	} else {
		must(book__birth(&state->book, &birth, state->now_ns), "no room");
		serve(state);
	}
	state->threads[p][t].at = QUEUED;
	return true;
}

/* As owners__rmid() does, first without the lock. */
static bool step_look(struct state *state, int p, int t)
{
	__u32 place = book__place(&state->book, key_of(p));

	if (!free_cpu(state))
		return false;
	must(place != PROCS_NONE, "a process that runs was forgotten");
	state->threads[p][t].at = SERVED;
	if (place != PROCS_NONE && !book__rmid(&state->book, place) &&
	    book__may_serve(&state->book, state->now_ns))
		state->threads[p][t].at = LOOKED;
	return true;
}

static bool step_read(struct state *state, int p, int t)
{
	__u32 place = book__place(&state->book, key_of(p));

	must(place != PROCS_NONE, "a process that runs was forgotten");
	state->threads[p][t].at = RUNNING;
	state->threads[p][t].carries =
		place == PROCS_NONE ? 0 : (uint8_t)book__rmid(&state->book, place);
	return true;
}

/* As owners__dead_task() does, when the CPU has another process's RMID. */
static bool step_gone(struct state *state, int p, int t)
{
	struct latscope_rmid_owner record;
	int live = 0;

	state->threads[p][t] = (struct thread){ .at = ABSENT };
	for (int other = 0; other < THREADS; other++)
		live += state->threads[p][other].at != ABSENT &&
			state->threads[p][other].at != ENDED;
	if (!book__thread_gone(&state->book, key_of(p), (__u32)live, state->now_ns, &record))
		return true;
	must(!threads_of(state, p), "freed while a thread was left");
	must(state->owner[record.rmid] == p + 1, "freed by a stranger");
	state->owner[record.rmid] = 0;
	state->freed[state->freed_count++] = (uint8_t)record.rmid;
	state->freed_ns[record.rmid] = state->now_ns;
	return true;
}

/* The step of a thread for `choice` 0 or 1. False: there is none. */
static bool step(struct state *state, int p, int t, int choice)
{
	struct thread *thread = &state->threads[p][t];

	switch (thread->at) {
	case ABSENT:
		return !choice && step_begin(state, p, t);
	case QUEUED:
		return !choice && step_look(state, p, t);
	case LOOKED:
		if (choice)
			return false;
		serve(state);
		thread->at = SERVED;
		return true;
	case SERVED:
		return !choice && step_read(state, p, t);
	case RUNNING: /* is switched out, to come back or not */
		thread->carries = 0;
		thread->at = choice ? ENDED : QUEUED;
		return true;
	case ENDED:
		return !choice && step_gone(state, p, t);
	}
	return false;
}

/* After a limbo, every waiting process gets an RMID as long as there are any. */
static void judge_patience(const struct state *from)
{
	struct state state = *from;

	settle(&state);
	state.now_ns += LIMBO_NS;
	for (int i = 0; i < PROCESSES; i++)
		serve(&state);
	must(!state.book.waiting || !state.freed_count, "a process waits although an RMID is free");
}

static void judge(const struct state *state)
{
	int owned = 0, present = 0;

	for (int p = 0; p < PROCESSES; p++) {
		__u32 place = procs__find(&state->book.procs, key_of(p));
		int threads = threads_of(state, p);

		must((place != PROCS_NONE) == (threads > 0), "who is in the table is who lives");
		if (place == PROCS_NONE)
			continue;
		must((int)state->places[place].threads == threads, "threads are miscounted");
		present++;
		for (int t = 0; t < THREADS; t++) {
			uint8_t carries = state->threads[p][t].carries;

			must(!carries || state->owner[carries] == p + 1,
			     "a CPU carries the RMID of another");
		}
	}
	for (int rmid = 1; rmid <= RMIDS; rmid++)
		owned += state->owner[rmid] != 0;
	must(owned == (int)state->book.assigned, "assigned are miscounted");
	must(owned + state->freed_count == RMIDS, "an RMID is lost");
	must(owned + (int)state->book.waiting == present, "somebody neither has one nor waits");
	must(!state->book.counts.miscounted && !state->book.counts.untracked, "miscounted");
	judge_patience(state);
}

/* The states seen: a hash table of shapes; and the queue of those to go on from. */
#define TABLE (1U << 20)
static struct shape *seen;
static uint64_t seen_count;

struct node {
	struct node *next;
	struct state state;
};
static struct node *todo;

static bool is_new(struct shape shape)
{
	uint64_t hash = 0xcbf29ce484222325;

	shape.bytes[31] = 1; /* not empty */
	for (size_t i = 0; i < sizeof(shape.bytes); i++)
		hash = (hash ^ shape.bytes[i]) * 0x100000001b3;
	for (hash ^= hash >> 32;; hash++) {
		struct shape *at = &seen[hash % TABLE];

		if (!at->bytes[31]) {
			*at = shape;
			return true;
		}
		if (!memcmp(at, &shape, sizeof(shape)))
			return false;
	}
}

static void visit(const struct state *state)
{
	struct node *node;

	transitions++;
	judge(state);
	if (!is_new(shape_of(state)))
		return;
	seen_count++;
	assert_true(seen_count < TABLE / 2);
	node = malloc(sizeof(*node));
	assert_non_null(node);
	node->state = *state;
	node->next = todo;
	todo = node;
}

static void expand(const struct state *from)
{
	struct state state;

	for (int i = 0; i < PROCESSES * THREADS * 2; i++) {
		state = *from;
		settle(&state);
		if (step(&state, i / 2 % PROCESSES, i / 2 / PROCESSES, i % 2))
			visit(&state);
	}
	state = *from;
	settle(&state);
	state.now_ns += HALF_NS;
	visit(&state);
}

TEST(test_every_interleaving_of_3_processes_with_3_rmids)
{
	struct state state = first_state();
	struct node *node;

	settle(&state);
	seen = calloc(TABLE, sizeof(*seen));
	assert_non_null(seen);
	visit(&state);
	while ((node = todo)) {
		todo = node->next;
		node->state.book.counts = (struct rmid_counts){ 0 };
		expand(&node->state);
		free(node);
	}
	free(seen);
	print_message("# %llu states, %llu transitions\n", (unsigned long long)seen_count,
		      (unsigned long long)transitions);
	if (broken)
		print_error("%s\n", broken);
	assert_null(broken);
	assert_true(seen_count > 10000);
}
