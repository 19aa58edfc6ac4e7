// SPDX-License-Identifier: GPL-2.0-only
#include "compat.h"
#include "unsupported.h"

#include <linux/cc_platform.h>
#include <linux/kernel.h>
#include <asm/cpufeature.h>
#include <asm/special_insns.h>

/* Xen comes first: it would have to emulate reading CR4. */
const char *unsupported__why(void)
{
	u64 s_cet;

	if (boot_cpu_has(X86_FEATURE_XENPV))
		return "a Xen PV guest has no entry points of its own; use a PVH or HVM guest";
	if (boot_cpu_has(X86_FEATURE_PTI))
		return "PTI is on: user page tables do not map the entry code; boot with pti=off";
	if (native_read_cr4() & X86_CR4_FRED)
		return "FRED is on: crossings use neither the IDT nor LSTAR; boot with fred=off";
	if (cc_platform_has(CC_ATTR_GUEST_MEM_ENCRYPT) ||
	    cc_platform_has(CC_ATTR_GUEST_STATE_ENCRYPT))
		return "encrypted guest (SEV, TDX): #VC or #VE could hit the entry code; use "
		       "another VM";
	if ((native_read_cr4() & X86_CR4_CET) && !rdmsrq_safe(MSR_IA32_S_CET, &s_cet) &&
	    (s_cet & CET_SHSTK_EN))
		return "supervisor shadow stacks are on, the entry code has none; boot a kernel "
		       "without";
	if (!boot_cpu_has(X86_FEATURE_NX))
		return "NX is off: instruction fetches look like reads; enable it in the firmware";
	return NULL;
}
