// SPDX-License-Identifier: BSD-2-Clause
#include "unit.h"

#include "cli/log.h"

static int saved;

static void capture(enum log_level level)
{
	int fd = open(unit_path(dir, "stderr"), O_CREAT | O_TRUNC | O_WRONLY, 0600);

	log__set_level(level);
	fflush(stderr);
	saved = dup(STDERR_FILENO);
	assert_int_equal(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	close(fd);
}

static void assert_captured(const char *expected)
{
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	assert_string_equal(unit_read(dir, "stderr"), expected);
}

TEST(each_problem_has_one_line)
{
	capture(LOG_NORMAL);
	log__error("memlat", "not permitted", "run it as root");
	log__error("out/run.db", "No space left", NULL);
	log__warn("sda1 is a partition, its disk sda is measured", NULL, NULL);
	log__error("bad\nname\033[1m", "x", NULL);
	log__refused("iolat", NULL, "no BTF");
	log__refused("iolat", "stamps", "no BTF");
	log__usage("record", "-d needs a value");
	log__note("in %s", "runs/x");
	assert_captured("latscope: memlat: not permitted; run it as root\n"
			"latscope: out/run.db: No space left\n"
			"latscope: sda1 is a partition, its disk sda is measured\n"
			"latscope: bad?name?[1m: x\n"
			"latscope: iolat cannot run on this machine: no BTF; "
			"'latscope doctor' explains\n"
			"latscope: iolat cannot be measured by method stamps on this machine: "
			"no BTF; 'latscope doctor' explains\n"
			"latscope record: -d needs a value; try 'latscope record --help'\n"
			"in runs/x\n");
}

TEST(quiet_leaves_errors)
{
	capture(LOG_QUIET);
	log__warn("warning", NULL, NULL);
	log__note("note");
	log__error("error", NULL, NULL);
	log__refused("iolat", NULL, "x");
	assert_captured(
		"latscope: error\n"
		"latscope: iolat cannot run on this machine: x; 'latscope doctor' explains\n");
}

TEST(progress_needs_a_terminal)
{
	capture(LOG_NORMAL);
	log__progress("%d of %d", 1, 2);
	log__progress_end();
	log__note("said %s", "more");
	assert_captured("said more\n");
}

UNIT_FIXTURES(.all = { unit_enter_dir, unit_leave_dir })
