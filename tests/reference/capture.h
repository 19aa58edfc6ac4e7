/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The waits of tasks of one name by a clock of our own, without BPF and without latscope's code:
 * the scheduler's tracepoints as perf events, stamped by CLOCK_MONOTONIC, replayed afterwards.
 */
#ifndef LATSCOPE_TESTS_CAPTURE_H
#define LATSCOPE_TESTS_CAPTURE_H

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mount.h>

#include "reference.h"

#define CAPTURE_PAGES 4096 /* of the ring of each CPU */
#define CAPTURE_TASKS 4096 /* by TID, modulo */

enum capture_point { SWITCH, WAKEUP, WAKEUP_NEW, WAKING, CAPTURE_POINTS };

struct capture_event {
	uint64_t ns;
	enum capture_point point;
	bool queues; /* SWITCH: the task that leaves can go on */
	/* SWITCH: who leaves and who comes; else who wakes up. 0: a task of another name. */
	int pid, next;
};

struct capture_samples {
	uint64_t *ns;
	size_t count;
};

struct capture {
	int cpus;
	struct perf_event_mmap_page **rings;
	uint64_t *starts; /* by CPU: what is before in its ring is not wanted */
	int (*fds)[CAPTURE_POINTS];
	struct capture_event *events;
	size_t nr_events;
	const char *comm;
	struct capture_samples run_queue, wakeup;
};

static const char *const capture_names[] = { "sched_switch", "sched_wakeup", "sched_wakeup_new",
					     "sched_waking" };

#define TRACING "/sys/kernel/tracing"

static inline uint64_t capture_id(enum capture_point point)
{
	uint64_t id = 0;
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), TRACING "/events/sched/%s/id", capture_names[point]);
	if (access(path, R_OK))
		mount("tracefs", TRACING, "tracefs", 0, NULL);
	file = fopen(path, "re");
	reference_need(file && fscanf(file, "%lu", &id) == 1, "%s: cannot be read", path);
	fclose(file);
	return id;
}

static inline int capture_open_point(enum capture_point point, int cpu, const char *comm)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = capture_id(point),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
		.disabled = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = 1U << 31,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	char filter[128];

	reference_need(fd >= 0, "no perf event for %s: %m", capture_names[point]);
	snprintf(filter, sizeof(filter),
		 point == SWITCH ? "prev_comm == \"%s\" || next_comm == \"%s\"" : "comm == \"%s\"",
		 comm, comm);
	reference_need(!ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter), "no filter for %s: %m",
		       capture_names[point]);
	return fd;
}

static inline void capture_open_cpu(struct capture *capture, int cpu, const char *comm)
{
	int *fds = capture->fds[cpu];
	void *ring;

	for (int point = 0; point < CAPTURE_POINTS; point++)
		fds[point] = capture_open_point(point, cpu, comm);
	ring = mmap(NULL, (1 + CAPTURE_PAGES) * load__page(), PROT_READ | PROT_WRITE, MAP_SHARED,
		    fds[0], 0);
	reference_need(ring != MAP_FAILED, "no ring for perf events: %m");
	capture->rings[cpu] = ring;
	for (int point = 1; point < CAPTURE_POINTS; point++)
		reference_need(!ioctl(fds[point], PERF_EVENT_IOC_SET_OUTPUT, fds[0]),
			       "perf events do not share a ring");
}

#define CAPTURE_NAPS 5

/*
 * Some kernels lose the perf events of a task forever, of the idle task of one CPU for instance
 * (a recursion count that stays): each of these naps is two switches, one of which is its.
 */
static inline void capture_check_cpu(struct capture *capture, int cpu)
{
	int fd = capture->fds[cpu][SWITCH];
	uint64_t count = 0;

	if (load__pin(cpu))
		return;
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < CAPTURE_NAPS; i++)
		load__sleep(NSEC_PER_MSEC);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	reference_need(read(fd, &count, sizeof(count)) == sizeof(count) &&
			       count >= 2 * CAPTURE_NAPS,
		       "perf events miss switches on CPU %d", cpu);
	capture->starts[cpu] = capture->rings[cpu]->data_head;
}

static inline void capture_check(struct capture *capture)
{
	char name[16] = "";
	cpu_set_t may;

	sched_getaffinity(0, sizeof(may), &may);
	prctl(PR_GET_NAME, name);
	prctl(PR_SET_NAME, capture->comm);
	for (int cpu = 0; cpu < capture->cpus; cpu++)
		capture_check_cpu(capture, cpu);
	prctl(PR_SET_NAME, name);
	sched_setaffinity(0, sizeof(may), &may);
}

/* Tasks named `comm`, on all CPUs, which must be online. */
static inline void capture_open(struct capture *capture, const char *comm)
{
	capture->comm = comm;
	capture->cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	capture->starts = calloc(capture->cpus, sizeof(uint64_t));
	capture->rings = calloc(capture->cpus, sizeof(struct perf_event_mmap_page *));
	capture->fds = calloc(capture->cpus, sizeof(*capture->fds));
	for (int cpu = 0; cpu < capture->cpus; cpu++)
		capture_open_cpu(capture, cpu, comm);
	capture_check(capture);
}

static inline void capture_switch_on(struct capture *capture, bool on)
{
	for (int cpu = 0; cpu < capture->cpus; cpu++)
		for (int point = 0; point < CAPTURE_POINTS; point++)
			ioctl(capture->fds[cpu][point],
			      on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

struct capture_record {
	struct perf_event_header header;
	uint64_t ns;
	uint32_t size;
	char raw[128]; /* begins with the type */
} __attribute__((packed));

/* Where a field is, by the text in events/sched/NAME/format; a kernel for real time adds some. */
static inline size_t capture_field(enum capture_point point, const char *name)
{
	char path[128], line[256], *found;
	unsigned int offset = 0;
	FILE *file;

	snprintf(path, sizeof(path), TRACING "/events/sched/%s/format", capture_names[point]);
	file = fopen(path, "re");
	while (file && !offset && fgets(line, sizeof(line), file)) {
		found = strstr(line, name);
		if (found)
			sscanf(found + strlen(name), "offset:%u", &offset);
	}
	if (file)
		fclose(file);
	reference_need(offset && offset <= 100, "%s: no field %s", path, name);
	return offset;
}

struct capture_layout {
	uint16_t type;
	size_t comm, pid, state, next_comm, next_pid;
};

static inline void capture_learn(struct capture_layout *layout, enum capture_point point)
{
	layout->type = capture_id(point);
	if (point != SWITCH) {
		layout->comm = capture_field(point, " comm[16];\t");
		layout->pid = capture_field(point, " pid;\t");
		return;
	}
	layout->comm = capture_field(point, " prev_comm[16];\t");
	layout->pid = capture_field(point, " prev_pid;\t");
	layout->state = capture_field(point, " prev_state;\t");
	layout->next_comm = capture_field(point, " next_comm[16];\t");
	layout->next_pid = capture_field(point, " next_pid;\t");
}

/* The TID there, if the name is that wanted, else 0. */
static inline int capture_pid(const struct capture *capture, const char *raw, size_t comm,
			      size_t pid)
{
	int tid;

	memcpy(&tid, raw + pid, sizeof(tid));
	return strcmp(raw + comm, capture->comm) ? 0 : tid;
}

static inline void capture_add(struct capture *capture, const struct capture_record *record,
			       const struct capture_layout *layouts)
{
	struct capture_event *event = &capture->events[capture->nr_events];
	const struct capture_layout *layout = layouts;
	uint16_t type;
	int64_t state;

	reference_must(record->header.type != PERF_RECORD_LOST, "the ring of perf events was full");
	if (record->header.type != PERF_RECORD_SAMPLE)
		return;
	memcpy(&type, record->raw, sizeof(type));
	while (layout->type != type)
		reference_must(++layout != layouts + CAPTURE_POINTS, "an event of another kind");
	event->ns = record->ns;
	event->point = layout - layouts;
	event->pid = capture_pid(capture, record->raw, layout->comm, layout->pid);
	if (event->point == SWITCH) {
		memcpy(&state, record->raw + layout->state, sizeof(state));
		event->queues = !state || state & 0x100; /* TASK_REPORT_MAX: it was preempted */
		event->next =
			capture_pid(capture, record->raw, layout->next_comm, layout->next_pid);
	}
	capture->nr_events++;
}

static inline void capture_drain(struct capture *capture, int cpu,
				 const struct capture_layout *layouts)
{
	struct perf_event_mmap_page *ring = capture->rings[cpu];
	size_t page = load__page(), size = CAPTURE_PAGES * page;
	const char *data = (const char *)ring + page;
	uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
	struct capture_record record;
	size_t most = head / sizeof(struct perf_event_header) + 1;

	capture->events = realloc(capture->events,
				  (capture->nr_events + most) * sizeof(struct capture_event));
	reference_must(capture->events, "out of memory");
	memset(capture->events + capture->nr_events, 0, most * sizeof(struct capture_event));
	for (uint64_t at = capture->starts[cpu]; at < head; at += record.header.size) {
		for (size_t i = 0; i < sizeof(record); i++)
			((char *)&record)[i] = data[(at + i) % size];
		capture_add(capture, &record, layouts);
	}
}

static inline int capture_by_time(const void *a, const void *b)
{
	uint64_t left = ((const struct capture_event *)a)->ns;
	uint64_t right = ((const struct capture_event *)b)->ns;

	return left < right ? -1 : left > right;
}

struct capture_task {
	uint64_t start, request;
	bool runs, waits;
};

static inline void capture_end(struct capture_samples *samples, uint64_t *start, uint64_t now)
{
	if (*start)
		samples->ns[samples->count++] = now - *start;
	*start = 0;
}

/* Computes the metrics of runqlat from these events alone. */
static inline void capture_replay_one(struct capture *capture, struct capture_task *tasks,
				      const struct capture_event *event)
{
	struct capture_task *task = &tasks[event->pid % CAPTURE_TASKS];
	struct capture_task *next = &tasks[event->next % CAPTURE_TASKS];

	switch (event->point) {
	case SWITCH:
		task->runs = false;
		task->start = event->queues ? event->ns : 0;
		if (event->queues)
			task->request = 0;
		next->runs = true;
		if (event->next) {
			capture_end(&capture->run_queue, &next->start, event->ns);
			capture_end(&capture->wakeup, &next->request, event->ns);
		}
		break;
	case WAKEUP:
	case WAKEUP_NEW:
		if (!task->runs && !task->start)
			task->start = event->ns;
		break;
	default:
		if (!task->start)
			task->request = event->ns;
	}
}

static inline void capture_replay(struct capture *capture)
{
	struct capture_task *tasks = calloc(CAPTURE_TASKS, sizeof(*tasks));
	struct capture_layout layouts[CAPTURE_POINTS];

	for (int point = 0; point < CAPTURE_POINTS; point++)
		capture_learn(&layouts[point], point);
	for (int cpu = 0; cpu < capture->cpus; cpu++)
		capture_drain(capture, cpu, layouts);
	qsort(capture->events, capture->nr_events, sizeof(*capture->events), capture_by_time);
	capture->run_queue.ns = calloc(capture->nr_events + 1, sizeof(uint64_t));
	capture->wakeup.ns = calloc(capture->nr_events + 1, sizeof(uint64_t));
	reference_must(tasks && capture->run_queue.ns && capture->wakeup.ns, "out of memory");
	for (size_t i = 0; i < capture->nr_events; i++)
		capture_replay_one(capture, tasks, &capture->events[i]);
	free(tasks);
}

/* NAME_count=, NAME_sum_ns= and the deciles NAME_10= to NAME_90= in ns. */
static inline void capture_print(const char *name, struct capture_samples *samples)
{
	uint64_t sum = 0;

	qsort(samples->ns, samples->count, sizeof(uint64_t), reference_by_number);
	for (size_t i = 0; i < samples->count; i++)
		sum += samples->ns[i];
	printf("%s_count=%zu %s_sum_ns=%lu", name, samples->count, name, sum);
	for (int tenths = 1; samples->count && tenths < 10; tenths++)
		printf(" %s_%d0=%lu", name, tenths, samples->ns[samples->count * tenths / 10]);
	putchar('\n');
}

#endif
