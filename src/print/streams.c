// SPDX-License-Identifier: BSD-2-Clause
#include "streams.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void streams__open(void)
{
	static char buffer[1 << 16]; /* so that streams__flush() gets the errno */

	/* Opened with the opposite access mode: then using them fails as if they were closed. */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
}

int streams__flush(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO };
	static int first;

	if (fflush(stdout) && !first)
		first = -errno;
	if (ferror(stdout) && !first)
		first = -EIO;
	/* POLLERR: a pipe without a reader. */
	if (first && poll(&out, 1, 0) == 1 && out.revents & POLLERR)
		return 0;
	return first;
}

bool streams__color(void)
{
	return isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
}
