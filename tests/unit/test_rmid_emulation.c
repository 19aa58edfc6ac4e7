// SPDX-License-Identifier: BSD-2-Clause
/* RMIDs that user space emulates from the records of tasks: whose they are, and when. */
#include "unit.h"

#include "probes/rmid/columns.h"
#include "probes/rmid/attribution.h"
#include "probes/rmid/emulation.h"
#include "probes/rmid/module.h"
#include "probes/rmid/trace.h"

#define MS 1000000ULL
#define LIMBO LATSCOPE_RMID_LIMBO_NS
#define START (100 * MS)
#define TOLD 4096

static struct emulation *emulation;
static struct lat_rmid_owner told[TOLD];
static unsigned int nr_told;

static int keep(void *context, const struct lat_rmid_owner *record, uint32_t runner)
{
	assert_true(nr_told < TOLD);
	told[nr_told++] = *record;
	return 0;
}

static void emulate(uint32_t rmids)
{
	nr_told = 0;
	assert_int_equal(emulation__new(&emulation, rmids, keep, NULL), 0);
}

static void set_up(void)
{
	emulate(4);
}

static void tear_down(void)
{
	emulation__free(emulation);
	emulation = NULL;
}

/* As many RMIDs as there are processes. */
static void set_up_all(void)
{
	emulate(8);
}

static void send(enum lat_rmid_life life, uint64_t key, uint32_t tgid, uint32_t pid,
		 uint32_t threads, uint64_t time_ns)
{
	struct lat_rmid_task task = {
		.head = { .time_ns = time_ns, .record = RMID_TASK, .flags = (uint8_t)life },
		.key = key,
		.born_ns = key * 1000 + tgid,
		.tgid = tgid,
		.pid = pid,
		.threads = threads,
	};

	snprintf(task.comm, sizeof(task.comm), "p%u", tgid);
	assert_int_equal(emulation__take(emulation, &task), 0);
}

static void begin(uint64_t key, uint32_t tgid, uint64_t time_ns)
{
	send(RMID_BEGINS, key, tgid, tgid, 1, time_ns);
}

static void end(uint64_t key, uint32_t tgid, uint64_t time_ns)
{
	send(RMID_ENDS_ALL, key, tgid, tgid, 0, time_ns);
}

/* The last record, which must be of this kind. */
static const struct latscope_rmid_owner *last(enum lat_rmid_fate fate)
{
	assert_true(nr_told > 0);
	assert_int_equal(told[nr_told - 1].head.flags, fate);
	return &told[nr_told - 1].owner;
}

TEST(a_process_has_an_rmid_from_its_birth_to_its_last_thread, set_up, tear_down)
{
	begin(1, 500, START);
	assert_int_equal(last(RMID_ALLOCATED)->rmid, 1);
	assert_int_equal(last(RMID_ALLOCATED)->tgid, 500);
	assert_int_equal(last(RMID_ALLOCATED)->time_ns, START);
	send(RMID_BEGINS, 1, 500, 501, 1, START + 1);
	send(RMID_ENDS, 1, 500, 500, 1, START + 2); /* the leader first */
	assert_int_equal(nr_told, 1);
	send(RMID_ENDS_ALL, 1, 500, 501, 0, START + 3);
	assert_int_equal(last(RMID_FREED)->rmid, 1);
	assert_int_equal(last(RMID_FREED)->time_ns, START + 3);
	assert_int_equal(emulation__state(emulation).assigned, 0);
}

/* The kernel may say so before a CPU has switched away from another thread. */
TEST(the_word_that_all_have_ended_does_not_count_early, set_up, tear_down)
{
	begin(1, 500, START);
	send(RMID_BEGINS, 1, 500, 501, 1, START + 1);
	send(RMID_ENDS_ALL, 1, 500, 501, 0, START + 2);
	assert_int_equal(nr_told, 1);
	send(RMID_ENDS_ALL, 1, 500, 500, 0, START + 3);
	assert_int_equal(last(RMID_FREED)->time_ns, START + 3);
}

TEST(who_finds_none_waits_and_is_told, NULL, tear_down)
{
	emulate(1);
	begin(1, 500, START);
	begin(2, 501, START + 5);
	assert_int_equal(last(RMID_AWAITED)->rmid, 0);
	assert_int_equal(last(RMID_AWAITED)->tgid, 501);
	assert_int_equal(last(RMID_AWAITED)->since_ns, START + 5);
	assert_int_equal(emulation__state(emulation).waiting, 1);
	assert_int_equal(emulation__state(emulation).refused, 1);
	end(1, 500, START + 10);
	assert_int_equal(emulation__serve(emulation, START + 10 + LIMBO - 1), 0);
	assert_int_equal(last(RMID_FREED)->tgid, 500);
	assert_int_equal(emulation__serve(emulation, START + 10 + LIMBO), 0);
	assert_int_equal(last(RMID_ALLOCATED)->tgid, 501);
	assert_int_equal(last(RMID_ALLOCATED)->why, LATSCOPE_RMID_LATE);
	assert_int_equal(last(RMID_ALLOCATED)->since_ns, START + 5);
	assert_int_equal(emulation__state(emulation).waiting, 0);
}

/* CPU time by process: of 500 to 507. -1: not selected. */
static int64_t weights[8];

static int64_t weight(void *context, uint32_t tgid, uint64_t start_ns, const char *comm)
{
	return weights[tgid - 500];
}

static void choose(uint64_t time_ns)
{
	assert_int_equal(emulation__choose(emulation, 10, time_ns), 0);
}

/* Eight processes, in the order of their numbers, and so many RMIDs. */
static void emulate_by_weight(uint32_t rmids, const int64_t list[8])
{
	emulate(rmids);
	memcpy(weights, list, sizeof(weights));
	emulation__weigh(emulation, weight);
	for (uint32_t i = 0; i < 8; i++)
		send(RMID_EXISTS, i + 1, 500 + i, 500 + i, 1, START);
}

/* The processes that have an RMID by now: a mask of 1 << (TGID - 500). */
static unsigned int having(void)
{
	unsigned int mask = 0;

	for (unsigned int i = 0; i < nr_told; i++) {
		unsigned int bit = 1U << (told[i].owner.tgid - 500);

		if (told[i].head.flags == RMID_ALLOCATED)
			mask |= bit;
		if (told[i].head.flags == RMID_FREED || told[i].head.flags == RMID_YIELDED)
			mask &= ~bit;
	}
	return mask;
}

/* The idle ones came first. */
TEST(the_busiest_get_the_rmids, NULL, tear_down)
{
	static const int64_t used[8] = { 0, 0, 0, 5, 0, 900, 0, 70 };

	emulate_by_weight(2, used);
	assert_int_equal(having(), 0);
	choose(START + 1);
	assert_int_equal(having(), 1 << 5 | 1 << 7);
	assert_int_equal(emulation__state(emulation).waiting, 6);
	/* All have one if there are enough. */
	tear_down();
	emulate_by_weight(8, used);
	choose(START + 1);
	assert_int_equal(having(), 0xff);
}

/* Others become busy: they get the RMIDs after the limbo, and the owners that live wait again. */
TEST(an_rmid_passes_to_a_process_that_becomes_busier, NULL, tear_down)
{
	static const int64_t used[8] = { 0, 0, 0, 5, 0, 900, 0, 70 };

	emulate_by_weight(2, used);
	choose(START + 1);
	weights[7] = 0;
	weights[2] = 500;
	choose(START + 2);
	assert_int_equal(having(), 1 << 5);
	assert_int_equal(last(RMID_AWAITED)->tgid, 507);
	choose(START + 2 + LIMBO);
	assert_int_equal(having(), 1 << 5 | 1 << 2);
	assert_int_equal(last(RMID_ALLOCATED)->tgid, 502);
	assert_int_equal(emulation__state(emulation).yielded, 1);
	/* Its threads are still counted: it ends with the last one. */
	end(8, 507, START + 3 + LIMBO);
	assert_int_equal(emulation__state(emulation).waiting, 5);
}

/* Nearly as busy is not busier: otherwise RMIDs would go round. */
TEST(an_rmid_stays_where_others_are_about_as_busy, NULL, tear_down)
{
	static const int64_t used[8] = { 100, 100, 209, 209, 209, 209, 209, 209 };
	static const int64_t begun[8] = { 900, 900 };

	emulate_by_weight(2, begun);
	choose(START + 1);
	assert_int_equal(having(), 3);
	memcpy(weights, used, sizeof(weights));
	for (unsigned int i = 0; i < 100; i++)
		choose(START + 1 + i * LIMBO);
	assert_int_equal(having(), 3);
	assert_int_equal(emulation__state(emulation).yielded, 0);
	weights[4] = 210;
	choose(START + 200 * LIMBO);
	choose(START + 202 * LIMBO);
	assert_int_equal(emulation__state(emulation).yielded, 1);
	assert_int_equal(having() & 1 << 4, 1 << 4);
}

/* Nor one that begins, however many RMIDs are free. */
TEST(who_is_not_selected_gets_none, NULL, tear_down)
{
	static const int64_t used[8] = { -1, -1, -1, 0, -1, -1, -1, -1 };

	emulate_by_weight(4, used);
	choose(START + 1);
	assert_int_equal(having(), 1 << 3);
	end(1, 500, START + 2);
	end(2, 501, START + 2);
	begin(9, 500, START + 3);
	assert_int_equal(having(), 1 << 3);
	weights[1] = 0;
	begin(10, 501, START + 4);
	assert_int_equal(having(), 1 << 3 | 1 << 1);
	/* One that loses its name, for example, does not keep it if others wait. */
	for (unsigned int i = 0; i < 8; i++)
		weights[i] = i == 3 ? -1 : 20;
	choose(START + 5);
	choose(START + 5 + LIMBO);
	choose(START + 5 + 2 * LIMBO);
	assert_int_equal(having() & 1 << 3, 0);
}

/* The thread has the number of the leader from then on, and the leader that of the thread. */
TEST(exec_by_a_thread_keeps_the_rmid, set_up, tear_down)
{
	begin(1, 500, START);
	send(RMID_BEGINS, 1, 500, 501, 1, START + 1);
	send(RMID_ENDS, 1, 500, 501, 1, START + 2);
	send(RMID_EXECS, 1, 500, 500, 0, START + 3);
	assert_int_equal(last(RMID_LISTED)->rmid, 1);
	assert_int_equal(last(RMID_LISTED)->why, LATSCOPE_RMID_EXEC);
	assert_int_equal(emulation__state(emulation).assigned, 1);
	end(1, 500, START + 4);
	assert_int_equal(last(RMID_FREED)->rmid, 1);
}

TEST(who_existed_before_is_found_with_its_threads, set_up, tear_down)
{
	send(RMID_BEGINS, 1, 500, 501, 1, START); /* before its process is known */
	send(RMID_EXISTS, 1, 500, 500, 2, START + 1);
	assert_int_equal(last(RMID_ALLOCATED)->why, LATSCOPE_RMID_FOUND);
	assert_int_equal(last(RMID_ALLOCATED)->threads, 2);
	send(RMID_EXISTS, 1, 500, 500, 2, START + 2);
	assert_int_equal(nr_told, 1);
	send(RMID_ENDS, 1, 500, 501, 1, START + 3);
	assert_int_equal(nr_told, 1);
	end(1, 500, START + 4);
	last(RMID_FREED);
}

/* A thread that begins while the process is found is counted twice. */
TEST(who_was_found_with_a_thread_too_many_ends_all_the_same, set_up, tear_down)
{
	send(RMID_EXISTS, 1, 500, 500, 2, START);
	send(RMID_BEGINS, 1, 500, 501, 1, START);
	send(RMID_ENDS, 1, 500, 501, 1, START + 1);
	assert_int_equal(nr_told, 1);
	end(1, 500, START + 2);
	assert_int_equal(last(RMID_FREED)->time_ns, START + 2);
}

TEST(who_was_born_unseen_and_lives_has_a_thread_more, set_up, tear_down)
{
	begin(1, 500, START);
	send(RMID_ENDS, 1, 500, 501, 1, START + 1); /* the beginning of 501 was lost */
	assert_int_equal(nr_told, 1);
	assert_int_equal(emulation__state(emulation).miscounted, 1);
	end(1, 500, START + 2);
	last(RMID_FREED);
}

TEST(a_lost_end_is_noticed_when_its_memory_is_used_again, set_up, tear_down)
{
	begin(1, 500, START);
	begin(1, 600, START + 1);
	assert_int_equal(nr_told, 3);
	assert_int_equal(told[1].head.flags, RMID_FREED);
	assert_int_equal(told[1].owner.tgid, 500);
	assert_int_equal(last(RMID_ALLOCATED)->rmid, 2);
	assert_int_equal(emulation__state(emulation).miscounted, 1);
}

static void write_stat(uint32_t tgid, const char *state, unsigned int threads, uint64_t start)
{
	unit_write(dir, unit_text("proc/%u/stat", tgid),
		   unit_text("%u (a) b) %s 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 %u 0 %llu 9 9\n",
			     tgid, state, threads, (unsigned long long)start));
}

/* It is not known to have ended: nothing is freed. */
TEST(who_cannot_be_looked_at_lives, set_up_all, tear_down)
{
	begin(100000, 500, START);
	write_stat(501, "S", 1, 0); /* makes the directories */
	assert_int_equal(mkdir(unit_path(dir, "proc/500"), 0700), 0);
	assert_int_equal(symlink("stat", unit_path(dir, "proc/500/stat")), 0);
	assert_int_equal(emulation__check(emulation, dir, START + 9), 0);
	assert_false(emulation__has_gone(emulation));
	assert_int_equal(emulation__check(emulation, dir, START + 9), 0);
	assert_int_equal(emulation__state(emulation).assigned, 1);
	assert_int_equal(emulation__state(emulation).miscounted, 0);
}

/* Of six, the first two live; the others are gone, a zombie, another process, and dead. */
TEST(lost_ends_are_found_in_proc, set_up_all, tear_down)
{
	uint64_t tick = 1000000000ULL / (uint64_t)sysconf(_SC_CLK_TCK);

	for (uint32_t i = 0; i < 6; i++)
		begin(100000 + i, 500 + i, START);
	write_stat(500, "S", 1, (100000 * 1000 + 500) / tick);
	write_stat(501, "Z", 2, (100001 * 1000 + 501) / tick);
	write_stat(503, "Z", 1, (100003 * 1000 + 503) / tick);
	write_stat(504, "S", 1, (100004 * 1000 + 504) / tick + 1);
	write_stat(505, "X", 1, (100005 * 1000 + 505) / tick);
	assert_int_equal(emulation__check(emulation, dir, START + 8), 0);
	assert_int_equal(emulation__state(emulation).assigned, 6);
	assert_true(emulation__has_gone(emulation));
	assert_int_equal(emulation__check(emulation, dir, START + 9), 0);
	assert_false(emulation__has_gone(emulation));
	assert_int_equal(emulation__state(emulation).assigned, 2);
	assert_int_equal(emulation__state(emulation).miscounted, 4);
	for (unsigned int i = 6; i < nr_told; i++) {
		assert_int_equal(told[i].head.flags, RMID_FREED);
		assert_in_range(told[i].owner.tgid, 502, 505);
	}
}

/* It has ended, but its record is still to come. */
TEST(who_ends_just_now_is_freed_by_its_record, set_up_all, tear_down)
{
	begin(100000, 500, START);
	assert_int_equal(emulation__check(emulation, dir, START + 5), 0);
	assert_int_equal(nr_told, 1);
	end(100000, 500, START + 8);
	assert_int_equal(last(RMID_FREED)->time_ns, START + 8);
	assert_int_equal(emulation__check(emulation, dir, START + 9), 0);
	assert_int_equal(emulation__state(emulation).miscounted, 0);
}

/* Two are gone after the end of the window; of one, a record says that it ended since then. */
TEST(who_ends_after_the_window_is_there_at_its_end, set_up_all, tear_down)
{
	const struct lat_rmid_task later = { .head.flags = RMID_ENDS_ALL, .key = 100001 };

	begin(100000, 500, START);
	begin(100001, 501, START);
	emulation__look(emulation, dir);
	emulation__ended_later(emulation, &later);
	assert_int_equal(emulation__check(emulation, dir, START + 9), 0);
	assert_int_equal(nr_told, 3);
	assert_int_equal(last(RMID_FREED)->tgid, 500);
}

TEST(a_late_record_does_not_turn_time_back, NULL, tear_down)
{
	emulate(2);
	begin(1, 500, START);
	end(1, 500, START + 50);
	begin(2, 501, START + 20);
	assert_int_equal(last(RMID_ALLOCATED)->time_ns, START + 50);
	begin(3, 502, START + 49 + LIMBO);
	last(RMID_AWAITED);
}

TEST(the_default_is_at_most_512)
{
	assert_in_range(emulation__rmids(), 1, LATSCOPE_RMID_DEFAULT);
}

/* ---- the dump and the trace ---- */

static char *dump_to(const char *name)
{
	FILE *out = fopen(unit_path(dir, name), "w");

	assert_non_null(out);
	emulation__dump(emulation, 3, out);
	fclose(out);
	return unit_read(dir, name);
}

TEST(the_dump_is_that_of_the_module, NULL, tear_down)
{
	struct module_state module;
	struct lat_rmid_task odd = { .head = { .time_ns = START + 7, .flags = RMID_BEGINS },
				     .key = 3,
				     .born_ns = 77,
				     .tgid = 502,
				     .pid = 502,
				     .threads = 1,
				     .comm = "a b\\\n\303\251" };
	int fd;

	emulate(2);
	begin(1, 500, START);
	send(RMID_BEGINS, 1, 500, 501, 1, START + 1);
	begin(2, 501, START + 2);
	assert_int_equal(emulation__take(emulation, &odd), 0);
	assert_has(dump_to("rmid"),
		   "version 1\nrmids 2\nlimbo_ns 2000000\nrdt off\n"
		   "l3_scale 0\nmbm off\nassigned 2\nwaiting 1\nallocs 2\n"
		   "frees 0\nrefused 1\nlate 0\nuntracked 0\nmiscounted 0\n",
		   "\nmissed 3\nunsampled \n\n", "\n1 500 1500 2 100000000 p500\n",
		   "\n2 501 2501 1 100000002 p501\n",
		   "\n0 502 77 1 100000007 a b\\134\\012\\303\\251\n");
	fd = module__open(unit_path(dir, "rmid"));
	assert_true(fd >= 0);
	assert_int_equal(module__read(fd, &module), 0);
	assert_int_equal(module.rmids, 2);
	assert_int_equal(module.assigned, 2);
	assert_int_equal(module.waiting, 1);
	assert_string_equal(module.rdt, "off");
	close(fd);
}

/* More than one reading of the file. */
TEST(a_long_dump_is_copied_whole, NULL, tear_down)
{
	char *text;
	FILE *out;
	int fd;

	emulate(500);
	for (uint32_t i = 0; i < 500; i++)
		begin(1 + i, 1000 + i, START);
	text = dump_to("rmid");
	assert_true(strlen(text) > 8192);
	fd = open(unit_path(dir, "rmid"), O_RDONLY);
	out = fopen(unit_path(dir, "copy"), "w");
	assert_int_equal(module__copy(fd, out), 0);
	fclose(out);
	close(fd);
	assert_string_equal(unit_read(dir, "copy"), text);
}

TEST(the_trace_is_that_of_the_module)
{
	struct lat_rmid_owner record = {
		.head = { .cpu = 3, .flags = RMID_ALLOCATED },
		.owner = { .seq = 7,
			   .time_ns = 12000345678,
			   .start_ns = 5,
			   .since_ns = 6,
			   .rmid = 2,
			   .tgid = 500,
			   .why = LATSCOPE_RMID_LATE,
			   .threads = 1,
			   .comm = "a\033b" },
	};
	FILE *out = unit_print();

	trace__print(out, &record, 42);
	record.head.flags = RMID_AWAITED;
	trace__print(out, &record, 42);
	trace__end(out, 12000345999);
	assert_string_equal(unit_printed(),
			    "           <...>-42      [003] .....    12.000345: rmid_alloc: seq=7 "
			    "time_ns=12000345678 start_ns=5 since_ns=6 rmid=2 tgid=500 "
			    "why=late threads=1 comm=a?b\n"
			    "# until    12.000345\n");
}

/* ---- rows ---- */

static struct attribution attribution;

static int attribute(void *context, const struct lat_rmid_owner *record, uint32_t runner)
{
	return attribution__take(&attribution, record, sizeof(*record));
}

static void run(uint32_t tgid, uint64_t born_ns, uint64_t from, uint64_t to)
{
	struct lat_rmid_span span = {
		.head = { .time_ns = to, .record = RMID_SPAN },
		.start_ns = from,
		.who = tgid ? RMID_WHO_PROCESS : RMID_WHO_IDLE,
		.id = tgid,
		.born_ns = born_ns,
	};

	assert_int_equal(attribution__take(&attribution, &span, RMID_SPAN_SIZE), 0);
}

TEST(rows_have_the_rmid_of_their_time_and_0_of_who_waits, NULL, tear_down)
{
	static const int64_t rmids[] = { 1, 0, 0, 1, 1, -1 }; /* -1: unknown */
	const struct rows_layout layout = { .rmids = true };
	const struct slot *slot;
	struct table *table;

	assert_int_equal(attribution__init(&attribution, 1), 0);
	slots__start(attribution.slots, START);
	slots__join(attribution.slots, 0, START);
	assert_int_equal(emulation__new(&emulation, 1, attribute, NULL), 0);
	begin(1, 500, START);
	begin(2, 501, START + 1);
	end(1, 500, START + MS);
	assert_int_equal(emulation__serve(emulation, START + MS + LIMBO), 0);
	run(500, 1500, START, START + MS);
	for (uint64_t ms = 1; ms < 5; ms++) /* has its RMID after START + 3 ms */
		run(501, 2501, START + ms * MS, START + (ms + 1) * MS);
	run(900, 1, START + 5 * MS, START + 6 * MS); /* of which no record told */
	assert_int_equal(rows__new_table(&table, &layout), 0);
	while ((slot = slots__next(attribution.slots)))
		assert_int_equal(rows__add(table, &layout, slot, attribution.processes, START), 0);
	assert_int_equal(table__rows(table), 6);
	for (size_t row = 0; row < 6; row++) {
		struct table_value value = table__value(table, row, ROWS_COLUMNS);

		assert_int_equal(value.known ? value.integer : -1, rmids[row]);
	}
	assert_int_equal(table__value(table, 1, ROWS_PID).integer, 501);
	table__free(table);
	attribution__clear(&attribution);
}

/* ---- random histories ---- */

#define PEOPLE 24
#define MOST_RMIDS 12

/* A process that lives at key 1 + its place. PIDs and keys are used again at once. */
static struct {
	bool alive, waits;
	uint32_t tgid, threads, rmid;
	uint64_t ticket;
} people[PEOPLE];

static struct {
	uint32_t owner; /* a place, plus 1 */
	uint64_t freed_ns, ticket;
} ids[MOST_RMIDS + 1];

static uint64_t ticket, judged, late;
static uint32_t nr_ids;

/* Nobody is served before who has waited longer, and no RMID before one that was freed earlier. */
static int judge(void *context, const struct lat_rmid_owner *record, uint32_t runner)
{
	const struct latscope_rmid_owner *owner = &record->owner;
	uint32_t who = (uint32_t)(owner->start_ns / 1000) - 1, rmid = owner->rmid;

	judged++;
	if (record->head.flags == RMID_AWAITED) {
		assert_int_equal(rmid, 0);
		return 0;
	}
	assert_in_range(rmid, 1, nr_ids);
	if (record->head.flags == RMID_FREED) {
		assert_int_equal(ids[rmid].owner, who + 1);
		assert_int_equal(people[who].threads, 0);
		ids[rmid].owner = 0;
		ids[rmid].freed_ns = owner->time_ns;
		ids[rmid].ticket = ++ticket;
		return 0;
	}
	assert_int_equal(ids[rmid].owner, record->head.flags == RMID_LISTED ? who + 1 : 0);
	if (record->head.flags == RMID_LISTED)
		return 0;
	for (uint32_t i = 0; i < PEOPLE; i++)
		assert_false(people[i].alive && people[i].waits &&
			     people[i].ticket < people[who].ticket);
	for (uint32_t i = 1; i <= nr_ids; i++)
		assert_false(!ids[i].owner && ids[i].ticket < ids[rmid].ticket);
	assert_true(people[who].alive && people[who].waits);
	assert_true(!ids[rmid].freed_ns || owner->time_ns - ids[rmid].freed_ns >= LIMBO);
	late += owner->why == LATSCOPE_RMID_LATE;
	ids[rmid].owner = who + 1;
	people[who].rmid = rmid;
	people[who].waits = false;
	return 0;
}

static void end_thread(uint32_t who, enum lat_rmid_life how, uint64_t now_ns)
{
	people[who].alive = --people[who].threads > 0;
	people[who].waits = people[who].waits && people[who].alive;
	send(how, 1 + who, people[who].tgid, 1000, people[who].threads, now_ns);
}

static void live(uint32_t who, uint64_t now_ns)
{
	uint64_t what = unit_random() % 8;

	if (!people[who].alive) {
		people[who].alive = people[who].waits = true;
		people[who].tgid = 100 + (uint32_t)(unit_random() % 8);
		people[who].threads = 1;
		people[who].ticket = ++ticket;
		begin(1 + who, people[who].tgid, now_ns);
	} else if (what < 2) {
		people[who].threads++;
		send(RMID_BEGINS, 1 + who, people[who].tgid, 1000, 1, now_ns);
	} else if (what == 2) {
		send(RMID_EXECS, 1 + who, people[who].tgid, people[who].tgid, 0, now_ns);
	} else {
		end_thread(who, what == 3 ? RMID_ENDS : RMID_ENDS_ALL, now_ns);
	}
}

static void one_history(uint32_t rmids)
{
	uint64_t now_ns = START;

	memset(people, 0, sizeof(people));
	memset(ids, 0, sizeof(ids));
	nr_ids = rmids;
	assert_int_equal(emulation__new(&emulation, rmids, judge, NULL), 0);
	for (int i = 0; i < 4000; i++) {
		now_ns += unit_random() % (LIMBO / 4);
		live((uint32_t)(unit_random() % PEOPLE), now_ns - unit_random() % 5000);
	}
	for (uint32_t who = 0; who < PEOPLE; who++)
		while (people[who].alive)
			end_thread(who, RMID_ENDS, now_ns);
	assert_int_equal(emulation__state(emulation).most, rmids);
	assert_int_equal(emulation__state(emulation).assigned, 0);
	assert_int_equal(emulation__state(emulation).waiting, 0);
	assert_int_equal(emulation__state(emulation).miscounted, 0);
	emulation__free(emulation);
	emulation = NULL;
}

TEST(random_histories_keep_all_guarantees, NULL, tear_down)
{
	judged = late = 0;
	for (uint32_t rmids = 1; rmids <= MOST_RMIDS; rmids++)
		one_history(rmids);
	assert_true(judged > 10000);
	assert_true(late > 1000);
}
