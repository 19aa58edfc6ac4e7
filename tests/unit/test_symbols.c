// SPDX-License-Identifier: BSD-2-Clause
/* Names of addresses, of small programs that the tests build, and of kernels and files made up. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include "symbols/symbols.c"

#include <core/clock.h>
#include <core/frames.h>

#define DEPTH 32

/* Prints where inner() is and the NR frames above it, by frame pointers; waits for its stdin. */
static const char walker[] = "#include <stdio.h>\n"
			     "#include <unistd.h>\n"
			     "#define APART __attribute__((noinline, noclone))\n"
			     "APART int inner(int nr)\n"
			     "{\n"
			     "	void **frame = __builtin_frame_address(0);\n"
			     "	printf(\"%p\", (char *)inner + 1);\n"
			     "	while (nr--) {\n"
			     "		printf(\" %p\", frame[1]);\n"
			     "		frame = frame[0];\n"
			     "	}\n"
			     "	printf(\"\\n\");\n"
			     "	fflush(stdout);\n"
			     "	return getchar();\n"
			     "}\n"
			     "APART int outer(int nr) { return inner(nr) + 1; }\n"
			     "#ifndef NR\n"
			     "#define NR 3\n"
			     "#endif\n"
			     "int main(void) { return outer(NR) == 1000; }\n";

struct program {
	pid_t pid;
	int in, out;
	uint64_t stack[DEPTH];
	size_t nr;
};

/* The text of a frame of the first stack, as latscope prints it. */
static const char *text_of(const struct symbols *symbols, size_t index, char text[FRAME_TEXT])
{
	const struct symbol *symbol = symbols__frame(symbols, 0, index);
	char name[SYMBOL_TEXT], place[SYMBOL_TEXT];
	const struct frame frame = { .name = symbol__name(symbol, name),
				     .place = symbol__place(symbol, place) };

	return frame__text(&frame, symbol->address, false, text);
}

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void run(const char *format, ...)
{
	char command[4096];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	assert_int_equal(system(command), 0);
}

static void build(const char *name, const char *options)
{
	unit_write(dir, "walker.c", walker);
	run("cd %s && cc -O1 -fno-omit-frame-pointer %s walker.c -o %s", dir, options, name);
}

static struct program start(const char *name)
{
	struct program program = { 0 };
	int in[2], out[2];
	char after;
	FILE *stream;

	assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
	program.pid = unit_fork();
	if (!program.pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl(unit_path(dir, name), name, NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	program.in = in[1];
	stream = fdopen(out[0], "r");
	do {
		assert_int_equal(fscanf(stream, "%lx%c", &program.stack[program.nr++], &after), 2);
	} while (after != '\n');
	fclose(stream);
	return program;
}

static struct program build_and_start(const char *options)
{
	build("walker", options);
	return start("walker");
}

static void end(const struct program *program)
{
	close(program->in);
	assert_int_equal(waitpid(program->pid, NULL, 0), program->pid);
}

static void (*confine)(void); /* as in struct symbols_config */
static uint32_t limit_ms;

/* NULL: the kernel's own. */
static struct symbols *begin(const char *kallsyms)
{
	char *debug = strdup(unit_path(dir, "debug"));
	char *path = kallsyms ? strdup(unit_path(dir, kallsyms)) : NULL;
	const struct symbols_config config = { .no_memory_limit = true,
					       .kallsyms = path,
					       .confine = confine,
					       .limit_ms = limit_ms,
					       .debug_dir = debug };
	struct symbols *symbols;

	assert_int_equal(chmod(dir, 0755), 0);
	assert_int_equal(symbols__begin(&symbols, &config), 0);
	free(debug);
	free(path);
	return symbols;
}

/* Has a process noted, and returns when that is done: when a later request has been taken. */
static void note(struct symbols *symbols, pid_t pid)
{
	int queued = 1;

	symbols__note(symbols, (uint32_t)pid, clock__now_ns());
	request(symbols, (uint32_t)getpid(), 1);
	while (queued) {
		usleep(1000);
		assert_int_equal(ioctl(symbols->socket, SIOCOUTQ, &queued), 0);
	}
}

static void assert_frame(const struct symbols *symbols, int stack, size_t i, const char *function,
			 const char *file)
{
	const struct symbol *symbol = symbols__frame(symbols, stack, i);

	assert_string_equal(symbol->function, function);
	assert_string_equal(symbol->file, file);
}

/* The two innermost frames. */
static struct symbols *note_and_end(const struct program *program)
{
	struct symbols *symbols = begin(NULL);

	note(symbols, program->pid);
	symbols__add(symbols, (uint32_t)program->pid, program->stack, 2);
	end(program);
	return symbols;
}

static void assert_no_reason(const char *why)
{
	assert_string_equal(why, "");
}

/* The whole way: it runs, is noted, exits, and then gets its names. */
static struct symbols *name_walker(const char *name, char why[RUN_TEXT])
{
	struct program program = start(name);
	struct symbols *symbols = begin(NULL);

	assert_int_equal(program.nr, 4);
	note(symbols, program.pid);
	assert_int_equal(symbols__add(symbols, (uint32_t)program.pid, program.stack, 3), 0);
	assert_int_equal(symbols__add(symbols, (uint32_t)program.pid, program.stack, 4), 1);
	end(&program);
	assert_int_equal(symbols__resolve(symbols, why), 0);
	return symbols;
}

static void assert_walker(const char *name)
{
	char why[RUN_TEXT];
	struct symbols *symbols = name_walker(name, why);

	assert_no_reason(why);
	assert_frame(symbols, 0, 0, "inner", name);
	assert_int_equal(symbols__frame(symbols, 0, 0)->offset, 1);
	assert_frame(symbols, 0, 1, "outer", name);
	assert_frame(symbols, 0, 2, "main", name);
	assert_int_equal(symbols__frame(symbols, 0, 2)->kind, SYMBOL_ELF);
	symbols__free(symbols);
}

TEST_IN_DIR(test_program_that_exited_has_its_functions)
{
	build("walker", "");
	assert_walker("walker");
}

TEST_IN_DIR(test_static_pie_has_its_functions)
{
	build("walker", "-static-pie");
	assert_walker("walker");
}

TEST_IN_DIR(test_program_at_a_fixed_address_has_its_functions)
{
	build("walker", "-no-pie");
	assert_walker("walker");
}

TEST_IN_DIR(test_names_of_cpp_are_as_in_the_source)
{
	char why[RUN_TEXT];
	struct symbols *symbols;

	build("walker", "-Dinner=_ZN2db5queryEii -Douter=_Zouter");
	symbols = name_walker("walker", why);
	assert_no_reason(why);
	assert_frame(symbols, 0, 0, "db::query(int, int)", "walker");
	assert_int_equal(symbols__frame(symbols, 0, 0)->offset, 1);
	assert_frame(symbols, 0, 1, "_Zouter", "walker"); /* its grammar is wrong */
	symbols__free(symbols);
}

TEST_IN_DIR(test_deleted_program_has_its_functions)
{
	struct symbols *symbols;
	char why[RUN_TEXT];
	struct program program = build_and_start("");

	unlink(unit_path(dir, "walker"));
	build("walker", "-static-pie"); /* another one in its place */
	symbols = note_and_end(&program);
	assert_int_equal(symbols__resolve(symbols, why), 0);
	if (geteuid()) /* it takes the privilege for map_files */
		assert_non_null(strstr(why, "could not be opened"));
	else
		assert_frame(symbols, 0, 1, "outer", "walker");
	symbols__free(symbols);
}

TEST_IN_DIR(test_file_that_was_changed_is_not_used)
{
	struct program program = build_and_start("");
	struct symbols *symbols = note_and_end(&program);
	char why[RUN_TEXT];

	run("echo >>%s", unit_path(dir, "walker"));
	assert_int_equal(symbols__resolve(symbols, why), 0);
	assert_string_equal(why, "1 files were changed meanwhile");
	assert_frame(symbols, 0, 1, "", "walker");
	assert_string_equal(symbols__frame(symbols, 0, 1)->build_id, "");
	symbols__free(symbols);
}

/* Its build-id, as readelf prints it. */
static void read_build_id(const char *name, char out[65])
{
	char *text, *found;

	run("readelf -n %s/%s >%s/notes", dir, name, dir);
	text = unit_read(dir, "notes");
	found = strstr(text, "Build ID: ");
	assert_non_null(found);
	assert_int_equal(sscanf(found, "Build ID: %64[0-9a-f]", out), 1);
	free(text);
}

TEST_IN_DIR(test_stripped_program_has_names_of_its_debug_file)
{
	char why[RUN_TEXT], id[65], text[FRAME_TEXT], expected[SYMBOL_TEXT];
	struct symbols *symbols;

	build("walker", "-g");
	read_build_id("walker", id);
	run("cd %s && mkdir -p debug/.build-id/%.2s && objcopy --only-keep-debug walker "
	    "debug/.build-id/%.2s/%s.debug && strip walker",
	    dir, id, id, id + 2);
	assert_walker("walker");

	run("rm -r %s/debug", dir);
	symbols = name_walker("walker", why);
	assert_frame(symbols, 0, 1, "", "walker");
	snprintf(expected, sizeof(expected), "walker+0x%lx (%s)",
		 symbols__frame(symbols, 0, 1)->file_offset, id);
	assert_string_equal(text_of(symbols, 1, text), expected);
	symbols__free(symbols);
}

TEST_IN_DIR(test_debug_file_of_another_build_is_not_used)
{
	struct symbols *symbols;
	char why[RUN_TEXT], id[65];

	build("other", "-g -DOTHER -static-pie");
	build("walker", "-g");
	read_build_id("walker", id);
	run("cd %s && mkdir -p debug/.build-id/%.2s && cp other debug/.build-id/%.2s/%s.debug && "
	    "strip walker",
	    dir, id, id, id + 2);
	symbols = name_walker("walker", why);
	assert_frame(symbols, 0, 1, "", "walker");
	symbols__free(symbols);
}

TEST_IN_DIR(test_names_are_sanitized)
{
	struct symbols *symbols;
	char why[RUN_TEXT];

	build("walker", "");
	run("cd %s && objcopy --redefine-sym outer=\"$(printf 'ev\\033[2Jil')\" walker && "
	    "mv walker \"$(printf 'x\\033y')\"",
	    dir);
	symbols = name_walker("x\033y", why);
	assert_frame(symbols, 0, 1, "ev?[2Jil", "x?y");
	symbols__free(symbols);
}

/* outer() and main() have frame pointers; what calls main() has none, and nothing calls that. */
TEST_IN_DIR(test_stack_that_ends_without_frame_pointer_is_truncated)
{
	const uint64_t nowhere = 0x1000;
	struct symbols *symbols;
	struct program program;
	size_t truncated;
	char why[RUN_TEXT];

	build("walker", "");
	symbols = name_walker("walker", why);
	assert_int_equal(symbols__end_of(symbols, 0, 48), SYMBOLS_COMPLETE);
	assert_int_equal(symbols__end_of(symbols, 1, 48), SYMBOLS_COMPLETE);
	assert_int_equal(symbols__end_of(symbols, 1, 4), SYMBOLS_DEEPER);
	symbols__free(symbols);

	program = build_and_start("-O2 -fomit-frame-pointer -DNR=1");
	symbols = note_and_end(&program);
	symbols__add(symbols, (uint32_t)program.pid, &nowhere, 1);
	assert_int_equal(symbols__resolve(symbols, why), 0);
	assert_frame(symbols, 0, 1, "outer", "walker");
#ifdef __x86_64__
	assert_int_equal(symbols__end_of(symbols, 0, 48), SYMBOLS_TRUNCATED);
#endif
	assert_int_equal(symbols__end_of(symbols, 1, 48), SYMBOLS_TRUNCATED);
	assert_int_equal(symbols__truncated(symbols, (uint32_t)program.pid, &truncated), 2);
	assert_true(truncated >= 1);
	symbols__free(symbols);
}

TEST_IN_DIR(test_process_that_exited_before_is_unknown)
{
	struct symbols *symbols = begin(NULL);
	const uint64_t address = 0x401000;
	char why[RUN_TEXT], text[FRAME_TEXT];
	pid_t pid = unit_fork();

	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	symbols__note(symbols, (uint32_t)pid, clock__now_ns());
	symbols__add(symbols, (uint32_t)pid, &address, 1);
	assert_int_equal(symbols__resolve(symbols, why), 0);
	assert_string_equal(why, "a process had exited (1 times)");
	assert_string_equal(text_of(symbols, 0, text), "0x401000");
	symbols__free(symbols);
}

TEST_IN_DIR(test_kernel_functions_by_address)
{
	const uint64_t stack[] = { 0xffffffff81001010, 0xffffffff81002000, 0xffffffff81003005,
				   0xffffffffc0000030, 0xffffffffc0200000, 0xffffffff81001018 };
	struct symbols *symbols;
	char why[RUN_TEXT], text[FRAME_TEXT];

	unit_write(dir, "kallsyms",
		   "0000000000000000 A fixed_percpu_data\n"
		   "ffffffff81001000 T vfs_read\n"
		   "ffffffff81002000 t next\n"
		   "ffffffff81003000 D data\n"
		   "broken\n"
		   "ffffffffc0000010 t ev\033il\t[ext4]\n");
	symbols = begin("kallsyms");
	symbols__add(symbols, 0, stack, 6);
	assert_int_equal(symbols__resolve(symbols, why), 0);
	assert_no_reason(why);
	assert_string_equal(text_of(symbols, 0, text), "vfs_read+0x10 [kernel]");
	/* A call at the end of vfs_read(), to a function that does not return. */
	assert_string_equal(text_of(symbols, 1, text), "vfs_read+0x1000 [kernel]");
	assert_string_equal(text_of(symbols, 2, text), "0xffffffff81003005");
	assert_string_equal(text_of(symbols, 3, text), "ev?il+0x20 [ext4]");
	/* Too far from any symbol. */
	assert_string_equal(text_of(symbols, 4, text), "0xffffffffc0200000");
	assert_string_equal(text_of(symbols, 5, text), "vfs_read+0x18 [kernel]");
	symbols__free(symbols);
}

TEST_IN_DIR(test_hidden_kernel_addresses_have_no_names)
{
	const uint64_t address = 0xffffffff81001010;
	struct symbols *symbols;
	char why[RUN_TEXT], text[FRAME_TEXT];

	unit_write(dir, "kallsyms", "0000000000000000 T vfs_read\n0000000000000000 t next\n");
	symbols = begin("kallsyms");
	symbols__add(symbols, 0, &address, 1);
	assert_int_equal(symbols__resolve(symbols, why), 0);
	assert_string_equal(why, "the kernel hides its addresses");
	assert_string_equal(text_of(symbols, 0, text), "0xffffffff81001010");
	symbols__free(symbols);
}

TEST_IN_DIR(test_vdso_has_its_functions)
{
	struct symbols *symbols = begin(NULL);
	uint64_t address = 0;
	char why[RUN_TEXT], line[256];
	FILE *maps = fopen("/proc/self/maps", "r");

	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "[vdso]"))
			address = strtoull(line, NULL, 16);
	fclose(maps);
	assert_true(address);
	note(symbols, getpid());
	for (uint64_t at = 0; at < 0x1000; at += 16) {
		const uint64_t here = address + at;

		symbols__add(symbols, (uint32_t)getpid(), &here, 1);
	}
	assert_int_equal(symbols__resolve(symbols, why), 0);
	assert_no_reason(why);
	for (int i = 0; i < 256; i++) {
		assert_int_equal(symbols__frame(symbols, i, 0)->kind, SYMBOL_VDSO);
		if (strstr(symbols__frame(symbols, i, 0)->function, "clock_gettime"))
			address = 0;
	}
	assert_int_equal(address, 0);
	symbols__free(symbols);
}

/* Executable memory of this process. */
static uint64_t map_code(int fd, size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_EXEC,
			MAP_PRIVATE | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	return (uint64_t)at;
}

static struct symbols *name_jit(uint64_t address)
{
	struct symbols *symbols = begin(NULL);
	char why[RUN_TEXT];

	note(symbols, getpid());
	symbols__add(symbols, (uint32_t)getpid(), &address, 1);
	assert_int_equal(symbols__resolve(symbols, why), 0);
	assert_int_equal(symbols__frame(symbols, 0, 0)->kind, SYMBOL_JIT);
	return symbols;
}

TEST_IN_DIR(test_jit_code_has_the_names_of_its_own_users_file)
{
	uint64_t address = map_code(-1, 4096) + 0x20;
	char path[64], content[256], text[FRAME_TEXT];
	struct symbols *symbols;

	snprintf(path, sizeof(path), "perf-%d.map", getpid());
	snprintf(content, sizeof(content), "junk\n%lx 40 old\n%lx 8 Evil;\033run()\n",
		 address - 0x20, address - 4);
	unit_write("/tmp", path, content);
	symbols = name_jit(address);
	assert_string_equal(text_of(symbols, 0, text), "Evil;?run()+0x4 [jit]");
	symbols__free(symbols);
	if (!geteuid()) {
		assert_int_equal(chown(unit_path("/tmp", path), 12345, 12345), 0);
		symbols = name_jit(address);
		assert_frame(symbols, 0, 0, "", "[jit]");
		symbols__free(symbols);
	}
	unlink(unit_path("/tmp", path));
	unit_write(dir, "map", content);
	assert_int_equal(symlink(unit_path(dir, "map"), "/tmp/latscope-unit-link"), 0);
	snprintf(content, sizeof(content), "/tmp/%s", path);
	assert_int_equal(rename("/tmp/latscope-unit-link", content), 0);
	symbols = name_jit(address);
	assert_frame(symbols, 0, 0, "", "[jit]");
	symbols__free(symbols);
	unlink(content);
	munmap((void *)(address - 0x20), 4096);
}

/* Overwrites bytes: most often in the headers, which lead to all else. */
static void spoil(char *image, size_t size)
{
	size_t at;

	for (int i = 0; i < 24; i++) {
		at = unit_random() % (i % 2 ? size : 1024);
		image[at] = (char)unit_random();
	}
	for (int i = 0; i < 8; i++) { /* section headers are at the end */
		at = size - 1 - unit_random() % 2000;
		image[at] = (char)(unit_random() % 4 ? 0xff : 0x80);
	}
	memcpy(image, "\177ELF\2\1", 6);
}

TEST_IN_DIR(test_broken_files_cost_only_their_names)
{
	enum { BROKEN = 48 };
	struct symbols *symbols;
	uint64_t stack[DEPTH], where[BROKEN];
	char why[RUN_TEXT], name[32], *image;
	struct stat st;
	int fd;

	build("walker", "-g");
	assert_int_equal(stat(unit_path(dir, "walker"), &st), 0);
	for (int i = 0; i < BROKEN; i++) {
		snprintf(name, sizeof(name), "broken%d", i);
		run("cp %s/walker %s/%s", dir, dir, name);
		fd = open(unit_path(dir, name), O_RDWR | O_CLOEXEC);
		image = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		assert_ptr_not_equal(image, MAP_FAILED);
		spoil(image, (size_t)st.st_size);
		munmap(image, (size_t)st.st_size);
		if (i % 4 == 3)
			assert_int_equal(ftruncate(fd, (off_t)(unit_random() % 16000) + 1), 0);
		where[i] = map_code(fd, (size_t)st.st_size);
		close(fd);
	}
	build("walker", "");
	fd = open(unit_path(dir, "walker"), O_RDONLY | O_CLOEXEC);
	stack[0] = map_code(fd, 1 << 14);
	close(fd);

	symbols = begin(NULL);
	note(symbols, getpid());
	symbols__add(symbols, (uint32_t)getpid(), stack, 1);
	for (int i = 0; i < BROKEN; i++) {
		for (size_t j = 0; j < DEPTH; j++)
			stack[j] = where[i] + 0x1000 + 16 * j;
		symbols__add(symbols, (uint32_t)getpid(), stack, DEPTH);
	}
	assert_int_equal(symbols__resolve(symbols, why), 0);
	for (int i = 0; i <= BROKEN; i++)
		for (size_t j = 0; j < symbols__depth(symbols, i); j++)
			assert_int_equal(symbols__frame(symbols, i, j)->kind, SYMBOL_ELF);
	assert_int_equal(strlen(symbols__frame(symbols, 0, 0)->build_id), 40);
	symbols__free(symbols);
	for (int i = 0; i < BROKEN; i++)
		munmap((void *)where[i], (size_t)st.st_size);
}

static void hang(void)
{
	pause();
}

TEST_IN_DIR(test_resolver_that_crashes_or_hangs_costs_only_names)
{
	static void (*const faults[])(void) = { abort, hang };
	struct program program;
	struct symbols *symbols;
	char why[RUN_TEXT];

	for (size_t i = 0; i < 2; i++) {
		confine = faults[i];
		limit_ms = 300;
		program = build_and_start("");
		symbols = note_and_end(&program);
		confine = NULL;
		limit_ms = 0;
		assert_int_equal(symbols__resolve(symbols, why), 0);
		assert_string_equal(why, "1 files are broken, not ELF, or took too long");
		assert_frame(symbols, 0, 1, "", "walker");
		symbols__free(symbols);
	}
}

TEST_IN_DIR(test_devices_are_not_opened)
{
	uint64_t address;
	struct symbols *symbols;
	char why[RUN_TEXT];
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	address = map_code(fd, 4096);
	close(fd);
	symbols = begin(NULL);
	note(symbols, getpid());
	symbols__add(symbols, (uint32_t)getpid(), &address, 1);
	assert_int_equal(symbols__resolve(symbols, why), 0);
	assert_string_equal(why, "1 files could not be opened");
	symbols__free(symbols);
	munmap((void *)address, 4096);
}

TEST_IN_DIR(test_addresses_without_room_are_counted)
{
	struct symbols *symbols = begin("missing");
	char why[RUN_TEXT];

	for (uint64_t i = 0; i < SLOTS + 10; i++)
		assert_int_equal(symbols__add(symbols, 0, &i, 1), i);
	assert_int_equal(symbols__add(symbols, 0, NULL, 0), SLOTS + 10);
	assert_int_equal(symbols__resolve(symbols, why), 0);
	assert_non_null(strstr(why, "only 32768 addresses are named"));
	assert_int_equal(symbols__frame(symbols, 77, 0)->address, 77);
	assert_int_equal(symbols__frame(symbols, SLOTS + 5, 0)->kind, SYMBOL_UNKNOWN);
	symbols__free(symbols);
}

TEST_IN_DIR(test_collector_that_was_killed_is_an_error)
{
	struct symbols *symbols = begin("missing");
	const uint64_t address = 12;
	char why[RUN_TEXT];

	symbols__add(symbols, 0, &address, 1);
	kill(symbols->collector, SIGKILL);
	assert_true(symbols__resolve(symbols, why) < 0);
	assert_non_null(strstr(why, "failed"));
	assert_int_equal(symbols__frame(symbols, 0, 0)->address, 12);
	symbols__free(symbols);
}

static void ignore_closed_pipes(void)
{
	signal(SIGPIPE, SIG_IGN);
}

UNIT_MAIN(ignore_closed_pipes)
