// SPDX-License-Identifier: GPL-2.0-only
#include "compat.h"
#include "unsupported.h"

#include <linux/cc_platform.h>
#include <linux/kernel.h>
#include <asm/cpufeature.h>
#include <asm/special_insns.h>

static bool pti(void)
{
	return boot_cpu_has(X86_FEATURE_PTI);
}

static bool xen_pv(void)
{
	return boot_cpu_has(X86_FEATURE_XENPV);
}

static bool fred(void)
{
	return native_read_cr4() & X86_CR4_FRED;
}

static bool encrypted(void)
{
	return cc_platform_has(CC_ATTR_GUEST_MEM_ENCRYPT) ||
	       cc_platform_has(CC_ATTR_GUEST_STATE_ENCRYPT);
}

static bool shadow_stack(void)
{
	u64 s_cet;

	return (native_read_cr4() & X86_CR4_CET) && !rdmsrq_safe(MSR_IA32_S_CET, &s_cet) &&
	       (s_cet & CET_SHSTK_EN);
}

static bool no_nx(void)
{
	return !boot_cpu_has(X86_FEATURE_NX);
}

/* Xen comes first: it would have to emulate reading CR4. */
static const struct {
	bool (*applies)(void);
	const char *line;
} reasons[] = {
	{ xen_pv, "a Xen PV guest has no entry points of its own; use a PVH or HVM guest" },
	{ pti, "PTI is on: user page tables do not map the entry code; boot with pti=off" },
	{ fred, "FRED is on: crossings use neither the IDT nor LSTAR; boot with fred=off" },
	{ encrypted,
	  "encrypted guest (SEV, TDX): #VC or #VE could hit the entry code; use another VM" },
	{ shadow_stack,
	  "supervisor shadow stacks are on, the entry code has none; boot a kernel without" },
	{ no_nx, "NX is off: instruction fetches look like reads; enable it in the firmware" },
};

const char *unsupported__why(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reasons); i++)
		if (reasons[i].applies())
			return reasons[i].line;
	return NULL;
}
