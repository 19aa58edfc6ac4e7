// SPDX-License-Identifier: BSD-2-Clause
/*
 * Proves from a trace what the module rmid promises, knowing nothing of how it does it: see
 * usage(). Which processes live, it learns from the kernel's own events: task_newtask makes a
 * thread, the switch away from a dead task ends one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define CLONE_THREAD 0x10000
#define MAX_TID (1 << 22)
#define MAX_RMID 1024
#define MAX_CPU 64
#define PQR_ASSOC 0xc8f

struct process {
	uint64_t start_ns;
	uint32_t tgid;
	uint32_t threads; /* alive, by the kernel's events */
	uint32_t rmid;
	bool whole; /* all of its life is in the trace */
	uint32_t last; /* the thread that died last */
	bool leaving; /* its last thread is in the switch that ends it */
	uint32_t late; /* others that must have been in theirs when its RMID was freed */
	uint32_t freer; /* the thread in whose switch that was, and the line */
	uint64_t freed_line;
};

struct id {
	uint32_t owner; /* index of a process, 0: none */
	uint32_t before; /* of the owner before */
	uint64_t freed_ns;
	bool freed; /* in this trace */
};

struct cpu {
	uint64_t pqr;
	bool pqr_known;
	uint64_t sampled_ns; /* 0: not yet */
	uint32_t running; /* the thread that was switched to last, by the PID it had then */
	uint32_t leaver; /* the thread whose switch must be the next one here; 0: any may */
	uint64_t line; /* the one before, of this CPU */
};

enum property { ORDER, UNIQUE, LIMBO, FIFO, LAST, LEAK, PQR, ZERO, SAMPLES, PROPERTIES };

static const char *const names[] = { "order", "unique", "limbo", "fifo",   "last",
				     "leak",  "pqr",	"zero",	 "samples" };

static struct process *processes; /* the first is nobody */
static uint32_t process_count = 1;
static uint32_t by_tid[MAX_TID]; /* living threads */
static uint32_t ghosts[MAX_TID]; /* whose thread had this number, and is yet to die */
static uint32_t graves[MAX_TID]; /* whose thread died last under this number */
static uint32_t by_tgid[MAX_TID]; /* whoever had it last */
static struct id ids[MAX_RMID];
static uint32_t queue[MAX_RMID]; /* freed in this trace, a ring */
static uint32_t queue_head, queue_length;
static uint32_t unknown_free; /* RMIDs that are free since before the trace, at most */
static struct cpu cpus[MAX_CPU];
static uint64_t limbo_ns, next_seq, last_ns, pids_reused;
static bool seq_known, dumped; /* the latter: it is known who was there before the trace */
static uint64_t judged[PROPERTIES], broken[PROPERTIES];
static enum property asked;

/* One line of the trace. */
struct line {
	const char *text; /* what follows the name of the event */
	char event[32];
	uint32_t pid; /* who was running */
	uint32_t cpu;
	uint64_t number;
};

static void judge(enum property property, bool good, const struct line *line, const char *format,
		  ...)
{
	va_list args;

	judged[property]++;
	if (good)
		return;
	if (broken[property]++ >= 10 || property != asked)
		return;
	va_start(args, format);
	printf("line %" PRIu64 ": ", line ? line->number : 0);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
}

/* The number after " name=", or at the beginning of the text. */
static uint64_t field_base(const struct line *line, const char *name, int base)
{
	size_t length = strlen(name);
	const char *at = line->text;

	while ((at = strstr(at, name))) {
		if ((at == line->text || at[-1] == ' ') && at[length] == '=')
			return strtoull(at + length + 1, NULL, base);
		at++;
	}
	fprintf(stderr, "line %" PRIu64 ": no %s in: %s\n", line->number, name, line->text);
	exit(2);
}

static uint64_t field(const struct line *line, const char *name)
{
	return field_base(line, name, 10);
}

static bool has(const struct line *line, const char *what)
{
	return strstr(line->text, what) != NULL;
}

static uint32_t tid_field(const struct line *line, const char *name)
{
	return field(line, name) % MAX_TID;
}

static uint32_t add_process(uint32_t tgid, uint32_t threads, bool whole)
{
	if (process_count % 4096 == 1) {
		processes = realloc(processes, (process_count + 4096) * sizeof(*processes));
		if (!processes)
			exit(2);
		processes[0] = (struct process){ 0 };
	}
	pids_reused += by_tgid[tgid] != 0;
	processes[process_count] =
		(struct process){ .tgid = tgid, .threads = threads, .whole = whole };
	by_tgid[tgid] = process_count;
	by_tid[tgid] = process_count;
	return process_count++;
}

static void on_newtask(const struct line *line)
{
	uint32_t pid = tid_field(line, "pid"), parent = by_tid[line->pid];

	/* A parent may reap a task before its last switch. Then its PID may be used again. */
	ghosts[pid] = processes[by_tid[pid]].threads ? by_tid[pid] : 0;
	graves[pid] = 0;
	if (!(field_base(line, "clone_flags", 16) & CLONE_THREAD)) {
		add_process(pid, 1, true);
		return;
	}
	by_tid[pid] = parent;
	processes[parent].threads += parent != 0;
}

/* The process whose thread dies next under this number. */
static uint32_t dies_next(uint32_t tid)
{
	return ghosts[tid] ? ghosts[tid] : by_tid[tid];
}

/*
 * Its RMID was freed while it was alive, by the trace. That is right if it was within its last
 * switch, of which the trace tells a moment later, or much later if the CPU stood still: then the
 * CPU has told of nothing since.
 */
static void judge_late(const struct line *line, uint32_t tid)
{
	struct process *process = &processes[dies_next(tid)];

	if (!process->late || tid == process->freer)
		return;
	judge(LAST, cpus[line->cpu % MAX_CPU].line < process->freed_line, line,
	      "task %u went on, though the RMID of all its process was freed", tid);
	process->late--;
}

/*
 * A task that has exited was switched away from. The event does not tell the last time from one
 * where it slept on its way: then it comes back, and a second time counts for nothing.
 */
static void on_dead(uint32_t tid)
{
	uint32_t who = dies_next(tid);

	if (!who)
		return;
	if (ghosts[tid]) {
		ghosts[tid] = 0;
	} else {
		by_tid[tid] = 0;
		graves[tid] = who;
	}
	processes[who].last = tid;
	processes[who].threads--;
}

static void revive(uint32_t tid)
{
	uint32_t who = graves[tid];

	if (!who)
		return;
	graves[tid] = 0;
	by_tid[tid] = who;
	processes[who].threads++;
}

static bool is_dead_switch(const struct line *line)
{
	return has(line, "prev_state=X") || has(line, "prev_state=Z");
}

/*
 * Whoever has its RMID freed is within its last switch, of which the trace tells a moment later. So
 * the CPU's next switch is this one, and once another task has the CPU it is over.
 */
static void watch_leaver(const struct line *line)
{
	struct cpu *cpu = &cpus[line->cpu % MAX_CPU];

	if (!cpu->leaver)
		return;
	if (!strcmp(line->event, "sched_switch"))
		judge(LAST, tid_field(line, "prev_pid") == cpu->leaver && is_dead_switch(line),
		      line, "task %u goes on, though the RMID of all its process is freed",
		      cpu->leaver);
	else if (line->pid == cpu->leaver)
		return;
	processes[dies_next(cpu->leaver)].leaving = false;
	cpu->leaver = 0;
}

/*
 * The thread that called exec has the PID of the leader, which has ended or is about to end. Who is
 * switched to under that PID from now on is not the leader, come back.
 */
static void rename_thread(uint32_t pid, uint32_t old)
{
	uint32_t who = by_tgid[pid];

	by_tid[old] = by_tid[pid] && by_tid[old] ? who : 0;
	by_tid[pid] = who;
	graves[pid] = 0;
}

static void on_switch(const struct line *line)
{
	struct cpu *cpu = &cpus[line->cpu % MAX_CPU];
	uint32_t next = tid_field(line, "next_pid"), prev = tid_field(line, "prev_pid"), rmid;

	/* It may be preempted under its new PID before the event of the exec. */
	if (graves[prev] && prev != cpu->running && graves[prev] == by_tid[cpu->running])
		rename_thread(prev, cpu->running);
	cpu->running = next;
	revive(next);
	rmid = processes[by_tid[next]].rmid;
	if (cpu->pqr_known && dumped)
		judge(PQR, cpu->pqr == rmid, line, "RMID %u runs while PQR_ASSOC is %#" PRIx64,
		      rmid, cpu->pqr);
	if (is_dead_switch(line)) {
		judge_late(line, prev);
		on_dead(prev);
	}
}

static void on_exec(const struct line *line)
{
	uint32_t pid = tid_field(line, "pid"), old = tid_field(line, "old_pid");

	if (pid != old && by_tgid[pid])
		rename_thread(pid, old);
}

static void on_write_msr(const struct line *line)
{
	const char *value = strstr(line->text, "value ");
	struct cpu *cpu = &cpus[line->cpu % MAX_CPU];

	if (strtoul(line->text, NULL, 16) != PQR_ASSOC || !value)
		return;
	cpu->pqr = strtoull(value + 6, NULL, 16);
	cpu->pqr_known = true;
}

static void on_sample(const struct line *line)
{
	struct cpu *cpu = &cpus[line->cpu % MAX_CPU];
	uint64_t time_ns = field(line, "time_ns"), since_ns = field(line, "since_ns");
	uint32_t rmid = field(line, "rmid") % MAX_RMID;

	judge(SAMPLES, field(line, "cpu") == line->cpu, line, "a sample of another CPU");
	judge(SAMPLES, since_ns <= time_ns, line, "a sample that ends before it begins");
	if (cpu->sampled_ns)
		judge(SAMPLES, since_ns == cpu->sampled_ns, line,
		      "begins at %" PRIu64 ", the one before ended at %" PRIu64, since_ns,
		      cpu->sampled_ns);
	judge(SAMPLES, (rmid != 0) == has(line, "kind=process"), line, "RMID %u of another kind",
	      rmid);
	if (cpu->pqr_known)
		judge(SAMPLES, cpu->pqr == rmid, line, "RMID %u, while PQR_ASSOC is %#" PRIx64,
		      rmid, cpu->pqr);
	cpu->sampled_ns = time_ns;
}

/* The common part of alloc, free and existing. */
static void take_owner_record(const struct line *line)
{
	uint64_t seq = field(line, "seq"), time_ns = field(line, "time_ns");

	if (seq_known)
		judge(ORDER, seq == next_seq, line, "record %" PRIu64 ", expected %" PRIu64, seq,
		      next_seq);
	judge(ORDER, time_ns >= last_ns, line, "the time went back");
	judge(ORDER, field(line, "rmid") > 0 && field(line, "rmid") < MAX_RMID, line, "no RMID");
	seq_known = true;
	next_seq = seq + 1;
	last_ns = time_ns;
}

static void judge_fifo(const struct line *line, uint32_t rmid)
{
	if (!ids[rmid].freed) {
		judge(FIFO, unknown_free > 0, line, "RMID %u was not free", rmid);
		unknown_free -= unknown_free > 0;
		return;
	}
	judge(FIFO, queue_length && queue[queue_head] == rmid, line,
	      "RMID %u is given out, %u has been free for longer", rmid, queue[queue_head]);
	queue_head = (queue_head + 1) % MAX_RMID;
	queue_length -= queue_length > 0;
}

static bool lives(const struct process *process)
{
	return process->whole && process->threads > process->leaving + process->late;
}

static void on_alloc(const struct line *line)
{
	uint32_t rmid = field(line, "rmid") % MAX_RMID, tgid = tid_field(line, "tgid");
	uint64_t time_ns = field(line, "time_ns");
	struct id *id = &ids[rmid];
	uint32_t who = by_tgid[tgid] ? by_tgid[tgid] : add_process(tgid, 1, false);

	take_owner_record(line);
	judge(UNIQUE, !id->owner, line, "RMID %u of %u goes to %u", rmid, processes[id->owner].tgid,
	      tgid);
	if (id->before)
		judge(UNIQUE, !lives(&processes[id->before]), line,
		      "RMID %u goes to %u, while %u lives", rmid, tgid, processes[id->before].tgid);
	judge(UNIQUE, processes[who].rmid == 0, line, "%u has an RMID already", tgid);
	if (id->freed)
		judge(LIMBO, time_ns - id->freed_ns >= limbo_ns, line,
		      "RMID %u after %" PRIu64 " ns", rmid, time_ns - id->freed_ns);
	judge_fifo(line, rmid);
	id->owner = who;
	id->freed = false;
	processes[who].rmid = rmid;
	processes[who].start_ns = field(line, "start_ns");
}

static bool is_its_owner(const struct line *line, const struct process *process)
{
	return process->tgid == field(line, "tgid") && process->start_ns == field(line, "start_ns");
}

static void on_free(const struct line *line)
{
	uint32_t rmid = field(line, "rmid") % MAX_RMID;
	struct id *id = &ids[rmid];
	struct process *process = &processes[id->owner];

	take_owner_record(line);
	judge(ORDER, id->owner && is_its_owner(line, process), line,
	      "RMID %u is freed by a stranger", rmid);
	if (process->whole && process->threads) {
		judge(LAST, dies_next(line->pid) == id->owner, line,
		      "RMID %u is freed by task %u, while %u has %u threads", rmid, line->pid,
		      process->tgid, process->threads);
		process->leaving = true;
		process->late = process->threads - 1;
		process->freer = line->pid;
		process->freed_line = line->number;
		cpus[line->cpu % MAX_CPU].leaver = line->pid;
	} else if (process->whole)
		judge(LAST, process->last == line->pid, line, "RMID %u is freed after its time",
		      rmid);
	process->rmid = 0;
	*id = (struct id){ .before = id->owner, .freed = true, .freed_ns = field(line, "time_ns") };
	queue[(queue_head + queue_length) % MAX_RMID] = rmid;
	queue_length++;
}

/* The first ones tell who was there before the trace. */
static void on_existing(const struct line *line)
{
	uint32_t rmid = field(line, "rmid") % MAX_RMID, tgid = tid_field(line, "tgid");
	struct id *id = &ids[rmid];

	take_owner_record(line);
	if (!id->owner && !id->freed) {
		id->owner = by_tgid[tgid] ? by_tgid[tgid]
					  : add_process(tgid, field(line, "threads"), false);
		processes[id->owner].rmid = rmid;
		processes[id->owner].start_ns = field(line, "start_ns");
		unknown_free -= unknown_free > 0;
	}
	judge(ORDER, is_its_owner(line, &processes[id->owner]), line, "RMID %u has another owner",
	      rmid);
}

static void on_mark(const struct line *line)
{
	dumped = dumped || has(line, "dumped");
}

static const struct {
	const char *event;
	void (*take)(const struct line *);
} events[] = {
	{ "tracing_mark_write", on_mark }, { "task_newtask", on_newtask },
	{ "sched_switch", on_switch },	   { "sched_process_exec", on_exec },
	{ "write_msr", on_write_msr },	   { "rmid_sample", on_sample },
	{ "rmid_alloc", on_alloc },	   { "rmid_free", on_free },
	{ "rmid_existing", on_existing },
};

/* "  comm-PID  [CPU] flags  TIME: EVENT: text"; false: not an event. */
static bool parse(char *raw, struct line *line)
{
	char *bracket = raw, *colon, *end;

	/* The name of a task may have brackets, too; that of the CPU is three digits in them. */
	while ((bracket = strstr(bracket, " [")) && (strspn(bracket + 2, "0123456789") < 3))
		bracket++;
	if (!bracket)
		return false;
	line->cpu = strtoul(bracket + 2, NULL, 10);
	end = bracket;
	while (end > raw && end[-1] == ' ')
		end--;
	while (end > raw && end[-1] >= '0' && end[-1] <= '9')
		end--;
	line->pid = strtoul(end, NULL, 10) % MAX_TID;
	colon = strstr(bracket, ": ");
	end = colon ? strstr(colon + 2, ": ") : NULL;
	if (!end || (size_t)(end - colon - 2) >= sizeof(line->event))
		return false;
	*end = '\0';
	strcpy(line->event, colon + 2);
	line->text = end + 2;
	return true;
}

static void take(const struct line *line)
{
	watch_leaver(line);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (!strcmp(events[i].event, line->event))
			events[i].take(line);
	cpus[line->cpu % MAX_CPU].line = line->number;
}

static int read_trace(const char *path)
{
	FILE *stream = fopen(path, "r");
	struct line line = { 0 };
	char *raw = NULL;
	size_t size = 0;

	if (!stream) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return -1;
	}
	while (getline(&raw, &size, stream) > 0) {
		line.number++;
		raw[strcspn(raw, "\n")] = '\0';
		if (raw[0] != '#' && parse(raw, &line))
			take(&line);
		else if (strstr(raw, "LOST"))
			judge(ORDER, false, &line, "the trace lost events");
	}
	free(raw);
	fclose(stream);
	return 0;
}

/* On which a switch may be under way of which the trace, that has ended, cannot tell. */
static uint32_t cpus_silent_since(uint64_t line)
{
	uint32_t count = 0;

	for (uint32_t cpu = 0; cpu < MAX_CPU; cpu++)
		count += cpus[cpu].line && cpus[cpu].line < line;
	return count;
}

/* Judges the state at the end of the trace. */
static void judge_end(void)
{
	for (uint32_t i = 1; i < process_count; i++) {
		if (!processes[i].whole)
			continue;
		if (processes[i].late)
			judge(LAST, processes[i].late <= cpus_silent_since(processes[i].freed_line),
			      NULL, "process %u had its RMID freed, and %u threads live on",
			      processes[i].tgid, processes[i].late);
		judge(LEAK, processes[i].threads || !processes[i].rmid, NULL,
		      "process %u is over and has RMID %u", processes[i].tgid, processes[i].rmid);
	}
	for (uint32_t rmid = 1; rmid < MAX_RMID; rmid++)
		if (ids[rmid].owner)
			judge(LEAK, processes[ids[rmid].owner].rmid == rmid, NULL,
			      "RMID %u belongs to %u, which has %u", rmid,
			      processes[ids[rmid].owner].tgid, processes[ids[rmid].owner].rmid);
	for (uint32_t cpu = 0; cpu < MAX_CPU; cpu++)
		if (cpus[cpu].pqr_known)
			judge(ZERO, cpus[cpu].pqr == 0, NULL, "CPU %u is left with %#" PRIx64, cpu,
			      cpus[cpu].pqr);
	judge(ORDER, dumped, NULL, "nobody told who was there already");
}

static int usage(void)
{
	fputs("usage: check live | busy\n"
	      "       check trace FILE RMIDS LIMBO_NS PROPERTY\n"
	      "`live` holds /proc/latscope_rmid against /proc: the same processes, as old, with\n"
	      "as many threads. `busy`: whoever was there before and after is in it.\n"
	      "`trace` judges one property of a trace (text, of tracefs):\n"
	      "  order    records are numbered without a gap, times rise, owners stay\n"
	      "  unique   no RMID has two living processes, no process two RMIDs\n"
	      "  limbo    LIMBO_NS lie between free and reuse\n"
	      "  fifo     who was freed first is reused first\n"
	      "  last     an RMID is freed as the last thread is switched out for good\n"
	      "  leak     at the end, no process that is over has an RMID\n"
	      "  pqr      at each switch, PQR_ASSOC holds the RMID of what runs next\n"
	      "  zero     PQR_ASSOC is 0 on every CPU at the end\n"
	      "  samples  of a CPU join without a gap, and are of the RMID in PQR_ASSOC\n"
	      "Exit status: 0 it holds; 1 it does not, or there was nothing to judge; 2 usage.\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "live"))
		return check_live();
	if (argc == 2 && !strcmp(argv[1], "busy"))
		return check_busy();
	if (argc != 6 || strcmp(argv[1], "trace") != 0)
		return usage();
	while (asked < PROPERTIES && strcmp(names[asked], argv[5]) != 0)
		asked++;
	if (asked == PROPERTIES)
		return usage();
	processes = calloc(1, sizeof(*processes));
	unknown_free = strtoul(argv[3], NULL, 10);
	limbo_ns = strtoull(argv[4], NULL, 10);
	if (!processes || read_trace(argv[2]))
		return 2;
	judge_end();
	printf("%s: judged %" PRIu64 ", broken %" PRIu64 "; %u processes, %" PRIu64
	       " PIDs reused\n",
	       names[asked], judged[asked], broken[asked], process_count - 1, pids_reused);
	free(processes);
	return broken[asked] || !judged[asked];
}
