// SPDX-License-Identifier: BSD-2-Clause
#include "privilege.h"

#include <errno.h>
#include <stdbool.h>

#include <cap-ng.h>

int privilege__drop(bool workload)
{
	static const unsigned int kept[] = { CAP_BPF, CAP_PERFMON, CAP_DAC_READ_SEARCH, CAP_KILL };
	int count = workload ? 4 : 3;
	bool had[4];

	capng_get_caps_process();
	for (int i = 0; i < count; i++)
		had[i] = capng_have_capability(CAPNG_PERMITTED, kept[i]);
	capng_clear(CAPNG_SELECT_CAPS);
	for (int i = 0; i < count; i++)
		if (had[i])
			capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, kept[i]);
	return capng_apply(CAPNG_SELECT_CAPS) ? -EPERM : 0;
}
