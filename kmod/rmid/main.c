// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/reboot.h>
#include <uapi/latscope/rmid.h>

#include "adopt.h"
#include "cpu.h"
#include "list.h"
#include "owners.h"
#include "pqr.h"
#include "read.h"
#include "sched.h"

static unsigned int rmids = LATSCOPE_RMID_DEFAULT;
module_param(rmids, uint, 0444);
MODULE_PARM_DESC(rmids, "number of RMIDs to use, 1 to 1023 (512, or what the machine has)");

static unsigned long limbo_ns = LATSCOPE_RMID_LIMBO_NS;
module_param(limbo_ns, ulong, 0444);
MODULE_PARM_DESC(limbo_ns, "ns between free and reuse of an RMID, 2000000 to 1000000000 (2000000)");

static unsigned int processes = 32768;
module_param(processes, uint, 0444);
MODULE_PARM_DESC(processes, "maximum number of tracked processes, 64 to 1048576 (32768)");

static char *rdt = "auto";
module_param(rdt, charp, 0444);
MODULE_PARM_DESC(rdt, "write IA32_PQR_ASSOC: auto (if the machine has RDT), off, force (auto)");

static unsigned int budget = 2;
module_param(budget, uint, 0444);
MODULE_PARM_DESC(budget, "percentage of a tick for reading monitoring counters, 1 to 50 (2)");

static bool isolated;
module_param(isolated, bool, 0444);
MODULE_PARM_DESC(isolated, "also sample isolated and nohz_full CPUs, with a timer there (no)");

static int check_range(const char *name, unsigned long value, unsigned long low, unsigned long high)
{
	if (value >= low && value <= high)
		return 0;
	pr_err("invalid %s=%lu; use %lu to %lu\n", name, value, low, high);
	return -EINVAL;
}

static int check_parameters(enum pqr_mode *mode)
{
	static const char *const modes[] = {
		[PQR_OFF] = "off", [PQR_AUTO] = "auto", [PQR_FORCE] = "force"
	};
	int found = match_string(modes, ARRAY_SIZE(modes), rdt);

	if (found < 0) {
		pr_err("invalid rdt=%s; use auto, off or force\n", rdt);
		return -EINVAL;
	}
	*mode = found;
	return check_range("rmids", rmids, 1, LATSCOPE_RMID_MAX) ?:
		       check_range("limbo_ns", limbo_ns, LATSCOPE_RMID_LIMBO_NS, NSEC_PER_SEC) ?:
		       check_range("processes", processes, 64, 1 << 20) ?:
		       check_range("budget", budget, 1, 50);
}

/*
 * A kernel started by kexec finds the registers unchanged, and its resctrl or this module would
 * conclude that another tool uses them. The notifier also runs at other reboots, which is harmless.
 * A kernel that starts after a crash finds the old values.
 */
static int on_reboot(struct notifier_block *block, unsigned long event, void *command)
{
	pqr__unwatch();
	pqr__leave();
	return NOTIFY_DONE;
}

static struct notifier_block reboot_notifier = { .notifier_call = on_reboot };

/*
 * The hooks come first, so that no process starts unseen during adopt__all(). The state of the CPUs
 * comes after it, when the tasks that they run have RMIDs.
 */
static int __init rmid_init(void)
{
	enum pqr_mode mode;
	int err = check_parameters(&mode);

	if (err)
		return err;
	err = pqr__init(mode, &rmids);
	if (err)
		return err;
	err = read__init(mode != PQR_OFF, rmids, budget);
	if (err)
		return err;
	err = owners__init(rmids, limbo_ns, processes);
	if (err)
		goto exit_read;
	err = sched__hook();
	if (err)
		goto exit_owners;
	adopt__all();
	err = cpu__init(isolated);
	if (err)
		goto unhook;
	err = list__init();
	if (err)
		goto exit_cpu;
	err = register_reboot_notifier(&reboot_notifier);
	if (err)
		goto exit_list;
	pqr__watch(cpu__sampled());
	adopt__watch();
	return 0;

exit_list:
	list__exit();
exit_cpu:
	cpu__exit();
unhook:
	sched__unhook();
exit_owners:
	owners__exit();
exit_read:
	read__exit();
	return err;
}

static void __exit rmid_exit(void)
{
	unregister_reboot_notifier(&reboot_notifier);
	adopt__unwatch();
	pqr__unwatch();
	list__exit();
	cpu__exit();
	sched__unhook();
	owners__exit();
	read__exit();
}

module_init(rmid_init);
module_exit(rmid_exit);

MODULE_DESCRIPTION("latscope: resource monitoring IDs for processes");
MODULE_LICENSE("GPL");
