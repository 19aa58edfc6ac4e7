// SPDX-License-Identifier: BSD-2-Clause
/*
 * attach OBJECT TYPE: loads BPF programs of another tool from its object file, those of one type
 * (such as tp_btf), and keeps them attached until it is killed.
 */
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_type(const struct bpf_program *program, const char *type)
{
	const char *section = bpf_program__section_name(program);
	size_t len = strlen(type);

	return !strncmp(section, type, len) && section[len] == '/';
}

int main(int argc, char **argv)
{
	struct bpf_object *object = argc == 3 ? bpf_object__open_file(argv[1], NULL) : NULL;
	struct bpf_program *program;
	int nr = 0;

	if (!object) {
		fprintf(stderr, "usage: attach OBJECT TYPE\n");
		return 2;
	}
	bpf_object__for_each_program(program, object)
		bpf_program__set_autoload(program, is_type(program, argv[2]));
	if (bpf_object__load(object)) {
		fprintf(stderr, "attach: cannot load %s\n", argv[1]);
		return 1;
	}
	bpf_object__for_each_program(program, object)
	{
		if (!bpf_program__autoload(program))
			continue;
		if (!bpf_program__attach(program)) {
			fprintf(stderr, "attach: cannot attach %s\n", bpf_program__name(program));
			return 1;
		}
		nr++;
	}
	if (!nr) {
		fprintf(stderr, "attach: %s has no programs of type %s\n", argv[1], argv[2]);
		return 1;
	}
	for (;;)
		pause();
}
