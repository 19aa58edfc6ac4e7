// SPDX-License-Identifier: BSD-2-Clause
#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

int reference_touch__prepare(struct reference_touch *touch)
{
	touch->zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	if (touch->zero < 0 || pipe2(touch->pipe, O_CLOEXEC))
		return reference__fail(touch->why, -errno, "cannot open /dev/zero and a pipe: %s",
				       strerror(errno));
	return 0;
}

static bool copy_from_page(const struct reference_touch *touch, const char *page)
{
	char byte;

	return write(touch->pipe[1], page, 1) == 1 && read(touch->pipe[0], &byte, 1) == 1;
}

static bool copy_to_page(const struct reference_touch *touch, char *page)
{
	return read(touch->zero, page, 1) == 1;
}

static int touch_kernel(struct reference_touch *touch, char *map)
{
	for (size_t i = 0; i < touch->pages; i++) {
		char *page = map + i * load__page();

		if (!(touch->read ? copy_from_page(touch, page) : copy_to_page(touch, page)))
			return reference__fail(touch->why, -EIO,
					       "cannot make the kernel touch a page: %s",
					       strerror(errno));
	}
	return 0;
}

static int touch_all(struct reference_touch *touch, char *map)
{
	struct reference_faults before = reference__faults(RUSAGE_THREAD);
	int err = 0;

	if (touch->kernel)
		err = touch_kernel(touch, map);
	else
		load__touch(map, touch->pages, touch->read);
	touch->faults = reference__faults_since(RUSAGE_THREAD, before);
	return err;
}

int reference_touch__run(struct reference_touch *touch)
{
	char *map = load__map(touch->pages);
	uint64_t start = clock__now_ns();
	int err;

	if (!map)
		return reference__fail(touch->why, -errno, "cannot map %zu pages: %s", touch->pages,
				       strerror(errno));
	err = touch_all(touch, map);
	touch->elapsed_ns = clock__now_ns() - start;
	if (!err && touch->faults.minor + touch->faults.major != (long)touch->pages)
		err = reference__fail(touch->why, -EIO, "%zu pages touched, but %ld faults",
				      touch->pages, touch->faults.minor + touch->faults.major);
	return err;
}
