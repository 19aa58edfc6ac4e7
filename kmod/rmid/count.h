/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a reading of IA32_QM_CTR means. Bits 61:0 hold the count; CPUID reports how many of them
 * count. Bit 62 means no data, bit 63 an invalid RMID or event (Intel SDM volume 3, 18.18.5).
 * Neither is ever treated as 0. Plain C, see rmid_alloc.h.
 */
#ifndef LATSCOPE_RMID_COUNT_H
#define LATSCOPE_RMID_COUNT_H

#include <linux/types.h>
#include <uapi/latscope/rmid.h>

#define COUNT_ERROR (1ULL << 63)

struct count_format {
	__u32 scale; /* bytes per count */
	__u32 width; /* width in bits */
};

/* The previous reading of a counter that only goes up. */
struct count_past {
	__u64 raw;
	__u64 time_ns; /* 0: there was none */
};

/*
 * The width of a vendor's counters if CPUID does not report it: for the first machines of AMD and
 * Hygon the value in the kernel's resctrl; for Intel's the 24 of the SDM.
 */
#define COUNT_WIDTH_INTEL 24
#define COUNT_WIDTH_AMD 44
#define COUNT_WIDTH_HYGON 32

/* From CPUID leaf 0xF, sub-leaf 1. */
struct count_format count__format(__u32 eax, __u32 ebx, __u32 default_width);

/*
 * Fills in all of the record except rmid and domain. The RMID has had its owner since `owned_ns`:
 * an earlier reading is another owner's, and is not used. *past becomes this reading if it is
 * valid.
 */
void count__decode(const struct count_format *format, __u32 event, __u64 raw, __u64 now_ns,
		   __u64 owned_ns, struct count_past *past, struct latscope_rmid_read *record);

#endif
