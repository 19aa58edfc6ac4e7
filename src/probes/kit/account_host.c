// SPDX-License-Identifier: BSD-2-Clause
#include "account_host.h"

#include <stddef.h>

#include <bpf/libbpf.h>

static struct account_host *offered;

void account_host__offer(struct account_host *account)
{
	offered = account;
}

void account_host__withdraw(const struct account_host *account)
{
	if (offered == account)
		offered = NULL;
}

/* libbpf maps the data of the programs, which user space does not use here. */
static void unmap(struct bpf_object_skeleton *skeleton, const struct bpf_map *data)
{
	for (int i = 0; i < skeleton->map_cnt; i++)
		if (*skeleton->maps[i].map == data)
			skeleton->maps[i].mmaped = NULL;
}

int account_host__share(struct bpf_object_skeleton *skeleton, struct account_host **account)
{
	static const char *const names[] = { ".data.account", "lines",	"accounts",
					     "ended",	      "sleeps", "long_parts" };
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(names) / sizeof(names[0]); i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(*skeleton->obj, names[i]);

		unmap(skeleton, map);
		if (offered)
			err = bpf_map__reuse_fd(map, bpf_object__find_map_fd_by_name(offered->obj,
										     names[i]));
		else
			err = bpf_map__set_autocreate(map, false);
	}
	*account = offered;
	return err;
}

void account_host__leave(void)
{
	if (offered)
		offered->is_hosted = false;
}
