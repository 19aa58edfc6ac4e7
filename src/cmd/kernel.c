// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>

#include <base/log.h>
#include <probe/kernel.h>

#include "cmd.h"

int cmd__check_kernel(const char *what)
{
	char why[RUN_TEXT];
	int err;

	err = kernel__check(why);
	if (!err)
		return EXIT_DONE;
	log__error(what, why, NULL);
	return err == -EPERM ? EXIT_ERROR : EXIT_CANNOT;
}
