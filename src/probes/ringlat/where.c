// SPDX-License-Identifier: BSD-2-Clause
#include "where.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include <host/first_line.h>

#include "cycles.h"

/*
 * CPUID always exits a guest under VMX, and under SVM wherever the hypervisor can be detected at
 * all. Leaf 0 takes 100 to 300 cycles on the CPU alone. The fastest known exit and return take 1000
 * and more; to a nested or software hypervisor, over 8000.
 */
#define BARE_CPUID_CYCLES 800
#define NESTED_CPUID_CYCLES 8000

/* No real CPU reads its TSC twice, with fences, in less. */
#define LEAST_EMPTY_CYCLES 8

const char *ring_place__name(enum ring_place place)
{
	static const char *const names[] = {
		[RING_BARE_METAL] = "bare metal",
		[RING_VIRTUAL] = "virtual",
		[RING_NESTED] = "nested",
		[RING_EMULATED] = "emulated",
	};

	return names[place];
}

/* The hypervisor or emulator that the machine's name shows; NULL: none. */
static const char *named_after(const char *root, char line[RUN_TEXT])
{
	static const char *const files[] = { "sys_vendor", "product_name", "bios_vendor" };
	static const char *const names[] = {
		"Bochs",
		"QEMU",
		"KVM",
		"VMware",
		"VirtualBox",
		"innotek",
		"Xen",
		"BHYVE",
		"Parallels",
		"Virtual Machine",
		"Firecracker",
		"OpenStack",
		"Google Compute Engine",
	};
	char path[PATH_MAX];

	for (unsigned int i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "/sys/class/dmi/id/%s", files[i]);
		first_line__read(root, path, line, RUN_TEXT);
		for (unsigned int k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
			if (strcasestr(line, names[k]))
				return line;
		}
	}
	/* In Xen PV domains nothing else shows it. */
	first_line__read(root, "/sys/hypervisor/type", line, RUN_TEXT);
	return line[0] ? line : NULL;
}

/* Each rule sets the environment and its evidence; a worse environment replaces a better one. */
static void is_at(struct ring_where *where, enum ring_place place, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void is_at(struct ring_where *where, enum ring_place place, const char *format, ...)
{
	va_list args;

	if (place <= where->place && where->evidence[0])
		return;
	where->place = place;
	va_start(args, format);
	vsnprintf(where->evidence, sizeof(where->evidence), format, args);
	va_end(args);
}

static void find_place(struct ring_where *where, const struct ring_facts *facts, const char *root)
{
	unsigned long long cpuid = facts->cpuid_cycles;
	char line[RUN_TEXT];
	const char *name = named_after(root, line);

	if (cpuid)
		is_at(where, RING_BARE_METAL, "no sign of a hypervisor; CPUID takes %llu cycles",
		      cpuid);
	else
		is_at(where, RING_VIRTUAL, "unknown; assumed to be a guest");
	if (facts->hypervisor)
		is_at(where, RING_VIRTUAL, "hypervisor '%s'; CPUID takes %llu cycles",
		      facts->signature, cpuid);
	if (name)
		is_at(where, RING_VIRTUAL, "the machine calls itself '%s'", name);
	if (cpuid >= BARE_CPUID_CYCLES)
		is_at(where, RING_VIRTUAL, "CPUID takes %llu cycles: something intercepts it",
		      cpuid);
	if (cpuid > NESTED_CPUID_CYCLES)
		is_at(where, RING_NESTED,
		      "hypervisor '%s'; CPUID takes %llu cycles: its hypervisor is a guest too, "
		      "or software",
		      facts->signature, cpuid);
	if (facts->exit_cycles > NESTED_CPUID_CYCLES)
		is_at(where, RING_NESTED, "a VM exit takes %llu cycles, which no CPU alone does",
		      (unsigned long long)facts->exit_cycles);
	if (facts->guest && where->place == RING_VIRTUAL)
		is_at(where, RING_NESTED, "latscope's own guest in a guest of '%s'",
		      facts->signature[0] ? facts->signature : "a hidden hypervisor");
	if (!strcmp(facts->signature, "TCGTCGTCGTCG"))
		is_at(where, RING_EMULATED, "QEMU's TCG emulates the CPU");
	if (name && strcasestr(name, "Bochs"))
		is_at(where, RING_EMULATED, "Bochs emulates the CPU");
	if (facts->empty_cycles && facts->empty_cycles < LEAST_EMPTY_CYCLES)
		is_at(where, RING_EMULATED,
		      "an empty window takes %llu cycles: the TSC counts instructions",
		      (unsigned long long)facts->empty_cycles);
}

static const char *text_of(struct json_object *object, const char *name)
{
	struct json_object *value;

	return json_object_object_get_ex(object, name, &value) ? json_object_get_string(value)
							       : NULL;
}

static void copy(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "not known");
}

/* "Mitigation: Enhanced IBRS" becomes "Enhanced IBRS". */
static const char *without_prefix(const char *text)
{
	static const char prefix[] = "Mitigation: ";

	return text && !strncmp(text, prefix, sizeof(prefix) - 1) ? text + sizeof(prefix) - 1
								  : text;
}

static void judge_ibrs(struct ring_where *where, const char *spectre)
{
	const char *says = "no";

	if (!spectre)
		says = NULL;
	else if (strstr(spectre, "Enhanced IBRS") || strstr(spectre, "Automatic IBRS"))
		says = "enhanced"; /* set once, not at each entry */
	else if (strstr(spectre, "Mitigation: IBRS"))
		says = "at each entry";
	copy(where->ibrs, sizeof(where->ibrs), says);
}

/*
 * Does the kernel clear buffers by VERW when it returns to user mode (X86_FEATURE_CLEAR_CPU_BUF),
 * with or without the microcode that makes this effective? The text of mmio_stale_data is the same
 * if it is done only before entering guests; if it is done here too, mds or tsx_async_abort say so.
 */
static const struct {
	const char *vulnerability;
	const char *says;
	const char *unless;
} verws[] = {
	{ "mds", "Clear CPU buffers", NULL },
	{ "tsx_async_abort", "Clear CPU buffers", NULL },
	{ "reg_file_data_sampling", "Mitigation: Clear Register File", NULL },
	{ "tsa", "Mitigation: Clear CPU buffers", ": VM" }, /* before entering guests */
};

static void judge_verw(struct ring_where *where, struct json_object *mitigations)
{
	const char *says = NULL;

	for (unsigned int i = 0; i < sizeof(verws) / sizeof(verws[0]); i++) {
		const char *text = text_of(mitigations, verws[i].vulnerability);

		if (text && !says)
			says = "no";
		if (text && strstr(text, verws[i].says) &&
		    !(verws[i].unless && strstr(text, verws[i].unless)))
			says = "yes";
	}
	copy(where->verw, sizeof(where->verw), says);
}

static void find_mitigations(struct ring_where *where, struct json_object *host)
{
	struct json_object *mitigations = NULL;
	const char *meltdown, *fred;

	json_object_object_get_ex(host, "mitigations", &mitigations);
	meltdown = text_of(mitigations, "meltdown");
	if (meltdown)
		meltdown = strstr(meltdown, "Mitigation: PTI") ? "yes" : "no";
	copy(where->kpti, sizeof(where->kpti), meltdown);
	judge_ibrs(where, text_of(mitigations, "spectre_v2"));
	copy(where->retbleed, sizeof(where->retbleed),
	     without_prefix(text_of(mitigations, "retbleed")));
	judge_verw(where, mitigations);
	fred = text_of(host, "fred");
	if (fred)
		fred = strcmp(fred, "true") ? "no" : "yes";
	copy(where->fred, sizeof(where->fred), fred);
}

void ring_where__judge(struct ring_where *where, const struct ring_facts *facts, const char *host,
		       const char *root)
{
	struct json_object *object = host ? json_tokener_parse(host) : NULL;

	memset(where, 0, sizeof(*where));
	find_place(where, facts, root);
	copy(where->cpu_model, sizeof(where->cpu_model), text_of(object, "cpu_model"));
	copy(where->microcode, sizeof(where->microcode), text_of(object, "microcode"));
	find_mitigations(where, object);
	json_object_put(object);
}

void ring_where__mitigations(const struct ring_where *where, char text[RING_MITIGATIONS_TEXT])
{
	snprintf(text, RING_MITIGATIONS_TEXT, "KPTI %s, IBRS %s, retbleed: %s, VERW %s, FRED %s",
		 where->kpti, where->ibrs, where->retbleed, where->verw, where->fred);
}
