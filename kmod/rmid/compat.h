/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The differences between the kernels that this module is built for. All other files are written
 * for the newest one.
 */
#ifndef LATSCOPE_RMID_COMPAT_H
#define LATSCOPE_RMID_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/version.h>
#include <asm/msr.h>
#include <asm/processor.h>

/*
 * <asm/processor.h> has cpuid_count() etc. in 6.1 and 6.12, but no longer in 7.2. (A sparse without
 * __has_include is too old for 7.2.)
 */
#ifdef __has_include
#if __has_include(<asm/cpuid/api.h>)
#include <asm/cpuid/api.h>
#endif
#endif

/*
 * 6.16 renamed rdmsrl_safe() to rdmsrq_safe(), and the others likewise (6fe22abacd40, 78255eb23973,
 * 6fa17efe4544). The old names are gone in 7.2. Of all of these only rdmsrq() is a macro.
 */
#ifndef rdmsrq
#define rdmsrq_safe(msr, value) rdmsrl_safe(msr, value)
#define wrmsrq_safe(msr, value) wrmsrl_safe(msr, value)
#endif

/* 6.13 added hrtimer_setup() (908a1d775422), 6.15 removed hrtimer_init() (9779489a31d7). */
static inline void compat__hrtimer_setup(struct hrtimer *timer,
					 enum hrtimer_restart (*function)(struct hrtimer *timer),
					 clockid_t clock, enum hrtimer_mode mode)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(timer, function, clock, mode);
#else
	hrtimer_init(timer, clock, mode);
	timer->function = function;
#endif
}

#endif
