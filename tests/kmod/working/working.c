// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Two workqueues that make others wait for a CPU, until `stop` is set: every 40 ms a work of
 * latscope_long has the CPU for 9 ms, and then one of latscope_short, in the same kworker, for
 * 3 ms. long_ns and short_ns are how long each had it, by its own clock.
 */
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/workqueue.h>

#define PERIOD_MS 40
#define LONG_NS (9 * NSEC_PER_MSEC)
#define SHORT_NS (3 * NSEC_PER_MSEC)

static int cpu;
module_param(cpu, int, 0444);
MODULE_PARM_DESC(cpu, "CPU of the works");

static unsigned long long_ns, short_ns;
module_param(long_ns, ulong, 0444);
module_param(short_ns, ulong, 0444);

static struct workqueue_struct *long_queue, *short_queue;

/* Nobody else gets the CPU meanwhile, so this is also how long it had it. */
static u64 keep_busy(u64 ns)
{
	u64 start, end;

	preempt_disable();
	start = ktime_get_ns();
	do {
		end = ktime_get_ns();
	} while (end - start < ns);
	preempt_enable();
	return end - start;
}

static void work_short(struct work_struct *work)
{
	short_ns += keep_busy(SHORT_NS);
}

static DECLARE_WORK(short_work, work_short);

static void work_long(struct work_struct *work)
{
	queue_delayed_work_on(cpu, long_queue, to_delayed_work(work), msecs_to_jiffies(PERIOD_MS));
	long_ns += keep_busy(LONG_NS);
	queue_work_on(cpu, short_queue, &short_work);
}

static DECLARE_DELAYED_WORK(long_work, work_long);

static void end_works(void)
{
	cancel_delayed_work_sync(&long_work);
	flush_workqueue(short_queue);
}

static int set_stop(const char *value, const struct kernel_param *param)
{
	end_works();
	return 0;
}

static const struct kernel_param_ops stop_ops = { .set = set_stop };
module_param_cb(stop, &stop_ops, NULL, 0200);
MODULE_PARM_DESC(stop, "ends the works, and returns when none runs");

static int __init working_init(void)
{
	long_queue = alloc_workqueue("latscope_long", WQ_HIGHPRI, 0);
	short_queue = alloc_workqueue("latscope_short", WQ_HIGHPRI, 0);
	if (!long_queue || !short_queue) {
		if (long_queue)
			destroy_workqueue(long_queue);
		if (short_queue)
			destroy_workqueue(short_queue);
		return -ENOMEM;
	}
	queue_delayed_work_on(cpu, long_queue, &long_work, 0);
	return 0;
}

static void __exit working_exit(void)
{
	end_works();
	destroy_workqueue(long_queue);
	destroy_workqueue(short_queue);
}

module_init(working_init);
module_exit(working_exit);

MODULE_DESCRIPTION("Works of known length, for the tests of latscope");
MODULE_LICENSE("Dual BSD/GPL");
