/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a reading of IA32_QM_CTR means. Bits 61:0 hold the count, of which CPUID says how many
 * count; bit 62 says that there is no data, bit 63 that RMID or event is none (Intel SDM volume 3,
 * 18.18.5). Neither is ever taken for 0. Plain C, see rmid_alloc.h.
 */
#ifndef LATSCOPE_RMID_COUNT_H
#define LATSCOPE_RMID_COUNT_H

#include <linux/types.h>
#include <uapi/latscope/rmid.h>

#define COUNT_ERROR (1ULL << 63)

struct count_format {
	__u32 scale; /* bytes that one count stands for */
	__u32 width; /* bits that count */
};

/* The reading before, of a counter that only goes up. */
struct count_past {
	__u64 raw;
	__u64 time_ns; /* 0: there was none */
};

/*
 * What a vendor's counters have where CPUID does not say: AMD's and Hygon's first machines, as the
 * kernel's resctrl has it; Intel's have the 24 of the SDM.
 */
#define COUNT_WIDTH_INTEL 24
#define COUNT_WIDTH_AMD 44
#define COUNT_WIDTH_HYGON 32

/* From CPUID leaf 0xF, sub-leaf 1. */
struct count_format count__format(__u32 eax, __u32 ebx, __u32 usual_width);

/*
 * Fills in all of the record but rmid and domain. The RMID is its owner's since `owned_ns`: a
 * reading from before then is another's, and counts as none. *past becomes this reading if it is
 * one.
 */
void count__decode(const struct count_format *format, __u32 event, __u64 raw, __u64 now_ns,
		   __u64 owned_ns, struct count_past *past, struct latscope_rmid_read *record);

#endif
