// SPDX-License-Identifier: BSD-2-Clause
#include "flood.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reference.h"

#define LONG \
	2000 /* instructions; more than some 2,400 exceed net.core.optmem_max before Linux 6.7 */
#define RECEIVERS 8 /* each has the filter, so that it takes most of a send on slow machines, too */
#define ROUNDS 500
#define SENDS 16 /* of a round */
#define PAUSE_NS (20 * NSEC_PER_MSEC)

/* Drops all datagrams. Divisions take long on every CPU, and not less if it is fast otherwise. */
static int set_filter(const int *receivers, unsigned short length)
{
	struct sock_filter code[LONG];
	const struct sock_fprog filter = { .len = length, .filter = code };

	for (unsigned short i = 0; i < length; i++)
		code[i] = i % 2 ? (struct sock_filter)BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 3)
				: (struct sock_filter)BPF_STMT(BPF_ALU | BPF_OR | BPF_K, 1U << 31);
	code[length - 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
	for (int i = 0; i < RECEIVERS; i++)
		if (setsockopt(receivers[i], SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)))
			return -1;
	return 0;
}

static bool send_one(const struct reference_flood *flood)
{
	return send(flood->socket, "", 1, MSG_DONTWAIT) == 1;
}

/* Others may have the CPU in most rounds. */
static int measure(struct reference_flood *flood, uint64_t *least_ns)
{
	uint64_t start, ns;

	*least_ns = UINT64_MAX;
	for (int round = 0; round < ROUNDS; round++) {
		start = clock__now_ns();
		for (int i = 0; i < SENDS; i++)
			if (!send_one(flood))
				return -1;
		ns = (clock__now_ns() - start) / SENDS;
		*least_ns = ns < *least_ns ? ns : *least_ns;
	}
	return 0;
}

static int calibrate(struct reference_flood *flood, const int *receivers)
{
	uint64_t without;

	if (set_filter(receivers, 1) || measure(flood, &without) || set_filter(receivers, LONG) ||
	    measure(flood, &flood->send_ns))
		return -1;
	flood->softirq_ns = flood->send_ns > without ? flood->send_ns - without : 0;
	return 0;
}

static int open_socket(int option)
{
	const int yes = 1;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return setsockopt(fd, SOL_SOCKET, option, &yes, sizeof(yes)) ? -1 : fd;
}

/* What is sent to a broadcast address, all sockets get that have the port. */
static int open_sockets(struct reference_flood *flood, int *receivers)
{
	struct ifreq loopback = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	struct sockaddr_in to = { .sin_family = AF_INET };
	socklen_t size = sizeof(to);

	for (int i = 0; i < RECEIVERS; i++) {
		receivers[i] = open_socket(SO_REUSEADDR);
		if (bind(receivers[i], (struct sockaddr *)&to, size) ||
		    getsockname(receivers[i], (struct sockaddr *)&to, &size))
			return -1;
	}
	flood->socket = open_socket(SO_BROADCAST);
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK | 0xffffff);
	return ioctl(flood->socket, SIOCSIFFLAGS, &loopback) ||
	       connect(flood->socket, (struct sockaddr *)&to, size);
}

int reference_flood__prepare(struct reference_flood *flood)
{
	int receivers[RECEIVERS];

	if (unshare(CLONE_NEWNET) || open_sockets(flood, receivers) || calibrate(flood, receivers))
		return -errno;
	return 0;
}

/*
 * While ksoftirqd waits for the CPU, kernels before 6.3 leave all softirqs to it. A send is short
 * then. The next one must wait until ksoftirqd sleeps: else it would get all softirqs from then on.
 */
void reference_flood__run(struct reference_flood *flood, uint64_t end_ns)
{
	uint64_t now, before, from = 0;

	while ((before = clock__now_ns()) < end_ns) {
		if (before < from || !send_one(flood))
			continue;
		now = clock__now_ns();
		if (now - before > flood->softirq_ns / 2)
			flood->sent++;
		else
			from = now + PAUSE_NS;
	}
}

bool reference_flood__is_softirq(const struct reference_flood *flood)
{
	return flood->softirq_ns > flood->send_ns / 2;
}

uint64_t reference_flood__least_ns(const struct reference_flood *flood)
{
	return flood->sent * flood->send_ns;
}
