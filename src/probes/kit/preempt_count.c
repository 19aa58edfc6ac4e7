// SPDX-License-Identifier: BSD-2-Clause
#include "preempt_count.h"

#include <string.h>

#include <symbols/kallsyms.h>

#include "kernel.h"

const char *const preempt_count_programs[] = { "why_irq_begins",   "why_irq_ends",
					       "why_raised",	   "why_softirq_begins",
					       "why_softirq_ends", "why_timer_begins",
					       "why_timer_ends",   NULL };
const char *const preempt_count_vectors[] = { "why_work_begins",
					      "why_work_ends",
					      "why_call_begins",
					      "why_call_ends",
					      "why_single_begins",
					      "why_single_ends",
					      NULL };

bool preempt_count__find(uint64_t *count_at, uint64_t *offsets_at, bool *counts_disable)
{
#ifdef __x86_64__
	struct kallsyms symbols;
	struct kallsym symbol;
	uint64_t count = 0, offsets = 0;

	/* It and the layout of the count came together, in 7.x. */
	*counts_disable = kernel__has_function("_raw_spin_lock_irq_disable");
	if (kallsyms__open(&symbols, KALLSYMS_PATH))
		return false;
	while (!(count && offsets) && kallsyms__next(&symbols, &symbol)) {
		if (!strcmp(symbol.name, "__preempt_count") || !strcmp(symbol.name, "pcpu_hot"))
			count = symbol.address;
		else if (!strcmp(symbol.name, "__per_cpu_offset"))
			offsets = symbol.address;
	}
	kallsyms__close(&symbols);
	if (!count || !offsets)
		return false;
	*count_at = count;
	*offsets_at = offsets;
#else
	(void)count_at;
	(void)offsets_at;
	*counts_disable = kernel__has_function("_raw_spin_lock_irq_disable");
#endif
	return true;
}
