// SPDX-License-Identifier: BSD-2-Clause
/*
 * msrfs MOUNTPOINT [COMMAND...]: a machine whose uncore counters tell what is known, as files.
 *
 *   msrfs /tmp/m 'machine gen=icx sockets=2 boxes=40' 'stream name=near rate=1e8 latency=90' &
 *
 * It serves until it is unmounted, gets a signal or its parent is gone. command.c in
 * src/loadgen/tiers has the commands, which the file `ctl` takes as well; files.h lists the files.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>

#include <loadgen/tiers/emulator.h>
#include <loadgen/tiers/files.h>

static struct emulator emulator;

int main(int argc, char **argv)
{
	static const char *const defaults[] = {
		"machine gen=icx sockets=2 boxes=40",
		"stream name=near rate=1e8 latency=90",
		"stream name=far rate=5e7 latency=180 remote=1",
	};

	if (argc < 2) {
		fprintf(stderr, "usage: msrfs MOUNTPOINT [COMMAND...]\n");
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	for (unsigned int i = 0; i < 3; i++)
		emulator__command(&emulator, defaults[i]);
	for (int i = 2; i < argc; i++)
		if (emulator__command(&emulator, argv[i])) {
			fprintf(stderr, "msrfs: %s: %s\n", argv[i], emulator.error);
			return 2;
		}
	emulator__mark(&emulator);
	if (files__load()) {
		fprintf(stderr, "msrfs: there is no libfuse\n");
		return 4;
	}
	return files__serve(&emulator, argv[0], argv[1]);
}
