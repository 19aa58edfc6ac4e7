/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The differences between the kernels that this module is built for. All other files are written
 * for the newest one.
 */
#ifndef RINGLAT_COMPAT_H
#define RINGLAT_COMPAT_H

#include <linux/bits.h>
#include <linux/kconfig.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <asm/hardirq.h>
#include <asm/msr.h>
#include <asm/processor-flags.h>

/*
 * 6.16 renamed rdmsrl() to rdmsrq(), and the others likewise (c435e608cf59, 78255eb23973,
 * 6fe22abacd40, d7484babd2c4). The old names are gone in 7.2.
 */
#ifndef rdmsrq
#define rdmsrq(msr, value) rdmsrl(msr, value)
#define wrmsrq(msr, value) wrmsrl(msr, value)
#define rdmsrq_safe(msr, value) rdmsrl_safe(msr, value)
#define rdmsrq_on_cpu(cpu, msr, value) rdmsrl_on_cpu(cpu, msr, value)
#endif

/* 6.9 added FRED. A hypervisor cannot turn it on for a kernel that does not know it. */
#ifndef X86_CR4_FRED
#define X86_CR4_FRED BIT_ULL(32)
#endif

/*
 * The interrupts of a CPU that kstat_cpu_irqs_sum() leaves out. 7.2 made an array of the counters
 * ("x86/irq: Make irqstats array based") and added inc_perf_irq_stat() with it.
 */
#ifdef inc_perf_irq_stat
/*
 * The sum contains counters of parts (TLB) and of events that are not interrupts (MCE_POLL). That
 * is harmless: callers only look for a difference.
 */
static inline u64 compat__arch_interrupts(unsigned int cpu)
{
	const irq_cpustat_t *stat = &per_cpu(irq_stat, cpu);
	u64 sum = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(stat->counts); i++)
		sum += READ_ONCE(stat->counts[i]);
	return sum;
}
#else
/* Without machine checks, whose counter is not exported. TLB flushes are in irq_call_count. */
static inline u64 compat__arch_interrupts(unsigned int cpu)
{
	const irq_cpustat_t *stat = &per_cpu(irq_stat, cpu);
	u64 sum = 0;

	sum += READ_ONCE(stat->__nmi_count) + READ_ONCE(stat->apic_timer_irqs) +
	       READ_ONCE(stat->irq_spurious_count) + READ_ONCE(stat->x86_platform_ipis) +
	       READ_ONCE(stat->apic_perf_irqs) + READ_ONCE(stat->apic_irq_work_irqs) +
	       READ_ONCE(stat->irq_resched_count) + READ_ONCE(stat->irq_call_count);
#if defined(CONFIG_HAVE_KVM) || IS_ENABLED(CONFIG_KVM) /* until 6.8, and since */
	sum += READ_ONCE(stat->kvm_posted_intr_ipis) +
	       READ_ONCE(stat->kvm_posted_intr_wakeup_ipis) +
	       READ_ONCE(stat->kvm_posted_intr_nested_ipis);
#endif
#ifdef CONFIG_X86_THERMAL_VECTOR
	sum += READ_ONCE(stat->irq_thermal_count);
#endif
#ifdef CONFIG_X86_MCE_THRESHOLD
	sum += READ_ONCE(stat->irq_threshold_count);
#endif
#ifdef CONFIG_X86_MCE_AMD
	sum += READ_ONCE(stat->irq_deferred_error_count);
#endif
#ifdef CONFIG_X86_HV_CALLBACK_VECTOR
	sum += READ_ONCE(stat->irq_hv_callback_count);
#endif
#if IS_ENABLED(CONFIG_HYPERV)
	sum += READ_ONCE(stat->irq_hv_reenlightenment_count) +
	       READ_ONCE(stat->hyperv_stimer0_count);
#endif
#ifdef CONFIG_X86_POSTED_MSI /* since 6.10 */
	sum += READ_ONCE(stat->posted_msi_notification_count);
#endif
	return sum;
}
#endif

#endif
