// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>

static int __init ringlat_init(void)
{
	return 0;
}

static void __exit ringlat_exit(void)
{
}

module_init(ringlat_init);
module_exit(ringlat_exit);

MODULE_DESCRIPTION("latscope: cost of an x86 ring crossing");
MODULE_LICENSE("GPL");
