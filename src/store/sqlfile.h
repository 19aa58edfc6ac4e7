/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How SQLite opens the files of run.db: by the directory's descriptor, so that nobody leads us
 * elsewhere; without run.db-shm, which is memory that the kernel takes away (SIGBUS) when a file
 * system of small blocks is full; and for reading, without writing anything anywhere.
 *
 * The index of the log, which run.db-shm is, is kept in private memory instead. For that SQLite
 * wants the database to itself (locking_mode=EXCLUSIVE), but readers must find a recording that
 * goes on. So nobody takes more than a shared lock. The recorder folds the log in only when it gets
 * the exclusive lock, that is, when nobody reads. Readers of other programs, such as sqlite3, take
 * part in this without knowing.
 */
#ifndef LATSCOPE_STORE_SQLFILE_H
#define LATSCOPE_STORE_SQLFILE_H

#include <stdbool.h>

#include <sqlite3.h>

/*
 * 0 or -errno. A file that is to be written must be there. Both are for one thread.
 */
int sqlfile__open_to_write(sqlite3 **db, const char *path);
int sqlfile__open_to_read(sqlite3 **db, const char *path);

/* Returns -EBUSY as long as somebody reads. Otherwise nobody begins to until they are let in. */
int sqlfile__keep_readers_out(sqlite3 *db);
void sqlfile__let_readers_in(sqlite3 *db);

#endif
