// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>

#include <probes/kit/refusal.h>
#include <session/privilege.h>

#include "cmd.h"
#include "log.h"

int cmd__check_kernel(const char *what, bool verbose)
{
	char why[RUN_TEXT];
	int err;

	refusal__show_log(verbose ? stderr : NULL);
	err = refusal__check(why);
	if (!err)
		return EXIT_DONE;
	log__error(what, why, NULL);
	return err == -EPERM ? EXIT_ERROR : EXIT_CANNOT;
}

int cmd__privileges_kept(const char *why)
{
	log__error("cannot give up privileges", why, NULL);
	return EXIT_ERROR;
}

int cmd__drop_privileges(const struct privilege_needs *needs)
{
	char why[RUN_TEXT];

	return privilege__drop(needs, why) ? cmd__privileges_kept(why) : EXIT_DONE;
}
