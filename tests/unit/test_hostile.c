// SPDX-License-Identifier: BSD-2-Clause
// suite: slow
/*
 * Malicious run.db files. SQL from a seed changes files as no fault of a disk would; then they are
 * reported and compared in every format. Each command must end in time, with a documented exit
 * status, without leaving a file, and its JSON must be valid.
 */
#include "recording.h"

#include <dirent.h>
#include <sys/resource.h>

#include <json-c/json.h>
#include <sqlite3.h>

#include "cli/cmd.h"
#include "core/sleep_stacks.h"

#define CPU_SECONDS 60 /* for what takes 0.1 s, with sanitizers, on a slow machine */
#define TEXT 4096

/* Errors that a sanitizer finds must not look like a documented error. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "abort_on_error=1:allocator_may_return_null=1";
}

const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
	return "abort_on_error=1";
}

/* The recording that all tests change. */
static char *origin;

static void add_table(struct run *run)
{
	static const struct table_column columns[] = {
		{ .name = "tier", .what = "which", .unit = "", .kind = TABLE_TEXT, .key = true },
		{ .name = "latency", .what = "made up", .unit = "ns", .kind = TABLE_REAL },
		{ .name = "requests", .what = "made up", .unit = "", .kind = TABLE_INTEGER },
	};
	struct run_probe *probe = sample_probe(run, "tierlat", "perf", "made up");

	assert_int_equal(table__new(&probe->table, columns, 3), 0);
	assert_int_equal(sleep_stacks__new(&probe->more[RUN_STACKS]), 0);
}

static void add_stacks(struct table *table, uint64_t time_ns, unsigned int interval)
{
	assert_int_equal(table__add_row(table, time_ns), 0);
	table__set_integer(table, SLEEP_STACKS_PID, interval % 3);
	assert_int_equal(table__set_text(table, SLEEP_STACKS_COMM, "worker"), 0);
	assert_int_equal(table__set_text(table, SLEEP_STACKS_STATE, "disk"), 0);
	assert_int_equal(table__set_text(table, SLEEP_STACKS_STACK, "ffffffff81000000 a0"), 0);
	table__set_integer(table, SLEEP_STACKS_NS, 1000000);
	table__set_integer(table, SLEEP_STACKS_TIMES, 1);
}

static void add_rows(struct table *table, uint64_t time_ns, unsigned int interval)
{
	static const char *const tiers[] = { "near", "far" };

	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(table__add_row(table, time_ns), 0);
		assert_int_equal(table__set_text(table, 0, tiers[i]), 0);
		table__set_real(table, 1, 90 + 60 * i + interval);
		table__set_integer(table, 2, 1000 * (interval + 1));
	}
}

static void fill(struct run_data *delta, unsigned int interval, const void *run)
{
	sample_fill(&delta[0], interval);
	sample_record(&delta[2].metrics[0], 1000 * (interval + 1), 100);
	add_rows(((const struct run *)run)->probes[3].table, (interval + 1) * RECORDING_INTERVAL_NS,
		 interval);
	add_stacks(((const struct run *)run)->probes[3].more[RUN_STACKS],
		   (interval + 1) * RECORDING_INTERVAL_NS, interval);
}

/* Four probes, two with samples, one with a table, and the account of threads, in 24 intervals. */
static void record(void)
{
	struct run *run = sample_bare();

	add_table(run);
	origin = unit_tmpdir();
	recording_write(run, origin, "run", 24, fill, run);
	unit_shell("sqlite3 '%s/run/run.db' <tests/cli/bars.sql", origin);
}

static void forget(void)
{
	unit_remove(origin);
}

static void copy_origin(void)
{
	unit_shell("rm -rf '%s/run' && mkdir '%s/run' && cp '%s/run/run.db' '%s/run'", dir, dir,
		   origin, dir);
}

/* The change may fail: then there is no attack. */
static void change(const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(unit_path(dir, "run/run.db"), &db), SQLITE_OK);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, 1, NULL);
	sqlite3_exec(db, sql, NULL, NULL, NULL);
	sqlite3_close(db);
}

struct command {
	int (*function)(int argc, char **argv);
	char *argv[8]; /* "A": the recording as it was made, "B": as it was changed, "C": a file */
	bool json, lines; /* what it prints: one object, or one in each line */
};

static char a_name[] = "A", b_name[] = "B", c_name[] = "C";

static const struct command commands[] = {
	{ cmd_report, .argv = { "report", "-v", "--all-intervals", b_name } },
	{ cmd_report, .argv = { "report", "--json", b_name }, .json = true },
	{ cmd_report, .argv = { "report", "--csv", "-P", "iolat", b_name } },
	{ cmd_report, .argv = { "report", "--csv", "-P", "tierlat", b_name } },
	{ cmd_report, .argv = { "report", "--intervals", b_name } },
	{ cmd_report, .argv = { "report", "--intervals", "--json", b_name }, .json = true,
	  .lines = true },
	{ cmd_report, .argv = { "report", "--folded", b_name } },
	{ cmd_report, .argv = { "report", "--pprof", c_name, b_name } },
	{ cmd_report, .argv = { "report", "--perfetto", c_name, b_name } },
	{ cmd_report, .argv = { "report", "--html", c_name, b_name } },
	{ cmd_report, .argv = { "report", "--svg", c_name, b_name } },
	{ cmd_compare, .argv = { "compare", a_name, b_name } },
	{ cmd_compare, .argv = { "compare", "--json", "--by", "process", b_name, a_name },
	  .json = true },
	{ cmd_compare, .argv = { "compare", "--csv", b_name, b_name } },
};

static void redirect(int to, const char *name)
{
	int fd = open(unit_path(dir, name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || dup2(fd, to) < 0)
		_exit(98);
}

/* In a child, with what it prints in two files. */
static void run_command(const struct command *command)
{
	struct rlimit limit = { CPU_SECONDS, CPU_SECONDS };
	char a[TEXT], b[TEXT], c[TEXT], *argv[8];
	int argc = 0;

	snprintf(a, sizeof(a), "%s/run", origin);
	snprintf(b, sizeof(b), "%s/run", dir);
	snprintf(c, sizeof(c), "%s/written", dir);
	for (; argc < 8 && command->argv[argc]; argc++) {
		argv[argc] = command->argv[argc];
		if (argv[argc] == a_name)
			argv[argc] = a;
		else if (argv[argc] == b_name)
			argv[argc] = b;
		else if (argv[argc] == c_name)
			argv[argc] = c;
	}
	argv[argc] = NULL;
	setrlimit(RLIMIT_CPU, &limit);
	alarm(4 * CPU_SECONDS); /* for what waits instead of working */
	redirect(STDOUT_FILENO, "stdout");
	redirect(STDERR_FILENO, "stderr");
	argc = command->function(argc, argv);
	fflush(stdout);
	_exit(argc);
}

/* json-c takes words that are no JSON for numbers. */
static bool has_no_number(const char *text)
{
	static const char *const words[] = { "NaN", "nan", "Infinity", "inf" };
	bool quoted = false;

	for (; *text; text++) {
		if (*text == '\\' && quoted && text[1])
			text++;
		else if (*text == '"')
			quoted = !quoted;
		for (size_t i = 0; !quoted && i < COUNT_OF(words); i++)
			if (!strncmp(text, words[i], strlen(words[i])))
				return true;
	}
	return false;
}

static bool is_json(const char *text)
{
	struct json_object *object = json_tokener_parse(text);
	bool good = object && !has_no_number(text);

	json_object_put(object);
	return good;
}

static bool are_json(char *text)
{
	bool good = true;

	for (char *line = strtok(text, "\n"); line && good; line = strtok(NULL, "\n"))
		good = is_json(line);
	return good;
}

/* By the command that ran last, on stderr. */
static bool said(const char *what)
{
	return strstr(unit_read(dir, "stderr"), what);
}

/* NULL: all is well. */
static const char *judge(const struct command *command, int status)
{
	char *text;
	bool good;

	if (!WIFEXITED(status))
		return "died or did not end";
	if (WEXITSTATUS(status) > 1)
		return "ended with an exit status that is not documented";
	if (WEXITSTATUS(status) == 1 && !said("latscope: "))
		return "failed and did not say why";
	if (WEXITSTATUS(status) || !command->json)
		return NULL;
	text = unit_read(dir, "stdout");
	good = command->lines ? are_json(text) : is_json(text);
	return good ? NULL : "printed what is not JSON";
}

/* Number of files in the directory that is read: none may be added. */
static unsigned int count_files(void)
{
	DIR *stream = opendir(unit_path(dir, "run"));
	unsigned int nr = 0;

	assert_non_null(stream);
	while (readdir(stream))
		nr++;
	closedir(stream);
	return nr;
}

/* Whether the command printed a result. */
static bool attack_one(const char *what, const struct command *command)
{
	unsigned int files = count_files();
	const char *wrong;
	pid_t child;
	int status;

	child = fork();
	if (!child)
		run_command(command);
	assert_int_equal(waitpid(child, &status, 0), child);
	wrong = judge(command, status);
	if (wrong)
		fail_msg("%s, command %zu (%s): %s (status %#x): %s", what,
			 (size_t)(command - commands), command->argv[0], wrong,
			 (unsigned int)status, unit_read(dir, "stderr"));
	if (count_files() != files)
		fail_msg("%s: files were left where it was read", what);
	return !status;
}

/* Returns how many of the commands printed a result. */
static unsigned int attack(const char *what)
{
	unsigned int read = 0;

	for (size_t i = 0; i < COUNT_OF(commands); i++)
		read += attack_one(what, &commands[i]);
	return read;
}

static unsigned int pick(unsigned int count)
{
	return (unsigned int)(unit_random() >> 33) % count;
}

static const char *const values[][4] = {
	{ "NULL", "''", "'x'", "x'00ff'" },
	{ "-1", "0", "1", "2" },
	{ "7", "1184", "1185", "4294967296" },
	{ "9223372036854775807", "-9223372036854775808", "1e308", "9e999" },
	{ "-9e999", "0.5", "'NaN'", "'process'" },
	{ "'moon'", "char(27,91,51,49,109)", "'{\"a\":'", "'{\"kernel\":NaN}'" },
	{ "replace(hex(zeroblob(5000)),'0','A')", "zeroblob(20000000)", "'=1+1'",
	  "replace(hex(zeroblob(3000)),'00','[')" },
	{ "'iolat'", "'where_waits'", "'slots'", "' '" },
	{ "'disk'", "'a (1): disk 5 ms < b (2): ready'", "' < '", "'futex'" },
};

static const char *value(void)
{
	unsigned int which = pick(4 * COUNT_OF(values));

	return values[which / 4][which % 4];
}

static const char *const tables[][10] = {
	{ "meta", "name", "value" },
	{ "label", "id", "name", "value" },
	{ "probe", "id", "name", "method", "mechanism", "refused", "split", "in_flight_count",
	  "recursion_missed", "cost_runs" },
	{ "metric", "id", "probe", "name", "what" },
	{ "series", "id", "metric", "split", "key", "name" },
	{ "interval", "id", "start_ns", "end_ns" },
	{ "slots", "interval", "series", "slot", "count" },
	{ "sums", "interval", "series", "count", "sum_ns", "max_ns", "tail" },
	{ "acct", "interval", "metric", "name", "count" },
	{ "table_column", "of_table", "position", "name", "unit", "what", "kind", "is_key" },
	{ "tierlat", "interval", "time_ns", "tier", "latency", "requests" },
	{ "tierlat_stacks", "interval", "time_ns", "pid", "comm", "state", "stack", "ns", "times" },
	{ "where", "pid", "tid", "comm", "cgroup", "life_ns", "cpu_ns", "ready_ns", "disk_ns",
	  "threads" },
	{ "where_sleeps", "pid", "tid", "comm", "state", "call", "ns", "times" },
	{ "where_waits", "time_ns", "pid", "tid", "comm", "state", "call", "chain", "ns" },
	{ "where_causes", "pid", "comm", "state", "cause", "ns", "explained_ns", "times" },
};

static const char *const *table(void)
{
	return tables[pick(COUNT_OF(tables))];
}

static const char *column(const char *const *of)
{
	unsigned int nr = 1;

	while (nr < 10 && of[nr])
		nr++;
	return of[1 + pick(nr - 1)];
}

/* All rows, or some. */
static const char *where(const char *const *of)
{
	unsigned int modulus = 1 + pick(6);

	return pick(4) ? unit_text("WHERE length(\"%s\" || 'x') %% %u = %u OR \"%s\" %% %u = %u",
				   of[1], modulus, pick(modulus), of[1], modulus, pick(modulus))
		       : "";
}

static void change_data(char *sql, const char *const *of)
{
	switch (pick(4)) {
	case 0:
		snprintf(sql, TEXT, "DELETE FROM %s %s", of[0], where(of));
		return;
	case 1:
		snprintf(sql, TEXT, "INSERT OR REPLACE INTO %s(%s, %s) VALUES(%s, %s)", of[0],
			 of[1], column(of), value(), value());
		return;
	default:
		snprintf(sql, TEXT, "UPDATE OR REPLACE %s SET %s = %s %s", of[0], column(of),
			 value(), where(of));
	}
}

static void change_many(char *sql, const char *const *of)
{
	snprintf(sql, TEXT,
		 "WITH RECURSIVE c(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM c LIMIT %u)"
		 " INSERT OR REPLACE INTO %s(%s, %s) SELECT i, %s FROM c",
		 1U << pick(14), of[0], of[1], column(of), pick(2) ? "i" : value());
}

/* A computed column, a view, a table of another probe ... in place of a table. */
static void change_kind(char *sql, const char *const *of)
{
	static const char *const kinds[] = {
		"CREATE VIEW %1$s AS SELECT * FROM was",
		"CREATE VIEW %1$s AS WITH RECURSIVE c(i) AS"
		" (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT i AS %2$s, i AS %3$s FROM c",
		"CREATE TABLE %1$s(%2$s, %3$s AS (randomblob(1000000000)))",
		"CREATE TABLE %1$s(%2$s INTEGER PRIMARY KEY, %3$s) WITHOUT ROWID",
		"CREATE VIRTUAL TABLE %1$s USING fts4(%2$s, %3$s)",
		"CREATE VIRTUAL TABLE %1$s USING dbstat",
		"CREATE TABLE %1$s AS SELECT * FROM was, was AS again",
		"",
	};

	snprintf(sql, TEXT, "ALTER TABLE %s RENAME TO was; %s", of[0],
		 unit_text(kinds[pick(COUNT_OF(kinds))], of[0], of[1], column(of)));
}

static void change_schema(char *sql, const char *const *of)
{
	static const char *const changes[] = {
		"ALTER TABLE %1$s RENAME COLUMN %2$s TO other",
		"ALTER TABLE %1$s DROP COLUMN %2$s",
		"ALTER TABLE %1$s ADD COLUMN more DEFAULT %3$s",
		"DROP TABLE %1$s",
		"CREATE INDEX extra ON %1$s(%2$s)",
		"CREATE UNIQUE INDEX extra ON %1$s(abs(%2$s)) WHERE %2$s > 0",
		"CREATE TRIGGER t AFTER INSERT ON %1$s BEGIN DELETE FROM %1$s; END",
		"UPDATE sqlite_master SET sql = 'CREATE TABLE %1$s(%2$s)' WHERE name = '%1$s'",
		"UPDATE sqlite_master SET type = 'view' WHERE name = '%1$s'",
		"UPDATE sqlite_master SET rootpage = %3$s WHERE name = '%1$s'",
		"UPDATE sqlite_master SET rootpage = 2 WHERE name = '%1$s'",
		"UPDATE sqlite_master SET sql = 'create/**/view %1$s as select 1 as %2$s',"
		" rootpage = 0 WHERE name = '%1$s'",
		"UPDATE sqlite_master SET name = '%2$s', tbl_name = %3$s WHERE name = '%1$s'",
		"ANALYZE; UPDATE sqlite_stat1 SET stat = %3$s",
		"PRAGMA journal_mode=WAL",
		"PRAGMA auto_vacuum=FULL; PRAGMA page_size=512; VACUUM",
		"PRAGMA user_version=%3$s",
		"CREATE VIEW extra AS SELECT * FROM extra",
	};

	snprintf(sql, TEXT, changes[pick(COUNT_OF(changes))], of[0], column(of), value());
}

static void mutate(char said[8 * TEXT])
{
	static void (*const kinds[])(char *, const char *const *) = {
		change_data, change_data, change_data,	 change_data,
		change_many, change_kind, change_schema,
	};
	char sql[TEXT];

	for (unsigned int left = 1 + pick(4); left; left--) {
		kinds[pick(COUNT_OF(kinds))](sql, table());
		change(sql);
		snprintf(said + strlen(said), 8 * TEXT - strlen(said), "; %s", sql);
	}
}

/* LATSCOPE_SEED: only this one, again. */
TEST(changed_by_sql)
{
	unsigned int rounds = getenv("LATSCOPE_SOAK") ? 5000 : 60, read = 0, first = 1;

	if (getenv("LATSCOPE_SEED")) {
		first = (unsigned int)atoi(getenv("LATSCOPE_SEED"));
		rounds = first;
	}
	for (unsigned int i = first; i <= rounds; i++) {
		char said[8 * TEXT];

		snprintf(said, sizeof(said), "LATSCOPE_SEED=%u", i);
		/* The same for the same seed: a finding can be repeated alone. */
		unit_random_state = i * 0x9e3779b97f4a7c15;
		copy_origin();
		mutate(said);
		read += attack(said) > 0;
	}
	/* Otherwise most would be refused before anything is read. */
	if (rounds > first && read < (rounds - first) / 8)
		fail_msg("only %u of %u could be read", read, rounds);
}

static void assert_refused(const char *name, const char *what)
{
	if (attack(name) || !said(what))
		fail_msg("%s: it is not refused with '%s'", name, what);
}

TEST(changes_that_are_damage)
{
	static const char *const changes[] = {
		/* views, triggers and virtual tables */
		"ALTER TABLE interval RENAME TO was; CREATE VIEW interval AS SELECT * FROM was",
		"ALTER TABLE slots RENAME TO was; CREATE VIEW slots AS WITH RECURSIVE c(i) AS"
		" (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT 1 AS interval, 1 AS series,"
		" 1 AS slot, i AS count FROM c",
		"CREATE TRIGGER t AFTER INSERT ON slots BEGIN DELETE FROM slots; END",
		"CREATE VIRTUAL TABLE v USING fts4(a)",
		"ALTER TABLE label RENAME TO was; CREATE TABLE label(id, name, value AS (hex(id)))",
		"DROP VIEW totals; CREATE VIEW totals AS SELECT 1; CREATE VIEW more AS SELECT 1",
		/* one text exceeds what latscope lets SQLite read */
		"UPDATE probe SET mechanism = printf('%.*c', 32 << 20, 'x')",
	};

	for (size_t i = 0; i < COUNT_OF(changes); i++) {
		copy_origin();
		change(changes[i]);
		assert_refused(changes[i], "this recording is damaged");
	}
}

TEST(more_keys_than_latscope_writes)
{
	copy_origin();
	change("WITH RECURSIVE c(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM c LIMIT 300000)"
	       " INSERT INTO series SELECT i, 1, 'process', i, 'x' FROM c");
	assert_refused("more keys", "this recording has more keys than latscope writes");
}

/* Without its key, each interval reads all of a table. */
TEST(more_work_than_its_size_explains)
{
	copy_origin();
	change("DELETE FROM sums; DROP TABLE slots;"
	       "CREATE TABLE slots(interval, series, slot, count);"
	       "WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c LIMIT 20000)"
	       " INSERT INTO slots SELECT 0, 1, 0, 0 FROM c;"
	       "WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c LIMIT 20000)"
	       " INSERT INTO interval SELECT 1000 + i, 24000000000 + i, 24000000000 + i FROM c");
	assert_false(attack_one("tables without a key", &commands[1]));
	assert_true(said("takes more work than its size explains"));
}

TEST(what_is_no_file)
{
	static const char *const made_by[] = { "mkfifo", "ln -s /dev/zero" };

	for (size_t i = 0; i < COUNT_OF(made_by); i++) {
		copy_origin();
		unit_shell("rm '%s/run/run.db' && %s '%s/run/run.db'", dir, made_by[i], dir);
		assert_refused(made_by[i], "this is not a recording of latscope");
	}
}

TEST(a_pipe_in_place_of_the_log)
{
	copy_origin();
	change("PRAGMA journal_mode=WAL");
	assert_int_equal(mkfifo(unit_path(dir, "run/run.db-wal"), 0600), 0);
	assert_int_equal(attack("a pipe in place of the log"), 0);
}

/* One that was copied while it was recorded, without its log, and by who may not write there. */
TEST(without_its_log)
{
	copy_origin();
	change("PRAGMA journal_mode=WAL");
	unlink(unit_path(dir, "run/run.db-wal"));
	unlink(unit_path(dir, "run/run.db-shm"));
	assert_int_equal(attack("without its log"), COUNT_OF(commands));
}

UNIT_FIXTURES(.all = { record, forget })
