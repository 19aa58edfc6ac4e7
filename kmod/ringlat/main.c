// SPDX-License-Identifier: GPL-2.0-only
/*
 * ringlat: the cost of an x86 ring crossing, measured on the running kernel. The protocol is in
 * include/uapi/latscope/ringlat.h.
 *
 *   entry_code.S   what hardware enters instead of the kernel's entry points
 *   entry.c        places the entry code before the entry points of a CPU, and removes it
 *   owner.c        binds the entry code to a thread, until the thread ends or gives it up
 *   main.c         the file for user space, /dev/latscope-ringlat
 *   unsupported.c  machines on which the entry code cannot work
 *
 * Loading the module changes nothing for anyone. It can be loaded on an unsupported machine, too,
 * so that user space can read the reason.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "entry.h"
#include "owner.h"
#include "unsupported.h"

#include <linux/capability.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <uapi/latscope/ringlat.h>

#define ALL_EVENTS (RINGLAT_PF | RINGLAT_SYSCALL | RINGLAT_SYSCALL_FENCED)
#define EXCLUSIVE_EVENTS (RINGLAT_SYSCALL | RINGLAT_SYSCALL_FENCED)

/* An open file. */
struct session {
	struct mutex lock; /* of the pointer; its holder never sleeps */
	struct owner *owner; /* the last one that was started, or NULL */
};

static const char *refusal_at_load;

/* Checked each time: CR4 of this CPU may differ from that of the CPU that loaded the module. */
static const char *session__refusal(void)
{
	if (refusal_at_load)
		return refusal_at_load;
	if (entry__is_writable())
		return "the kernel's read-only data is writable; boot without rodata=off";
	return unsupported__why();
}

static long session__info(void __user *to)
{
	struct ringlat_info info = { .version = RINGLAT_VERSION, .events = ALL_EVENTS };
	const char *refusal = session__refusal();

	if (refusal) {
		info.events = 0;
		strscpy(info.refusal, refusal, sizeof(info.refusal));
	}
	return copy_to_user(to, &info, sizeof(info)) ? -EFAULT : 0;
}

static int session__may_start(const struct ringlat_start *start)
{
	if (!start->events || (start->events & ~ALL_EVENTS) || start->zero ||
	    (start->events & EXCLUSIVE_EVENTS) == EXCLUSIVE_EVENTS)
		return -EINVAL;
	if (!capable(CAP_SYS_RAWIO) || test_thread_flag(TIF_NOTSC))
		return -EPERM;
	if (security_locked_down(LOCKDOWN_MSR))
		return -EPERM;
	if (session__refusal())
		return -EOPNOTSUPP;
	if (current->nr_cpus_allowed != 1)
		return -ENOTUNIQ;
	return 0;
}

static int session__start(struct session *session, u32 events)
{
	struct owner *owner;

	if (session->owner && owner__is_running(session->owner))
		return -EBUSY;
	owner = owner__start(events);
	if (IS_ERR(owner))
		return PTR_ERR(owner);
	if (session->owner)
		owner__abandon(session->owner);
	session->owner = owner;
	return 0;
}

static int session__read(struct session *session, struct ringlat_counts *counts)
{
	if (!session->owner)
		return -EINVAL;
	owner__read(session->owner, counts);
	return 0;
}

static int session__stop(struct session *session)
{
	return session->owner ? owner__stop(session->owner) : -EINVAL;
}

/* Access user memory without the lock: a fault there may take any time. */
static long session__ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct session *session = file->private_data;
	void __user *user = (void __user *)argument;
	struct ringlat_counts counts;
	struct ringlat_start start;
	long ret;

	if (command == RINGLAT_INFO)
		return session__info(user);
	if (command == RINGLAT_START) {
		if (copy_from_user(&start, user, sizeof(start)))
			return -EFAULT;
		ret = session__may_start(&start);
		if (ret)
			return ret;
	}

	mutex_lock(&session->lock);
	switch (command) {
	case RINGLAT_START:
		ret = session__start(session, start.events);
		break;
	case RINGLAT_READ:
		ret = session__read(session, &counts);
		break;
	case RINGLAT_STOP:
		ret = session__stop(session);
		break;
	default:
		ret = -ENOTTY;
	}
	mutex_unlock(&session->lock);

	if (command == RINGLAT_READ && !ret && copy_to_user(user, &counts, sizeof(counts)))
		return -EFAULT;
	return ret;
}

static int session__open(struct inode *inode, struct file *file)
{
	struct session *session = kzalloc(sizeof(*session), GFP_KERNEL_ACCOUNT);

	if (!session)
		return -ENOMEM;
	mutex_init(&session->lock);
	file->private_data = session;
	return 0;
}

/* Runs at every close, and at the end of a thread that does not share the file: the owner stops. */
static int session__flush(struct file *file, fl_owner_t id)
{
	struct session *session = file->private_data;

	mutex_lock(&session->lock);
	session__stop(session);
	mutex_unlock(&session->lock);
	return 0;
}

static int session__release(struct inode *inode, struct file *file)
{
	struct session *session = file->private_data;

	if (session->owner)
		owner__abandon(session->owner);
	kfree(session);
	return 0;
}

static const struct file_operations session_ops = {
	.owner = THIS_MODULE,
	.open = session__open,
	.flush = session__flush,
	.release = session__release,
	.unlocked_ioctl = session__ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "latscope-ringlat",
	.fops = &session_ops,
	.mode = 0600,
};

static int __init ringlat_init(void)
{
	int err;

	refusal_at_load = unsupported__why() ?: entry__init();
	if (refusal_at_load)
		pr_warn("no measurement here: %s\n", refusal_at_load);
	err = owner__init();
	if (err)
		return err;
	err = misc_register(&device);
	if (err)
		owner__exit();
	return err;
}

static void __exit ringlat_exit(void)
{
	misc_deregister(&device);
	owner__exit();
}

module_init(ringlat_init);
module_exit(ringlat_exit);

MODULE_DESCRIPTION("latscope: cost of an x86 ring crossing");
MODULE_LICENSE("GPL");
