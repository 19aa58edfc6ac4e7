/* SPDX-License-Identifier: GPL-2.0-only */
/* What a value in IA32_PQR_ASSOC means. Plain C, see rmid_alloc.h. */
#ifndef LATSCOPE_RMID_VERDICT_H
#define LATSCOPE_RMID_VERDICT_H

#include <linux/types.h>

enum pqr_verdict {
	PQR_OURS, /* the last value written by this module */
	PQR_LOST, /* 0, as after a suspend: write it again */
	PQR_TAKEN, /* another tool writes it */
};

static inline __u64 pqr_value(__u32 rmid, __u32 closid)
{
	return (__u64)closid << 32 | rmid;
}

static inline enum pqr_verdict pqr_verdict(__u64 value, __u32 rmid, __u32 closid)
{
	if (value == pqr_value(rmid, closid))
		return PQR_OURS;
	return value ? PQR_TAKEN : PQR_LOST;
}

#endif
