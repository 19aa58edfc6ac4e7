// SPDX-License-Identifier: GPL-2.0-only
#include "compat.h"
#include "entry.h"

#include <linux/cache.h>
#include <linux/cpu.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/static_call.h>
#include <asm/cpufeature.h>
#include <asm/desc.h>
#include <asm/pgtable.h>
#include <asm/trapnr.h>

#include <uapi/latscope/ringlat.h>

#ifndef CONFIG_HAVE_STATIC_CALL
#error "the entry code needs static calls to continue at the kernel's entry points"
#endif
#ifndef CONFIG_STRICT_MODULE_RWX
#error "the IDT with the entry code must be read-only"
#endif

#define SYSCALL_EVENTS (RINGLAT_SYSCALL | RINGLAT_SYSCALL_FENCED)

/* Runs before the kernel's entry points while an owner is on its CPU. Only hardware enters it. */
extern char ringlat_entry_page_fault[];
extern char ringlat_entry_syscall[];
extern char ringlat_entry_syscall_fenced[];

/* The kernel's own entry points, where the entry code continues: patched jumps, not pointers. */
void ringlat_unset(void);
DEFINE_STATIC_CALL(ringlat_kernel_page_fault, ringlat_unset);
DEFINE_STATIC_CALL(ringlat_kernel_syscall, ringlat_unset);

/*
 * The trampolines of the static calls are outside .noinstr.text, but part of the entry code: the
 * exception of a kprobe there would be delivered on the stack of user space.
 */
NOKPROBE_SYMBOL(STATIC_CALL_TRAMP(ringlat_kernel_page_fault));
NOKPROBE_SYMBOL(STATIC_CALL_TRAMP(ringlat_kernel_syscall));

/* Where a CPU enters the kernel. */
struct entry_points {
	unsigned long idt;
	unsigned long lstar;
};

static struct entry_points kernel_points __ro_after_init;
static struct desc_ptr kernel_idt __ro_after_init;
static struct desc_ptr entry_idt __ro_after_init;

/* Exactly one page, so that nothing else shares its protection. */
static gate_desc entry_gates[IDT_ENTRIES] __ro_after_init __aligned(PAGE_SIZE);

static_assert(sizeof(entry_gates) == PAGE_SIZE);

/* Only the base: leaving a VMX guest sets the limit to 0xffff. */
static struct entry_points entry__read(void)
{
	struct entry_points points;
	struct desc_ptr idt;

	store_idt(&idt);
	points.idt = idt.address;
	rdmsrq(MSR_LSTAR, points.lstar);
	return points;
}

static bool entry__same(const struct entry_points *a, const struct entry_points *b)
{
	return a->idt == b->idt && a->lstar == b->lstar;
}

static unsigned long entry_lstar(u32 events)
{
	if (events & RINGLAT_SYSCALL_FENCED)
		return (unsigned long)ringlat_entry_syscall_fenced;
	return (unsigned long)ringlat_entry_syscall;
}

int entry__place(u32 events)
{
	const struct entry_points now = entry__read();

	if (!entry__same(&now, &kernel_points))
		return -EBUSY;
	if (events & RINGLAT_PF)
		native_load_idt(&entry_idt);
	if (events & SYSCALL_EVENTS)
		wrmsrq(MSR_LSTAR, entry_lstar(events));
	return 0;
}

unsigned int entry__remove(u32 events, bool *kept)
{
	const struct entry_points now = entry__read();
	unsigned int lost = 0;

	if (events & RINGLAT_PF) {
		if (now.idt == entry_idt.address)
			native_load_idt(&kernel_idt);
		else
			lost++;
	}
	if (events & SYSCALL_EVENTS) {
		if (now.lstar == entry_lstar(events))
			wrmsrq(MSR_LSTAR, kernel_points.lstar);
		else
			lost++;
		/*
		 * KVM reads LSTAR when it enables VMX on a CPU, in an interrupt at any time
		 * (kvm_user_return_msr_cpu_online()), and writes it back after its guests. That VMX
		 * was on before proves nothing: it may have been off and on again.
		 */
		*kept |= boot_cpu_has(X86_FEATURE_VMX) && (native_read_cr4() & X86_CR4_VMXE);
	}
	return lost;
}

bool entry__is_writable(void)
{
	unsigned int level;
	pte_t *pte = lookup_address((unsigned long)entry_gates, &level);

	return !pte || pte_write(*pte);
}

static void __init entry__compare(void *differ)
{
	if (entry__read().idt != kernel_points.idt)
		WRITE_ONCE(*(bool *)differ, true);
}

static bool __init is_symbol(unsigned long address, const char *name)
{
	char *found = kmalloc(KSYM_SYMBOL_LEN, GFP_KERNEL);
	size_t length = strlen(name);
	bool is;

	if (!found)
		return false;
	sprint_symbol(found, address);
	is = !strncmp(found, name, length) && !strncmp(found + length, "+0x0/", 5);
	kfree(found);
	return is;
}

/* Interrupts off, kernel code, current stack: otherwise the entry code could not continue there. */
static bool __init gate_is_plain(const gate_desc *gate)
{
	return gate->bits.p && gate->bits.type == GATE_INTERRUPT && !gate->bits.ist &&
	       !gate->bits.dpl && gate->segment == __KERNEL_CS;
}

static void __init gate_set(gate_desc *gate, unsigned long address)
{
	gate->offset_low = (u16)address;
	gate->offset_middle = (u16)(address >> 16);
	gate->offset_high = (u32)(address >> 32);
}

/*
 * LSTAR of any CPU that has the kernel's now. After a guest, a CPU may have the guest's: on Intel
 * KVM leaves it there until the CPU returns to user mode. entry__place() compares each time.
 */
static bool __init entry__find_lstar(void)
{
	unsigned int cpu;
	bool found = false;
	u64 lstar;

	cpus_read_lock();
	for (cpu = cpumask_first(cpu_online_mask); !found && cpu < nr_cpu_ids;
	     cpu = cpumask_next(cpu, cpu_online_mask)) {
		if (rdmsrq_on_cpu(cpu, MSR_LSTAR, &lstar) || !is_symbol(lstar, "entry_SYSCALL_64"))
			continue;
		kernel_points.lstar = lstar;
		found = true;
	}
	cpus_read_unlock();
	return found;
}

static const char *__init entry__check(const gate_desc *page_fault)
{
	bool differ = false;

	on_each_cpu(entry__compare, &differ, 1);
	if (differ)
		return "CPUs have different IDTs: another tool changed one";
	if (!gate_is_plain(page_fault) || !is_symbol(gate_offset(page_fault), "asm_exc_page_fault"))
		return "page faults do not enter at asm_exc_page_fault: another tool hooks them";
	if (!entry__find_lstar())
		return "SYSCALL enters at entry_SYSCALL_64 on no CPU: another tool, or a guest on "
		       "each; load ringlat again";
	return NULL;
}

const char *__init entry__init(void)
{
	const gate_desc *gates;
	const char *refusal;

	kernel_points.idt = entry__read().idt;
	kernel_idt.address = kernel_points.idt;
	kernel_idt.size = sizeof(entry_gates) - 1;
	gates = (const gate_desc *)kernel_points.idt;
	refusal = entry__check(&gates[X86_TRAP_PF]);
	if (refusal)
		return refusal;

	memcpy(entry_gates, gates, sizeof(entry_gates));
	gate_set(&entry_gates[X86_TRAP_PF], (unsigned long)ringlat_entry_page_fault);
	entry_idt.address = (unsigned long)entry_gates;
	entry_idt.size = sizeof(entry_gates) - 1;
	static_call_update(ringlat_kernel_page_fault,
			   (void (*)(void))gate_offset(&gates[X86_TRAP_PF]));
	static_call_update(ringlat_kernel_syscall, (void (*)(void))kernel_points.lstar);
	return NULL;
}
