/* SPDX-License-Identifier: BSD-2-Clause */
/* The socket on which the exporter listens. */
#ifndef LATSCOPE_NET_LISTEN_H
#define LATSCOPE_NET_LISTEN_H

#include <stdbool.h>

#include <sys/socket.h>

#define LISTEN_TEXT 80 /* "[address]:port" */

struct listen_address {
	struct sockaddr_storage at;
	socklen_t len;
	bool is_local; /* only this machine can connect */
	char text[LISTEN_TEXT];
};

/* "127.0.0.1:9469", "[::1]:9469", ":9469" (loopback) or "0.0.0.0:0"; no names. 0 or -EINVAL. */
int listen__parse(struct listen_address *address, const char *text);

/*
 * Returns the socket, or -errno. If systemd passed one (LISTEN_FDS), that is used and *address is
 * replaced by its own; -EBADF: it passed something else.
 */
int listen__open(struct listen_address *address);

#endif
