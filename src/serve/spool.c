// SPDX-License-Identifier: BSD-2-Clause
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <zlib.h>

#include <store/sql.h>
#include <store/trusted_path.h>

/* PAGE, JOURNAL and APPLICATION_ID are in the statements below, too. */
#define PAGE 1024
/* Bytes of the journal that stay allocated, enough to delete a batch on a full disk. */
#define JOURNAL (12 << 10)
#define OLD_MAGIC "LSspool2" /* of earlier builds, which had no database */
#define APPLICATION_ID "LSsp" /* in the file's header */

struct spool {
	sqlite3 *db;
	uint64_t most; /* bytes of the database */
	uint64_t overwritten_rows; /* of what spool__read() gave last */
	uint64_t lost_rows;
	int err;
	bool was_set_aside;
};

/*
 * The database stays locked, and SQLite keeps both files open: without privileges they could not be
 * opened again. Nothing waits for the disk.
 */
static const char setup[] =
	"PRAGMA page_size=1024;"
	"PRAGMA mmap_size=0;"
	"PRAGMA secure_delete=OFF;" /* deleting a batch does not overwrite its pages */
	"PRAGMA temp_store=MEMORY;"
	"PRAGMA trusted_schema=OFF;"
	"PRAGMA locking_mode=EXCLUSIVE;"
	"PRAGMA synchronous=OFF;"
	"PRAGMA journal_mode=PERSIST;"
	"PRAGMA journal_size_limit=12288;";

/*
 * This writes, so that the journal is open from now on. What is known of batches only while this
 * process lives is in memory: `waiting` has those that need to be sent, in the order in which they
 * were put.
 */
static const char begin[] =
	"BEGIN IMMEDIATE;"
	"PRAGMA application_id=0x4c537370;"
	"CREATE TABLE IF NOT EXISTS batch(number INTEGER PRIMARY KEY, put_s INTEGER,"
	" rows INTEGER, sum INTEGER, data BLOB);"
	"COMMIT;"
	"CREATE TEMP TABLE waiting(number INTEGER PRIMARY KEY, put_s, rows, len,"
	" put_off DEFAULT 0, strikes DEFAULT 0, progress DEFAULT 0,"
	" is_read DEFAULT 0);"
	"CREATE INDEX temp.next ON waiting(is_read, put_off, number);"
	"INSERT INTO waiting(number, put_s, rows, len)"
	" SELECT number, put_s, rows, length(data) FROM batch;";

/* ---- statements ---- */

/* `types`: see sql__run(). */
static int run(struct spool *spool, const char *sql, const char *types, ...)
{
	sqlite3_stmt *statement;
	va_list parameters;
	int err = sql__prepare(spool->db, &statement, sql);

	if (err)
		return err;
	va_start(parameters, types);
	err = sql__run_with(statement, types, parameters);
	va_end(parameters);
	sqlite3_finalize(statement);
	return err;
}

/* The numbers in the first row; 0 without one. 1: there is one; 0; or -errno. */
static int ask(const struct spool *spool, const char *sql, uint64_t *numbers, int nr)
{
	sqlite3_stmt *statement;
	int got = sql__prepare(spool->db, &statement, sql);

	memset(numbers, 0, (size_t)nr * sizeof(*numbers));
	if (got)
		return got;
	got = sql__step(statement);
	for (int i = 0; got == 1 && i < nr; i++)
		numbers[i] = (uint64_t)sqlite3_column_int64(statement, i);
	sqlite3_finalize(statement);
	return got;
}

static uint64_t size_of(const struct spool *spool)
{
	uint64_t pages;

	ask(spool, "PRAGMA page_count", &pages, 1);
	return pages * PAGE;
}

/* ---- the file ---- */

/* Nobody else may have put a file there that is written to as root. A descriptor or -errno. */
static int open_file(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	struct stat st;
	int err = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1)
		err = -EREMCHG;
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int open_journal(int dir, const char *name)
{
	char journal[NAME_MAX + 16];

	snprintf(journal, sizeof(journal), "%s-journal", name);
	return open_file(dir, journal);
}

/* It has its blocks before the disk is full: then losing a batch needs no more of them. */
static int reserve_journal(int dir, const char *name)
{
	static const char zeros[JOURNAL];
	int fd = open_journal(dir, name);
	off_t size;

	if (fd < 0)
		return fd;
	size = lseek(fd, 0, SEEK_END);
	if (size >= 0 && size < JOURNAL && write(fd, zeros, (size_t)(JOURNAL - size)) < 0)
		size = 0; /* the disk is full already */
	close(fd);
	return 0;
}

/* 0: a spool, or a new file; -EUCLEAN: one of an earlier build; -EEXIST: something else. */
static int recognise(int fd)
{
	static const char database[] = "SQLite format 3", none[8];
	char head[72];
	ssize_t len = pread(fd, head, sizeof(head), 0);

	if (!len)
		return 0;
	if (len == sizeof(head) && !memcmp(head, database, sizeof(database)) &&
	    !memcmp(head + 68, APPLICATION_ID, 4))
		return 0;
	/* If the first write to a new file was interrupted, the file begins with zeros. */
	if (len >= 8 && (!memcmp(head, OLD_MAGIC, 8) || !memcmp(head, none, 8)))
		return -EUCLEAN;
	return len < 0 ? -errno : -EEXIST;
}

/* Is the file sound? */
static int check(const struct spool *spool)
{
	sqlite3_stmt *statement;
	int err = sql__prepare(spool->db, &statement, "PRAGMA quick_check(1)"), got;

	if (err)
		return err;
	got = sql__step(statement);
	if (got < 0)
		err = got; /* it may be sound */
	else if (!got || strcmp((const char *)sqlite3_column_text(statement, 0), "ok") != 0)
		err = -EUCLEAN;
	sqlite3_finalize(statement);
	return err;
}

/* SQLite does not set it below the present size. */
static int set_limit(const struct spool *spool)
{
	char limit[64];

	snprintf(limit, sizeof(limit), "PRAGMA max_page_count=%llu",
		 (unsigned long long)(spool->most / PAGE));
	return sql__exec(spool->db, limit);
}

static int open_database(struct spool *spool, const char *path)
{
	char file[PATH_MAX + 2];
	int err;

	/* A name that begins with "file:" is no URI. */
	snprintf(file, sizeof(file), "%s%s", path[0] == '/' ? "" : "./", path);
	if (sqlite3_open_v2(file, &spool->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL))
		return spool->db ? sql__error(spool->db) : -ENOMEM;
	err = sql__exec(spool->db, setup);
	if (!err)
		err = check(spool);
	if (!err)
		err = sql__exec(spool->db, begin);
	return err ? err : set_limit(spool);
}

static int open_in(struct spool *spool, int dir, const char *name, const char *path)
{
	int fd = open_file(dir, name), err;

	if (fd < 0)
		return fd;
	err = recognise(fd);
	close(fd); /* now: later this would end the locks of SQLite */
	if (err)
		return err;
	fd = open_journal(dir, name);
	if (fd < 0)
		return fd;
	close(fd);
	err = open_database(spool, path);
	return err ? err : reserve_journal(dir, name);
}

static int set_aside(struct spool *spool, int dir, const char *name)
{
	char other[NAME_MAX + 16];

	sqlite3_close(spool->db);
	spool->db = NULL;
	spool->was_set_aside = true;
	snprintf(other, sizeof(other), "%s-journal", name);
	unlinkat(dir, other, 0);
	snprintf(other, sizeof(other), "%s.old", name);
	return renameat(dir, name, dir, other) ? -errno : 0;
}

int spool__new(struct spool **out, const char *path, uint64_t most)
{
	const struct caller caller = { .uid = geteuid(), .gid = getegid() };
	struct spool *spool = calloc(1, sizeof(*spool));
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char parent[PATH_MAX];
	int dir, err;

	if (!spool)
		return -ENOMEM;
	spool->most = most - JOURNAL;
	if (strlen(path) >= sizeof(parent)) {
		free(spool);
		return -ENAMETOOLONG;
	}
	snprintf(parent, sizeof(parent), "%.*s", slash ? (int)(slash - path) : 1,
		 slash ? path : ".");
	/* SQLite opens the file by its path, so no other user may be able to replace it. */
	dir = trusted_path__open(parent[0] ? parent : "/", &caller);
	err = dir < 0 ? dir : trusted_path__check(dir, &caller, false);
	if (!err)
		err = open_in(spool, dir, name, path);
	if (err == -EUCLEAN || err == -EMEDIUMTYPE) {
		err = set_aside(spool, dir, name);
		if (!err)
			err = open_in(spool, dir, name, path);
	}
	if (dir >= 0)
		close(dir);
	if (err) {
		spool__free(spool);
		return err;
	}
	*out = spool;
	return 0;
}

void spool__free(struct spool *spool)
{
	if (!spool)
		return;
	sqlite3_close(spool->db);
	free(spool);
}

/* ---- putting ---- */

/* It is lost, except if it is being sent: then it is in memory. */
static int lose(struct spool *spool, uint64_t number, uint64_t rows, bool is_read)
{
	int err = run(spool, "DELETE FROM batch WHERE number = ?", "i", number);

	if (err)
		return err;
	if (is_read)
		spool->overwritten_rows += rows;
	else
		spool->lost_rows += rows;
	return run(spool, "DELETE FROM waiting WHERE number = ?", "i", number);
}

static int lose_oldest(struct spool *spool)
{
	uint64_t found[3];
	int got = ask(spool, "SELECT number, rows, is_read FROM waiting ORDER BY number LIMIT 1",
		      found, 3);

	return got == 1 ? lose(spool, found[0], found[1], found[2]) : -ENOENT;
}

static int insert(struct spool *spool, const void *data, size_t len, uint32_t rows)
{
	sqlite3_stmt *statement;
	int err = sql__prepare(spool->db, &statement,
			       "INSERT INTO batch(put_s, rows, sum, data) VALUES(?, ?, ?, ?)");

	if (err)
		return err;
	sqlite3_bind_int64(statement, 1, time(NULL));
	sqlite3_bind_int64(statement, 2, rows);
	sqlite3_bind_int64(statement, 3, (int64_t)crc32(0, data, (uInt)len));
	sqlite3_bind_blob(statement, 4, data, (int)len, SQLITE_STATIC);
	err = sql__step(statement);
	sqlite3_finalize(statement);
	return err ? err
		   : sql__exec(spool->db, "INSERT INTO waiting(number, put_s, rows, len)"
					  " SELECT number, put_s, rows, length(data) FROM batch"
					  " WHERE number = last_insert_rowid()");
}

/* A page has at least 1,000 bytes of a batch; some are for the table itself. */
static bool fits(uint64_t bytes, size_t len)
{
	return len <= INT_MAX && (len / 1000 + 8) * PAGE <= bytes;
}

int spool__put(struct spool *spool, const void *data, size_t len, uint32_t rows)
{
	spool->err = fits(spool->most, len) ? insert(spool, data, len, rows) : -EFBIG;
	while (spool->err == -ENOSPC && fits(size_of(spool) + 8 * PAGE, len) && !lose_oldest(spool))
		spool->err = insert(spool, data, len, rows);
	if (spool->err)
		spool->lost_rows += rows;
	return spool->err;
}

/* ---- reading ---- */

/* 0; -EIO: it is damaged; or -ENOMEM. */
static int append_data(sqlite3_stmt *row, struct spool_body *body)
{
	const void *data = sqlite3_column_blob(row, 0);
	size_t len = (size_t)sqlite3_column_bytes(row, 0);
	void *grown;

	if (!data || crc32(0, data, (uInt)len) != (uint64_t)sqlite3_column_int64(row, 1))
		return -EIO;
	grown = realloc(body->at, body->len + len + 1);
	if (!grown)
		return -ENOMEM;
	memcpy((char *)grown + body->len, data, len);
	body->at = grown;
	body->len += len;
	return 0;
}

static int append(struct spool *spool, uint64_t number, uint64_t rows, struct spool_body *body)
{
	const size_t len = body->len;
	sqlite3_stmt *row;
	int err = sql__prepare(spool->db, &row, "SELECT data, sum FROM batch WHERE number = ?");

	if (err)
		return err;
	sqlite3_bind_int64(row, 1, (int64_t)number);
	err = sql__step(row) == 1 ? append_data(row, body) : -EIO;
	sqlite3_finalize(row);
	if (err == -EIO) { /* the others are sent, whether or not the file can be written */
		spool->lost_rows += rows;
		run(spool, "DELETE FROM batch WHERE number = ?", "i", number);
		return run(spool, "DELETE FROM waiting WHERE number = ?", "i", number);
	}
	if (!err)
		err = run(spool, "UPDATE waiting SET is_read = 1 WHERE number = ?", "i", number);
	if (err) { /* the batch is read again */
		body->len = len;
		return err;
	}
	body->last = number;
	body->rows += rows;
	body->batches++;
	return 0;
}

/* What was given last was not done: it was overwritten in the meantime, or is read again. */
int spool__read(struct spool *spool, size_t most, struct spool_body *body)
{
	uint64_t next[4]; /* number, rows, bytes, how often it was put off */
	int got;

	*body = (struct spool_body){ 0 };
	spool->lost_rows += spool->overwritten_rows;
	spool->overwritten_rows = 0;
	if (sql__exec(spool->db, "UPDATE waiting SET is_read = 0 WHERE is_read = 1"))
		return -ENOMEM;
	while ((got = ask(spool,
			  "SELECT number, rows, len, put_off FROM waiting WHERE is_read = 0"
			  " ORDER BY put_off, number LIMIT 1",
			  next, 4)) == 1) {
		if (body->batches && (next[3] || body->len + next[2] > most))
			break;
		got = append(spool, next[0], next[1], body);
		if (got)
			break;
	}
	if (body->batches)
		return 0;
	free(body->at);
	body->at = NULL;
	return got ? got : -ENOENT;
}

/* If the file is not written, the batches are sent again, which does no harm. */
void spool__done(struct spool *spool)
{
	uint64_t one;

	spool->overwritten_rows = 0;
	sql__exec(spool->db, "DELETE FROM waiting WHERE is_read = 1;"
			     "DELETE FROM batch WHERE number NOT IN (SELECT number FROM waiting)");
	if (ask(spool, "SELECT 1 FROM waiting LIMIT 1", &one, 1))
		return;
	sql__exec(spool->db, "VACUUM");
	set_limit(spool); /* the file may have been larger */
}

unsigned int spool__put_off(struct spool *spool, uint64_t progress)
{
	uint64_t strikes;

	run(spool,
	    "UPDATE waiting SET put_off = put_off + 1, strikes = strikes + (?1 > progress),"
	    " progress = ?1 WHERE is_read = 1",
	    "i", progress);
	ask(spool, "SELECT max(strikes) FROM waiting WHERE is_read = 1", &strikes, 1);
	return (unsigned int)strikes;
}

struct spool_counts spool__counts(const struct spool *spool)
{
	uint64_t found[3];

	ask(spool,
	    "SELECT count(*), sum(rows), (SELECT put_s FROM waiting ORDER BY number LIMIT 1)"
	    " FROM waiting",
	    found, 3);
	return (struct spool_counts){ .batches = found[0],
				      .rows = found[1],
				      .oldest_s = found[2],
				      .bytes = size_of(spool),
				      .lost_rows = spool->lost_rows,
				      .was_set_aside = spool->was_set_aside,
				      .err = spool->err };
}
