// SPDX-License-Identifier: BSD-2-Clause
#include "kernel_types.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <core/vec.h>

#include "kernel.h"
#include "tracing.h"
#include "untrusted.h"

#define NAMES 4096 /* a power of two, far more than an object has */

struct cut {
	const struct btf *kernel;
	struct btf *types; /* the result */
	const char *names[NAMES]; /* of the object's types, a hash; without flavors */
	size_t lens[NAMES];
	uint32_t nr_names;
	uint32_t *ids; /* by the kernel's ID: that of the result; 0: not in it */
	uint32_t *chosen; /* the kernel's IDs, in the order of the result */
	size_t nr;
};

/* "name___flavor" is a variant of `name`, as libbpf defines it. */
static size_t plain_len(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = len; i-- > 4;) {
		const char *at = name + i - 4;

		if (at[0] != '_' && at[1] == '_' && at[2] == '_' && at[3] == '_' && at[4] != '_')
			return i - 3;
	}
	return len;
}

/* The place of a name; names[place] is NULL if there is none. */
static uint32_t find_name(const struct cut *cut, const char *name, size_t len)
{
	uint32_t at = 2166136261U;

	for (size_t i = 0; i < len; i++)
		at = (at ^ (unsigned char)name[i]) * 16777619U;
	at = (at ^ at >> 16) % NAMES;
	while (cut->names[at] && (cut->lens[at] != len || memcmp(cut->names[at], name, len)))
		at = (at + 1) % NAMES;
	return at;
}

static const char *name_of(const struct btf *btf, const struct btf_type *type)
{
	return btf__name_by_offset(btf, type->name_off);
}

/* Can a member have such a type, or an object refer to it? */
static bool is_data(const struct btf_type *type)
{
	return !btf_is_func(type) && !btf_is_func_proto(type) && !btf_is_var(type) &&
	       !btf_is_datasec(type) && !btf_is_decl_tag(type);
}

static int take_names(struct cut *cut, const struct btf *object)
{
	uint32_t types = btf__type_cnt(object);

	for (uint32_t id = 1; id < types; id++) {
		const struct btf_type *type = btf__type_by_id(object, id);
		const char *name = name_of(object, type);
		size_t len = plain_len(name);
		uint32_t at;

		if (!len || !is_data(type))
			continue;
		at = find_name(cut, name, len);
		if (cut->names[at])
			continue;
		if (++cut->nr_names >= NAMES)
			return -E2BIG;
		cut->names[at] = name;
		cut->lens[at] = len;
	}
	return 0;
}

static int choose(struct cut *cut, uint32_t id)
{
	if (!id || cut->ids[id] || !is_data(btf__type_by_id(cut->kernel, id)))
		return 0;
	if (vec__append(&cut->chosen, &cut->nr, &id, sizeof(id)))
		return -ENOMEM;
	cut->ids[id] = cut->nr;
	return 0;
}

static int choose_named(struct cut *cut)
{
	uint32_t types = btf__type_cnt(cut->kernel);
	int err = 0;

	for (uint32_t id = 1; !err && id < types; id++) {
		const struct btf_type *type = btf__type_by_id(cut->kernel, id);
		const char *name;

		if (!type->name_off || !is_data(type))
			continue;
		name = name_of(cut->kernel, type);
		if (cut->names[find_name(cut, name, plain_len(name))])
			err = choose(cut, id);
	}
	return err;
}

/* Calls `each` with each reference to a type that a type contains, except those of pointers. */
typedef int each_reference(struct cut *cut, uint32_t *id);

static int for_references(struct cut *cut, const struct btf_type *type, each_reference *each)
{
	struct btf_member *members = btf_members(type);
	int err = 0;

	if (btf_is_array(type)) {
		err = each(cut, &btf_array(type)->type);
		return err ? err : each(cut, &btf_array(type)->index_type);
	}
	if (btf_is_mod(type) || btf_is_typedef(type))
		return each(cut, (uint32_t *)&type->type);
	if (btf_is_composite(type))
		for (int i = 0; !err && i < btf_vlen(type); i++)
			err = each(cut, &members[i].type);
	return err;
}

static int choose_reference(struct cut *cut, uint32_t *id)
{
	return choose(cut, *id);
}

static int choose_members(struct cut *cut)
{
	int err = 0;

	for (size_t i = 0; !err && i < cut->nr; i++)
		err = for_references(cut, btf__type_by_id(cut->kernel, cut->chosen[i]),
				     choose_reference);
	return err;
}

static int renumber(struct cut *cut, uint32_t *id)
{
	*id = cut->ids[*id];
	return 0;
}

static int copy_types(struct cut *cut)
{
	int got = 0;

	cut->types = btf__new_empty();
	if (!cut->types)
		return -ENOMEM;
	for (size_t i = 0; got >= 0 && i < cut->nr; i++) {
		const struct btf_type *from = btf__type_by_id(cut->kernel, cut->chosen[i]);
		struct btf_type *type;

		got = btf__add_type(cut->types, cut->kernel, from);
		if (got < 0)
			break;
		type = (struct btf_type *)btf__type_by_id(cut->types, got);
		if (btf_is_ptr(type))
			type->type = 0; /* void */
		else
			for_references(cut, type, renumber);
	}
	return got < 0 ? got : 0;
}

/*
 * The types of `kernel` that have a name of a type of `object`, and the types of their members.
 * What pointers point to is left out: relocations of members and enumerators do not need it, but
 * those of whole types (bpf_core_type_matches(), bpf_core_type_id_kernel()) do. NULL: no memory.
 */
static struct btf *cut_types(const struct btf *kernel, const struct btf *object)
{
	struct cut *cut = calloc(1, sizeof(*cut));
	struct btf *types = NULL;
	int err;

	if (!cut)
		return NULL;
	cut->kernel = kernel;
	cut->ids = calloc(btf__type_cnt(kernel), sizeof(*cut->ids));
	err = cut->ids ? take_names(cut, object) : -ENOMEM;
	if (!err)
		err = choose_named(cut);
	if (!err)
		err = choose_members(cut);
	if (!err)
		err = copy_types(cut);
	if (err)
		btf__free(cut->types);
	else
		types = cut->types;
	free(cut->ids);
	free(cut->chosen);
	free(cut);
	return types;
}

void kernel_types__begin(struct kernel_types *types)
{
	tracing__begin();
	*types = (struct kernel_types){ .options.sz = sizeof(types->options) };
	types->fd = memfd_create("latscope", MFD_CLOEXEC);
	if (types->fd < 0)
		return;
	snprintf(types->path, sizeof(types->path), "/proc/self/fd/%d", types->fd);
	if (access(types->path, R_OK)) { /* /proc is not mounted */
		kernel_types__end(types);
		return;
	}
	types->options.btf_custom_path = types->path;
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t got = write(fd, data, size);

		if (got < 0)
			return -errno;
		data += got;
		size -= (size_t)got;
	}
	return 0;
}

int kernel_types__write(const struct kernel_types *types, const struct bpf_object *obj)
{
	const struct btf *kernel = kernel__btf();
	const void *data;
	struct btf *cut;
	uint32_t size;
	int err;

	err = untrusted__tell(obj);
	if (err || types->fd < 0)
		return err;
	if (!kernel)
		return -ENOENT;
	cut = cut_types(kernel, bpf_object__btf(obj));
	data = cut ? btf__raw_data(cut, &size) : NULL;
	err = data ? write_all(types->fd, data, size) : -ENOMEM;
	btf__free(cut);
	return err;
}

void kernel_types__end(struct kernel_types *types)
{
	if (types->fd >= 0)
		close(types->fd);
	types->fd = -1;
}
