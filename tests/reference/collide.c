// SPDX-License-Identifier: BSD-2-Clause
/*
 * collide CPU ROUNDS NAMED: in each round, a process "victim" waits for the CPU. Meanwhile a
 * process "stayer" has it, and then 24 short processes, one after the other, whose IDs are the same
 * modulo 1024. Those of the first NAMED rounds are called "c" and their ID, the others "collide".
 * Before each of the other rounds, two processes whose IDs are the same modulo 1024 take turns
 * 8,400 times: so many tasks that are not looked up again.
 *
 * Prints stayer_pid=, two_pid= of each of these two, which the victim never waits for, and
 * short_pid= of each short process with a name of its own. Exit codes as in reference.h.
 */
#include "reference.h"

#define SHORT 24
#define ALIKE 1024
#define MOST_IDS 32767 /* on all machines */
#define TURN_NS (NSEC_PER_MSEC / 10)
#define TURNS 4200 /* of each of two processes */

static struct pingpong victim, stayer, first_of_two, second_of_two;

static void must(int err, const char *what)
{
	reference_must(!err, "%s: %s", what, strerror(-err));
}

static void set_priority(int policy, int priority)
{
	const struct sched_param param = { .sched_priority = priority };

	reference_need(!sched_setscheduler(0, policy, &param), "cannot set the priority: %m");
}

static _Noreturn void live_short(pid_t pid, bool named)
{
	char name[16];

	snprintf(name, sizeof(name), "c%d", pid);
	if (named)
		prctl(PR_SET_NAME, name);
	load__spin(TURN_NS);
	_exit(0);
}

/* IDs that others have are left out. Returns how many there are. */
static int make_short(pid_t *pids, pid_t first, bool named)
{
	int made = 0;
	pid_t got;

	for (pid_t pid = first; pid <= MOST_IDS && made < SHORT; pid += ALIKE) {
		got = reference_fork_as(pid);
		if (!got)
			live_short(pid, named);
		if (got > 0)
			pids[made++] = got;
	}
	return made;
}

/* Until it waits for a message. A victim that waits for the CPU would wait for the two as well. */
static void wait_until_asleep(pid_t pid)
{
	char path[32], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	while (state != 'S') {
		load__sleep(NSEC_PER_MSEC);
		file = fopen(path, "re");
		if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			reference_die(REFERENCE_FAILED, "cannot read %s", path);
		fclose(file);
	}
}

static void take_turns(void)
{
	for (int i = 0; i < TURNS; i++) {
		must(pingpong__send(&second_of_two, true), "second");
		must(pingpong__receive(&second_of_two, true), "second");
	}
}

static void spin(void)
{
	load__spin(TURN_NS);
}

static void do_nothing(void)
{
}

/* A process that does something for each message, and then answers. */
static _Noreturn void serve(const char *name, const struct pingpong *pair, void (*work)(void))
{
	for (;;) {
		must(pingpong__receive(pair, false), name);
		work();
		must(pingpong__send(pair, false), name);
	}
}

static pid_t start(const char *name, const struct pingpong *pair, int policy, int priority)
{
	pid_t pid = reference_fork();

	if (pid)
		return pid;
	prctl(PR_SET_NAME, name);
	set_priority(policy, priority);
	serve(name, pair, spin);
}

/* Two with such IDs from `first` on. */
static void start_two(pid_t *pids, pid_t first)
{
	int made = 0;

	for (pid_t pid = first; pid <= MOST_IDS && made < 2; pid += ALIKE) {
		pid_t got = reference_fork_as(pid);

		if (!got && made)
			serve("second", &second_of_two, do_nothing);
		if (!got)
			serve("first", &first_of_two, take_turns);
		if (got > 0)
			printf("two_pid=%d\n", pids[made++] = got);
	}
	reference_need(made >= 2, "there are no free process IDs");
}

/*
 * The parent, the stayer and the short processes have the same real-time priority: they run in the
 * order in which they became runnable, and the victim after all of them.
 */
static void take_round(pid_t waiting, pid_t first, bool named)
{
	pid_t pids[SHORT];
	uint64_t start_ns;
	int made;

	wait_until_asleep(waiting);
	start_ns = clock__now_ns();
	if (!named) {
		must(pingpong__send(&first_of_two, true), "first");
		must(pingpong__receive(&first_of_two, true), "first");
	}
	must(pingpong__send(&stayer, true), "stayer");
	made = make_short(pids, first, named);
	must(pingpong__send(&victim, true), "victim");
	must(pingpong__receive(&stayer, true), "stayer");
	for (int i = 0; i < made; i++) {
		waitpid(pids[i], NULL, 0);
		if (named)
			printf("short_pid=%d\n", pids[i]);
	}
	must(pingpong__receive(&victim, true), "victim");
	load__sleep((clock__now_ns() - start_ns) / 4); /* the kernel limits real-time tasks */
}

int main(int argc, char **argv)
{
	uint64_t rounds, named;
	pid_t pids[4], alike;

	reference_usage(argc == 4, "collide CPU ROUNDS NAMED");
	must(load__pin((int)reference_number(argv[1], "CPU", 0, CPU_SETSIZE - 1)), "CPU");
	rounds = reference_number(argv[2], "ROUNDS", 1, 1000000);
	named = reference_number(argv[3], "NAMED", 0, rounds);
	reference_sched__outweigh();
	set_priority(SCHED_FIFO, 1);
	must(pingpong__open(&victim), "pipe");
	must(pingpong__open(&stayer), "pipe");
	must(pingpong__open(&first_of_two), "pipe");
	must(pingpong__open(&second_of_two), "pipe");
	pids[0] = start("victim", &victim, SCHED_OTHER, 0);
	pids[1] = start("stayer", &stayer, SCHED_FIFO, 1);
	printf("stayer_pid=%d\n", pids[1]);
	alike = ALIKE + (getpid() + ALIKE / 2) % ALIKE; /* not as the IDs of these */
	start_two(&pids[2], alike + 2);
	for (uint64_t round = 0; round < rounds; round++)
		take_round(pids[0], alike + (round < named ? 0 : 1), round < named);
	for (int i = 0; i < 4; i++)
		reference_end(pids[i]);
	return 0;
}
