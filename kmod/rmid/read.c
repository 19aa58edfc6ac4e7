// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "compat.h"
#include "count.h"
#include "owners.h"
#include "read.h"
#include "trace.h"
#include "turns.h"

#define QM_EVTSEL 0xc8d /* event 7:0, RMID 41:32 */
#define QM_CTR 0xc8e
#define BROADWELL_X 0x4f /* of family 6 */
#define SKYLAKE_X 0x55
#define OCCUPANCY BIT(LATSCOPE_RMID_OCCUPANCY)
#define BANDWIDTH (BIT(LATSCOPE_RMID_MBM_TOTAL) | BIT(LATSCOPE_RMID_MBM_LOCAL))
#define RISING 2 /* events that only go up: MBM total and local */

struct domain {
	u32 l3; /* identifies the cache: common bits of the APIC IDs of its CPUs */
	u32 id; /* the lowest CPU that was online when it was found */
	int reader; /* the CPU that reads it; nr_cpu_ids or more: no CPU with a timer is online */
	bool split; /* its CPUs belong to several NUMA nodes */
	u64 done;
	u64 due;
	cpumask_var_t cpus; /* online */
	struct turns turns;
	struct count_past (*past)[RISING]; /* by RMID */
};

static struct domain *domains; /* NULL: nothing is read */
static u32 domain_count; /* written by CPUs that come online, one at a time */
static u32 rmid_count;
static u32 events; /* mask of 1 << enum latscope_rmid_event */
static u32 refused; /* events that the CPU has but counts wrong */
static u64 budget_ns;
static struct count_format format;
static DEFINE_PER_CPU(struct domain *, domain_here);

/* Intel SDM volume 2, CPUID leaves 7 and 0xF; AMD APM volume 3 has the same. */
u32 read__max_rmid(void)
{
	if (boot_cpu_data.cpuid_level < 0xf || !(cpuid_ebx(7) & BIT(12)) ||
	    !(cpuid_edx(0xf) & BIT(1)))
		return 0;
	return cpuid_ebx(0xf);
}

/*
 * Events that a model counts wrong. Skylake servers up to stepping 4: all; resctrl uses none there.
 * Later steppings of that model and Broadwell servers (errata SKX99 and BDF102): bandwidth, by a
 * factor that depends on the RMID and on the number of RMIDs. Intel has a table of these factors;
 * no machine was available to check it, so there is no value.
 */
static u32 wrong_events(void)
{
	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL || boot_cpu_data.x86 != 6)
		return 0;
	switch (boot_cpu_data.x86_model) {
	case SKYLAKE_X:
		return boot_cpu_data.x86_stepping <= 4 ? OCCUPANCY | BANDWIDTH : BANDWIDTH;
	case BROADWELL_X:
		return BANDWIDTH;
	default:
		return 0;
	}
}

bool read__useful(void)
{
	return read__max_rmid() && !(wrong_events() & OCCUPANCY);
}

static void choose_events(u32 has)
{
	refused = has & wrong_events();
	events = has & ~refused;
	if (refused & OCCUPANCY)
		pr_warn("Skylake up to stepping 4 counts bytes wrong: not reading its counters\n");
	else if (refused)
		pr_warn("memory bandwidth is counted wrong (errata SKX99, BDF102): not read\n");
}

static u32 width_of_vendor(void)
{
	switch (boot_cpu_data.x86_vendor) {
	case X86_VENDOR_AMD:
		return COUNT_WIDTH_AMD;
	case X86_VENDOR_HYGON:
		return COUNT_WIDTH_HYGON;
	default:
		return COUNT_WIDTH_INTEL;
	}
}

int read__init(bool wanted, u32 rmids, u32 budget)
{
	u32 eax, ebx, ecx, edx;

	if (!wanted || !read__max_rmid())
		return 0;
	cpuid_count(0xf, 1, &eax, &ebx, &ecx, &edx);
	format = count__format(eax, ebx, width_of_vendor());
	choose_events((edx & 7) << LATSCOPE_RMID_OCCUPANCY);
	rmid_count = min(rmids, ecx);
	budget_ns = LATSCOPE_RMID_TICK_NS / 100 * budget;
	if (!events || !format.scale)
		return 0;
	domains = kvcalloc(nr_cpu_ids, sizeof(*domains), GFP_KERNEL);
	return domains ? 0 : -ENOMEM;
}

void read__exit(void)
{
	u32 i;

	for (i = 0; i < domain_count; i++) {
		free_cpumask_var(domains[i].cpus);
		kvfree(domains[i].past);
	}
	kvfree(domains);
}

/*
 * The L3 cache of this CPU: its APIC ID without the bits that differ between CPUs of one cache.
 * Intel leaf 4, AMD leaf 0x8000001D: type 4:0 (0: no more), level 7:5, maximum number of IDs - 1 in
 * 25:14.
 */
static u32 l3_here(void)
{
	bool amd = boot_cpu_data.x86_vendor == X86_VENDOR_AMD ||
		   boot_cpu_data.x86_vendor == X86_VENDOR_HYGON;
	u32 eax, ebx, ecx, edx, index, apicid = cpuid_ebx(1) >> 24;

	if (boot_cpu_data.cpuid_level >= 0xb) {
		cpuid_count(0xb, 0, &eax, &ebx, &ecx, &edx);
		if (ebx)
			apicid = edx; /* all 32 bits, not only 8 */
	}
	for (index = 0; index < 16; index++) {
		cpuid_count(amd ? 0x8000001d : 4, index, &eax, &ebx, &ecx, &edx);
		if (!(eax & 0x1f))
			break;
		if ((eax >> 5 & 7) == 3)
			return apicid >> fls(eax >> 14 & 0xfff);
	}
	return apicid;
}

static struct domain *add_domain(u32 l3, unsigned int number)
{
	struct domain *domain = &domains[domain_count];

	domain->past = kvcalloc(rmid_count + 1, sizeof(*domain->past), GFP_KERNEL);
	if (!domain->past || !zalloc_cpumask_var(&domain->cpus, GFP_KERNEL)) {
		kvfree(domain->past);
		pr_warn("no memory for the counters of the L3 cache of CPU %u: not reading them\n",
			number);
		return NULL;
	}
	domain->l3 = l3;
	domain->id = number;
	domain->reader = nr_cpu_ids;
	turns__init(&domain->turns, rmid_count);
	domain_count++;
	return domain;
}

static struct domain *find_domain(u32 l3)
{
	u32 i;

	for (i = 0; i < domain_count; i++)
		if (domains[i].l3 == l3)
			return &domains[i];
	return NULL;
}

/*
 * Sub-NUMA clusters number RMIDs differently, which is not supported: no value is better than a
 * wrong one.
 */
static void note_node(struct domain *domain, unsigned int number)
{
	if (domain->split || cpu_to_node(number) == cpu_to_node(cpumask_first(domain->cpus)))
		return;
	domain->split = true;
	pr_warn("L3 cache %u has several NUMA nodes: not reading its counters\n", domain->id);
}

void read__online(unsigned int number, const struct cpumask *timers)
{
	struct domain *domain;
	u32 l3;

	if (!domains)
		return;
	l3 = l3_here();
	domain = find_domain(l3) ?: add_domain(l3, number);
	if (!domain)
		return;
	cpumask_set_cpu(number, domain->cpus);
	note_node(domain, number);
	if (domain->reader >= nr_cpu_ids)
		WRITE_ONCE(domain->reader, cpumask_first_and(domain->cpus, timers));
	this_cpu_write(domain_here, domain);
}

void read__offline(unsigned int number, const struct cpumask *timers)
{
	struct domain *domain = this_cpu_read(domain_here);

	if (!domain)
		return;
	this_cpu_write(domain_here, NULL);
	cpumask_clear_cpu(number, domain->cpus);
	if (domain->reader == number)
		WRITE_ONCE(domain->reader, cpumask_first_and(domain->cpus, timers));
}

void read__ran(u32 rmid)
{
	struct domain *domain = this_cpu_read(domain_here);

	if (domain && rmid <= rmid_count)
		turns__ran(&domain->turns, rmid);
}

/*
 * The CPUID of some hypervisors reports counters that do not exist: then access faults, and the
 * reading is an error, not 0.
 */
static u64 read_counter(u32 rmid, u32 event)
{
	u64 raw;

	if (wrmsrq_safe(QM_EVTSEL, (u64)rmid << 32 | event) || rdmsrq_safe(QM_CTR, &raw))
		return COUNT_ERROR;
	return raw;
}

/* Drops a reading if the owner of the RMID changed in between. */
static void read_event(struct domain *domain, u32 rmid, u32 event, u64 owned_ns)
{
	struct latscope_rmid_read record = { .rmid = rmid, .domain = domain->id };
	struct count_past unused, *past = &unused;
	u64 raw;

	if (event != LATSCOPE_RMID_OCCUPANCY)
		past = &domain->past[rmid][event - LATSCOPE_RMID_MBM_TOTAL];
	raw = read_counter(rmid, event);
	count__decode(&format, event, raw, owners__now(), owned_ns, past, &record);
	domain->done++;
	if (owners__since_ns(rmid) == owned_ns)
		trace_rmid_read(&record);
}

static void read_rmid(struct domain *domain, u32 rmid)
{
	u64 owned_ns = owners__since_ns(rmid);
	u32 event;

	for (event = LATSCOPE_RMID_OCCUPANCY; owned_ns && event <= LATSCOPE_RMID_MBM_LOCAL; event++)
		if (events & BIT(event))
			read_event(domain, rmid, event, owned_ns);
}

void read__tick(void)
{
	struct domain *domain = this_cpu_read(domain_here);
	u64 end_ns;
	u32 rmid;

	if (!domain || READ_ONCE(domain->reader) != smp_processor_id() || domain->split)
		return;
	end_ns = owners__now() + budget_ns;
	domain->due += (u64)owners__assigned() * hweight32(events);
	turns__begin(&domain->turns);
	while (owners__now() < end_ns && (rmid = turns__next(&domain->turns)))
		read_rmid(domain, rmid);
}

void read__totals(struct read_totals *totals)
{
	u32 i;

	*totals = (struct read_totals){ .scale = domains ? format.scale : 0 };
	for (i = 0; i < READ_ONCE(domain_count); i++) {
		totals->done += READ_ONCE(domains[i].done);
		totals->due += READ_ONCE(domains[i].due);
	}
}

const char *read__mbm(void)
{
	if (refused & BANDWIDTH)
		return "erratum";
	return domains && events & BANDWIDTH ? "on" : "off";
}
