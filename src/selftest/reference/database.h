/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A database on a disk with ext4: it appends a block to a file and waits until it is on the disk,
 * which makes the file system write its journal. The file system is mounted at no path: only the
 * process has it, and it is unmounted when the process ends.
 */
#ifndef LATSCOPE_SELFTEST_REFERENCE_DATABASE_H
#define LATSCOPE_SELFTEST_REFERENCE_DATABASE_H

/* Mounts the file system of the device, creates the file and writes to it. -errno, or the file. */
int reference_database__open(const char *device);

/* Writes a block with fdatasync(): one request of the caller, and those of the journal. */
int reference_database__commit(int file);

#endif
