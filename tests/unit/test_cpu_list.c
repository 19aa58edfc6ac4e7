// SPDX-License-Identifier: BSD-2-Clause
#include "unit.h"

#include "core/cpu_list.h"

static uint64_t mask[LAT_CPUS / 64];

/* The CPUs of a list, with a space before each. */
static const char *cpus_of(const char *list)
{
	static char text[128];
	size_t len = 0;

	text[0] = '\0';
	assert_int_equal(cpu_list__parse(list, mask), 0);
	for (unsigned int cpu = cpu_list__next(mask, 0); cpu < LAT_CPUS;
	     cpu = cpu_list__next(mask, cpu + 1))
		len += (size_t)snprintf(text + len, sizeof(text) - len, " %u", cpu);
	return text;
}

TEST(numbers_and_ranges)
{
	assert_string_equal(cpus_of("0"), " 0");
	assert_string_equal(cpus_of("1,3-5"), " 1 3 4 5");
	assert_string_equal(cpus_of("63-65,7,64,7-8"), " 7 8 63 64 65");
	assert_string_equal(cpus_of("4-4"), " 4");
	assert_string_equal(cpus_of("8191"), " 8191");
	assert_string_equal(cpus_of("000000007"), " 7");
}

TEST(bad_lists_are_refused)
{
	static const char *const bad[] = { "",	  ",",	   "1,",   ",1",   "1,,2", "-1",  "1-",
					   "3-1", "1-2-3", "1 ",   " 1",   "+1",   "1;2", "a",
					   "0x1", "1\n",   "1-+2", "1,-2", "all" };
	static const char *const large[] = { "8192", "0-8192", "1,9999999999999", "4294967296" };

	for (size_t i = 0; i < COUNT_OF(bad); i++)
		assert_int_equal(cpu_list__parse(bad[i], mask), -EINVAL);
	for (size_t i = 0; i < COUNT_OF(large); i++)
		assert_int_equal(cpu_list__parse(large[i], mask), -ERANGE);
}
