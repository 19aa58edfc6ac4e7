// SPDX-License-Identifier: BSD-2-Clause
/* Names of addresses, of small programs that the tests build, and of kernels and files made up. */
#include "unit.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>

#include "symbols/symbols.c"

#include <core/clock.h>

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

static void build(const char *name, const char *options)
{
	unit_write(dir, "walker.c", walker);
	unit_shell("cd %s && cc -O1 -fno-omit-frame-pointer %s walker.c -o %s", dir, options, name);
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

static struct symbols *symbols; /* of the test that runs */
static char why[RUN_TEXT];

static void end_symbols(void)
{
	symbols__free(symbols);
	symbols = NULL;
}

/* NULL: the kernel's own. */
static void begin(const char *kallsyms)
{
	char *debug = strdup(unit_path(dir, "debug"));
	char *path = kallsyms ? strdup(unit_path(dir, kallsyms)) : NULL;
	const struct symbols_config config = { .no_memory_limit = true,
					       .kallsyms = path,
					       .confine = confine,
					       .limit_ms = limit_ms,
					       .debug_dir = debug };

	end_symbols();
	assert_int_equal(chmod(dir, 0755), 0);
	assert_int_equal(symbols__begin(&symbols, &config), 0);
	free(debug);
	free(path);
}

/* Has a process noted, and returns when that is done: when a later request has been taken. */
static void note(pid_t pid)
{
	int queued = 1;

	symbols__note(symbols, (uint32_t)pid, clock__now_ns());
	request(symbols, (uint32_t)getpid(), 1);
	while (queued) {
		usleep(1000);
		assert_int_equal(ioctl(symbols->socket, SIOCOUTQ, &queued), 0);
	}
}

static int add(pid_t pid, const uint64_t *stack, size_t nr)
{
	return symbols__add(symbols, (uint32_t)pid, stack, nr);
}

static void resolve(void)
{
	strcpy(why, "not set");
	assert_int_equal(symbols__resolve(symbols, why), 0);
}

/* The reason why names are missing. */
static void resolve_saying(const char *reason)
{
	resolve();
	assert_string_equal(why, reason);
}

static void assert_text(size_t i, const char *text)
{
	const struct symbol *symbol = symbols__frame(symbols, 0, i);
	char name[SYMBOL_TEXT], place[SYMBOL_TEXT], out[FRAME_TEXT];
	const struct frame frame = { .name = symbol__name(symbol, name),
				     .place = symbol__place(symbol, place) };

	assert_string_equal(frame__text(&frame, symbol->address, false, out), text);
}

static void assert_frame(int stack, size_t i, const char *function, const char *file)
{
	const struct symbol *symbol = symbols__frame(symbols, stack, i);

	assert_string_equal(symbol->function, function);
	assert_string_equal(symbol->file, file);
}

/* The two innermost frames. */
static void note_and_end(const struct program *program)
{
	begin(NULL);
	note(program->pid);
	add(program->pid, program->stack, 2);
	end(program);
}

/* The whole way: it runs, is noted, exits, and then gets its names. */
static void name_walker(const char *name)
{
	struct program program = start(name);

	begin(NULL);
	assert_int_equal(program.nr, 4);
	note(program.pid);
	assert_int_equal(add(program.pid, program.stack, 3), 0);
	assert_int_equal(add(program.pid, program.stack, 4), 1);
	end(&program);
	resolve();
}

static void assert_walker(const char *name)
{
	name_walker(name);
	assert_string_equal(why, "");
	assert_frame(0, 0, "inner", name);
	assert_int_equal(symbols__frame(symbols, 0, 0)->offset, 1);
	assert_frame(0, 1, "outer", name);
	assert_frame(0, 2, "main", name);
	assert_int_equal(symbols__frame(symbols, 0, 2)->kind, SYMBOL_ELF);
}

TEST(test_program_that_exited_has_its_functions)
{
	static const char *const options[] = { "", "-static-pie", "-no-pie" };

	for (size_t i = 0; i < 3; i++) {
		print_message("walker %s\n", options[i]);
		build("walker", options[i]);
		assert_walker("walker");
	}
}

TEST(test_names_of_cpp_are_as_in_the_source)
{
	build("walker", "-Dinner=_ZN2db5queryEii -Douter=_Zouter");
	name_walker("walker");
	assert_string_equal(why, "");
	assert_frame(0, 0, "db::query(int, int)", "walker");
	assert_int_equal(symbols__frame(symbols, 0, 0)->offset, 1);
	assert_frame(0, 1, "_Zouter", "walker"); /* its grammar is wrong */
}

TEST(test_deleted_program_has_its_functions)
{
	struct program program = build_and_start("");

	unlink(unit_path(dir, "walker"));
	build("walker", "-static-pie"); /* another one in its place */
	note_and_end(&program);
	resolve();
	if (geteuid()) /* it takes the privilege for map_files */
		assert_has(why, "could not be opened");
	else
		assert_frame(0, 1, "outer", "walker");
}

TEST(test_file_that_was_changed_is_not_used)
{
	struct program program = build_and_start("");

	note_and_end(&program);

	unit_shell("echo >>%s", unit_path(dir, "walker"));
	resolve_saying("1 files were changed meanwhile");
	assert_frame(0, 1, "", "walker");
	assert_string_equal(symbols__frame(symbols, 0, 1)->build_id, "");
}

/* Strips walker, and makes its debug file by a command. Its build-id is as readelf prints it. */
static void build_stripped(const char *command, char id[65])
{
	char *found;

	build("walker", "-g");
	unit_shell("readelf -n %s/walker >%s/notes", dir, dir);
	found = strstr(unit_read(dir, "notes"), "Build ID: ");
	assert_non_null(found);
	assert_int_equal(sscanf(found, "Build ID: %64[0-9a-f]", id), 1);
	unit_shell("cd %s && mkdir -p debug/.build-id/%.2s && %s debug/.build-id/%.2s/%s.debug && "
		   "strip walker",
		   dir, id, command, id, id + 2);
}

TEST(test_stripped_program_has_names_of_its_debug_file)
{
	char id[65];

	build_stripped("objcopy --only-keep-debug walker", id);
	assert_walker("walker");

	unit_shell("rm -r %s/debug", dir);
	name_walker("walker");
	assert_frame(0, 1, "", "walker");
	assert_text(1,
		    unit_text("walker+0x%lx (%s)", symbols__frame(symbols, 0, 1)->file_offset, id));
}

TEST(test_debug_file_of_another_build_is_not_used)
{
	char id[65];

	build("other", "-g -DOTHER -static-pie");
	build_stripped("cp other", id);
	name_walker("walker");
	assert_frame(0, 1, "", "walker");
}

TEST(test_names_are_sanitized)
{
	build("walker", "");
	unit_shell("cd %s && objcopy --redefine-sym outer=\"$(printf 'ev\\033[2Jil')\" walker && "
		   "mv walker \"$(printf 'x\\033y')\"",
		   dir);
	name_walker("x\033y");
	assert_frame(0, 1, "ev?[2Jil", "x?y");
}

/* outer() and main() have frame pointers; what calls main() has none, and nothing calls that. */
TEST(test_stack_that_ends_without_frame_pointer_is_truncated)
{
	const uint64_t nowhere = 0x1000;
	struct program program;

	build("walker", "");
	name_walker("walker");
	assert_int_equal(symbols__end_of(symbols, 0, 48), SYMBOLS_COMPLETE);
	assert_int_equal(symbols__end_of(symbols, 1, 48), SYMBOLS_COMPLETE);
	assert_int_equal(symbols__end_of(symbols, 1, 4), SYMBOLS_DEEPER);

	program = build_and_start("-O2 -fomit-frame-pointer -DNR=1");
	note_and_end(&program);
	add(program.pid, &nowhere, 1);
	resolve();
	assert_frame(0, 1, "outer", "walker");
#ifdef __x86_64__
	assert_int_equal(symbols__end_of(symbols, 0, 48), SYMBOLS_TRUNCATED);
#endif
	assert_int_equal(symbols__end_of(symbols, 1, 48), SYMBOLS_TRUNCATED);
	assert_int_equal(symbols__stacks(symbols), 2);
	assert_int_equal(symbols__tgid(symbols, 0), program.pid);
	assert_int_equal(symbols__tgid(symbols, 1), program.pid);
}

TEST(test_process_that_exited_before_is_unknown)
{
	const uint64_t address = 0x401000;
	pid_t pid;

	begin(NULL);
	pid = unit_fork();
	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	symbols__note(symbols, (uint32_t)pid, clock__now_ns());
	add(pid, &address, 1);
	resolve_saying("a process had exited (1 times)");
	assert_text(0, "0x401000");
}

TEST(test_kernel_functions_by_address)
{
	const uint64_t stack[] = { 0xffffffff81001010, 0xffffffff81002000, 0xffffffff81003005,
				   0xffffffffc0000030, 0xffffffffc0200000, 0xffffffff81001018 };

	unit_write(dir, "kallsyms",
		   "0000000000000000 A fixed_percpu_data\n"
		   "ffffffff81001000 T vfs_read\n"
		   "ffffffff81002000 t next\n"
		   "ffffffff81003000 D data\n"
		   "broken\n"
		   "ffffffffc0000010 t ev\033il\t[ext4]\n");
	begin("kallsyms");
	add(0, stack, 6);
	resolve_saying("");
	assert_text(0, "vfs_read+0x10 [kernel]");
	/* A call at the end of vfs_read(), to a function that does not return. */
	assert_text(1, "vfs_read+0x1000 [kernel]");
	assert_text(2, "0xffffffff81003005");
	assert_text(3, "ev?il+0x20 [ext4]");
	/* Too far from any symbol. */
	assert_text(4, "0xffffffffc0200000");
	assert_text(5, "vfs_read+0x18 [kernel]");
}

TEST(test_hidden_kernel_addresses_have_no_names)
{
	const uint64_t address = 0xffffffff81001010;

	unit_write(dir, "kallsyms", "0000000000000000 T vfs_read\n0000000000000000 t next\n");
	begin("kallsyms");
	add(0, &address, 1);
	resolve_saying("the kernel hides its addresses");
	assert_text(0, "0xffffffff81001010");
}

TEST(test_vdso_has_its_functions)
{
	uint64_t address = 0;
	char line[256];
	FILE *maps = fopen("/proc/self/maps", "r");

	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "[vdso]"))
			address = strtoull(line, NULL, 16);
	fclose(maps);
	assert_true(address);
	begin(NULL);
	note(getpid());
	for (uint64_t at = 0; at < 0x1000; at += 16) {
		const uint64_t here = address + at;

		add(getpid(), &here, 1);
	}
	resolve_saying("");
	for (int i = 0; i < 256; i++) {
		assert_int_equal(symbols__frame(symbols, i, 0)->kind, SYMBOL_VDSO);
		if (strstr(symbols__frame(symbols, i, 0)->function, "clock_gettime"))
			address = 0;
	}
	assert_int_equal(address, 0);
}

/* Executable memory of this process. */
static uint64_t map_code(int fd, size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_EXEC,
			MAP_PRIVATE | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	return (uint64_t)at;
}

static void name_jit(uint64_t address)
{
	begin(NULL);
	note(getpid());
	add(getpid(), &address, 1);
	resolve();
	assert_int_equal(symbols__frame(symbols, 0, 0)->kind, SYMBOL_JIT);
}

TEST(test_jit_code_has_the_names_of_its_own_users_file)
{
	uint64_t address = map_code(-1, 4096) + 0x20;
	char *path = strdup(unit_text("/tmp/perf-%d.map", getpid()));
	char *content =
		unit_text("junk\n%lx 40 old\n%lx 8 Evil;\033run()\n", address - 0x20, address - 4);

	unit_write("", path, content);
	name_jit(address);
	assert_text(0, "Evil;?run()+0x4 [jit]");
	if (!geteuid()) {
		assert_int_equal(chown(path, 12345, 12345), 0);
		name_jit(address);
		assert_frame(0, 0, "", "[jit]");
	}
	unlink(path);
	unit_write(dir, "map", content);
	assert_int_equal(symlink(unit_path(dir, "map"), "/tmp/latscope-unit-link"), 0);
	assert_int_equal(rename("/tmp/latscope-unit-link", path), 0);
	name_jit(address);
	assert_frame(0, 0, "", "[jit]");
	unlink(path);
	free(path);
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

TEST(test_broken_files_cost_only_their_names)
{
	enum { BROKEN = 48 };
	uint64_t stack[DEPTH], where[BROKEN];
	char *name, *image;
	struct stat st;
	int fd;

	build("walker", "-g");
	assert_int_equal(stat(unit_path(dir, "walker"), &st), 0);
	for (int i = 0; i < BROKEN; i++) {
		name = unit_text("%s/broken%d", dir, i);
		unit_shell("cp %s/walker %s", dir, name);
		fd = open(name, O_RDWR | O_CLOEXEC);
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

	begin(NULL);
	note(getpid());
	add(getpid(), stack, 1);
	for (int i = 0; i < BROKEN; i++) {
		for (size_t j = 0; j < DEPTH; j++)
			stack[j] = where[i] + 0x1000 + 16 * j;
		add(getpid(), stack, DEPTH);
	}
	resolve();
	for (int i = 0; i <= BROKEN; i++)
		for (size_t j = 0; j < symbols__depth(symbols, i); j++)
			assert_int_equal(symbols__frame(symbols, i, j)->kind, SYMBOL_ELF);
	assert_int_equal(strlen(symbols__frame(symbols, 0, 0)->build_id), 40);
	for (int i = 0; i < BROKEN; i++)
		munmap((void *)where[i], (size_t)st.st_size);
}

static void hang(void)
{
	pause();
}

TEST(test_resolver_that_crashes_or_hangs_costs_only_names)
{
	static void (*const faults[])(void) = { abort, hang };
	struct program program;

	for (size_t i = 0; i < 2; i++) {
		confine = faults[i];
		limit_ms = 300;
		program = build_and_start("");
		note_and_end(&program);
		confine = NULL;
		limit_ms = 0;
		resolve_saying("1 files are broken, not ELF, or took too long");
		assert_frame(0, 1, "", "walker");
	}
}

TEST(test_devices_are_not_opened)
{
	uint64_t address;
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	address = map_code(fd, 4096);
	close(fd);
	begin(NULL);
	note(getpid());
	add(getpid(), &address, 1);
	resolve_saying("1 files could not be opened");
	munmap((void *)address, 4096);
}

TEST(test_addresses_without_room_are_counted)
{
	begin("missing");
	for (uint64_t i = 0; i < SLOTS + 10; i++)
		assert_int_equal(add(0, &i, 1), i);
	assert_int_equal(add(0, NULL, 0), SLOTS + 10);
	resolve();
	assert_has(why, "only 32768 addresses are named");
	assert_int_equal(symbols__frame(symbols, 77, 0)->address, 77);
	assert_int_equal(symbols__frame(symbols, SLOTS + 5, 0)->kind, SYMBOL_UNKNOWN);
}

TEST(test_collector_that_was_killed_is_an_error)
{
	const uint64_t address = 12;

	begin("missing");
	add(0, &address, 1);
	kill(symbols->collector, SIGKILL);
	assert_true(symbols__resolve(symbols, why) < 0);
	assert_has(why, "failed");
	assert_int_equal(symbols__frame(symbols, 0, 0)->address, 12);
}

static void ignore_closed_pipes(void)
{
	signal(SIGPIPE, SIG_IGN);
}

UNIT_FIXTURES(.each = { .tear_down = end_symbols }, .all = { ignore_closed_pipes })
