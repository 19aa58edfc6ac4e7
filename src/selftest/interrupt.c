// SPDX-License-Identifier: BSD-2-Clause
#include "validate.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <session/signals.h>

static int signals = -1;
static bool came;

int interrupt__hold(void)
{
	signals = signals__hold(NULL);
	return signals < 0 ? signals : 0;
}

int interrupt__fd(void)
{
	return signals;
}

bool interrupt__came(void)
{
	struct signalfd_siginfo info;

	if (signals >= 0 && read(signals, &info, sizeof(info)) == sizeof(info))
		came = true;
	return came;
}
