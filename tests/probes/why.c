// SPDX-License-Identifier: BSD-2-Clause
/*
 * why METHOD OVER_US CMD [ARG...]: memlat with the parts of slow faults, of the process CMD alone.
 * CMD is a program of tests/reference with -w, and only its work counts; of another command, all
 * does. Prints a line for each slow fault, with the functions of its kernel stack, one for each
 * pair, and the sums; on stderr what CMD prints.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include <latscope/why.h>
#include <probes/kit/bpf_open.h>
#include <probes/kit/opening.h>
#include <probes/memlat/types.h>

static const char *const parts[] = { "unknown", "cpu",	   "runnable",	 "io",
				     "blocked", "reclaim", "compaction", "mmap_lock" };

struct symbol {
	uint64_t address;
	char name[64];
};

static struct symbol *symbols;
static size_t nr_symbols;

static void die(const char *what, int err)
{
	fprintf(stderr, "why: %s: %s\n", what, strerror(-err));
	exit(1);
}

static int by_address(const void *a, const void *b)
{
	uint64_t left = ((const struct symbol *)a)->address;
	uint64_t right = ((const struct symbol *)b)->address;

	return left < right ? -1 : left > right;
}

static void read_symbols(void)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	size_t max = 1 << 18;
	char type;

	symbols = calloc(max, sizeof(*symbols));
	while (file && nr_symbols < max &&
	       fscanf(file, "%lx %c %63s%*[^\n]", &symbols[nr_symbols].address, &type,
		      symbols[nr_symbols].name) == 3)
		nr_symbols++;
	if (file)
		fclose(file);
	qsort(symbols, nr_symbols, sizeof(*symbols), by_address);
}

static const char *symbol_of(uint64_t address)
{
	size_t low = 0, high = nr_symbols;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? symbols[low - 1].name : "?";
}

static void print_parts(const __u64 *part_ns)
{
	uint64_t sum = 0;

	for (int i = 0; i < WHY_MEMLAT_PARTS; i++) {
		printf(" %s=%llu", parts[i], part_ns[i]);
		sum += part_ns[i];
	}
	printf(" sum=%lu", sum);
}

static int print_event(void *context, void *data, size_t size)
{
	const struct why_event *event = data;

	(void)context;
	(void)size;
	printf("event ns=%llu", event->ns);
	print_parts(event->part_ns);
	printf(" tid=%u comm=%s cpu=%u disk=%u culprit_ns=%llu user=%d kernel=%d code=%llx stack=",
	       event->tid, event->comm, event->cpu, event->disk, event->culprits[0].ns,
	       event->user_size, event->kernel_size,
	       event->user_size > 0 ? event->user_stack[0] : 0);
	for (int i = 0; i < event->kernel_size / 8; i++)
		printf("%s;", symbol_of(event->kernel_stack[i]));
	printf("\n");
	return 0;
}

static void print_pairs(const struct why_pair *pairs)
{
	for (int i = 0; i < WHY_PLACES; i++)
		if (pairs[i].amount.ns)
			printf("pair victim=%llu victim_comm=%s culprit=%llu "
			       "part=%s ns=%llu count=%llu\n",
			       pairs[i].victim.id, pairs[i].victim.comm, pairs[i].culprit.id,
			       parts[pairs[i].part], pairs[i].amount.ns, pairs[i].amount.count);
}

static void print_cells(const struct why_cell *cells, int cpus)
{
	struct why_cell sum = { 0 };

	for (int cpu = 0; cpu < cpus; cpu++) {
		sum.slow += cells[cpu].slow;
		sum.slow_ns += cells[cpu].slow_ns;
		sum.sent += cells[cpu].sent;
		sum.dropped += cells[cpu].dropped;
		for (int i = 0; i < WHY_PARTS; i++)
			sum.part_ns[i] += cells[cpu].part_ns[i];
	}
	printf("total slow=%llu sent=%llu dropped=%llu ns=%llu", sum.slow, sum.sent, sum.dropped,
	       sum.slow_ns);
	print_parts(sum.part_ns);
	printf("\n");
}

static void *map_of(const struct bpf_probe *probe, const char *name, size_t entries)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(probe->obj, name);
	size_t size = bpf_map__value_size(map) * entries;
	void *at = mmap(NULL, size, PROT_READ, MAP_SHARED, bpf_map__fd(map), 0);

	if (at == MAP_FAILED)
		die(name, -errno);
	return at;
}

/* What passes between this process and the command. */
struct child {
	pid_t pid;
	FILE *out;
	int in;
};

static void exec_child(char **argv, int in, int out)
{
	char byte;

	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	if (read(STDIN_FILENO, &byte, 1) != 1)
		exit(1);
	execvp(argv[0], argv);
	die(argv[0], -errno);
}

/* It executes the command when a byte comes. */
static void prepare_child(struct child *child, char **argv)
{
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		die("pipe", -errno);
	child->pid = fork();
	if (!child->pid)
		exec_child(argv, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	child->in = in[1];
	child->out = fdopen(out[0], "r");
}

static void go_on(const struct child *child)
{
	if (write(child->in, "\n", 1) != 1)
		die("write", -errno);
}

/* For a script that compares with tracepoints. */
static void mark(const char *text)
{
	int fd = open("/sys/kernel/tracing/trace_marker", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0 && errno != EBADF) /* EBADF: tracing is off */
		die("trace_marker", -errno);
	close(fd);
}

static void explain_over(volatile struct why_control *control, uint64_t ns)
{
	control->event_ns = control->over_ns = control->least_ns = ns;
}

/* Nothing is slow outside of the work. */
static int watch(const struct child *child, struct bpf_probe *probe, uint64_t over_ns, bool waits)
{
	volatile struct why_control *control = probe->why_control;
	char line[256];
	int status;

	explain_over(control, waits ? UINT64_MAX : over_ns);
	probe->control->armed = 1;
	go_on(child);
	while (fgets(line, sizeof(line), child->out)) {
		fputs(line, stderr);
		if (strcmp(line, "ready=1\n") && strcmp(line, "done=1\n"))
			continue;
		explain_over(control, line[0] == 'r' ? over_ns : UINT64_MAX);
		mark(line[0] == 'r' ? "why: ready" : "why: done");
		go_on(child);
	}
	waitpid(child->pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void print_all(const struct bpf_probe *probe)
{
	const struct bpf_map *events = bpf_object__find_map_by_name(probe->obj, "why_events");
	struct ring_buffer *ring = ring_buffer__new(bpf_map__fd(events), print_event, NULL, NULL);

	if (!ring)
		die("ring_buffer", -errno);
	ring_buffer__consume(ring);
	ring_buffer__free(ring);
	print_pairs(map_of(probe, "why_pairs", WHY_PLACES));
	print_cells(map_of(probe, "why_cells", probe->cpus), probe->cpus);
}

int main(int argc, char **argv)
{
	struct lat_config config = { .tail_ns = UINT64_MAX, .why = 1 + LAT_BY_PROCESS, .rows = 1 };
	struct why_request why = { .over_ns = UINT64_MAX, .events = 4096 };
	struct opening opening = { .ops = probe__find("memlat"),
				   .request = { .config = &config, .why = &why } };
	char left[RUN_TEXT];
	struct probe *probe;
	struct child child;
	int status;

	if (argc < 4)
		return 2;
	read_symbols();
	opening.request.method = argv[1];
	prepare_child(&child, argv + 3);
	config.tgid = child.pid;
	opening__all(&opening, 1);
	if (opening.err) {
		fprintf(stderr, "why: %s\n", opening.why);
		kill(child.pid, SIGKILL);
		return 77;
	}
	probe = opening.probe;
	status = watch(&child, bpf_probe(probe), strtoull(argv[2], NULL, 10) * 1000,
		       argc > 4 && !strcmp(argv[4], "-w"));
	print_all(bpf_probe(probe));
	bpf_probe__close(probe, left);
	return status;
}
