// SPDX-License-Identifier: BSD-2-Clause
/*
 * dio [-w] [-W] [-f | -D] [-b BYTES] [-q DEPTH] [-z BYTES] [-s SEED] PATH COUNT: direct block I/O.
 *
 * DEPTH threads (1 if not said) share COUNT O_DIRECT reads, or (-W) writes, of BYTES (4096) at
 * random aligned offsets of PATH: a block device, a file that exists, or a file that is made for
 * the purpose with a size of -z (16 MiB), written out in full beforehand, and gone at the end.
 * With -f each write is followed by fdatasync(2), which flushes the device's cache if it has one.
 * With -D each write has O_DSYNC; PATH is a block device or a file that exists.
 * -W destroys what is there.
 *
 * Reference, of user space: count, errors, io_min_ns, io_mean_ns, io_max_ns, io_sum_ns, each one's
 * time in the system call, so an upper bound of its block latency (sync_*: the same of the
 * fdatasync calls). Reference of the kernel: disk_*, what /proc/diskstats added for the device
 * (disk=MAJOR:MINOR) PATH is or lies on, between both waits of -w, see selftest/reference/dio.h.
 * With disk_known=0 there are none.
 *
 * On a device that nobody else uses, disk_reads + disk_read_merges = COUNT as long as BYTES is not
 * more than one request may carry (the queue's max_sectors_kb, and max_segments pages), and each
 * request is one issue and one completion. With -W -f the kernel counts each fdatasync() as a
 * write of no sectors, so disk_writes + disk_write_merges = 2 * COUNT, and what the device was
 * sent as disk_flushes, one for several fdatasync() of the same moment. So it is with -W -D on a
 * block device, whose driver syncs after each write, but that a disk without FUA has another
 * flush for each.
 */
#include <sys/sysmacros.h>

#include <selftest/reference/dio.h>

#include "reference.h"

static void print_disk(const struct reference_disk *before, const struct reference_disk *after)
{
	static const struct {
		const char *name;
		enum reference_disk_field field;
	} keys[] = {
		{ "reads", REFERENCE_READS },	    { "read_merges", REFERENCE_READ_MERGES },
		{ "read_ms", REFERENCE_READ_MS },   { "read_sectors", REFERENCE_READ_SECTORS },
		{ "writes", REFERENCE_WRITES },	    { "write_merges", REFERENCE_WRITE_MERGES },
		{ "write_ms", REFERENCE_WRITE_MS }, { "write_sectors", REFERENCE_WRITE_SECTORS },
		{ "discards", REFERENCE_DISCARDS }, { "flushes", REFERENCE_FLUSHES },
		{ "flush_ms", REFERENCE_FLUSH_MS },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		printf("disk_%s=%llu\n", keys[i].name,
		       after->field[keys[i].field] - before->field[keys[i].field]);
}

static void report(const struct reference_dio *dio)
{
	printf("elapsed_ns=%lu\n", dio->elapsed_ns);
	printf("count=%lu\nerrors=%lu\nbytes=%lu\n", dio->io.count, dio->errors, dio->bytes);
	reference_print_span("io", &dio->io);
	reference_print_span("sync", &dio->syncs);
	printf("disk_known=%d\n", dio->has_disk);
	if (dio->has_disk)
		print_disk(&dio->before, &dio->after);
}

static void parse(struct reference_dio *dio, int argc, char **argv)
{
	static const char usage[] = "dio [-w] [-W [-f | -D]] [-b BYTES] [-q DEPTH] [-z BYTES]"
				    " [-s SEED] PATH COUNT (BYTES in 512s)";
	int option;

	while ((option = reference_option(argc, argv, "WfDb:q:z:s:")))
		if (option == 'W')
			dio->write = true;
		else if (option == 'f')
			dio->sync = true;
		else if (option == 'D')
			dio->dsync = true;
		else if (option == 'b')
			dio->bytes =
				reference_number(optarg, "BYTES", 512, REFERENCE_DIO_MAX_BYTES);
		else if (option == 'q')
			dio->depth = reference_number(optarg, "DEPTH", 1, REFERENCE_DIO_MAX_DEPTH);
		else if (option == 'z')
			dio->size = reference_number(optarg, "size", 1 << 20, 1ULL << 40);
		else
			dio->seed = reference_number(optarg, "SEED", 0, UINT32_MAX);
	argv = reference_arguments(argc, argv, 2, usage);
	reference_usage((dio->write || !(dio->sync || dio->dsync)) && dio->bytes % 512 == 0, usage);
	dio->path = argv[0];
	dio->count = reference_number(argv[1], "COUNT", 1, UINT32_MAX);
}

int main(int argc, char **argv)
{
	static struct reference_dio dio = { .bytes = 4096, .depth = 1, .size = 16 << 20 };
	int err;

	parse(&dio, argc, argv);
	reference_check(reference_dio__prepare(&dio), dio.why);
	printf("disk=%u:%u\n", major(dio.disk), minor(dio.disk));
	reference_open();
	err = reference_dio__run(&dio);
	report(&dio);
	reference_check(err, dio.why);
	reference_close();
	return 0;
}
