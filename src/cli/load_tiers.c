// SPDX-License-Identifier: BSD-2-Clause
#include "load_tiers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <print/streams.h>

#include "cmd.h"
#include "log.h"

#define WHAT "load tiers: cannot mount the emulator"

static int explain(int err, const char *why)
{
	switch (err) {
	case -ENOPKG:
		log__error(WHAT, why, "install it (fuse3)");
		return EXIT_CANNOT;
	case -EOPNOTSUPP:
		log__error(WHAT, why, "build it with libfuse3-dev");
		return EXIT_CANNOT;
	case -EIO:
		log__error(WHAT, why, "it needs FUSE, and root or fusermount3 (package fuse3)");
		return EXIT_CANNOT;
	default:
		log__error(WHAT, why, "choose another directory with --dir");
		return EXIT_ERROR;
	}
}

/* What to type in another terminal. */
static void show_how(const struct tiers *tiers)
{
	printf("latscope tierlat");
	for (unsigned int i = 0; tiers->args[i]; i++)
		printf(" %s", tiers->args[i]);
	printf(" --weight 0.25 -i 100ms\n");
	streams__flush();
}

static void show_reference(const struct tiers *tiers)
{
	struct tiers_reference reference;

	if (tiers__read(tiers, &reference))
		return;
	printf("load tiers: p %.3f after %llu move%s\n", reference.p,
	       (unsigned long long)reference.moves, reference.moves == 1 ? "" : "s");
	for (unsigned int i = 0; i < tiers->count; i++)
		printf("  %s: %.1f ns, %.1f M reads/s\n", reference.tier[i].name,
		       reference.tier[i].latency_ns, reference.tier[i].rate / 1e6);
	streams__flush();
}

int load_tiers__run(const struct tiers_config *config, char *const *command, uint64_t duration_ns,
		    bool quiet)
{
	char why[TIERS_TEXT];
	struct tiers tiers;
	int got, err;

	err = tiers__start(&tiers, config, why);
	if (err)
		return explain(err, why);
	if (!command)
		show_how(&tiers);
	got = tiers__run(&tiers, command, duration_ns);
	if (!quiet && got >= 0)
		show_reference(&tiers);
	err = tiers__stop(&tiers);
	if (err)
		log__warn("load tiers: cannot remove the mount point", strerror(-err),
			  "unmount it (umount -l)");
	if (got >= 0)
		return got;
	log__error("load tiers",
		   got == -ECANCELED ? "the process of the emulator was killed" : strerror(-got),
		   NULL);
	return EXIT_ERROR;
}
