// SPDX-License-Identifier: BSD-2-Clause
#include "guest.h"

#include <stdbool.h>
#include <string.h>

/* Symbols in guest_code.S that only the descriptor tables use. */
extern const char guest_kernel_page_fault[], guest_kernel_int[], guest_kernel_done[];
extern const char guest_kernel_exceptions[];

/*
 * Intel SDM volume 3A, 4.5.4. Accessed and dirty are preset, so that the CPU does not have to set
 * them.
 */
enum page_bit { PRESENT = 0x1, WRITABLE = 0x2, USER = 0x4, ACCESSED = 0x20, DIRTY = 0x40 };

/* SDM 3.4.5.1 and 3.5: types of descriptors, with accessed and busy preset. */
#define TYPE_CODE 0xb
#define TYPE_DATA 0x3
#define TYPE_TSS 0xb
#define TYPE_INTERRUPT_GATE 0xe

#define MSR_STAR 0xc0000081
#define MSR_LSTAR 0xc0000082
#define MSR_SFMASK 0xc0000084
#define SFMASK 0x47700 /* AC, NT, IF, DF, TF, as Linux has it; SYSCALL clears them */

#define CR0 0x80050033 /* PG, AM, WP, NE, ET, MP, PE */
#define CR4 0x620 /* OSXMMEXCPT, OSFXSR, PAE */
#define EFER 0xd01 /* NXE, LMA, LME, SCE */

#define TSS_LIMIT 0x67
#define TSS_RSP0 4
#define TSS_IST1 36
#define TSS_IO_MAP 102

uint64_t guest__user_address(const char *symbol)
{
	return GUEST_USER_CODE + (uintptr_t)symbol - (uintptr_t)guest_user_start;
}

uint64_t guest__kernel_address(const char *symbol)
{
	return GUEST_KERNEL_CODE + (uintptr_t)symbol - (uintptr_t)guest_kernel_start;
}

static void put64(void *memory, uint64_t at, uint64_t value)
{
	memcpy((char *)memory + at, &value, sizeof(value));
}

static uint64_t page_bits(uint64_t address)
{
	bool user = (address >= GUEST_USER_CODE && address < GUEST_USER_STACK) ||
		    (address >= GUEST_SAMPLES && address < GUEST_SAMPLES_END);

	if (user)
		return PRESENT | WRITABLE | USER | ACCESSED | DIRTY;
	if (address && address < GUEST_KERNEL_END)
		return PRESENT | WRITABLE | ACCESSED | DIRTY;
	return 0;
}

/* User access needs the bit at every level; so it is set everywhere, and the last level decides. */
static void build_pages(void *memory)
{
	uint64_t above = PRESENT | WRITABLE | USER | ACCESSED;

	put64(memory, GUEST_PML4, GUEST_PDPT | above);
	put64(memory, GUEST_PDPT, GUEST_PD | above);
	put64(memory, GUEST_PD, GUEST_PT | above);
	for (uint64_t at = 0; at < GUEST_SIZE; at += GUEST_PAGE) {
		uint64_t bits = page_bits(at);

		put64(memory, GUEST_PT + at / GUEST_PAGE * 8, bits ? at | bits : 0);
	}
}

/* Present, of code or data: base and limit mean nothing in long mode. */
static uint64_t segment(unsigned int type, unsigned int dpl, bool code)
{
	return (uint64_t)(type | 0x10 | dpl << 5 | 0x80) << 40 | (code ? 1ULL << 53 : 0);
}

static void build_segments(void *memory)
{
	put64(memory, GUEST_GDT + GUEST_KERNEL_CS, segment(TYPE_CODE, 0, true));
	put64(memory, GUEST_GDT + GUEST_KERNEL_SS, segment(TYPE_DATA, 0, false));
	put64(memory, GUEST_GDT + (GUEST_USER_SS & ~3), segment(TYPE_DATA, 3, false));
	put64(memory, GUEST_GDT + (GUEST_USER_CS & ~3), segment(TYPE_CODE, 3, true));
	put64(memory, GUEST_GDT + GUEST_TR,
	      TSS_LIMIT | (uint64_t)GUEST_TSS << 16 | (uint64_t)(TYPE_TSS | 0x80) << 40);
	put64(memory, GUEST_TSS + TSS_RSP0, GUEST_KERNEL_STACK);
	put64(memory, GUEST_TSS + TSS_IST1, GUEST_FAULT_STACK);
	((char *)memory)[GUEST_TSS + TSS_IO_MAP] = TSS_LIMIT + 1; /* beyond the limit: none */
}

static void gate(void *memory, unsigned int vector, uint64_t to, unsigned int dpl, unsigned int ist)
{
	uint64_t low = (to & 0xffff) | (uint64_t)GUEST_KERNEL_CS << 16 | (uint64_t)ist << 32 |
		       (uint64_t)(TYPE_INTERRUPT_GATE | dpl << 5 | 0x80) << 40 |
		       (to >> 16 & 0xffff) << 48;

	put64(memory, GUEST_IDT + 16ULL * vector, low);
	put64(memory, GUEST_IDT + 16ULL * vector + 8, to >> 32);
}

static void build_gates(void *memory)
{
	uint64_t stubs = guest__kernel_address(guest_kernel_exceptions);

	for (unsigned int i = 0; i < GUEST_EXCEPTIONS; i++)
		gate(memory, i, stubs + i * GUEST_STUB, 0, i == GUEST_VECTOR_DF);
	gate(memory, GUEST_VECTOR_PF, guest__kernel_address(guest_kernel_page_fault), 0, 0);
	gate(memory, GUEST_VECTOR_INT, guest__kernel_address(guest_kernel_int), 3, 0);
	gate(memory, GUEST_VECTOR_DONE, guest__kernel_address(guest_kernel_done), 3, 0);
}

void guest__build(void *memory)
{
	build_pages(memory);
	build_segments(memory);
	build_gates(memory);
	memcpy((char *)memory + GUEST_USER_CODE, guest_user_start,
	       guest__user_address(guest_user_end) - GUEST_USER_CODE);
	memcpy((char *)memory + GUEST_KERNEL_CODE, guest_kernel_start,
	       guest__kernel_address(guest_kernel_end) - GUEST_KERNEL_CODE);
}

static struct kvm_segment user_segment(unsigned int selector, unsigned int type, bool code)
{
	return (struct kvm_segment){
		.limit = UINT32_MAX,
		.selector = (uint16_t)selector,
		.type = (uint8_t)type,
		.present = 1,
		.dpl = 3,
		.s = 1,
		.l = code,
		.db = !code,
		.g = 1,
	};
}

void guest__set_sregs(struct kvm_sregs *sregs)
{
	sregs->cr0 = CR0;
	sregs->cr3 = GUEST_PML4;
	sregs->cr4 = CR4;
	sregs->efer = EFER;
	sregs->cs = user_segment(GUEST_USER_CS, TYPE_CODE, true);
	sregs->ss = user_segment(GUEST_USER_SS, TYPE_DATA, false);
	sregs->ds = sregs->es = sregs->fs = sregs->gs = sregs->ss;
	sregs->tr = (struct kvm_segment){ .base = GUEST_TSS,
					  .limit = TSS_LIMIT,
					  .selector = GUEST_TR,
					  .type = TYPE_TSS,
					  .present = 1 };
	sregs->ldt = (struct kvm_segment){ .type = 2, .unusable = 1 };
	sregs->gdt = (struct kvm_dtable){ .base = GUEST_GDT, .limit = GUEST_GDT_SIZE - 1 };
	sregs->idt = (struct kvm_dtable){ .base = GUEST_IDT, .limit = 256 * 16 - 1 };
}

unsigned int guest__msrs(struct kvm_msr_entry entries[3])
{
	/* On AMD, SYSRET loads SS from here unchanged: it must already request ring 3. */
	uint64_t star = (uint64_t)(GUEST_USER_BASE | 3) << 48 | (uint64_t)GUEST_KERNEL_CS << 32;

	entries[0] = (struct kvm_msr_entry){ .index = MSR_STAR, .data = star };
	entries[1] = (struct kvm_msr_entry){ .index = MSR_LSTAR,
					     .data = guest__kernel_address(guest_kernel_syscall) };
	entries[2] = (struct kvm_msr_entry){ .index = MSR_SFMASK, .data = SFMASK };
	return 3;
}
