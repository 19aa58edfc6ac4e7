// SPDX-License-Identifier: BSD-2-Clause
/* Opens and closes every method of every probe on this machine. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include <core/host.h>
#include <print/wrap.h>
#include <probes/kit/opening.h>
#include <probes/kit/probe.h>
#include <probes/ringlat/ring.h>
#include <probes/rmid/conflict.h>
#include <probes/tierlat/act.h>
#include <session/privilege.h>

#include "cmd.h"
#include "first.h"
#include "log.h"
#include "options.h"

static const char doctor_doc[] =
	"Tries each method of each probe on the running kernel. Shows which methods work, which "
	"one is the default, and why others fail. Changes nothing.\v"
	"Examples:\n"
	"  sudo latscope doctor\n\n"
	"Exit status: 0 every probe can run, 77 one cannot, 1 no privilege, 2 wrong usage.";

static void print_finding(const char *mark, const char *method, const char *answer,
			  const char *text)
{
	struct wrap wrap = { 0 };

	printf("  %s %-10s  %s\n", mark, method, answer);
	wrap__add(&wrap, "%s", text);
	wrap__print(&wrap, stdout, 8, 0);
}

/* Prints why a method that needs x86-64 does not work. False: this is x86-64. */
static bool print_not_x86(const char *method)
{
	char text[RUN_TEXT];

	if (!host__not_x86())
		return false;
	snprintf(text, sizeof(text), "%s; %s", host__not_x86(), HOST_X86_TODO);
	print_finding(" ", method, "no", text);
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
		if (method->x86 && print_not_x86(method->name))
			continue;
		if (try_method(ops, method, why)) {
			print_finding(" ", method->name, "no", probe__reason(why, method->name));
			continue;
		}
		snprintf(why, sizeof(why), "%s%s%s", method->mechanism, differs ? "; " : "",
			 differs ? differs : "");
		print_finding(works ? " " : "*", method->name, "yes", why);
		works++;
	}
	return works;
}

static void examine_conflict(void)
{
	const struct conflict *conflict = conflict__find("");
	char text[RUN_TEXT];

	if (!conflict)
		return;
	snprintf(text, sizeof(text), "another tool is using RDT: %s; %s", conflict->why,
		 conflict->todo);
	print_finding("!", "RDT", "in use", text);
}

static void print_refused(const struct ring_method *method, const char *why)
{
	print_finding(" ", method->name, "no", why);
}

/* The methods of ringlat, likewise. */
static void examine_ring(void)
{
	char why[RUN_TEXT];
	struct ring *ring;
	bool works = false;

	printf("\nringlat: crossings between user and kernel mode\n");
	if (print_not_x86("all"))
		return;
	for (size_t i = 0; ring_methods[i]; i++) {
		if (ring__open(&ring, ring_methods[i], false, print_refused, why))
			continue;
		ring__close(ring);
		print_finding(works ? " " : "*", ring_methods[i]->name, "yes",
			      ring_methods[i]->mechanism);
		works = true;
	}
}

static void examine_acting(void)
{
	char why[TIER_TEXT];
	int err;

	for (size_t i = 0; act_methods[i]; i++) {
		err = act__look(act_methods[i], "", why);
		print_finding(" ", act_methods[i], err ? "no" : "yes", why);
	}
}

/* Does not affect the exit status: record uses tierlat only with --tiers. */
static void examine_tiers(void)
{
	static const struct {
		const char *name;
		enum tier_method method;
	} methods[] = { { "perf", TIER_PERF }, { "msr", TIER_MSR } };
	char why[TIER_TEXT], text[2 * TIER_TEXT];
	struct wrap wrap = { 0 };
	struct tier *tier;
	const char *todo;

	printf("\ntierlat (record --tiers): loaded latency of each memory tier\n");
	if (print_not_x86("all"))
		return;
	tier__capabilities(text, "");
	wrap__add(&wrap, "%s", text);
	wrap__print(&wrap, stdout, 4, 0);
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		struct tier_config config = { .method = methods[i].method, .look = true };

		if (tier__open(&tier, &config, why, &todo)) {
			snprintf(text, sizeof(text), "%s%s%s", why, todo ? "; " : "",
				 todo ? todo : "");
			print_finding(" ", methods[i].name, "no", text);
			continue;
		}
		snprintf(text, sizeof(text), "%s: %s", tier__model(tier)->title,
			 tier__mechanism(tier));
		print_finding(" ", methods[i].name, "yes", text);
		tier__close(tier, why);
	}
	examine_acting();
}

static bool examine_privileges(void)
{
	char why[RUN_TEXT];
	int err;

	puts("\nprivileges: dropped after the probes are attached");
	err = privilege__try(why);
	print_finding(" ", "drop", err ? "no" : "yes",
		      err ? why
			  : "an unprivileged user, only the capabilities still needed, "
			    "no_new_privs, a seccomp filter");
	return !err;
}

int cmd_doctor(int argc, char **argv)
{
	struct options options = { .command = argv[0] };
	struct argp own = { .doc = doctor_doc };
	struct utsname kernel;
	unsigned int works = 0;
	bool all = true, drops;
	int got, code;

	got = options__parse(&options, &own, NULL, argc, argv, stdout);
	if (got < 0)
		log__usage(argv[0], options.error);
	if (got)
		return got < 0 ? EXIT_USAGE : EXIT_DONE;
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
	examine_conflict();
	examine_ring();
	examine_tiers();
	drops = examine_privileges();
	printf("\n* is the default; --method NAME chooses another.\n");
	first__next(works, drops);
	all = drops && all;
	return all ? EXIT_DONE : EXIT_CANNOT;
}
