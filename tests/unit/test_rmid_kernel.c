// SPDX-License-Identifier: BSD-2-Clause
/*
 * The files of kmod/rmid that use the kernel, with the model of tests/rmid/kernel in its place:
 * what they do with registers, and if memory is short.
 */
#include "unit.h"

#include "../rmid/kernel/kernel.h"

#include "../../kmod/rmid/cpu.c"
#include "../../kmod/rmid/owners.c"
#include "../../kmod/rmid/pace.h"
#include "../../kmod/rmid/pqr.c"
#include "../../kmod/rmid/read.c"

static void trace_rmid_alloc(const struct latscope_rmid_owner *record)
{
}

static void trace_rmid_free(const struct latscope_rmid_owner *record)
{
}

static void trace_rmid_existing(const struct latscope_rmid_owner *record)
{
}

static void trace_rmid_sample(const struct latscope_rmid_sample *record)
{
}

static struct latscope_rmid_read records[64];
static size_t record_count;

static void trace_rmid_read(const struct latscope_rmid_read *record)
{
	if (record_count < 64)
		records[record_count++] = *record;
}

/* A machine that has just been booted. */
static void boot(void)
{
	memset(&kernel, 0, sizeof(kernel));
	memset(rmid_cpus, 0, sizeof(rmid_cpus));
	memset(pqrs, 0, sizeof(pqrs));
	kernel.resctrl_known = true;
	kernel.now_ns = 1;
	writing = conflict = fault = false;
	listeners = 0;
	domains = NULL;
	domain_count = events = refused = 0;
}

TEST(test_memory_that_runs_out_is_an_error_and_given_back, boot)
{
	int fails_at = 1;

	for (;; fails_at++) {
		kernel.fails_at = fails_at;
		if (!owners__init(8, LATSCOPE_RMID_LIMBO_NS, 64))
			break;
		assert_int_equal(kernel.allocations, 0);
	}
	kernel.fails_at = 0;
	assert_int_equal(fails_at, 5); /* it makes four */
	assert_int_equal(kernel.allocations, 4);
	owners__exit();
	assert_int_equal(kernel.allocations, 0);
}

static void load(void)
{
	u32 rmids = LATSCOPE_RMID_DEFAULT;

	assert_int_equal(pqr__init(PQR_AUTO, &rmids), 0);
	assert_int_equal(read__init(true, rmids, 2), 0);
	assert_int_equal(owners__init(rmids, LATSCOPE_RMID_LIMBO_NS, 64), 0);
	assert_int_equal(cpu__init(false), 0);
	pqr__watch(cpu__sampled());
}

static void unload(void)
{
	pqr__unwatch();
	cpu__exit();
	owners__exit();
	read__exit();
	assert_int_equal(kernel.allocations, 0);
}

static void boot_and_load(void)
{
	boot();
	load();
}

static void listen(void)
{
	boot_and_load();
	cpu__listen();
}

static void unlisten(void)
{
	cpu__unlisten();
	unload();
}

/* The CPU runs another process (0: none), which the hook on sched_switch would report. */
static void run(unsigned int cpu, u32 rmid)
{
	kernel.cpu = cpu;
	if (rmid_cpus[cpu].online)
		set_running(&rmid_cpus[cpu], rmid,
			    rmid ? LATSCOPE_RMID_PROCESS : LATSCOPE_RMID_IDLE);
	kernel.cpu = 0;
}

static void run_any(void)
{
	run(unit_random() % KERNEL_CPUS, unit_random() % 16);
}

/* The state long after its last switch to a process. */
static void sleep_all(void)
{
	run(0, 0);
	run(1, 0);
}

static void nothing_is_left(void)
{
	assert_string_equal(pqr__state(), "conflict");
	assert_true(kernel.pqr_assoc[0] == 0);
	assert_true(kernel.pqr_assoc[1] == 0);
}

TEST(test_a_register_in_use_is_refused_and_stays, boot)
{
	u32 rmids = 8;

	kernel.resctrl_mounted = true;
	assert_int_equal(pqr__init(PQR_AUTO, &rmids), -EBUSY);
	assert_has(kernel.log, "resctrl is mounted");
	boot();
	rmids = LATSCOPE_RMID_DEFAULT;
	kernel.pqr_assoc[1] = 1ULL << 32;
	assert_int_equal(pqr__init(PQR_AUTO, &rmids), 0);
	assert_int_equal(rmids, 15);
	assert_int_equal(cpu__init(false), -EBUSY);
	assert_has(kernel.log, "in use");
	assert_int_equal(kernel.pqr_assoc[0], 0);
	assert_true(kernel.pqr_assoc[1] == 1ULL << 32);
}

TEST(test_a_written_register_is_distinguished_from_one_that_was_reset)
{
	assert_int_equal(pqr_verdict(7, 7), PQR_OURS);
	assert_int_equal(pqr_verdict(0, 0), PQR_OURS);
	assert_int_equal(pqr_verdict(0, 7), PQR_LOST);
	assert_int_equal(pqr_verdict(8, 7), PQR_TAKEN);
	assert_int_equal(pqr_verdict(8, 0), PQR_TAKEN);
	assert_int_equal(pqr_verdict(1ULL << 32 | 7, 7), PQR_TAKEN); /* a CLOSID */
}

TEST(test_what_runs_is_in_the_register, boot_and_load)
{
	for (int i = 0; i < 1000; i++) {
		run_any();
		if (i % 10 == 0)
			kernel__work();
		assert_int_equal(kernel.pqr_assoc[0], rmid_cpus[0].rmid);
		assert_int_equal(kernel.pqr_assoc[1], rmid_cpus[1].rmid);
	}
	kernel.pqr_assoc[1] = 0; /* as after a suspend */
	run(1, 3);
	kernel.pqr_assoc[1] = 0;
	kernel__work();
	assert_int_equal(kernel.pqr_assoc[1], 3);
	assert_string_equal(pqr__state(), "on");
	unload();
	assert_int_equal(kernel.pqr_assoc[0], 0);
	assert_int_equal(kernel.pqr_assoc[1], 0);
}

TEST(test_a_mount_has_all_given_back_while_the_cpus_switch)
{
	for (int i = 0; i < 200; i++) {
		boot_and_load();
		run_any();
		run_any();
		kernel.resctrl_mounted = true;
		kernel.meanwhile = run_any;
		kernel__work();
		run_any();
		nothing_is_left();
		assert_has(kernel.log, "resctrl was mounted");
		assert_null(kernel.work); /* no more watching */
		unload();
	}
}

static u64 theirs[KERNEL_CPUS]; /* what another program wrote there; 0: nothing */

static void write_as_another_program(void)
{
	unsigned int cpu = unit_random() % KERNEL_CPUS;

	theirs[cpu] = 7ULL << 32 | unit_random() % 16;
	kernel.pqr_assoc[cpu] = theirs[cpu];
}

static void theirs_are_there(void)
{
	for (unsigned int cpu = 0; cpu < KERNEL_CPUS; cpu++)
		assert_true(!theirs[cpu] || kernel.pqr_assoc[cpu] == theirs[cpu]);
}

static void only_theirs_is_there(void)
{
	for (unsigned int cpu = 0; cpu < KERNEL_CPUS; cpu++)
		assert_true(kernel.pqr_assoc[cpu] == theirs[cpu]);
}

static void happen(void)
{
	if (unit_random() % 8)
		run_any();
	else
		write_as_another_program();
	theirs_are_there();
}

TEST(test_what_another_program_writes_stays_and_is_noticed)
{
	for (int i = 0; i < 500; i++) {
		boot_and_load();
		memset(theirs, 0, sizeof(theirs));
		for (u64 j = unit_random() % 8; j; j--)
			run_any();
		write_as_another_program();
		kernel.meanwhile = happen;
		for (u64 j = unit_random() % 8; j; j--)
			happen();
		if (i % 8) /* or the kernel module is unloaded before it checks */
			kernel__work();
		kernel.meanwhile = NULL;
		theirs_are_there();
		if (i % 8) {
			assert_string_equal(pqr__state(), "conflict");
			only_theirs_is_there();
		}
		unload();
		only_theirs_is_there();
	}
}

TEST(test_a_switch_is_enough_to_notice, boot_and_load, unload)
{
	run(0, 3);
	kernel.pqr_assoc[0] = 9;
	run(0, 4);
	assert_int_equal(kernel.pqr_assoc[0], 9);
	assert_string_equal(pqr__state(), "conflict");
	run(1, 5);
	assert_int_equal(kernel.pqr_assoc[1], 0); /* nor is it written elsewhere from now on */
	kernel__work();
	assert_has(kernel.log, "another tool");
}

TEST(test_watching_has_no_modprobe_run, boot)
{
	kernel.resctrl_known = false;
	load();
	for (int i = 0; i < 10; i++) {
		assert_non_null(kernel.work);
		kernel__work();
	}
	assert_in_range(kernel.modprobes, 0, 1);
	unload();
}

TEST(test_a_cpu_that_comes_online_in_use_has_all_given_back, boot_and_load, unload)
{
	run(0, 5);
	run(1, 6);
	kernel__offline(1);
	assert_int_equal(kernel.pqr_assoc[1], 0);
	kernel.pqr_assoc[1] = 7ULL << 32;
	kernel__online(1);
	sleep_all(); /* before anybody looks */
	kernel__work();
	assert_true(kernel.pqr_assoc[1] == 7ULL << 32);
	kernel.pqr_assoc[1] = 0;
	nothing_is_left();
}

TEST(test_unloading_restores_what_is_not_yet_restored, boot_and_load)
{
	run(0, 5);
	run(1, 6);
	pqr__yield();
	run(0, 7);
	sleep_all();
	unload();
	nothing_is_left();
}

/* Many hypervisors fault at any value except 0; an emulator forgets it. */
TEST(test_a_register_that_takes_no_rmid_is_refused)
{
	static const struct {
		u64 most;
		bool swallows;
		enum pqr_mode mode;
		int err;
	} cases[] = {
		{ 7, false, PQR_AUTO, -EIO },
		{ 7, false, PQR_FORCE, -EIO },
		{ 0, true, PQR_AUTO, -EIO },
		{ 0, true, PQR_FORCE, 0 },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		u32 rmids = 8;

		boot();
		kernel.pqr_most = cases[i].most;
		kernel.pqr_swallows = cases[i].swallows;
		assert_int_equal(pqr__init(cases[i].mode, &rmids), 0);
		assert_int_equal(cpu__init(false), cases[i].err);
		if (!cases[i].err) {
			cpu__exit();
			continue;
		}
		assert_has(kernel.log, "does not keep RMID 8");
		assert_int_equal(kernel.pqr_assoc[0], 0);
		assert_int_equal(kernel.warnings, 0);
	}
}

TEST(test_a_write_that_faults_later_ends_it_once, boot_and_load, unload)
{
	run(0, 3);
	run(1, 4);
	kernel.pqr_most = 4;
	run(0, 5);
	assert_string_equal(pqr__state(), "fault");
	run(1, 2);
	assert_int_equal(kernel.pqr_assoc[1], 4);
	kernel__work();
	assert_has(kernel.log, "a write to PQR_ASSOC faulted");
	assert_null(kernel.work); /* it is said once */
	assert_int_equal(kernel.pqr_assoc[0], 0);
	assert_int_equal(kernel.pqr_assoc[1], 0);
	assert_int_equal(kernel.warnings, 0);
}

TEST(test_the_next_kernel_finds_no_rmid, boot_and_load, unload)
{
	run(0, 3);
	run(1, 4);
	pqr__leave();
	run(0, 5);
	assert_int_equal(kernel.pqr_assoc[0], 0);
	assert_int_equal(kernel.pqr_assoc[1], 0);
}

TEST(test_isolated_cpus_are_left_alone, boot)
{
	int interrupts;

	kernel.isolated = 2;
	load();
	cpu__listen();
	interrupts = kernel.interrupts[1];
	for (int i = 0; i < 100; i++)
		kernel__work();
	assert_int_equal(kernel.interrupts[1], interrupts);
	assert_true(kernel.interrupts[0] >= 100);
	assert_int_equal(rmid_cpus[1].timer.expires_ns, 0);
	assert_false(rmid_cpus[1].sampling);
	assert_true(rmid_cpus[0].timer.expires_ns > 0);
	run(1, 5);
	assert_int_equal(kernel.pqr_assoc[1], 5);
	assert_int_equal(domains[0].reader, 0);
	kernel__offline(0);
	assert_true(domains[0].reader >= KERNEL_CPUS);
	kernel__online(0);
	assert_int_equal(domains[0].reader, 0);
	cpu__unlisten();
	unload();
}

TEST(test_without_a_listener_nothing_is_followed, boot_and_load, unload)
{
	assert_false(rmid_cpus[0].listening);
	cpu__listen();
	assert_true(rmid_cpus[0].listening && rmid_cpus[1].listening);
	run(1, 5);
	kernel__offline(1);
	assert_false(rmid_cpus[1].listening);
	kernel__online(1);
	assert_true(rmid_cpus[1].listening);
	run(1, 5);
	cpu__unlisten();
	assert_false(rmid_cpus[0].listening || rmid_cpus[1].listening);
	assert_int_equal(kernel.pqr_assoc[1], 0);
}

TEST(test_what_disturbs_all_is_done_ever_less_often, boot)
{
	struct pace pace = { 0 };
	u64 now_ns = 1, times = 0;

	for (; now_ns < 3600 * NSEC_PER_SEC; now_ns += NSEC_PER_SEC) {
		if (!pace__may(&pace, now_ns))
			continue;
		pace__did(&pace, now_ns);
		times++;
	}
	assert_in_range(times, 10, 20);
	assert_true(pace__may(&pace, now_ns + PACE_MOST_NS));
	pace__did(&pace, now_ns + 3 * PACE_MOST_NS);
	assert_true(pace__may(&pace, now_ns + 3 * PACE_MOST_NS + PACE_LEAST_NS));
}

/* So many processes, with RMIDs 1 and up. */
static void give_birth_to(u32 count)
{
	static struct signal_struct signals[16];

	for (u32 i = 0; i < count; i++) {
		struct task_struct task = { .tgid = i + 1, .signal = &signals[i] };

		owners__new_task(&task);
	}
	assert_int_equal(owners__assigned(), count);
}

/* On the CPU that reads, the other one's before it. */
static void tick_all(void)
{
	for (int cpu = KERNEL_CPUS - 1; cpu >= 0; cpu--) {
		kernel.cpu = cpu;
		tick(&rmid_cpus[cpu].timer);
	}
	kernel.cpu = 0;
}

TEST(test_who_ran_and_left_within_a_tick_is_read_first, listen, unlisten)
{
	give_birth_to(15);
	kernel.step_ns = 1000; /* so there is time for a few of the 15 */
	for (u32 rmid = 1; rmid <= 15; rmid++) {
		run(1, rmid);
		for (int i = 0; i < 3; i++)
			tick_all(); /* it goes on, and is read each time */
		run(1, 0);
		record_count = 0;
		tick_all();
		assert_in_range(record_count, 1, 42);
		assert_int_equal(records[0].rmid, rmid);
	}
}

/* The status of the first reading of an event since record_count was 0, -1 if there was none. */
static int status_of(u32 event, u64 *bytes)
{
	for (size_t i = 0; i < record_count; i++)
		if (records[i].event == event) {
			*bytes = records[i].bytes;
			return (int)records[i].status;
		}
	return -1;
}

/* Reads the one process there is, whose counters show `raw`, a little later. */
static int read_once(u64 raw, u32 event, u64 *bytes)
{
	kernel.now_ns += 1000;
	kernel.qm_ctr = raw;
	record_count = 0;
	tick_all();
	return status_of(event, bytes);
}

TEST(test_counters_are_as_wide_as_the_vendor_has_them)
{
	static const struct {
		u32 vendor;
		u32 bits;
	} vendors[] = { { X86_VENDOR_INTEL, 24 },
			{ X86_VENDOR_AMD, 44 },
			{ X86_VENDOR_HYGON, 32 } };
	u64 bytes = 0;

	for (size_t i = 0; i < 3; i++) {
		boot_cpu_data.x86_vendor = vendors[i].vendor;
		listen();
		give_birth_to(1);
		read_once(BIT(vendors[i].bits - 1) - 1, LATSCOPE_RMID_MBM_TOTAL, &bytes);
		read_once(BIT(vendors[i].bits) - 1, LATSCOPE_RMID_MBM_TOTAL, &bytes);
		assert_true(bytes == BIT(vendors[i].bits - 1) * 65536);
		read_once(2, LATSCOPE_RMID_MBM_TOTAL, &bytes); /* it went round */
		assert_true(bytes == 3 * 65536);
		unlisten();
	}
	boot_cpu_data.x86_vendor = X86_VENDOR_INTEL;
}

TEST(test_a_register_that_faults_is_an_error_and_not_0, listen, unlisten)
{
	u64 bytes = 0;

	give_birth_to(1);
	assert_int_equal(read_once(5, LATSCOPE_RMID_OCCUPANCY, &bytes), LATSCOPE_RMID_VALUE);
	assert_int_equal(bytes, 5 * 65536);
	kernel.qm_faults = true;
	for (u32 event = LATSCOPE_RMID_OCCUPANCY; event <= LATSCOPE_RMID_MBM_LOCAL; event++)
		assert_int_equal(read_once(5, event, &bytes), LATSCOPE_RMID_ERROR);
	assert_int_equal(kernel.warnings, 0);
}

TEST(test_what_a_model_counts_wrong_is_not_read)
{
	static const struct {
		u32 model;
		u32 stepping;
		int occupancy;
		int bandwidth;
		const char *mbm;
		const char *rdt;
	} models[] = {
		{ 0x4f, 1, LATSCOPE_RMID_VALUE, -1, "erratum", "on" },
		{ 0x55, 4, -1, -1, "erratum", "off" },
		{ 0x55, 5, LATSCOPE_RMID_VALUE, -1, "erratum", "on" },
		{ 0x6a, 4, LATSCOPE_RMID_VALUE, LATSCOPE_RMID_BASELINE, "on", "on" },
		{ 0x8f, 8, LATSCOPE_RMID_VALUE, LATSCOPE_RMID_BASELINE, "on", "on" },
	};
	u64 unused = 0;

	for (size_t i = 0; i < COUNT_OF(models); i++) {
		boot_cpu_data.x86_model = models[i].model;
		boot_cpu_data.x86_stepping = models[i].stepping;
		listen();
		give_birth_to(1);
		read_once(5, LATSCOPE_RMID_OCCUPANCY, &unused);
		assert_int_equal(status_of(LATSCOPE_RMID_OCCUPANCY, &unused), models[i].occupancy);
		assert_int_equal(status_of(LATSCOPE_RMID_MBM_TOTAL, &unused), models[i].bandwidth);
		assert_int_equal(status_of(LATSCOPE_RMID_MBM_LOCAL, &unused), models[i].bandwidth);
		assert_string_equal(read__mbm(), models[i].mbm);
		assert_string_equal(pqr__state(), models[i].rdt);
		assert_int_equal(strstr(kernel.log, "wrong") != NULL,
				 models[i].bandwidth != LATSCOPE_RMID_BASELINE);
		unlisten();
	}
}
