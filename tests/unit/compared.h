/* SPDX-License-Identifier: BSD-2-Clause */
/* Two groups of made-up recordings, off/ and on/, and what compare says of them. */
#ifndef LATSCOPE_TESTS_COMPARED_H
#define LATSCOPE_TESTS_COMPARED_H

#include "recording.h"
#include "sheet.h"

#include "print/compare.h"

static struct comparison comparison;
static struct comparison_rules rules; /* which a test may change */

static inline void begin(void)
{
	memset(&comparison, 0, sizeof(comparison));
	rules = (struct comparison_rules){
		.judge = { .confidence = 0.95,
			   .statistics = (1U << JUDGE_STATISTICS) - 1,
			   .run_spread = JUDGE_RUN_SPREAD },
		.top = 10,
	};
}

static inline void end(void)
{
	comparison__clear(&comparison);
}

static inline struct run *begin_memlat(void)
{
	return recording_begin("memlat", "kprobe", "handle_mm_fault");
}

static inline void write_run(struct run *run, const char *name, uint64_t events, uint64_t tail,
			     unsigned int intervals)
{
	struct recording_mix mix = { events, tail, intervals, 0 };

	recording_write(run, dir, name, intervals, recording_mix, &mix);
}

static inline void write_mix(const char *name, uint64_t events, uint64_t tail,
			     unsigned int intervals)
{
	write_run(begin_memlat(), name, events, tail, intervals);
}

static inline int compare(void)
{
	comparison__clear(&comparison);
	return comparison__run(&comparison, &rules, unit_path(dir, "off"), unit_path(dir, "on"));
}

static inline const struct judged *statistic(unsigned int which)
{
	assert_true(comparison.nr > 0);
	return &comparison.rows[0].statistics[which];
}

static inline bool warned(const char *part)
{
	for (size_t i = 0; i < comparison.warnings.nr; i++)
		if (strstr(comparison.warnings.lines[i], part))
			return true;
	return false;
}

static inline void assert_warned(const char *part)
{
	if (!warned(part))
		fail_msg("no warning has '%s'", part);
}

static inline char *text(void)
{
	compare__print_text(unit_print(), &comparison, false, true);
	return sheet();
}

static inline void assert_order(const char *printed, const char *first, const char *then)
{
	const char *at = strstr(printed, first);

	if (!at || !strstr(at, then))
		fail_msg("not '%s' before '%s' in:\n%s", first, then, printed);
}

#endif
