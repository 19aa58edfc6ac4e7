// SPDX-License-Identifier: BSD-2-Clause

#include <core/hist.h>
#include <selftest/check.h>
#include <selftest/probe_checks.h>
#include <selftest/reference/faults.h>

#include "check_loads.h"

#define PAGES 10000
#define DELAYED_PAGES 20
#define DELAY_NS (5 * NSEC_PER_MSEC)

CHILD_WORK(static, touch, reference_touch);

static int check_touch(struct validate *validate, struct window *window)
{
	const struct reference_touch asked = { .pages = PAGES };
	const struct reference_touch *touch;
	const struct lat_cell *cell;
	struct reference_faults faults;
	int err;

	err = window__open(window, &touch_work, &asked);
	if (!err)
		err = window__measure(window, validate,
				      (struct lat_config){ .tgid = window->child.pid });
	if (err)
		return err;
	touch = window->child.reference;
	faults = window->child.shared->faults;
	cell = window__cell(window, 0);
	check__count(validate, "first touches: faults, by getrusage", faults.minor + faults.major,
		     faults.minor + faults.major, run__recorded(cell));
	check__time(validate, "  sum, by the time of the loop", 0, touch->elapsed_ns,
		    cell->hist.sum_ns);
	check__sound(validate, window->probe);
	return 0;
}

CHILD_WORK(static, uffd, reference_uffd);

static int check_uffd(struct validate *validate, struct window *window)
{
	const struct reference_uffd asked = { .pages = DELAYED_PAGES, .delay_ns = DELAY_NS };
	const struct reference_uffd *uffd;
	const struct lat_cell *cell;
	int err;

	err = window__open(window, &uffd_work, &asked);
	if (!err)
		err = window__measure(window, validate,
				      (struct lat_config){ .tgid = window->child.pid });
	if (err)
		return err;
	uffd = window->child.reference;
	cell = window__cell(window, 0);
	check__count(validate, "faults delayed by 5 ms", uffd->pages, uffd->pages,
		     run__recorded(cell));
	check__count(validate, "  in slots of 5 ms to the longest", uffd->pages, uffd->pages,
		     check__between(&cell->hist, uffd->delay_ns, uffd->touches.max_ns));
	check__time(validate, "  sum, by the writer's clock", uffd->pages * uffd->delay_ns,
		    uffd->touches.sum_ns, cell->hist.sum_ns);
	check__sound(validate, window->probe);
	return 0;
}

static void ask_touch(const struct validate *validate, void *asked)
{
	(void)validate;
	*(struct reference_touch *)asked = (struct reference_touch){ .pages = PAGES };
}

static uint64_t touch_ns(const void *reference)
{
	return ((const struct reference_touch *)reference)->elapsed_ns;
}

static const struct overhead memlat_overhead = {
	.name = "overhead: first touches",
	.work = &touch_work,
	.ask = ask_touch,
	.elapsed_ns = touch_ns,
};

const struct probe_checks memlat_checks = {
	.probe = "memlat",
	.references = { { "first touches", check_touch }, { "delayed faults", check_uffd } },
	.experiment = &memlat_experiment,
	.overhead = &memlat_overhead,
};
