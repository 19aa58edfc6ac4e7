// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/fs.h>
#include <linux/namei.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "pqr.h"
#include "read.h"

#define PQR_ASSOC 0xc8f /* Intel SDM volume 3, 18.18.6; AMD APM volume 2, 19.4 */
#define RESCTRL_MAGIC 0x7655821 /* RDTGROUP_SUPER_MAGIC */
#define WATCH_MS 1000

/* What a value in the register means. */
enum pqr_verdict {
	PQR_OURS, /* the last value written by this module */
	PQR_LOST, /* 0, as after a suspend: write it again */
	PQR_TAKEN, /* another tool writes it */
};

/* Only the CPU itself accesses it, with interrupts off. */
struct pqr {
	bool held; /* the register was taken over */
	u32 written; /* last RMID that was written; 0: none, or it was restored */
	u64 writes;
};

static DEFINE_PER_CPU(struct pqr, pqrs);

static bool writing;
static bool conflict; /* it was written; then another tool wrote it, or a write failed */
static bool fault; /* a write failed */
static bool reads_back; /* the register must keep what is written, as on hardware */
static u32 highest; /* RMID that is written */
static const struct cpumask *checked_cpus;

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
	reads_back = mode == PQR_AUTO;
	writing = true;
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
	return reads_back && value != highest ? -EIO : 0;
}

int pqr__online(void)
{
	u64 value;

	if (!READ_ONCE(writing))
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
	this_cpu_ptr(&pqrs)->written = 0;
	this_cpu_ptr(&pqrs)->held = true;
	return 0;
}

void pqr__offline(void)
{
	this_cpu_ptr(&pqrs)->held = false;
	pqr__give_back();
}

void pqr__yield(void)
{
	WRITE_ONCE(conflict, true);
	WRITE_ONCE(writing, false);
}

static enum pqr_verdict pqr_verdict(u64 value, u32 written)
{
	if (value == written)
		return PQR_OURS;
	return value ? PQR_TAKEN : PQR_LOST;
}

/*
 * Does the register of this CPU still hold the last value written there (the running task may have
 * another RMID by now)? A register that can no longer be read counts as changed.
 */
static enum pqr_verdict read_verdict(const struct pqr *pqr)
{
	u64 value;

	return rdmsrq_safe(PQR_ASSOC, &value) ? PQR_TAKEN : pqr_verdict(value, pqr->written);
}

/* The run queue may be locked, so the watch prints that a write failed. */
static void write_rmid(struct pqr *pqr, u32 rmid)
{
	if (unlikely(wrmsrq_safe(PQR_ASSOC, rmid))) {
		WRITE_ONCE(fault, true);
		pqr__yield();
		return;
	}
	pqr->written = rmid;
}

/*
 * Reads before it writes: another tool may write the register only once, as pqos does for a task,
 * and would not notice that it was overwritten.
 */
void pqr__write(u32 rmid)
{
	struct pqr *pqr = this_cpu_ptr(&pqrs);

	if (!READ_ONCE(writing))
		return;
	if (unlikely(read_verdict(pqr) == PQR_TAKEN)) {
		pqr__yield();
		return;
	}
	write_rmid(pqr, rmid);
	pqr->writes++;
}

void pqr__give_back(void)
{
	struct pqr *pqr = this_cpu_ptr(&pqrs);

	if (pqr->written && read_verdict(pqr) != PQR_TAKEN)
		write_rmid(pqr, 0);
	pqr->written = 0;
}

/* On each CPU: writes lost values again, and detects other writers. */
static void check_register(void *unused)
{
	struct pqr *pqr = this_cpu_ptr(&pqrs);
	enum pqr_verdict verdict;

	if (!READ_ONCE(writing) || !pqr->held)
		return;
	verdict = read_verdict(pqr);
	if (verdict == PQR_LOST)
		write_rmid(pqr, pqr->written);
	else if (verdict == PQR_TAKEN)
		pqr__yield();
}

static void give_back(void *unused)
{
	pqr__give_back();
}

void pqr__leave(void)
{
	cpus_read_lock();
	WRITE_ONCE(writing, false);
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
		on_each_cpu_mask(checked_cpus, check_register, NULL, 1);
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

void pqr__watch(const struct cpumask *checked)
{
	checked_cpus = checked;
	/* In this order, because pqr__yield() records the conflict first. */
	if (READ_ONCE(writing) || READ_ONCE(conflict))
		schedule_delayed_work(&watching, msecs_to_jiffies(WATCH_MS));
}

void pqr__unwatch(void)
{
	cancel_delayed_work_sync(&watching);
}

bool pqr__writes(void)
{
	return READ_ONCE(writing);
}

u64 pqr__write_count(void)
{
	unsigned int number;
	u64 sum = 0;

	for_each_possible_cpu(number) sum += READ_ONCE(per_cpu(pqrs, number).writes);
	return sum;
}

const char *pqr__state(void)
{
	if (READ_ONCE(fault))
		return "fault";
	return READ_ONCE(conflict) ? "conflict" : READ_ONCE(writing) ? "on" : "off";
}
