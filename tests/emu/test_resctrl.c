// SPDX-License-Identifier: BSD-2-Clause
/* Groups of resctrl, on an emulated tree with the kernel's protocol and known values. */
#include "mounted.h"

#include "core/clock.h"
#include "probes/rmid/resctrl.h"
#include "probes/rmid/resctrl_tree.h"

#define RESCTRLFS ".output/tests/emu/resctrlfs/resctrlfs"
#define FIRST 5000000U
#define TOLD 4096

static char root[64];
static pid_t server;

static struct latscope_rmid_read told[TOLD];
static unsigned int nr_told;
static char why[RUN_TEXT];
static struct resctrl *resctrl; /* of the test that runs */

static void mount_it(void)
{
	nr_told = 0;
	snprintf(root, sizeof(root), "%s/fs", dir);
	mkdir(root, 0700);
	server = mounted_start(RESCTRLFS, root, NULL);
}

static void unmount_it(void)
{
	int err = resctrl ? resctrl__close(resctrl) : 0;

	resctrl = NULL;
	mounted_end(server);
	assert_int_equal(err, 0);
}

static void tell(const char *line)
{
	int fd = open(unit_path(root, "ctl"), O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, line, strlen(line)), strlen(line));
	close(fd);
}

static void make(const char *name)
{
	assert_int_equal(mkdir(unit_path(root, unit_text("sys/fs/resctrl/%s", name)), 0755), 0);
}

/* The tasks of a group, with a blank before each; NULL: there is no such group. */
static char *tasks_of(const char *name)
{
	char *rest = unit_read(root, "state"), *line;
	size_t length = strlen(name);

	while ((line = strsep(&rest, "\n")))
		if (!strncmp(line, name, length) && line[length] == ':')
			return line + length + 1;
	return NULL;
}

static void assert_tasks(const char *name, const char *wanted)
{
	char *tasks = tasks_of(name);

	assert_non_null(tasks);
	assert_string_equal(tasks, wanted);
}

/* Groups of this process that exist. */
static unsigned int count_ours(void)
{
	const char *at = unit_read(root, "state");
	unsigned int count = 0;

	while ((at = strstr(at, RESCTRL_PREFIX))) {
		count++;
		at++;
	}
	return count;
}

static int keep(void *context, const struct latscope_rmid_read *read)
{
	assert_true(nr_told < TOLD);
	told[nr_told++] = *read;
	return 0;
}

static void open_it(uint32_t wanted)
{
	why[0] = '\0';
	if (resctrl__open(&resctrl, root, wanted, keep, NULL, why))
		fail_msg("%s", why);
}

static void close_it(void)
{
	int err = resctrl__close(resctrl);

	resctrl = NULL;
	assert_int_equal(err, 0);
}

static void begin(void)
{
	assert_int_equal(resctrl__begin(resctrl), 0);
}

static void give(uint32_t group, uint32_t process)
{
	assert_int_equal(resctrl__give(resctrl, group, process), 0);
}

static void poll_it(void)
{
	assert_int_equal(resctrl__poll(resctrl), 0);
}

/* One group, and the first of these tasks has it. */
static void open_with(const char *tasks)
{
	open_it(1);
	tell(tasks);
	begin();
	give(1, FIRST);
}

static void refused(const char *root_of, const char *wanted)
{
	why[0] = '\0';
	assert_int_equal(resctrl__open(&resctrl, root_of, 0, keep, NULL, why), -EOPNOTSUPP);
	assert_has(why, wanted);
	assert_int_equal(count_ours(), 0);
}

static const char *ours(unsigned int number)
{
	return unit_text(RESCTRL_PREFIX "%d-%u", getpid(), number);
}

TEST(half_of_the_rmids_are_left_to_others)
{
	open_it(0);
	assert_int_equal(resctrl__groups(resctrl), 8);
	assert_int_equal(count_ours(), 8);
	close_it();
	assert_int_equal(count_ours(), 0);
}

/* Of 16 RMIDs, one is the root's and three are of others. */
TEST(it_takes_as_many_as_there_are)
{
	make("batch");
	make("mon_groups/theirs");
	make("mon_groups/latscope-1-1"); /* process 1 lives: not ours */
	open_it(100);
	assert_int_equal(resctrl__groups(resctrl), 12);
	close_it();
	assert_int_equal(count_ours(), 1);
	assert_tasks("theirs", "");
	assert_tasks("batch", "");
}

TEST(without_an_rmid_it_is_refused)
{
	tell("rmids 2");
	make("mon_groups/theirs");
	refused(root, "groups of other programs have all 2 RMIDs; remove one of them");
}

TEST(groups_of_a_killed_latscope_are_removed)
{
	make("mon_groups/latscope-4999999-3"); /* beyond any PID */
	make("mon_groups/latscope-");
	make("mon_groups/latscope-4999999-3x");
	open_it(1);
	assert_null(tasks_of("latscope-4999999-3"));
	assert_tasks("latscope-", "");
	assert_tasks("latscope-4999999-3x", "");
}

TEST(what_is_missing_is_said)
{
	tell("rmids 1");
	refused(root, "the CPU does not monitor its L3 cache");
	tell("mounted 0");
	refused(root, "the CPU does not monitor its L3 cache");
	tell("mounted 1\nrmids 16\ndomains 0");
	refused(root, "resctrl lists no L3 cache");
}

/* Nothing but an emulated tree may be written to, whoever chooses it. */
TEST(a_chosen_root_must_be_emulated)
{
	char *other = unit_tmpdir(), *path = strdup(unit_path(other, "link"));

	unit_write(other, "sys/fs/resctrl/tasks", "");
	unit_write(other, "proc/1/stat", "");
	refused(other, "must be a FUSE file system");
	refused("/nowhere", "must be a FUSE file system");
	assert_int_equal(symlink(root, path), 0);
	refused(path, "must be a FUSE file system");
	free(path);
	unit_remove(other);
}

TEST(links_are_not_followed)
{
	char *other = unit_tmpdir();
	int fd = open(other, O_RDONLY | O_DIRECTORY);

	unit_write(other, "real/file", "x");
	assert_int_equal(symlink("real", unit_text("%s/link", other)), 0);
	close(resctrl_tree__at(fd, "real/file", O_RDONLY));
	assert_int_equal(resctrl_tree__at(fd, "link/file", O_RDONLY), -ELOOP);
	assert_int_equal(resctrl_tree__at(fd, "../etc", O_RDONLY), -EXDEV);
	close(fd);
	unit_remove(other);
}

TEST(all_threads_are_moved_when_it_begins)
{
	open_it(2);
	tell("task 5000000 5000000\ntask 5000000 5000001\ntask 5000100 5000100");
	give(2, FIRST);
	assert_tasks(ours(2), "");
	begin();
	assert_tasks(ours(2), " 5000000 5000001");
	give(1, FIRST + 100);
	assert_tasks(ours(1), " 5000100");
}

/* Each listing of its threads is followed by one more, made by one that was not moved yet. */
TEST(threads_that_begin_meanwhile_are_moved_too)
{
	char wanted[512] = "";

	open_with("task 5000000 5000000\nspawn 5000000 20");
	for (unsigned int i = 0; i <= 20; i++)
		snprintf(wanted + strlen(wanted), sizeof(wanted) - strlen(wanted), " %u",
			 FIRST + i);
	assert_tasks(ours(1), wanted);
}

static void assert_concluded(const char *says)
{
	resctrl__tell(resctrl, unit_print());
	assert_has(unit_printed(), says);
}

TEST(processes_of_others_stay_where_they_are)
{
	make("batch");
	make("mon_groups/theirs");
	tell("task 5000000 5000000 theirs\ntask 5000100 5000100 batch");
	tell("task 5000200 5000200\ntask 5000200 5000201 theirs"); /* one thread of two */
	open_it(4);
	begin();
	give(1, FIRST);
	give(2, FIRST + 100);
	give(3, FIRST + 200);
	assert_int_equal(resctrl__wait(resctrl, FIRST), 0);
	assert_tasks("theirs", " 5000000 5000201");
	assert_tasks("batch", " 5000100");
	assert_tasks(ours(3), "");
	assert_int_equal(resctrl__start(resctrl), 0);
	poll_it();
	assert_int_equal(nr_told, 0); /* their groups are not read */
	assert_concluded("2 groups of other programs are left alone");
	assert_concluded("3 processes are in groups of other programs");
	close_it();
	assert_tasks("theirs", " 5000000 5000201");
}

/* A child is in the group of its parent; if there is none for it, it must leave that. */
TEST(who_waits_leaves_the_group_of_its_parent)
{
	open_with("task 5000000 5000000");
	tell(unit_text("task 5000100 5000100 %s", ours(1)));
	assert_tasks(ours(1), " 5000000 5000100");
	assert_int_equal(resctrl__wait(resctrl, FIRST + 100), 0);
	assert_tasks(ours(1), " 5000000");
}

TEST(who_has_ended_is_counted)
{
	open_it(1);
	begin();
	give(1, FIRST);
	assert_concluded("1 processes ended before they had a group");
}

/* ---- values ---- */

static uint64_t sum(uint32_t event)
{
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < nr_told; i++)
		bytes += told[i].event == event ? told[i].bytes : 0;
	return bytes;
}

/*
 * Between two readings of a cache, a task moves 4096 bytes through the first and twice as many
 * through the second; a quarter of them is local.
 */
TEST(traffic_is_the_difference_of_two_readings)
{
	uint64_t end_ns;

	open_it(1);
	tell("task 5000000 5000000\ntask 5000000 5000001");
	give(1, FIRST);
	begin();
	assert_int_equal(resctrl__start(resctrl), 0);
	assert_int_equal(nr_told, 0);
	poll_it();
	assert_int_equal(nr_told, 6); /* of two caches */
	assert_int_equal(sum(LATSCOPE_RMID_MBM_TOTAL), 2 * 3 * 4096);
	assert_int_equal(sum(LATSCOPE_RMID_MBM_LOCAL), 2 * 3 * 1024);
	assert_int_equal(sum(LATSCOPE_RMID_OCCUPANCY), 2 * 3 * 1000);
	for (unsigned int i = 0; i < nr_told; i++) {
		assert_int_equal(told[i].rmid, 1);
		assert_true(told[i].domain < 2);
		assert_int_equal(told[i].time_ns, told[0].time_ns);
		assert_true(told[i].event == LATSCOPE_RMID_OCCUPANCY
				    ? told[i].since_ns == told[i].time_ns
				    : told[i].since_ns < told[i].time_ns);
	}
	end_ns = clock__now_ns() + 1000;
	assert_int_equal(resctrl__stop(resctrl, end_ns), 0);
	assert_int_equal(nr_told, 12);
	assert_int_equal(told[11].time_ns, end_ns - 1);
	assert_int_equal(sum(LATSCOPE_RMID_MBM_TOTAL), 2 * 2 * 3 * 4096);
}

/* What the group counted for its former process is not the next one's. */
TEST(a_new_owner_begins_anew)
{
	open_with("task 5000000 5000000\ntask 5000100 5000100");
	tell("end 5000000");
	assert_int_equal(resctrl__take(resctrl, 1, clock__now_ns()), 0);
	nr_told = 0;
	give(1, FIRST + 100);
	poll_it();
	assert_int_equal(sum(LATSCOPE_RMID_MBM_TOTAL), 3 * 4096);
}

/* A reading that says so much, whoever is in the group. */
static void occupy(const char *bytes)
{
	tell(unit_text("answer llc_occupancy %s", bytes));
}

/*
 * Lines stay charged to the group. Until the last process's are known to be few, nothing says whose
 * they are.
 */
TEST(what_the_last_process_left_in_the_cache_is_not_the_next_ones)
{
	open_with("task 5000000 5000000\ntask 5000100 5000100");
	occupy("80000");
	assert_int_equal(resctrl__take(resctrl, 1, clock__now_ns()), 0);
	give(1, FIRST + 100);
	nr_told = 0;
	poll_it();
	occupy("90000");
	poll_it();
	assert_int_equal(sum(LATSCOPE_RMID_OCCUPANCY), 0);
	assert_true(sum(LATSCOPE_RMID_MBM_TOTAL) > 0);
	assert_concluded("4 occupancies may be what another process left");
	/* When nearly nothing was left once, the rest is its own. */
	occupy("1000");
	poll_it();
	assert_int_equal(sum(LATSCOPE_RMID_OCCUPANCY), 0);
	occupy("10000");
	poll_it();
	assert_int_equal(sum(LATSCOPE_RMID_OCCUPANCY), 2 * 10000);
}

/* If there was no value when it was moved in, the next one is only what is compared with. */
TEST(a_new_owner_does_not_have_what_was_not_read)
{
	open_with("task 5000000 5000000\ntask 5000100 5000100");
	assert_int_equal(resctrl__take(resctrl, 1, clock__now_ns()), 0);
	tell("answer mbm_total_bytes Unavailable");
	give(1, FIRST + 100);
	tell("answer mbm_total_bytes");
	nr_told = 0;
	poll_it();
	assert_int_equal(sum(LATSCOPE_RMID_MBM_TOTAL), 0);
	poll_it();
	assert_int_equal(sum(LATSCOPE_RMID_MBM_TOTAL), 2 * 3 * 4096);
}

/* However many there is time for: none is left out, or read before its turn. */
TEST(groups_are_read_in_turn)
{
	uint32_t expected = 1;

	open_it(4);
	tell("task 5000000 5000000\ntask 5000100 5000100\n"
	     "task 5000200 5000200\ntask 5000300 5000300");
	for (uint32_t i = 0; i < 4; i++)
		give(i + 1, FIRST + 100 * i);
	begin();
	assert_int_equal(resctrl__start(resctrl), 0);
	for (int i = 0; i < 20; i++)
		poll_it();
	assert_true(nr_told >= 6 * 20); /* at least one group each time */
	for (unsigned int i = 0; i < nr_told; i += 6) {
		assert_int_equal(told[i].rmid, expected);
		expected = expected % 4 + 1;
	}
}

TEST(what_is_no_number_is_no_value)
{
	static const char *const answers[] = { "Unavailable", "Error", "Unassigned", "-1", "x" };

	open_with("task 5000000 5000000");
	for (unsigned int i = 0; i < 5; i++) {
		nr_told = 0;
		tell(unit_text("answer mbm_total_bytes %s", answers[i]));
		poll_it();
		assert_int_equal(nr_told, 4); /* the others have values */
		assert_int_equal(sum(LATSCOPE_RMID_MBM_TOTAL), 0);
	}
	assert_concluded("10 readings had no value");
	nr_told = 0;
	tell("answer mbm_total_bytes");
	poll_it();
	assert_int_equal(sum(LATSCOPE_RMID_MBM_TOTAL), 3 * 4096);
}

/* As when all CPUs of a cache go offline. */
TEST(a_cache_may_vanish)
{
	open_with("task 5000000 5000000");
	tell("domains 1");
	poll_it();
	assert_int_equal(nr_told, 3);
	assert_concluded("3 readings had no value");
}

/* After the caches were listed, and before the files of this one were opened. */
TEST(a_cache_may_vanish_before_it_is_read)
{
	tell("vanish 1");
	open_with("task 5000000 5000000");
	poll_it();
	assert_int_equal(nr_told, 3); /* of the other one */
}

/* ---- the end ---- */

static void opened_and_killed(int how)
{
	pid_t child = unit_fork();
	int status;

	if (!child) {
		if (resctrl__open(&resctrl, root, 3, keep, NULL, why))
			_exit(1);
		resctrl__begin(resctrl);
		if (resctrl__give(resctrl, 1, FIRST))
			_exit(1);
		raise(how);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == how);
	for (int i = 0; i < 2000 && count_ours(); i++)
		usleep(10000);
	assert_int_equal(count_ours(), 0);
}

TEST(groups_are_removed_if_it_is_killed)
{
	tell("task 5000000 5000000");
	opened_and_killed(SIGKILL);
	opened_and_killed(SIGTERM);
	/* and those of this machine that were looked at */
	assert_memory_equal(tasks_of("/"), " 5000000", 8);
}

UNIT_FIXTURES(.each = { mount_it, unmount_it })
