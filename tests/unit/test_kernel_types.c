// SPDX-License-Identifier: BSD-2-Clause
/* Do BPF programs see the same kernel through the types that are cut out of it? */
#include "unit.h"

#include <glob.h>
#include <limits.h>

#include <probes/kit/kernel_types.c>

#define PROGRAMS 256

TEST(name_without_flavor_ends_before_three_underscores)
{
	assert_int_equal(plain_len("task_struct"), 11);
	assert_int_equal(plain_len("task_struct___old"), 11);
	assert_int_equal(plain_len("a__b"), 4);
	assert_int_equal(plain_len("a____b"), 6);
	assert_int_equal(plain_len("a___b___c"), 5);
	assert_int_equal(plain_len("___b"), 4);
	assert_int_equal(plain_len("a___"), 4);
	assert_int_equal(plain_len(""), 0);
}

static int add_struct(struct btf *btf, const char *name, const char *member, int type)
{
	int id = btf__add_struct(btf, name, 8);

	assert_true(id > 0);
	if (member)
		assert_int_equal(btf__add_field(btf, member, type, 0, 0), 0);
	return id;
}

static const struct btf_type *find(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);

	return id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
}

/* The type of a structure's only member. */
static const struct btf_type *member_of(const struct btf *btf, const char *name)
{
	return btf__type_by_id(btf, btf_members(find(btf, name))->type);
}

static struct btf *kernel, *object, *cut;

static void make_kernel(void)
{
	int number, leaf, array, inner, target;

	kernel = btf__new_empty();
	object = btf__new_empty();
	number = btf__add_int(kernel, "long", 8, BTF_INT_SIGNED);
	leaf = add_struct(kernel, "leaf", "number", number);
	array = btf__add_array(kernel, number, btf__add_typedef(kernel, "leaf_t", leaf), 3);
	inner = add_struct(kernel, "inner", "leaves", btf__add_const(kernel, array));
	target = add_struct(kernel, "target", "number", number);
	add_struct(kernel, "unrelated", "inner", inner);
	add_struct(kernel, "outer", "inner", inner);
	add_struct(kernel, "pointing", "target", btf__add_ptr(kernel, target));
	add_struct(kernel, "outer___variant", NULL, 0);
	assert_true(btf__add_enum(kernel, "outer", 4) > 0);
	assert_int_equal(btf__add_enum_value(kernel, "VALUE", 7), 0);
}

static void free_types(void)
{
	btf__free(cut);
	btf__free(object);
	btf__free(kernel);
}

TEST(cut_has_types_of_the_same_names_and_of_their_members, make_kernel, free_types)
{
	const struct btf_type *type;

	add_struct(object, "outer___flavor", NULL, 0);
	add_struct(object, "pointing", NULL, 0);
	cut = cut_types(kernel, object);
	assert_non_null(cut);
	assert_non_null(find(cut, "outer"));
	assert_non_null(find(cut, "outer___variant"));
	assert_true(btf__find_by_name_kind(cut, "outer", BTF_KIND_ENUM) > 0);
	assert_ptr_equal(member_of(cut, "outer"), find(cut, "inner"));
	type = member_of(cut, "inner");
	assert_true(btf_is_const(type));
	type = btf__type_by_id(cut, type->type);
	assert_true(btf_is_array(type));
	assert_int_equal(btf_array(type)->nelems, 3);
	type = btf__type_by_id(cut, btf_array(type)->type);
	assert_true(btf_is_typedef(type));
	assert_ptr_equal(btf__type_by_id(cut, type->type), find(cut, "leaf"));
	assert_null(find(cut, "unrelated"));
}

TEST(cut_leaves_out_what_pointers_point_to, make_kernel, free_types)
{
	add_struct(object, "pointing", NULL, 0);
	cut = cut_types(kernel, object);
	assert_non_null(cut);
	assert_true(btf_is_ptr(member_of(cut, "pointing")));
	assert_int_equal(member_of(cut, "pointing")->type, 0);
	assert_null(find(cut, "target"));
	assert_null(find(cut, "outer"));
}

/* The instructions of the programs of an object. */
struct code {
	struct bpf_insn *insns[PROGRAMS];
	size_t counts[PROGRAMS];
	size_t nr;
};

static void take(struct code *code, struct bpf_object *obj)
{
	struct bpf_program *program;

	*code = (struct code){ 0 };
	bpf_object__for_each_program(program, obj)
	{
		size_t size = bpf_program__insn_cnt(program) * sizeof(struct bpf_insn);

		assert_in_range(code->nr, 0, PROGRAMS - 1);
		code->insns[code->nr] = malloc(size);
		assert_non_null(code->insns[code->nr]);
		memcpy(code->insns[code->nr], bpf_program__insns(program), size);
		code->counts[code->nr++] = bpf_program__insn_cnt(program);
	}
}

/* Programs are relocated before the first one is loaded; whether they load does not matter. */
static void relocate(const char *path, bool is_cut, struct code *before, struct code *after)
{
	struct kernel_types types;
	struct bpf_program *program = NULL;
	struct bpf_object *obj;

	kernel_types__begin(&types);
	assert_true(types.fd >= 0);
	obj = bpf_object__open_file(path, is_cut ? &types.options : NULL);
	assert_non_null(obj);
	take(before, obj);
	while ((program = bpf_object__next_program(obj, program)))
		bpf_program__set_autoload(program, true);
	if (is_cut)
		assert_int_equal(kernel_types__write(&types, obj), 0);
	bpf_object__load(obj);
	kernel_types__end(&types);
	take(after, obj);
	bpf_object__close(obj);
}

static bool is_map(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW) &&
	       (insn->src_reg == BPF_PSEUDO_MAP_FD || insn->src_reg == BPF_PSEUDO_MAP_VALUE);
}

/* How many instructions differ, except in descriptors of maps. `b` may have more at the end. */
static size_t differences(const struct code *a, const struct code *b)
{
	size_t differ = 0;

	assert_int_equal(a->nr, b->nr);
	for (size_t i = 0; i < a->nr; i++) {
		assert_true(a->counts[i] <= b->counts[i]);
		for (size_t at = 0; at < a->counts[i]; at++) {
			struct bpf_insn one = a->insns[i][at], other = b->insns[i][at];

			if (is_map(&one))
				one.imm = other.imm;
			differ += memcmp(&one, &other, sizeof(one)) != 0;
		}
	}
	return differ;
}

static void compare(const char *path)
{
	struct code code[4];

	relocate(path, false, &code[0], &code[1]);
	relocate(path, true, &code[2], &code[3]);
	assert_int_equal(differences(&code[0], &code[2]), 0);
	assert_int_equal(differences(&code[1], &code[3]), 0);
	assert_memory_equal(code[1].counts, code[3].counts, sizeof(code[1].counts));
	assert_true(differences(&code[0], &code[1]) > 0);
	for (int i = 0; i < 4; i++)
		for (size_t at = 0; at < code[i].nr; at++)
			free(code[i].insns[at]);
}

static int no_print(enum libbpf_print_level level, const char *format, va_list args)
{
	return 0;
}

/* Of all our objects, on the kernel that runs. */
TEST(programs_are_relocated_as_with_all_types)
{
	char own[PATH_MAX], pattern[PATH_MAX + 64];
	ssize_t len = readlink("/proc/self/exe", own, sizeof(own) - 1);
	glob_t objects;

	if (geteuid() || access("/sys/kernel/btf/vmlinux", R_OK))
		skip();
	assert_true(len > 0);
	own[len] = '\0';
	*strrchr(own, '/') = '\0';
	snprintf(pattern, sizeof(pattern), "%s/../../src/{session,probes/*}/*.bpf.o", own);
	libbpf_set_print(no_print);
	assert_int_equal(glob(pattern, GLOB_BRACE, NULL, &objects), 0);
	assert_true(objects.gl_pathc >= 6);
	for (size_t i = 0; i < objects.gl_pathc; i++)
		compare(objects.gl_pathv[i]);
	globfree(&objects);
	kernel__forget();
}
