// SPDX-License-Identifier: BSD-2-Clause
/* The only file that uses libdw. The build defines LATSCOPE_LIBDW if it finds the library. */
#include "lookup.h"

#include <errno.h>

#ifndef LATSCOPE_LIBDW

int lookup__elf(struct lookup *lookups, size_t nr, int fd, const char *debug_dir)
{
	(void)lookups, (void)nr, (void)fd, (void)debug_dir;
	return -EOPNOTSUPP;
}

#else

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "demangle.h"

#define NOT_LOADED (~0ULL)
#define X86_64_RBP 6 /* its number in DWARF */
#define REACH (1U << 16) /* of a symbol without a size: hand-written assembly */

static void print_hex(char *out, size_t size, const unsigned char *bits, size_t len)
{
	out[0] = '\0';
	for (size_t i = 0; i < len && 2 * i + 3 <= size; i++)
		sprintf(out + 2 * i, "%02x", bits[i]);
}

/* libdw's own search also follows names in the file, and downloads. */
static int has_build_id(int fd, const unsigned char *bits, size_t len)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	const void *found;
	bool same = elf && dwelf_elf_gnu_build_id(elf, &found) == (ssize_t)len &&
		    !memcmp(found, bits, len);

	elf_end(elf);
	return same;
}

static int find_debug_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			   const char *file, const char *link, GElf_Word crc, char **path)
{
	const char *dir = *data;
	const unsigned char *bits;
	char id[2 * SYMBOL_BUILD_ID + 1], where[PATH_MAX];
	GElf_Addr at;
	int len = dwfl_module_build_id(module, &bits, &at), fd;
	struct stat st;

	(void)name, (void)base, (void)file, (void)link, (void)crc;
	*path = NULL;
	if (!dir || len < 2 || len > SYMBOL_BUILD_ID)
		return -1;
	print_hex(id, sizeof(id), bits, (size_t)len);
	snprintf(where, sizeof(where), "%s/.build-id/%.2s/%s.debug", dir, id, id + 2);
	fd = open(where, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !has_build_id(fd, bits, (size_t)len)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* dwfl_report_offline() would also read archives and compressed kernels. */
static bool is_elf(int fd)
{
	unsigned char head[EI_NIDENT + 2];
	unsigned int type;

	if (pread(fd, head, sizeof(head), 0) != sizeof(head) || memcmp(head, ELFMAG, SELFMAG))
		return false;
	type = head[EI_DATA] == ELFDATA2MSB ? head[EI_NIDENT + 1] : head[EI_NIDENT];
	return type == ET_EXEC || type == ET_DYN;
}

/* Offsets in the file become addresses of the loaded file, or NOT_LOADED. */
static void to_addresses(struct lookup *lookups, size_t nr, Elf *elf, GElf_Addr bias)
{
	size_t headers = 0;
	GElf_Phdr header;
	uint64_t offset;

	elf_getphdrnum(elf, &headers);
	for (size_t i = 0; i < nr; i++) {
		offset = lookups[i].at;
		lookups[i].at = NOT_LOADED;
		for (size_t h = 0; h < headers && h < INT_MAX; h++) {
			if (!gelf_getphdr(elf, (int)h, &header) || header.p_type != PT_LOAD ||
			    offset < header.p_offset || offset - header.p_offset >= header.p_filesz)
				continue;
			lookups[i].at = offset - header.p_offset + header.p_vaddr + bias;
			break;
		}
	}
	lookup__sort(lookups, nr);
}

/* Aliases: "read" rather than "__read". */
static bool is_better(const struct lookup *lookup, uint64_t start, const char *name)
{
	if (!lookup->name || start != lookup->start)
		return start > lookup->start || !lookup->name;
	return strspn(name, "_") < strspn(lookup->name, "_");
}

/*
 * The innermost symbol that contains the address wins. One that does not is compared only with the
 * first address after it: find_nearest() does the rest. Names are not read here: all of a large
 * program are tens of megabytes.
 */
static void take_symbol(struct lookup *lookups, size_t nr, uint64_t start, uint64_t size,
			const char *name)
{
	size_t first = lookup__first(lookups, nr, start);

	if (first < nr && (!lookups[first].nearest || start > lookups[first].nearest)) {
		lookups[first].nearest = start;
		lookups[first].nearest_name = size ? NULL : name;
	}
	for (size_t i = first; i < nr && lookups[i].at - start < size; i++) {
		if (!is_better(&lookups[i], start, name))
			continue;
		lookups[i].name = name;
		lookups[i].start = start;
	}
}

/* "$x" and "$d" of arm64 have no type and are no functions. */
static bool is_code(const GElf_Sym *symbol, GElf_Word section, const char *name)
{
	unsigned int type = GELF_ST_TYPE(symbol->st_info);

	if (section == SHN_UNDEF || section == SHN_ABS || section == (GElf_Word)-1)
		return false;
	return type == STT_FUNC || type == STT_GNU_IFUNC || (type == STT_NOTYPE && *name != '$');
}

static void read_symbols(struct lookup *lookups, size_t nr, Dwfl_Module *module)
{
	int count = dwfl_module_getsymtab(module);
	GElf_Word section;
	const char *name;
	GElf_Addr start;
	GElf_Sym symbol;

	for (int i = 1; i < count; i++) {
		name = dwfl_module_getsym_info(module, i, &symbol, &start, &section, NULL, NULL);
		if (name && is_code(&symbol, section, name))
			take_symbol(lookups, nr, start, symbol.st_size, name);
	}
}

/* Hand-written assembly often has symbols without a size: each lasts until the next symbol. */
static void find_nearest(struct lookup *lookups, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct lookup *lookup = &lookups[i];

		if (i && lookups[i - 1].nearest > lookup->nearest) {
			lookup->nearest = lookups[i - 1].nearest;
			lookup->nearest_name = lookups[i - 1].nearest_name;
		}
		if (!lookup->name && lookup->nearest_name && lookup->at - lookup->nearest < REACH) {
			lookup->name = lookup->nearest_name;
			lookup->start = lookup->nearest;
		}
	}
}

/* Where the frame begins is said relative to rbp, if the function has a frame pointer. */
static bool lacks_frame_pointer(Dwarf_CFI *cfi, Dwarf_Addr at)
{
	Dwarf_Frame *frame = NULL;
	bool lacks = false;
	Dwarf_Op *ops;
	size_t nr;

	if (dwarf_cfi_addrframe(cfi, at, &frame))
		return false;
	if (!dwarf_frame_cfa(frame, &ops, &nr) && nr)
		lacks = ops[0].atom != DW_OP_bregx || ops[0].number != X86_64_RBP;
	free(frame);
	return lacks;
}

static void read_frames(struct lookup *lookups, size_t nr, Dwfl_Module *module, Elf *elf)
{
	GElf_Ehdr header;
	Dwarf_Addr bias;
	Dwarf_CFI *cfi;

	if (!gelf_getehdr(elf, &header) || header.e_machine != EM_X86_64)
		return;
	cfi = dwfl_module_eh_cfi(module, &bias);
	for (size_t i = 0; cfi && i < nr; i++)
		lookups[i].symbol->no_frame_pointer =
			lookups[i].at != NOT_LOADED &&
			lacks_frame_pointer(cfi, lookups[i].at - bias);
}

static void answer(const struct lookup *lookup)
{
	size_t len = strcspn(lookup->name, "@"); /* the version */
	char *plain = demangle__name(lookup->name, len);

	lookup__answer(lookup, plain ? plain : lookup->name, plain ? strlen(plain) : len);
	free(plain);
}

static int read_module(struct lookup *lookups, size_t nr, Dwfl_Module *module)
{
	const unsigned char *bits;
	GElf_Addr bias, at;
	Elf *elf = dwfl_module_getelf(module, &bias);
	int len;

	if (!elf)
		return -ENOEXEC;
	len = dwfl_module_build_id(module, &bits, &at);
	to_addresses(lookups, nr, elf, bias);
	read_symbols(lookups, nr, module);
	find_nearest(lookups, nr);
	read_frames(lookups, nr, module, elf);
	for (size_t i = 0; i < nr; i++) {
		struct symbol *symbol = lookups[i].symbol;

		print_hex(symbol->build_id, sizeof(symbol->build_id), bits,
			  len > 0 ? (size_t)len : 0);
		if (lookups[i].name && lookups[i].at != NOT_LOADED)
			answer(&lookups[i]);
	}
	return 0;
}

int lookup__elf(struct lookup *lookups, size_t nr, int fd, const char *debug_dir)
{
	char *dir = (char *)debug_dir;
	const Dwfl_Callbacks callbacks = {
		.find_debuginfo = find_debug_file,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &dir,
	};
	Dwfl_Module *module = NULL;
	int err = -ENOEXEC, copy;
	Dwfl *dwfl;

	if (!is_elf(fd))
		return -ENOEXEC;
	dwfl = dwfl_begin(&callbacks);
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (dwfl && copy >= 0)
		module = dwfl_report_offline(dwfl, "file", "file", copy);
	if (!module && copy >= 0)
		close(copy);
	if (module) {
		void **data;

		dwfl_report_end(dwfl, NULL, NULL);
		dwfl_module_info(module, &data, NULL, NULL, NULL, NULL, NULL, NULL);
		*data = dir;
		err = read_module(lookups, nr, module);
	}
	dwfl_end(dwfl);
	return err;
}

#endif
