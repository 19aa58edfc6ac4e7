// SPDX-License-Identifier: BSD-2-Clause
/* What the counters of a CPU can measure, whether or not this process may read them. */
#include <stdio.h>
#include <string.h>

#include "internal.h"
#include "sysfs.h"

bool tier__has_memory(const struct tier_class *class, const char *root)
{
	switch (class->needs) {
	case TIER_IF_PMM:
		return sysfs__has(root, "/sys/bus/nd/devices", "nmem");
	case TIER_IF_CXL:
		return sysfs__has(root, "/sys/bus/cxl/devices", "mem");
	case TIER_ALWAYS:
		break;
	}
	return true;
}

void tier__name_unknown(char text[TIER_TEXT], const struct tier_cpu *cpu)
{
	snprintf(text, TIER_TEXT,
		 "%s (%s family %u model %u stepping %u) is not in latscope's table of CPUs",
		 cpu->name, cpu->vendor, cpu->family, cpu->model, cpu->stepping);
}

/* Appends ", name" for each tier whose memory is present, or for each that is absent. */
static void add_tiers(char text[TIER_TEXT], const struct tier_model *model, const char *root,
		      bool there)
{
	for (unsigned int i = 0; i < model->nr_tiers; i++) {
		const struct tier_class *class = &model->tiers[i];
		size_t len = strlen(text);

		if (tier__has_memory(class, root) == there)
			snprintf(text + len, TIER_TEXT - len, "%s%s", len ? ", " : "", class->name);
	}
}

static const char *units_of(const struct tier_model *model)
{
	if (model->kind == TIER_TOR)
		return "latencies in ns, rates, and what Colloid would move";
	return model->in_ns ? "sampled latencies in ns, no rates"
			    : "sampled latencies in clocks, not ns, no rates";
}

void tier__capabilities(char text[TIER_TEXT], const char *root)
{
	char there[TIER_TEXT] = "", lacking[TIER_TEXT] = "";
	const struct tier_model *model;
	struct tier_cpu cpu;

	if (tier_cpu__read(&cpu, root)) {
		snprintf(text, TIER_TEXT, "cannot tell what CPU this is from /proc/cpuinfo");
		return;
	}
	model = tier_model__of(&cpu);
	if (!model) {
		tier__name_unknown(text, &cpu);
		return;
	}
	add_tiers(there, model, root, true);
	add_tiers(lacking, model, root, false);
	snprintf(text, TIER_TEXT, "%s: %s of %.80s%s%.64s", model->title, units_of(model), there,
		 lacking[0] ? "; no memory here of " : "", lacking);
}
