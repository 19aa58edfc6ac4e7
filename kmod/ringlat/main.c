// SPDX-License-Identifier: GPL-2.0-only
/*
 * ringlat: the cost of an x86 ring crossing, measured on the running kernel. The protocol is in
 * include/uapi/latscope/ringlat.h.
 *
 *   entry_code.S   what hardware enters instead of the kernel's entry points
 *   entry.c        places the entry code before the entry points of a CPU, and removes it
 *   owner.c        binds the entry code to a thread, until the thread ends or gives it up
 *   device.c       the file for user space
 *   unsupported.c  machines on which the entry code cannot work
 *
 * Loading the module changes nothing for anyone. It can be loaded on an unsupported machine, too,
 * so that user space can read the reason.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "device.h"
#include "entry.h"
#include "owner.h"
#include "unsupported.h"

#include <linux/module.h>

static int __init ringlat_init(void)
{
	const char *refusal = unsupported__why();
	int err;

	if (!refusal)
		refusal = entry__init();
	if (refusal)
		pr_warn("no measurement here: %s\n", refusal);
	err = owner__init();
	if (err)
		return err;
	err = device__init(refusal);
	if (err)
		goto err_owner;
	return 0;

err_owner:
	owner__exit();
	return err;
}

static void __exit ringlat_exit(void)
{
	device__exit();
	owner__exit();
}

module_init(ringlat_init);
module_exit(ringlat_exit);

MODULE_DESCRIPTION("latscope: cost of an x86 ring crossing");
MODULE_LICENSE("GPL");
