// SPDX-License-Identifier: BSD-2-Clause
/* Opens and closes every method of every probe on this machine. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include <host/host.h>
#include <print/wrap.h>
#include <probes/kit/opening.h>
#include <probes/kit/probe.h>
#include <session/privilege.h>

#include "cmd.h"
#include "doctor.h"
#include "first.h"
#include "log.h"
#include "options.h"
#include "probe_command.h"

static const char doctor_doc[] =
	"Tries each method of each probe on the running kernel. Shows which methods work, which "
	"one is the default, and why others fail. Changes nothing.\v"
	"Examples:\n"
	"  sudo latscope doctor\n\n"
	"Exit status: 0 every probe can run, 77 one cannot, 1 no privilege, 2 wrong usage.";

void doctor__finding(const char *mark, const char *method, const char *answer, const char *text)
{
	printf("  %s %-10s  %s\n", mark, method, answer);
	wrap__line(stdout, 8, 0, "%s", text);
}

bool doctor__not_x86(const char *method)
{
	char text[RUN_TEXT];

	if (!host__not_x86())
		return false;
	snprintf(text, sizeof(text), "%s; %s", host__not_x86(), HOST_X86_TODO);
	doctor__finding(" ", method, "no", text);
	return true;
}

static int try_method(const struct probe_ops *ops, const struct probe_method *method,
		      char why[RUN_TEXT])
{
	static const struct lat_config config = { .tail_ns = 1 };
	struct opening opening = {
		.ops = ops,
		.request = { .config = &config, .method = method->name, .untimed = true }
	};
	char left[RUN_TEXT];

	opening__all(&opening, 1);
	snprintf(why, RUN_TEXT, "%s", opening.why);
	return opening.err ? opening.err : probe__close(opening.probe, left);
}

/* Tries all methods of a probe. Returns how many work. */
static int examine(const struct probe_ops *ops)
{
	const char *differs = ops->differs ? ops->differs() : NULL;
	const struct probe_method *method;
	char why[RUN_TEXT];
	int works = 0;

	printf("\n%s: %s\n", ops->name, ops->what ? ops->what : ops->metrics[0].what);
	for (unsigned int i = 0; i < ops->nr_methods; i++) {
		method = probe__nth_method(ops, i);
		if (method->x86 && doctor__not_x86(method->name))
			continue;
		if (try_method(ops, method, why)) {
			doctor__finding(" ", method->name, "no", probe__reason(why, method->name));
			continue;
		}
		snprintf(why, sizeof(why), "%s%s%s", method->mechanism, differs ? "; " : "",
			 differs ? differs : "");
		doctor__finding(works ? " " : "*", method->name, "yes", why);
		works++;
	}
	return works;
}

static bool examine_privileges(void)
{
	char why[RUN_TEXT];
	int err;

	puts("\nprivileges: dropped after the probes are attached");
	err = privilege__try(why);
	doctor__finding(" ", "drop", err ? "no" : "yes",
			err ? why
			    : "an unprivileged user, only the capabilities still needed, "
			      "no_new_privs, a seccomp filter");
	return !err;
}

int cmd_doctor(int argc, char **argv)
{
	static const struct usage usage = { .doc = doctor_doc };
	struct options options = { 0 };
	struct utsname kernel;
	unsigned int works = 0;
	bool all = true, drops;
	int code = options__begin(&options, &usage, NULL, argc, argv);

	if (code != OPTIONS_RUN)
		return code;
	code = cmd__check_kernel(argv[0], options.verbose);
	if (code)
		return code;
	uname(&kernel);
	printf("latscope " LATSCOPE_VERSION " on Linux %s %s\n", kernel.release, kernel.machine);
	for (size_t i = 0; probe_list[i]; i++) {
		bool can;

		if (!probe_list[i]->nr_methods)
			continue;
		can = examine(probe_list[i]) > 0;
		works += can && probe_list[i]->by_default;
		all = can && all;
	}
	for (size_t i = 0; probe_list[i]; i++) {
		const struct probe_command *command = probe_command__of(probe_list[i]);

		if (command->examine)
			command->examine();
	}
	drops = examine_privileges();
	printf("\n* is the default; --method NAME chooses another.\n");
	first__next(works, drops);
	all = drops && all;
	return all ? EXIT_DONE : EXIT_CANNOT;
}
