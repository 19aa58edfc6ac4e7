// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/hrtimer.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched/isolation.h>

#include "compat.h"
#include "cpu.h"
#include "owners.h"
#include "pqr.h"
#include "read.h"
#include "trace.h"

#define LATE_NS 100000 /* a tick later than this is counted as late */

/* Only the CPU itself accesses its state; other CPUs send it an interrupt. */
struct rmid_cpu {
	u32 rmid; /* of the running task */
	u32 kind; /* enum latscope_rmid_kind */
	u32 switches; /* in the current span */
	bool online; /* and PQR_ASSOC is taken over, if it is written */
	bool listening; /* there is a listener: rmid and kind are valid */
	bool sampling; /* there is a listener, and the CPU is not isolated */
	u64 since_ns; /* start of the current span */
	u64 ticks;
	u64 ticks_late;
	struct hrtimer timer;
};

static DEFINE_PER_CPU(struct rmid_cpu, rmid_cpus);

/*
 * Read under cpus_read_lock(); written also under the mutex of all tracepoints, or in cpu__init()
 * and cpu__exit().
 */
static int listeners;
static bool ready;
static enum cpuhp_state hotplug_state;
static struct cpumask sampled, unsampled; /* set when the module starts; the others */

static void sample(struct rmid_cpu *cpu, u32 end, u64 now_ns)
{
	struct latscope_rmid_sample record = {
		.time_ns = now_ns,
		.since_ns = cpu->since_ns,
		.cpu = smp_processor_id(),
		.rmid = cpu->rmid,
		.kind = cpu->kind,
		.end = end,
		.switches = cpu->switches,
	};

	trace_rmid_sample(&record);
	cpu->since_ns = now_ns;
	cpu->switches = 0;
}

static void set_running(struct rmid_cpu *cpu, u32 rmid, u32 kind)
{
	if (cpu->rmid == rmid && cpu->kind == kind)
		return;
	if (cpu->sampling)
		sample(cpu, LATSCOPE_RMID_SWITCH, owners__now());
	if (cpu->rmid != rmid) {
		pqr__write(rmid);
		read__ran(cpu->rmid); /* it may have run since its last reading */
		read__ran(rmid);
	}
	cpu->rmid = rmid;
	cpu->kind = kind;
}

/* This CPU runs the task, or is about to. Interrupts are off. */
static void set_task(struct rmid_cpu *cpu, struct task_struct *task)
{
	u32 rmid;

	if (is_idle_task(task)) {
		set_running(cpu, 0, LATSCOPE_RMID_IDLE);
	} else if (task->flags & PF_KTHREAD) {
		set_running(cpu, 0, LATSCOPE_RMID_KERNEL);
	} else {
		rmid = owners__rmid(task);
		set_running(cpu, rmid, rmid ? LATSCOPE_RMID_PROCESS : LATSCOPE_RMID_WAITING);
	}
}

/* A switch between two threads of a process needs nothing, unless the process waits for an RMID. */
void cpu__switch(struct task_struct *prev, struct task_struct *next)
{
	struct rmid_cpu *cpu = this_cpu_ptr(&rmid_cpus);

	if (!cpu->listening)
		return;
	cpu->switches++;
	if (prev->signal != next->signal || cpu->kind == LATSCOPE_RMID_WAITING)
		set_task(cpu, next);
}

/*
 * A timer of its own CPU, in hard interrupt context even if interrupts are threaded (PREEMPT_RT).
 */
static enum hrtimer_restart tick(struct hrtimer *timer)
{
	struct rmid_cpu *cpu = container_of(timer, struct rmid_cpu, timer);
	u64 now_ns = owners__now();

	if (!cpu->sampling)
		return HRTIMER_NORESTART;
	cpu->ticks++;
	cpu->ticks_late += now_ns > ktime_to_ns(hrtimer_get_expires(timer)) + LATE_NS;
	sample(cpu, LATSCOPE_RMID_TICK, now_ns);
	if (cpu->kind == LATSCOPE_RMID_WAITING)
		set_task(cpu, current);
	read__ran(cpu->rmid);
	if (pqr__writes())
		read__tick();
	hrtimer_forward_now(timer, ns_to_ktime(LATSCOPE_RMID_TICK_NS));
	return HRTIMER_RESTART;
}

/*
 * On the CPU itself, interrupts off. From now on its hook follows what runs; before, it did
 * nothing.
 */
static void start_listening(void *unused)
{
	struct rmid_cpu *cpu = this_cpu_ptr(&rmid_cpus);
	u64 now_ns = owners__now(), next_ns = now_ns + LATSCOPE_RMID_TICK_NS;

	if (!cpu->online || cpu->listening)
		return;
	set_task(cpu, current);
	cpu->listening = true;
	if (!cpumask_test_cpu(smp_processor_id(), &sampled))
		return;
	cpu->since_ns = now_ns;
	cpu->switches = 0;
	cpu->sampling = true;
	div64_u64_rem(next_ns, LATSCOPE_RMID_TICK_NS, &now_ns);
	hrtimer_start(&cpu->timer, ns_to_ktime(next_ns - now_ns), HRTIMER_MODE_ABS_PINNED_HARD);
}

static void stop_listening(void *unused)
{
	struct rmid_cpu *cpu = this_cpu_ptr(&rmid_cpus);

	cpu->listening = false;
	cpu->sampling = false;
	cpu->rmid = 0;
	cpu->kind = LATSCOPE_RMID_KERNEL;
	pqr__give_back();
}

/* Call with cpus_read_lock() held. */
static void stop_listening_everywhere(void)
{
	unsigned int number;

	on_each_cpu(stop_listening, NULL, 1);
	for_each_online_cpu(number) hrtimer_cancel(&per_cpu(rmid_cpus, number).timer);
}

int cpu__listen(void)
{
	cpus_read_lock();
	if (!listeners++ && ready)
		on_each_cpu(start_listening, NULL, 1);
	cpus_read_unlock();
	return 0;
}

/*
 * Also called after cpu__exit(): events that are on in tracefs are turned off after the module's
 * exit.
 */
void cpu__unlisten(void)
{
	cpus_read_lock();
	if (!--listeners && ready)
		stop_listening_everywhere();
	cpus_read_unlock();
}

/* Runs in a kernel thread of that CPU, which is what the CPU runs now. */
static int come_online(unsigned int number)
{
	struct rmid_cpu *cpu = this_cpu_ptr(&rmid_cpus);
	unsigned long flags;
	int err;

	local_irq_save(flags);
	cpu->rmid = 0;
	cpu->kind = LATSCOPE_RMID_KERNEL;
	err = pqr__online();
	if (err && ready) { /* no reason to keep the CPU offline */
		pqr__yield();
		err = 0;
	}
	if (!err)
		cpu->online = true;
	local_irq_restore(flags);
	if (err)
		return err;
	read__online(number, &sampled);
	if (listeners && ready)
		on_each_cpu_mask(cpumask_of(number), start_listening, NULL, 1);
	return 0;
}

static int go_offline(unsigned int number)
{
	struct rmid_cpu *cpu = this_cpu_ptr(&rmid_cpus);
	unsigned long flags;

	cpu->listening = false;
	cpu->sampling = false;
	hrtimer_cancel(&cpu->timer);
	read__offline(number, &sampled);
	local_irq_save(flags);
	cpu->online = false;
	pqr__offline();
	cpu->rmid = 0;
	local_irq_restore(flags);
	return 0;
}

const struct cpumask *cpu__sampled(void)
{
	return &sampled;
}

const struct cpumask *cpu__unsampled(void)
{
	return &unsampled;
}

/* The masks of the kernel's command line; since 7.0 also those of isolated cpusets. */
static void choose_sampled(bool isolated)
{
	cpumask_copy(&sampled, cpu_possible_mask);
	if (!isolated) {
		rcu_read_lock();
		cpumask_and(&sampled, housekeeping_cpumask(HK_TYPE_TICK),
			    housekeeping_cpumask(HK_TYPE_DOMAIN));
		rcu_read_unlock();
	}
	cpumask_andnot(&unsampled, cpu_possible_mask, &sampled);
}

int cpu__init(bool isolated)
{
	unsigned int number;
	int state;

	choose_sampled(isolated);
	for_each_possible_cpu(number)
	{
		struct rmid_cpu *cpu = &per_cpu(rmid_cpus, number);

		compat__hrtimer_setup(&cpu->timer, tick, CLOCK_MONOTONIC,
				      HRTIMER_MODE_ABS_PINNED_HARD);
	}
	state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "latscope/rmid:online", come_online,
				  go_offline);
	if (state < 0)
		return state;
	hotplug_state = state;
	cpus_read_lock();
	ready = true;
	if (listeners) /* an event may have been turned on before `ready` was set */
		on_each_cpu(start_listening, NULL, 1);
	cpus_read_unlock();
	return 0;
}

void cpu__exit(void)
{
	cpus_read_lock();
	ready = false;
	stop_listening_everywhere();
	cpus_read_unlock();
	cpuhp_remove_state(hotplug_state); /* this calls go_offline() for every CPU */
}

void cpu__totals(struct cpu_totals *totals)
{
	unsigned int number;

	*totals = (struct cpu_totals){};
	for_each_possible_cpu(number)
	{
		const struct rmid_cpu *cpu = &per_cpu(rmid_cpus, number);

		totals->ticks += READ_ONCE(cpu->ticks);
		totals->ticks_late += READ_ONCE(cpu->ticks_late);
	}
}
