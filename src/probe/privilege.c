// SPDX-License-Identifier: BSD-2-Clause
#include "privilege.h"

#include <errno.h>
#include <stdbool.h>

#include <cap-ng.h>

int privilege__keep(const unsigned int *kept, size_t count)
{
	bool had[CAP_LAST_CAP + 1];

	capng_get_caps_process();
	for (size_t i = 0; i < count; i++)
		had[i] = capng_have_capability(CAPNG_PERMITTED, kept[i]);
	capng_clear(CAPNG_SELECT_CAPS);
	for (size_t i = 0; i < count; i++)
		if (had[i])
			capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, kept[i]);
	return capng_apply(CAPNG_SELECT_CAPS) ? -EPERM : 0;
}

int privilege__drop(bool workload)
{
	static const unsigned int kept[] = { CAP_BPF, CAP_PERFMON, CAP_DAC_READ_SEARCH, CAP_KILL };

	return privilege__keep(kept, workload ? 4 : 3);
}
