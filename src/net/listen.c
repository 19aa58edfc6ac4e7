// SPDX-License-Identifier: BSD-2-Clause
#include "listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <core/units.h>

#define BACKLOG 128
#define FIRST_PASSED 3 /* SD_LISTEN_FDS_START */

/* Also sets what depends on the address. */
static void describe(struct listen_address *address)
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&address->at;
	const struct sockaddr_in *four = (const struct sockaddr_in *)&address->at;
	char host[INET6_ADDRSTRLEN] = "";

	if (address->at.ss_family == AF_INET) {
		inet_ntop(AF_INET, &four->sin_addr, host, sizeof(host));
		snprintf(address->text, sizeof(address->text), "%s:%u", host,
			 ntohs(four->sin_port));
		address->is_local = ntohl(four->sin_addr.s_addr) >> 24 == 127;
	} else if (address->at.ss_family == AF_INET6) {
		inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof(host));
		snprintf(address->text, sizeof(address->text), "[%s]:%u", host,
			 ntohs(six->sin6_port));
		address->is_local = IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
	} else {
		snprintf(address->text, sizeof(address->text), "a local socket");
		address->is_local = address->at.ss_family == AF_UNIX;
	}
}

static int split(const char *text, char host[INET6_ADDRSTRLEN], uint16_t *port)
{
	const char *colon = strrchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : 0;
	uint64_t number;

	if (!colon || units__parse_count(colon + 1, 0, 65535, &number))
		return -EINVAL;
	if (len >= 2 && text[0] == '[' && text[len - 1] == ']') {
		text++;
		len -= 2;
	} else if (memchr(text, ':', len)) {
		return -EINVAL;
	}
	if (len >= INET6_ADDRSTRLEN)
		return -EINVAL;
	memcpy(host, text, len);
	host[len] = '\0';
	*port = htons((uint16_t)number);
	return 0;
}

int listen__parse(struct listen_address *address, const char *text)
{
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)&address->at;
	struct sockaddr_in *four = (struct sockaddr_in *)&address->at;
	char host[INET6_ADDRSTRLEN];
	uint16_t port;

	memset(address, 0, sizeof(*address));
	if (split(text, host, &port))
		return -EINVAL;
	if (inet_pton(AF_INET, host[0] ? host : "127.0.0.1", &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = port;
		address->len = sizeof(*four);
	} else if (inet_pton(AF_INET6, host, &six->sin6_addr) == 1) {
		six->sin6_family = AF_INET6;
		six->sin6_port = port;
		address->len = sizeof(*six);
	} else {
		return -EINVAL;
	}
	describe(address);
	return 0;
}

static bool is_passed(void)
{
	const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");

	return pid && count && atol(pid) == getpid() && atol(count) > 0;
}

static int open_own(const struct listen_address *address)
{
	int fd = socket(address->at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1, err;

	if (fd < 0)
		return -errno;
	if (!setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) &&
	    !bind(fd, (const struct sockaddr *)&address->at, address->len) && !listen(fd, BACKLOG))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

int listen__open(struct listen_address *address)
{
	int passed = is_passed(), listens = 0, fd = FIRST_PASSED;
	socklen_t len = sizeof(listens);

	if (!passed)
		fd = open_own(address);
	else if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) || !listens ||
		 fcntl(fd, F_SETFD, FD_CLOEXEC) || fcntl(fd, F_SETFL, O_NONBLOCK))
		return -EBADF;
	if (fd < 0)
		return fd;
	address->len = sizeof(address->at);
	if (getsockname(fd, (struct sockaddr *)&address->at, &address->len)) {
		int err = -errno;

		close(fd);
		return err;
	}
	describe(address); /* port 0 is now a real one */
	return fd;
}
