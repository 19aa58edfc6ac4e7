// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <core/pressure.h>
#include <core/units.h>
#include <print/wrap.h>

#include "columns.h"
#include "view_parts.h"

/* ---- what is not explained ---- */

static const char *const gap_texts[WHERE_GAPS] = {
	[GAP_SWITCH] = "switches of the machine that no program saw",
	[GAP_ACCOUNT] = "threads without an account",
	[GAP_TORN] = "accounts that changed while they were read",
	[GAP_END] = "ends of threads without room: their life is in no part",
	[GAP_CALL] = "sleeps without room: only their system call is missing",
	[GAP_CHAIN] = "long waits without room: only their chain is missing",
};

/* Of a reason; false: there is none. */
static bool find_gap(const struct table *gaps, const char *reason, double *times, double *ns)
{
	for (size_t key = 0; gaps && key < table__keys(gaps); key++) {
		if (strcmp(accounts__text(gaps, key, GAPS_REASON), reason) != 0)
			continue;
		*times = accounts__sum(gaps, key, GAPS_TIMES);
		*ns = accounts__sum(gaps, key, GAPS_NS);
		return true;
	}
	return false;
}

static void print_unexplained(FILE *out, const struct run_probe *probe,
			      const struct where_account *all)
{
	struct wrap wrap = { 0 };
	char text[UNITS_TEXT];
	double times, ns;

	wrap__add(&wrap, "not explained: unknown %s, %.2g %%",
		  units__ns(text, all->ns[WHERE_UNKNOWN]),
		  100 * accounts__share(all->ns[WHERE_UNKNOWN], all->life_ns));
	for (unsigned int i = 0; i < WHERE_GAPS; i++) {
		if (!gap_texts[i] || !find_gap(probe->more[RUN_GAPS], where_gaps[i], &times, &ns))
			continue;
		wrap__add(&wrap, "; ");
		if (times > 0)
			wrap__add(&wrap, "%s ", units__count(text, (uint64_t)times));
		wrap__add(&wrap, "%s", gap_texts[i]);
		if (ns > 0)
			wrap__add(&wrap, " (%s)", units__ns(text, ns));
	}
	wrap__print(&wrap, out, 0, 2);
}

/* ---- what the kernel's own accounts say ---- */

#define LEAST_OFF_NS 100e6

/* A part, and the same by an account of the kernel. A difference is a mismatch beyond both. */
struct witness {
	const char *name; /* after those before, with a space */
	const char *what; /* of the kernel */
	const char *part;
	double ours_ns, kernel_ns;
	double tolerance; /* as a share */
	double tolerance_ns;
	const char *more, *less; /* the likely cause, if ours is more, or less */
};

static double off(const struct witness *witness)
{
	return witness->ours_ns - witness->kernel_ns;
}

static bool is_off(const struct witness *witness)
{
	double most = fmax(witness->ours_ns, witness->kernel_ns);

	return fabs(off(witness)) > fmax(witness->tolerance * most, witness->tolerance_ns);
}

static void add_witness(struct wrap *wrap, const struct witness *witness)
{
	double percent = 100 * off(witness) / witness->kernel_ns;

	if (witness->kernel_ns > 0)
		wrap__add(wrap, "%s %+.*f %%", witness->name,
			  fabs(percent) < 1 ? 2 : fabs(percent) < 10, percent);
	else
		wrap__add(wrap, "%s none", witness->name);
}

static void print_mismatch(FILE *out, const struct witness *witness)
{
	char ours[UNITS_TEXT], kernel[UNITS_TEXT];

	if (is_off(witness))
		wrap__line(out, 0, 2, "MISMATCH: %s is %s here, and %s by the %s: %s",
			   witness->part, units__ns(ours, witness->ours_ns),
			   units__ns(kernel, witness->kernel_ns), witness->what,
			   off(witness) > 0 ? witness->more : witness->less);
}

/* Pressure is that of the machine, or of the cgroup that filters; other filters have none. */
static bool has_pressure(const struct run *run, const struct run_probe *probe)
{
	bool is_cgroup = probe->filter && !strncmp(probe->filter, "cgroup ", 7);

	return run->pressure.table && is_cgroup == !!run->pressure.cgroup &&
	       (is_cgroup || !probe->filter);
}

static const struct {
	enum pressure_column column;
	const char *name;
} pressures[] = {
	{ PRESSURE_CPU_SOME, "CPU" },
	{ PRESSURE_IO_SOME, "I/O" },
	{ PRESSURE_MEMORY_SOME, "memory" },
};

bool checks__pressure(const struct run *run, const struct run_probe *probe,
		      enum pressure_column column, double *share)
{
	if (!has_pressure(run, probe) || !pressure__rate(run->pressure.table, column, share))
		return false;
	*share = fmin(*share, 1);
	return true;
}

static void add_pressure(struct wrap *wrap, const struct run *run, const struct run_probe *probe)
{
	const char *before = "; PSI: ";
	double share;

	for (size_t i = 0; i < sizeof(pressures) / sizeof(pressures[0]); i++) {
		if (!checks__pressure(run, probe, pressures[i].column, &share))
			continue;
		wrap__add(wrap, "%s%s %.0f %%", before, pressures[i].name, 100 * share);
		before = ", ";
	}
	if (*before == ';' && run->pressure.why[0])
		wrap__add(wrap, "; pressure unknown: %s", run->pressure.why);
}

/* While a task waited by PSI, at least one waited here. The kernel adds PSI up every 2 s. */
#define PSI_STEP_NS 2e9

static void check_pressure(FILE *out, const struct run *run, const struct where_account *all)
{
	const double ours_ns[] = { all->ns[WHERE_READY], all->ns[WHERE_DISK] };
	char ours[UNITS_TEXT], kernel[UNITS_TEXT];
	uint64_t gained;

	for (size_t i = 0; i < 2; i++)
		if (pressure__gained(run->pressure.table, pressures[i].column, &gained) &&
		    (double)gained > 1.1 * ours_ns[i] + PSI_STEP_NS)
			wrap__line(out, 0, 2,
				   "MISMATCH: waits for %s are %s here, and at least %s by PSI: "
				   "waits were not seen",
				   pressures[i].name, units__ns(ours, ours_ns[i]),
				   units__ns(kernel, (double)gained));
}

#define WITNESSES 4

/* What the kernel's accounts can be off: they were read late, and some time is unknown. */
static double blur_ns(double part_ns, const struct run *run, const struct run_probe *probe,
		      const struct where_account *all)
{
	double times, late_ns = 0;

	find_gap(probe->more[RUN_GAPS], where_gaps[GAP_LATE], &times, &late_ns);
	return LEAST_OFF_NS + all->ns[WHERE_UNKNOWN] +
	       2 * late_ns * accounts__share(part_ns, (double)run->duration_ns);
}

/* Returns how many there are: the last one is not kept by all kernels. */
static size_t list_witnesses(struct witness witnesses[WITNESSES], const struct run *run,
			     const struct run_probe *probe, const struct where_account *all)
{
	double cpu_blur_ns = blur_ns(all->ns[WHERE_CPU], run, probe, all);
	bool keeps_delay = all->queue_ns > 0;
	bool has_more =
		strstr(probe->check.why, where_delayed) && all->queue_ns > all->ns[WHERE_READY];

	witnesses[0] = (struct witness){
		.name = " run time",
		.what = "scheduler's run time",
		.part = "time on a CPU",
		.ours_ns = all->ns[WHERE_CPU],
		.kernel_ns = all->run_ns,
		.tolerance = 0.02,
		.tolerance_ns = cpu_blur_ns,
		.more = "interrupts or the hypervisor had the CPU, which it leaves out",
		.less = "switches were not seen",
	};
	witnesses[1] = (struct witness){
		.name = ", run delay",
		.what = "scheduler's run delay",
		.part = "waiting for a CPU",
		.ours_ns = all->ns[WHERE_READY],
		.kernel_ns = all->queue_ns,
		.tolerance = has_more ? 1 : 0.05,
		.tolerance_ns = blur_ns(all->ns[WHERE_READY], run, probe, all),
		.more = keeps_delay ? "it counts waits that move between CPUs only in part"
				    : "this kernel does not keep it",
		.less = "wakeups or switches were not seen",
	};
	witnesses[2] = (struct witness){
		.name = "; ticks",
		.what = "ticks of user and system time",
		.part = "time on a CPU",
		.ours_ns = all->ns[WHERE_CPU],
		.kernel_ns = all->user_ns + all->system_ns,
		.tolerance = 0.25,
		.tolerance_ns = 4 * LEAST_OFF_NS + cpu_blur_ns,
		.more = "ticks miss tasks that run for less than a tick",
		.less = "ticks hit tasks that run at each tick",
	};
	witnesses[3] = (struct witness){
		.name = "; delay accounting: disk",
		.what = "kernel's delay accounting",
		.part = "waiting for a disk",
		.ours_ns = all->io_ns,
		.kernel_ns = all->kernel_io_ns,
		.tolerance = 0.02,
		.tolerance_ns = blur_ns(all->io_ns, run, probe, all),
		.more = "it does not count all waits for a disk",
		.less = "waits for a lock that is held for I/O are another part here",
	};
	return all->io_ns > 0 || all->kernel_io_ns > 0 ? WITNESSES : WITNESSES - 1;
}

void checks__print(FILE *out, const struct run *run, const struct run_probe *probe,
		   const struct where_account *all)
{
	struct witness witnesses[WITNESSES];
	struct wrap wrap = { 0 };
	double parts_ns = 0;
	size_t nr;

	for (unsigned int state = 0; state < WHERE_STATES; state++)
		parts_ns += all->ns[state];
	nr = list_witnesses(witnesses, run, probe, all);
	print_unexplained(out, probe, all);
	wrap__add(&wrap, "checked against: life by the kernel's stamps: %.0f ns off; scheduler:",
		  fabs(parts_ns - all->life_ns));
	for (size_t i = 0; i < nr; i++)
		add_witness(&wrap, &witnesses[i]);
	if (has_pressure(run, probe))
		add_pressure(&wrap, run, probe);
	if (probe->check.why[0])
		wrap__add(&wrap, "; %s", probe->check.why);
	wrap__print(&wrap, out, 0, 2);
	if (parts_ns != all->life_ns)
		wrap__line(out, 0, 2,
			   "MISMATCH: the parts are not the life of the threads: accounts changed "
			   "while they were read");
	for (size_t i = 0; i < nr; i++)
		print_mismatch(out, &witnesses[i]);
	if (has_pressure(run, probe))
		check_pressure(out, run, all);
}
