// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "owner.h"
#include "compat.h"
#include "entry.h"

#include <linux/err.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kernel_stat.h>
#include <linux/kref.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/workqueue.h>

#ifndef CONFIG_PREEMPT_NOTIFIERS
#error "the entry code follows its thread by preempt notifiers, which a kernel with KVM has"
#endif

/*
 * References: the caller of owner__start() has one, which the request to end takes over; the thread
 * has one, which owner__reap() drops. While a callback may come, its reference goes with one to the
 * module: see owner__put().
 */
struct owner {
	struct kref ref;
	struct task_struct *task; /* a reference */
	struct preempt_notifier notifier; /* on the list of the task while running */
	struct callback_head request; /* to end; task work of the thread */
	struct delayed_work retry; /* the events of the request */
	struct irq_work death;
	struct work_struct reaping;
	u32 events;
	bool placed; /* on this CPU, now; only the thread accesses it, with interrupts off */
	bool running; /* only the thread writes it */
	struct ringlat_counts counts;
};

static struct workqueue_struct *reaper;
static bool module_kept;
static DEFINE_MUTEX(notifiers_lock);
static bool notifiers_enabled;

static void owner__free(struct kref *ref)
{
	struct owner *owner = container_of(ref, struct owner, ref);

	put_task_struct(owner->task);
	kfree(owner);
}

static void owner__put(struct owner *owner)
{
	kref_put(&owner->ref, owner__free);
	module_put(THIS_MODULE);
}

/* The thread is no longer an owner. Only a request, if there is one, still refers to it. */
static void owner__reap(struct work_struct *work)
{
	struct owner *owner = container_of(work, struct owner, reaping);

	if (cancel_delayed_work_sync(&owner->retry))
		owner__put(owner);
	irq_work_sync(&owner->death); /* its handler may not have returned */
	if (owner->counts.kept)
		pr_warn_once(
			"KVM may have saved our SYSCALL entry: the module stays until reboot\n");
	owner__put(owner);
}

/* With interrupts off. */
static void owner__place(struct owner *owner)
{
	/* The entry code would give the counter to a thread that may not read it. */
	if (test_thread_flag(TIF_NOTSC) || entry__place(owner->events)) {
		owner->counts.busy++;
		return;
	}
	owner->placed = true;
	owner->counts.arrivals++;
	owner->counts.cpu = smp_processor_id();
}

/* With interrupts off. Under the scheduler's locks, so there is no printing here. */
static void owner__remove(struct owner *owner)
{
	bool kept = false;

	if (!owner->placed)
		return;
	owner->counts.lost += entry__remove(owner->events, &kept);
	owner->placed = false;
	if (kept) {
		owner->counts.kept = 1;
		if (!xchg(&module_kept, true))
			__module_get(THIS_MODULE);
	}
}

static struct owner *of_notifier(struct preempt_notifier *notifier)
{
	return container_of(notifier, struct owner, notifier);
}

static void owner__switched_in(struct preempt_notifier *notifier, int cpu)
{
	unsigned long flags;

	local_irq_save(flags);
	owner__place(of_notifier(notifier));
	local_irq_restore(flags);
}

/*
 * A thread that shares its files may die without a close. The caller walks its list of notifiers,
 * so the owner must outlive this function: reaping starts from an interrupt, after the CPU has left
 * the thread.
 */
static void owner__switched_out(struct preempt_notifier *notifier, struct task_struct *next)
{
	struct owner *owner = of_notifier(notifier);
	unsigned long flags;

	local_irq_save(flags);
	owner__remove(owner);
	if (unlikely(READ_ONCE(current->__state) == TASK_DEAD)) {
		WRITE_ONCE(owner->running, false);
		irq_work_queue(&owner->death);
	}
	local_irq_restore(flags);
}

static struct preempt_ops owner_ops = {
	.sched_in = owner__switched_in,
	.sched_out = owner__switched_out,
};

static void owner__died(struct irq_work *work)
{
	queue_work(reaper, &container_of(work, struct owner, death)->reaping);
}

/* Called by the thread itself. */
static void owner__end(struct owner *owner)
{
	unsigned long flags;

	preempt_disable();
	preempt_notifier_unregister(&owner->notifier);
	local_irq_save(flags);
	owner__remove(owner);
	WRITE_ONCE(owner->running, false);
	local_irq_restore(flags);
	preempt_enable();
	queue_work(reaper, &owner->reaping);
}

/*
 * Is the thread in KVM_RUN? Then KVM has a notifier of its own. Task work may run there, too, while
 * KVM on AMD has saved our LSTAR and restores it after the guest.
 */
static bool owner__is_in_kvm(const struct owner *owner)
{
	return current->preempt_notifiers.first != &owner->notifier.link ||
	       owner->notifier.link.next;
}

static void owner__requested(struct callback_head *request)
{
	struct owner *owner = container_of(request, struct owner, request);

	if (owner->running && owner__is_in_kvm(owner)) {
		queue_delayed_work(reaper, &owner->retry, 1);
		return;
	}
	if (owner->running)
		owner__end(owner);
	owner__put(owner);
}

/* It counts as a signal, so KVM_RUN returns. If it fails, the thread is exiting. */
static void owner__request(struct owner *owner)
{
	if (task_work_add(owner->task, &owner->request, TWA_SIGNAL))
		owner__put(owner);
}

static void owner__retry(struct work_struct *work)
{
	owner__request(container_of(to_delayed_work(work), struct owner, retry));
}

/* All interrupts of the CPU that the kernel counts. */
static u64 interrupts_of(unsigned int cpu)
{
	return kstat_cpu_irqs_sum(cpu) + compat__arch_interrupts(cpu);
}

/*
 * Enabled once, until the module is unloaded: it patches the scheduler, which stops all CPUs for a
 * moment. From then on each switch checks whether its task has notifiers, as with KVM guests.
 */
static void notifiers__enable(void)
{
	mutex_lock(&notifiers_lock);
	if (!notifiers_enabled) {
		preempt_notifier_inc();
		notifiers_enabled = true;
	}
	mutex_unlock(&notifiers_lock);
}

static struct owner *owner__new(u32 events)
{
	struct owner *owner = kzalloc(sizeof(*owner), GFP_KERNEL_ACCOUNT);

	if (!owner)
		return NULL;
	kref_init(&owner->ref);
	owner->task = get_task_struct(current);
	owner->events = events;
	preempt_notifier_init(&owner->notifier, &owner_ops);
	init_task_work(&owner->request, owner__requested);
	INIT_DELAYED_WORK(&owner->retry, owner__retry);
	init_irq_work(&owner->death, owner__died);
	INIT_WORK(&owner->reaping, owner__reap);
	return owner;
}

/* A notifier that is there already is another owner's: KVM has one only during system calls. */
static int owner__attach(struct owner *owner)
{
	unsigned long flags;

	if (!hlist_empty(&current->preempt_notifiers))
		return -EBUSY;
	preempt_disable();
	local_irq_save(flags);
	owner__place(owner);
	owner->running = owner->placed;
	local_irq_restore(flags);
	if (owner->running)
		preempt_notifier_register(&owner->notifier);
	preempt_enable();
	return owner->running ? 0 : -EBUSY;
}

struct owner *owner__start(u32 events)
{
	struct owner *owner;
	int err;

	owner = owner__new(events);
	if (!owner)
		return ERR_PTR(-ENOMEM);
	__module_get(THIS_MODULE); /* the file has one, so this cannot fail */
	notifiers__enable();
	kref_get(&owner->ref);
	err = owner__attach(owner);
	if (err)
		goto err_attach;
	return owner;

err_attach:
	owner__put(owner);
	kref_put(&owner->ref, owner__free);
	return ERR_PTR(err);
}

bool owner__is_running(const struct owner *owner)
{
	return READ_ONCE(owner->running);
}

int owner__stop(struct owner *owner)
{
	if (!owner__is_running(owner))
		return -EINVAL;
	if (owner->task != current)
		return -EPERM;
	if (owner__is_in_kvm(owner))
		return -EBUSY;
	owner__end(owner);
	return 0;
}

void owner__read(const struct owner *owner, struct ringlat_counts *counts)
{
	*counts = owner->counts;
	counts->running = owner__is_running(owner);
	counts->interrupts = interrupts_of(counts->cpu);
}

/* Task work of the thread may drop the last reference to the file, also in KVM_RUN. */
void owner__abandon(struct owner *owner)
{
	int err;

	__module_get(THIS_MODULE); /* the file has one, so this cannot fail */
	err = owner__stop(owner);
	if (err == -EPERM || err == -EBUSY)
		owner__request(owner);
	else
		owner__put(owner);
}

static struct owner *owner__of_current(void)
{
	struct preempt_notifier *notifier;
	struct hlist_node *node;

	for (node = current->preempt_notifiers.first; node; node = node->next) {
		notifier = hlist_entry(node, struct preempt_notifier, link);
		if (notifier->ops == &owner_ops)
			return of_notifier(notifier);
	}
	return NULL;
}

/*
 * The init function of a module may save the IDT for later, as that of KVM does (HOST_IDTR_BASE).
 * So a thread that loads a module must have the kernel's own.
 */
static int owner__module_changes(struct notifier_block *block, unsigned long state, void *module)
{
	struct owner *owner = owner__of_current();

	if (state == MODULE_STATE_COMING && owner)
		owner__end(owner);
	return NOTIFY_DONE;
}

static struct notifier_block module_changes = { .notifier_call = owner__module_changes };

int __init owner__init(void)
{
	int err;

	reaper = alloc_workqueue("ringlat", WQ_UNBOUND, 0);
	if (!reaper)
		return -ENOMEM;
	err = register_module_notifier(&module_changes);
	if (err)
		destroy_workqueue(reaper);
	return err;
}

/* Each owner had a reference to the module, so none is left; the last ones may still be ending. */
void owner__exit(void)
{
	unregister_module_notifier(&module_changes);
	destroy_workqueue(reaper);
	if (notifiers_enabled)
		preempt_notifier_dec();
	synchronize_rcu_tasks(); /* threads preempted in owner__requested() */
}
