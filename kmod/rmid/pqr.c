// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/fs.h>
#include <linux/namei.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "cpu.h"
#include "pqr.h"
#include "read.h"
#include "verdict.h"

#define PQR_ASSOC 0xc8f /* Intel SDM volume 3, 18.18.6; AMD APM volume 2, 19.4 */
#define RESCTRL_MAGIC 0x7655821 /* RDTGROUP_SUPER_MAGIC */
#define WATCH_MS 1000

static bool on;
static bool conflict; /* it was on; then another tool wrote it, or a write failed */
static bool fault; /* a write failed */
static bool full; /* the written value must be read back, as on hardware */
static u32 highest; /* RMID that is written */

/*
 * NULL: the kernel has no resctrl. It is built in, never a module, and registered at boot or not at
 * all. So it is looked up only once: each lookup of an unknown type runs modprobe. For the same
 * reason the reference need not be released.
 */
static struct file_system_type *resctrl;

static bool resctrl_at_its_place(void)
{
	struct path path;
	bool there;

	if (kern_path("/sys/fs/resctrl", LOOKUP_FOLLOW, &path))
		return false;
	there = path.mnt->mnt_sb->s_magic == RESCTRL_MAGIC;
	path_put(&path);
	return there;
}

static void note_mount(struct super_block *sb, void *mounted)
{
	*(bool *)mounted = true;
}

/* In any mount namespace. */
static bool resctrl_mounted(void)
{
	bool mounted = false;

	if (resctrl)
		iterate_supers_type(resctrl, note_mount, &mounted);
	return mounted || resctrl_at_its_place();
}

int pqr__init(enum pqr_mode mode, u32 *rmids)
{
	u32 has = read__max_rmid();

	if (mode == PQR_OFF || (mode == PQR_AUTO && !read__useful()))
		return 0;
	resctrl = get_fs_type("resctrl");
	if (resctrl_mounted()) {
		pr_err("resctrl is mounted and owns the RMIDs; unmount it, or load with rdt=off\n");
		return -EBUSY;
	}
	if (has)
		*rmids = min(*rmids, has);
	highest = *rmids;
	full = mode == PQR_AUTO;
	on = true;
	return 0;
}

/*
 * A hypervisor may only accept 0, which is there already, or ignore writes. With force, an emulator
 * without the register is accepted.
 */
static int try_highest(void)
{
	u64 value;

	if (wrmsrq_safe(PQR_ASSOC, highest) || rdmsrq_safe(PQR_ASSOC, &value) ||
	    wrmsrq_safe(PQR_ASSOC, 0))
		return -EIO;
	return full && value != highest ? -EIO : 0;
}

int pqr__online(struct rmid_cpu *cpu)
{
	u64 value;

	if (!READ_ONCE(on))
		return 0;
	if (rdmsrq_safe(PQR_ASSOC, &value)) {
		pr_err("CPU %u has no PQR_ASSOC; load with rdt=off\n", smp_processor_id());
		return -EIO;
	}
	if (value) {
		pr_err("CPU %u has PQR_ASSOC %#llx: in use; reset it, or load with rdt=off\n",
		       smp_processor_id(), value);
		return -EBUSY;
	}
	if (try_highest()) {
		pr_err("CPU %u does not keep RMID %u in PQR_ASSOC; load with rdt=off\n",
		       smp_processor_id(), highest);
		return -EIO;
	}
	cpu->closid = 0;
	cpu->written = 0;
	return 0;
}

void pqr__yield(void)
{
	WRITE_ONCE(conflict, true);
	WRITE_ONCE(on, false);
}

/*
 * Does the register of this CPU still hold the last value written there (the running task may have
 * another RMID by now)? A register that can no longer be read counts as changed.
 */
static enum pqr_verdict look_at(const struct rmid_cpu *cpu)
{
	u64 value;

	if (rdmsrq_safe(PQR_ASSOC, &value))
		return PQR_TAKEN;
	return pqr_verdict(value, cpu->written, cpu->closid);
}

/* The run queue may be locked, so the watch prints that a write failed. */
static void set(struct rmid_cpu *cpu, u32 rmid)
{
	if (unlikely(wrmsrq_safe(PQR_ASSOC, pqr_value(rmid, cpu->closid)))) {
		WRITE_ONCE(fault, true);
		pqr__yield();
		return;
	}
	cpu->written = rmid;
}

/*
 * Reads before it writes: another tool may write the register only once, as pqos does for a task,
 * and would not notice that it was overwritten.
 */
void pqr__write(struct rmid_cpu *cpu, u32 rmid)
{
	if (!READ_ONCE(on))
		return;
	if (unlikely(look_at(cpu) == PQR_TAKEN)) {
		pqr__yield();
		return;
	}
	set(cpu, rmid);
	cpu->pqr_writes++;
}

void pqr__give_back(struct rmid_cpu *cpu)
{
	if (cpu->written && look_at(cpu) != PQR_TAKEN)
		set(cpu, 0);
	cpu->written = 0;
}

/* On each CPU: writes lost values again, and detects other writers. */
static void look(void *unused)
{
	struct rmid_cpu *cpu = this_cpu_ptr(&rmid_cpus);
	enum pqr_verdict verdict;

	if (!READ_ONCE(on) || !cpu->on)
		return;
	verdict = look_at(cpu);
	if (verdict == PQR_LOST)
		set(cpu, cpu->written);
	else if (verdict == PQR_TAKEN)
		pqr__yield();
}

/* Runs on each CPU. */
static void give_back(void *unused)
{
	pqr__give_back(this_cpu_ptr(&rmid_cpus));
}

void pqr__leave(void)
{
	cpus_read_lock();
	WRITE_ONCE(on, false);
	on_each_cpu(give_back, NULL, 1);
	cpus_read_unlock();
}

static const char *reason(bool mounted)
{
	if (mounted)
		return "resctrl was mounted";
	return READ_ONCE(fault) ? "a write to PQR_ASSOC faulted" : "another tool wrote PQR_ASSOC";
}

/* Isolated CPUs are not interrupted: there, a switch detects it. */
static void watch(struct work_struct *work)
{
	bool mounted = resctrl_mounted(), over;

	cpus_read_lock();
	if (!mounted)
		on_each_cpu_mask(cpu__sampled(), look, NULL, 1);
	over = mounted || READ_ONCE(conflict);
	if (over) {
		pqr__yield();
		on_each_cpu(give_back, NULL, 1);
	}
	cpus_read_unlock();
	if (!over) {
		schedule_delayed_work(to_delayed_work(work), msecs_to_jiffies(WATCH_MS));
		return;
	}
	pr_warn("%s: no longer writing PQR_ASSOC; RMIDs are still assigned\n", reason(mounted));
}

static DECLARE_DELAYED_WORK(watching, watch);

void pqr__watch(void)
{
	/* In this order, because pqr__yield() records the conflict first. */
	if (READ_ONCE(on) || READ_ONCE(conflict))
		schedule_delayed_work(&watching, msecs_to_jiffies(WATCH_MS));
}

void pqr__unwatch(void)
{
	cancel_delayed_work_sync(&watching);
}

bool pqr__writes(void)
{
	return READ_ONCE(on);
}

const char *pqr__state(void)
{
	if (READ_ONCE(fault))
		return "fault";
	return READ_ONCE(conflict) ? "conflict" : READ_ONCE(on) ? "on" : "off";
}
