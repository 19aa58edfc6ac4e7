// SPDX-License-Identifier: BSD-2-Clause
/* The private guest's memory, read as the CPU would. */
#include "unit.h"

#include "probes/ringlat/guest.h"

static unsigned char *memory;

static void build(void)
{
	memory = calloc(1, GUEST_SIZE);
	assert_non_null(memory);
	guest__build(memory);
}

static void drop(void)
{
	free(memory);
}

static uint64_t at(uint64_t address)
{
	uint64_t value;

	assert_true(address + sizeof(value) <= GUEST_SIZE);
	memcpy(&value, memory + address, sizeof(value));
	return value;
}

#define PRESENT 1
#define WRITABLE 2
#define USER 4
#define FRAME(entry) (0xffffffffff000 & (entry))

/* Walks the four levels. The entry, or 0; user and writable only if every level says so. */
static uint64_t translate(uint64_t address)
{
	uint64_t table = GUEST_PML4, entry = 0, all = ~0ULL;

	for (int shift = 39; shift >= 12; shift -= 9) {
		entry = at(FRAME(table) + (address >> shift & 511) * 8);
		if (!(entry & PRESENT))
			return 0;
		all &= entry;
		table = entry;
	}
	return FRAME(entry) | (all & 0xfff);
}

TEST(pages_are_where_they_should_be)
{
	for (uint64_t page = 0; page < GUEST_SIZE; page += GUEST_PAGE) {
		uint64_t entry = translate(page);
		bool kernel = page >= GUEST_PML4 && page < GUEST_KERNEL_END;
		bool user = (page >= GUEST_USER_CODE && page < GUEST_USER_STACK) ||
			    (page >= GUEST_SAMPLES && page < GUEST_SAMPLES_END);

		if (!kernel && !user) {
			assert_int_equal(entry, 0);
			continue;
		}
		assert_int_equal(FRAME(entry), page);
		assert_true(entry & WRITABLE);
		assert_int_equal(!!(entry & USER), user);
		/* Accessed, at last dirty too: else the CPU would set the bits in a window. */
		assert_int_equal(entry & 0x20, 0x20);
		assert_int_equal(at(GUEST_PT + page / GUEST_PAGE * 8) & 0x60, 0x60);
	}
	for (uint64_t i = 0; i < GUEST_ABSENT_PAGES; i++)
		assert_int_equal(translate(GUEST_ABSENT + i * GUEST_PAGE), 0);
	assert_int_equal(translate(0), 0);
	assert_int_equal(at(GUEST_PML4 + 8), 0);
	assert_int_equal(at(GUEST_PDPT + 8), 0);
	assert_int_equal(at(GUEST_PD + 8), 0);
}

TEST(code_fits_and_is_there)
{
	assert_true(guest__user_address(guest_user_end) <= GUEST_USER_STACK - GUEST_PAGE);
	assert_true(guest__kernel_address(guest_kernel_end) <= GUEST_KERNEL_END);
	assert_memory_equal(memory + guest__user_address(guest_user_syscall), guest_user_syscall,
			    64);
	assert_memory_equal(memory + guest__kernel_address(guest_kernel_syscall),
			    guest_kernel_syscall, 64);
	assert_int_equal(guest__user_address(guest_user_start), GUEST_USER_CODE);
}

/* A descriptor of the GDT must be what the hidden part of the segment register is set to. */
static void assert_descriptor(const struct kvm_segment *segment)
{
	uint64_t low = at(GUEST_GDT + (segment->selector & ~7U));

	assert_true((segment->selector & ~7U) + 8 <= GUEST_GDT_SIZE);
	assert_int_equal(low >> 40 & 0xf, segment->type);
	assert_int_equal(low >> 44 & 1, segment->s);
	assert_int_equal(low >> 45 & 3, segment->dpl);
	assert_int_equal(low >> 47 & 1, segment->present);
	assert_int_equal(low >> 53 & 1, segment->l);
	assert_true(!segment->s || segment->dpl == (segment->selector & 3));
}

TEST(segments_match_the_registers)
{
	struct kvm_sregs sregs = { 0 };
	uint64_t low, high;

	guest__set_sregs(&sregs);
	assert_descriptor(&sregs.cs);
	assert_descriptor(&sregs.ss);
	assert_descriptor(&sregs.ds);
	assert_descriptor(&sregs.tr);
	assert_int_equal(sregs.cs.dpl, 3);
	assert_int_equal(sregs.ss.dpl, 3);
	assert_int_equal(at(GUEST_GDT), 0);

	low = at(GUEST_GDT + GUEST_TR);
	high = at(GUEST_GDT + GUEST_TR + 8);
	assert_int_equal((low >> 16 & 0xffffff) | (low >> 56) << 24 | high << 32, GUEST_TSS);
	assert_int_equal(low & 0xffff, sregs.tr.limit);
	assert_int_equal(at(GUEST_TSS + 4), GUEST_KERNEL_STACK);
	assert_true(translate(GUEST_KERNEL_STACK - 8) & WRITABLE);
	assert_int_equal(at(GUEST_TSS + 36), GUEST_FAULT_STACK);

	assert_int_equal(sregs.cr3, GUEST_PML4);
	assert_int_equal(sregs.cr0 & 0x80000001, 0x80000001); /* paging, protection */
	assert_int_equal(sregs.cr4 & 0x20, 0x20); /* PAE */
	assert_int_equal(sregs.efer & 0xd01,
			 0xd01); /* no execute, long mode on and in use, SYSCALL */
	assert_int_equal(sregs.gdt.base, GUEST_GDT);
	assert_int_equal(sregs.idt.base, GUEST_IDT);
}

/* Where SYSCALL and SYSRET go, by the manual's arithmetic on STAR. */
TEST(syscall_finds_its_segments)
{
	struct kvm_msr_entry msrs[3];
	uint64_t star;

	assert_int_equal(guest__msrs(msrs), 3);
	assert_int_equal(msrs[0].index, 0xc0000081);
	star = msrs[0].data;
	assert_int_equal(star >> 32 & 0xfffc, GUEST_KERNEL_CS);
	assert_int_equal((star >> 32 & 0xffff) + 8, GUEST_KERNEL_SS);
	assert_int_equal(((star >> 48) + 16) | 3, GUEST_USER_CS);
	assert_int_equal(((star >> 48) + 8) | 3, GUEST_USER_SS);
	assert_int_equal(star >> 48 & 3, 3);
	assert_int_equal(msrs[1].index, 0xc0000082);
	assert_int_equal(msrs[1].data, guest__kernel_address(guest_kernel_syscall));
	assert_int_equal(msrs[2].index, 0xc0000084);
	assert_int_equal(msrs[2].data >> 9 & 1, 1); /* interrupts go off */
}

struct gate {
	uint64_t to;
	unsigned int selector, ist, type, dpl, present;
};

static struct gate gate_of(unsigned int vector)
{
	uint64_t low = at(GUEST_IDT + 16ULL * vector), high = at(GUEST_IDT + 16ULL * vector + 8);

	return (struct gate){ (low & 0xffff) | (low >> 48) << 16 | high << 32,
			      low >> 16 & 0xffff,
			      low >> 32 & 7,
			      low >> 40 & 0x1f,
			      low >> 45 & 3,
			      low >> 47 & 1 };
}

TEST(gates_lead_into_the_kernel)
{
	for (unsigned int i = 0; i < 256; i++) {
		struct gate gate = gate_of(i);
		bool ours = i == GUEST_VECTOR_INT || i == GUEST_VECTOR_DONE;

		assert_int_equal(gate.present, ours || i < GUEST_EXCEPTIONS);
		if (!gate.present)
			continue;
		assert_int_equal(gate.type, 0xe); /* interrupt gate */
		assert_int_equal(gate.selector, GUEST_KERNEL_CS);
		assert_int_equal(gate.dpl, ours ? 3 : 0);
		assert_int_equal(gate.ist, i == GUEST_VECTOR_DF);
		assert_true(gate.to >= GUEST_KERNEL_CODE &&
			    gate.to < guest__kernel_address(guest_kernel_end));
	}
}

/* Each stub pushes its own vector, and a zero before it where the CPU pushes no error code. */
TEST(exceptions_report_themselves)
{
	static const unsigned int with_code[] = { 8, 10, 11, 12, 13, 17, 21, 29, 30 };

	for (unsigned int i = 0; i < GUEST_EXCEPTIONS; i++) {
		const unsigned char *stub = memory + gate_of(i).to;
		bool has_code = false;

		if (i == GUEST_VECTOR_PF)
			continue;
		for (size_t k = 0; k < COUNT_OF(with_code); k++)
			has_code |= with_code[k] == i;
		if (!has_code) {
			assert_memory_equal(stub, "\x6a\x00", 2); /* push $0 */
			stub += 2;
		}
		assert_int_equal(stub[0], 0x6a);
		assert_int_equal(stub[1], i);
	}
}

UNIT_FIXTURES(.all = { build, drop })
