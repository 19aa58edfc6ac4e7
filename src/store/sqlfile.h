/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How SQLite opens the files of run.db:
 *
 * - by the directory's descriptor, so that nobody can redirect it;
 * - without run.db-shm: on a full file system with small blocks, access to it would raise SIGBUS;
 * - for reading, without writing anything anywhere.
 *
 * The index of the log, which is normally run.db-shm, is in private memory instead. SQLite does
 * this only if it has the database to itself (locking_mode=EXCLUSIVE), but readers must be able to
 * read a recording that is still running. So no process takes more than a shared lock. The recorder
 * folds the log in only if it gets the exclusive lock, that is, when there is no reader. This works
 * with readers of other programs, too, such as sqlite3.
 */
#ifndef LATSCOPE_STORE_SQLFILE_H
#define LATSCOPE_STORE_SQLFILE_H

#include <stdbool.h>

#include <sqlite3.h>

/* 0 or -errno. A file to be written must exist. The connection is for one thread. */
int sqlfile__open_to_write(sqlite3 **db, const char *path);
int sqlfile__open_to_read(sqlite3 **db, const char *path);

/*
 * Returns -EBUSY while there is a reader. After success, no reader can start until
 * let_readers_in().
 */
int sqlfile__keep_readers_out(sqlite3 *db);
void sqlfile__let_readers_in(sqlite3 *db);

#endif
