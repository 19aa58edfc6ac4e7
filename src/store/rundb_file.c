// SPDX-License-Identifier: BSD-2-Clause
#include "rundb_internal.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "sql.h"

static sqlite3_vfs *plain; /* SQLite's default VFS */
static const sqlite3_io_methods *plain_file; /* its methods for database files */
static sqlite3_io_methods shared_file;

/* No temporary file, no memory mapping of a file. locking_mode takes effect at the first read. */
static const char setup[] = "PRAGMA mmap_size=0;"
			    "PRAGMA temp_store=MEMORY;"
			    "PRAGMA locking_mode=EXCLUSIVE;";

static int lock_shared(sqlite3_file *file, int level)
{
	return plain_file->xLock(file, level < SQLITE_LOCK_SHARED ? level : SQLITE_LOCK_SHARED);
}

static int open_shared(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags,
		       int *got)
{
	int err = plain->xOpen(vfs, name, file, flags, got);

	if (err || !(flags & SQLITE_OPEN_MAIN_DB))
		return err;
	plain_file = file->pMethods;
	shared_file = *plain_file;
	shared_file.xLock = lock_shared;
	file->pMethods = &shared_file;
	return SQLITE_OK;
}

/* Does not resolve links: the kernel does it when the file is opened. */
static int keep_path(sqlite3_vfs *vfs, const char *name, int size, char *out)
{
	(void)vfs;
	return snprintf(out, (size_t)size, "%s", name) < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

/* Refuses a pipe in place of the log: open() would wait for a writer. */
static int open_to_read(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags,
			int *got)
{
	int kept = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL;
	struct stat st;

	file->pMethods = NULL;
	if (!name || !(flags & kept))
		return SQLITE_CANTOPEN;
	if (stat(name, &st)) {
		/* A recording may be copied without its log: then the log is empty. */
		if (!(flags & SQLITE_OPEN_WAL))
			return SQLITE_CANTOPEN;
		name = "/dev/null";
	} else if (!S_ISREG(st.st_mode)) {
		return SQLITE_CANTOPEN;
	}
	return open_shared(vfs, name, file, (flags & kept) | SQLITE_OPEN_READONLY, got);
}

static int delete_nothing(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs;
	(void)name;
	(void)sync;
	return SQLITE_IOERR_DELETE;
}

/*
 * The two VFS are copies of SQLite's own, with some methods replaced; they share its private data.
 */
static const char *vfs_to(bool write)
{
	static sqlite3_vfs writer, reader;

	if (plain)
		return write ? writer.zName : reader.zName;
	plain = sqlite3_vfs_find("unix");
	if (!plain)
		return NULL;
	writer = *plain;
	writer.zName = "latscope-write";
	writer.xOpen = open_shared;
	writer.xFullPathname = keep_path;
	reader = *plain;
	reader.zName = "latscope-read";
	reader.xOpen = open_to_read;
	reader.xDelete = delete_nothing;
	if (sqlite3_vfs_register(&writer, 0) || sqlite3_vfs_register(&reader, 0))
		return NULL;
	return vfs_to(write);
}

static int open_by(sqlite3 **db, const char *path, int flags, bool write)
{
	const char *vfs = vfs_to(write);
	int err = 0;

	*db = NULL;
	if (!vfs)
		return -ENOMEM;
	if (sqlite3_open_v2(path, db, flags | SQLITE_OPEN_NOMUTEX, vfs))
		err = *db ? sql__error(*db) : -ENOMEM;
	/* On close SQLite would fold the log in, with a lock that it does not have. */
	if (!err)
		sqlite3_db_config(*db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	if (!err)
		err = sql__exec(*db, setup);
	if (err) {
		sqlite3_close(*db);
		*db = NULL;
	}
	return err;
}

int rundb_file__open_to_write(sqlite3 **db, const char *path)
{
	return open_by(db, path, SQLITE_OPEN_READWRITE, true);
}

int rundb_file__open_to_read(sqlite3 **db, const char *path)
{
	return open_by(db, path, SQLITE_OPEN_READONLY, false);
}

static sqlite3_file *file_of(sqlite3 *db)
{
	sqlite3_file *file = NULL;

	sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
	return file;
}

int rundb_file__keep_readers_out(sqlite3 *db)
{
	if (!plain_file->xLock(file_of(db), SQLITE_LOCK_EXCLUSIVE))
		return 0;
	rundb_file__let_readers_in(db); /* SQLite may have got a part of the lock */
	return -EBUSY;
}

void rundb_file__let_readers_in(sqlite3 *db)
{
	plain_file->xUnlock(file_of(db), SQLITE_LOCK_SHARED);
}
