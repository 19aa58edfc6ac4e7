// SPDX-License-Identifier: BSD-2-Clause
/*
 * dio [-w] [-W] [-f] [-b BYTES] [-q DEPTH] [-z BYTES] [-s SEED] PATH COUNT: direct block I/O.
 *
 * DEPTH threads (1 if not said) share COUNT O_DIRECT reads, or (-W) writes, of BYTES (4096) at
 * random aligned offsets of PATH: a block device, a file that exists, or a file that is made for
 * the purpose with a size of -z (16 MiB), written out in full beforehand, and gone at the end.
 * With -f each write is followed by fdatasync(2), which flushes the device's cache if it has one.
 * -W destroys what is there.
 *
 * Truth, of user space: count, errors, io_min_ns, io_mean_ns, io_max_ns, io_sum_ns, each one's
 * time in the system call, so an upper bound of its block latency (sync_*: the same of the
 * fdatasync calls). Truth of the kernel: disk_*, what /proc/diskstats added for the device
 * (disk=MAJOR:MINOR) PATH is or lies on, between both waits of -w: requests completed, bios merged
 * into one of them, and the sum of the requests' times from allocation to completion, of ns, cut
 * to ms. With disk_known=0 there are none: the device is not listed, as under btrfs and overlayfs.
 *
 * On a device that nobody else uses, disk_reads + disk_read_merges = COUNT as long as BYTES is not
 * more than one request may carry (the queue's max_sectors_kb, and max_segments pages), and each
 * request is one issue and one completion. With -W -f the kernel counts each fdatasync() as a
 * write of no sectors, so disk_writes + disk_write_merges = 2 * COUNT, and what the device was
 * sent as disk_flushes, one for several fdatasync() of the same moment. The counters follow the
 * completion that user space waits for, if only just, so they are read once they stand still. A
 * file adds its file system's own I/O, and everybody's on that disk.
 */
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include "truth.h"

#define MAX_DEPTH 128
#define MAX_BYTES (4UL << 20)

struct times {
	uint64_t min_ns, max_ns, sum_ns, count, errors;
};

/* In the order of /proc/diskstats; files of old kernels end earlier. */
enum disk_field {
	READS,
	READ_MERGES,
	READ_SECTORS,
	READ_MS,
	WRITES,
	WRITE_MERGES,
	WRITE_SECTORS,
	WRITE_MS,
	IN_FLIGHT,
	BUSY_MS,
	QUEUE_MS,
	DISCARDS,
	DISCARD_MERGES,
	DISCARD_SECTORS,
	DISCARD_MS,
	FLUSHES,
	FLUSH_MS,
	DISK_FIELDS,
};

struct disk {
	unsigned long long field[DISK_FIELDS];
};

struct dio {
	const char *path;
	int fd;
	bool write, sync;
	unsigned int depth;
	uint64_t count, bytes, size, seed;
	dev_t disk;
	bool go;
	pthread_mutex_t lock;
	pthread_cond_t start;
	atomic_uint_fast64_t next;
};

struct worker {
	struct dio *dio;
	pthread_t thread;
	uint64_t random;
	char *buffer;
	struct times io, sync;
};

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL >> 16;
}

static void times_add(struct times *times, uint64_t ns, bool ok)
{
	times->min_ns = !times->count || ns < times->min_ns ? ns : times->min_ns;
	times->max_ns = ns > times->max_ns ? ns : times->max_ns;
	times->sum_ns += ns;
	times->count++;
	times->errors += !ok;
}

static void times_merge(struct times *sum, const struct times *one)
{
	if (!one->count)
		return;
	sum->min_ns = !sum->count || one->min_ns < sum->min_ns ? one->min_ns : sum->min_ns;
	sum->max_ns = one->max_ns > sum->max_ns ? one->max_ns : sum->max_ns;
	sum->sum_ns += one->sum_ns;
	sum->count += one->count;
	sum->errors += one->errors;
}

static void do_io(struct worker *worker)
{
	const struct dio *dio = worker->dio;
	off_t offset = next_random(&worker->random) % (dio->size / dio->bytes) * dio->bytes;
	uint64_t start = truth_now();
	ssize_t done;

	if (dio->write)
		done = pwrite(dio->fd, worker->buffer, dio->bytes, offset);
	else
		done = pread(dio->fd, worker->buffer, dio->bytes, offset);
	times_add(&worker->io, truth_now() - start, done == (ssize_t)dio->bytes);
}

static void do_sync(struct worker *worker)
{
	uint64_t start = truth_now();
	int err = fdatasync(worker->dio->fd);

	times_add(&worker->sync, truth_now() - start, !err);
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct dio *dio = worker->dio;

	pthread_mutex_lock(&dio->lock);
	while (!dio->go)
		pthread_cond_wait(&dio->start, &dio->lock);
	pthread_mutex_unlock(&dio->lock);
	while (atomic_fetch_add(&dio->next, 1) < dio->count) {
		do_io(worker);
		if (dio->sync)
			do_sync(worker);
	}
	return NULL;
}

static bool parse_disk(const char *line, dev_t device, struct disk *disk)
{
	unsigned int number[2];
	int used = 0;

	if (sscanf(line, "%u %u %*s%n", &number[0], &number[1], &used) != 2 || !used ||
	    number[0] != major(device) || number[1] != minor(device))
		return false;
	for (int i = 0; i < DISK_FIELDS; i++) {
		char *end;

		line += used;
		disk->field[i] = strtoull(line, &end, 10);
		used = end - line;
	}
	return true;
}

static bool read_disk(dev_t device, struct disk *disk)
{
	FILE *file = fopen("/proc/diskstats", "re");
	bool found = false;
	char line[512];

	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file))
		found = parse_disk(line, device, disk);
	fclose(file);
	return found;
}

static uint64_t completed(const struct disk *disk)
{
	return disk->field[READS] + disk->field[WRITES] + disk->field[FLUSHES] +
	       disk->field[DISCARDS];
}

/* A busy disk never stands still: then what there is after half a second. */
static bool settled_disk(dev_t device, struct disk *disk)
{
	uint64_t before;
	int tries = 0;

	if (!read_disk(device, disk))
		return false;
	do {
		before = completed(disk);
		truth_sleep(20 * NSEC_PER_MSEC);
		read_disk(device, disk);
	} while ((completed(disk) != before || disk->field[IN_FLIGHT]) && ++tries < 25);
	return true;
}

static void print_disk(const struct disk *before, const struct disk *after)
{
	static const struct {
		const char *name;
		enum disk_field field;
	} keys[] = {
		{ "reads", READS },	  { "read_merges", READ_MERGES },
		{ "read_ms", READ_MS },	  { "read_sectors", READ_SECTORS },
		{ "writes", WRITES },	  { "write_merges", WRITE_MERGES },
		{ "write_ms", WRITE_MS }, { "write_sectors", WRITE_SECTORS },
		{ "discards", DISCARDS }, { "flushes", FLUSHES },
		{ "flush_ms", FLUSH_MS },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		printf("disk_%s=%llu\n", keys[i].name,
		       after->field[keys[i].field] - before->field[keys[i].field]);
}

static void print_times(const char *name, const struct times *times)
{
	printf("%s_count=%llu %s_min_ns=%llu %s_mean_ns=%llu %s_max_ns=%llu %s_sum_ns=%llu\n", name,
	       (unsigned long long)times->count, name, (unsigned long long)times->min_ns, name,
	       (unsigned long long)(times->count ? times->sum_ns / times->count : 0), name,
	       (unsigned long long)times->max_ns, name, (unsigned long long)times->sum_ns);
}

/* In full, because a read of a hole, or of a block never written, needs no disk. */
static void fill(const struct dio *dio)
{
	static char block[1 << 20] __attribute__((aligned(4096)));

	memset(block, 0x5a, sizeof(block));
	for (uint64_t at = 0; at < dio->size; at += sizeof(block))
		if (pwrite(dio->fd, block, sizeof(block), at) != (ssize_t)sizeof(block))
			truth_die(errno == EINVAL ? TRUTH_CANNOT : TRUTH_FAILED,
				  "cannot fill %s: %s", dio->path, strerror(errno));
	if (fsync(dio->fd))
		truth_die(TRUTH_FAILED, "cannot write %s out: %s", dio->path, strerror(errno));
}

/* tmpfs takes O_DIRECT since Linux 6.6, for nothing. (A device's node lies on it, too.) */
static bool is_in_memory(int fd)
{
	struct statfs fs;
	struct stat stat;

	return !fstat(fd, &stat) && S_ISREG(stat.st_mode) && !fstatfs(fd, &fs) &&
	       (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

static void make_file(struct dio *dio)
{
	dio->fd = open(dio->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (dio->fd < 0)
		truth_die(TRUTH_FAILED, "cannot make %s: %s", dio->path, strerror(errno));
	unlink(dio->path);
	if (is_in_memory(dio->fd) || fcntl(dio->fd, F_SETFL, O_DIRECT))
		truth_die(TRUTH_CANNOT, "%s lies where no direct I/O is", dio->path);
	fill(dio);
}

static void open_path(struct dio *dio)
{
	if (access(dio->path, F_OK)) {
		make_file(dio);
		return;
	}
	dio->fd = open(dio->path, (dio->write ? O_RDWR : O_RDONLY) | O_DIRECT | O_CLOEXEC);
	if (dio->fd < 0)
		truth_die(errno == EINVAL ? TRUTH_CANNOT : TRUTH_FAILED,
			  "cannot open %s for direct I/O: %s", dio->path, strerror(errno));
	if (is_in_memory(dio->fd))
		truth_die(TRUTH_CANNOT, "%s lies in memory", dio->path);
}

static void find_size_and_disk(struct dio *dio)
{
	struct stat stat;

	if (fstat(dio->fd, &stat))
		truth_die(TRUTH_FAILED, "cannot stat %s: %s", dio->path, strerror(errno));
	dio->size = stat.st_size;
	dio->disk = stat.st_dev;
	if (S_ISBLK(stat.st_mode)) {
		dio->disk = stat.st_rdev;
		if (ioctl(dio->fd, BLKGETSIZE64, &dio->size))
			truth_die(TRUTH_FAILED, "no size of %s: %s", dio->path, strerror(errno));
	}
	if (dio->size < dio->bytes)
		truth_die(TRUTH_FAILED, "%s is shorter than one I/O", dio->path);
}

static void start_workers(struct dio *dio, struct worker *workers)
{
	size_t pages = (dio->bytes + TRUTH_PAGE - 1) / TRUTH_PAGE;
	char *buffers = truth_map(dio->depth * pages);

	for (unsigned int i = 0; i < dio->depth; i++) {
		workers[i] = (struct worker){
			.dio = dio,
			.random = (dio->seed + i + 1) * 0x9e3779b97f4a7c15ULL,
			.buffer = buffers + i * pages * TRUTH_PAGE,
		};
		memset(workers[i].buffer, 0xa5, dio->bytes);
		workers[i].thread = truth_thread(work, &workers[i]);
	}
}

static void run(struct dio *dio, struct worker *workers)
{
	struct times io = {}, sync = {};
	struct disk before, after;
	bool has_disk = read_disk(dio->disk, &before);
	uint64_t start = truth_now();

	pthread_mutex_lock(&dio->lock);
	dio->go = true;
	pthread_cond_broadcast(&dio->start);
	pthread_mutex_unlock(&dio->lock);
	for (unsigned int i = 0; i < dio->depth; i++) {
		pthread_join(workers[i].thread, NULL);
		times_merge(&io, &workers[i].io);
		times_merge(&sync, &workers[i].sync);
	}
	printf("elapsed_ns=%llu\n", (unsigned long long)(truth_now() - start));
	printf("count=%llu\nerrors=%llu\nbytes=%llu\n", (unsigned long long)io.count,
	       (unsigned long long)(io.errors + sync.errors), (unsigned long long)dio->bytes);
	print_times("io", &io);
	print_times("sync", &sync);
	printf("disk_known=%d\n", has_disk);
	if (has_disk && settled_disk(dio->disk, &after))
		print_disk(&before, &after);
	if (io.errors + sync.errors)
		truth_die(TRUTH_FAILED, "%llu I/Os failed",
			  (unsigned long long)(io.errors + sync.errors));
}

static void parse(struct dio *dio, struct truth_window *window, int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "wWfb:q:z:s:")) != -1) {
		if (option == 'w')
			window->wait = true;
		else if (option == 'W')
			dio->write = true;
		else if (option == 'f')
			dio->sync = true;
		else if (option == 'b')
			dio->bytes = truth_number(optarg, "BYTES", 512, MAX_BYTES);
		else if (option == 'q')
			dio->depth = truth_number(optarg, "DEPTH", 1, MAX_DEPTH);
		else if (option == 'z')
			dio->size = truth_number(optarg, "size", 1 << 20, 1ULL << 40);
		else if (option == 's')
			dio->seed = truth_number(optarg, "SEED", 0, UINT32_MAX);
		else
			exit(TRUTH_USAGE);
	}
	if (argc - optind != 2 || (dio->sync && !dio->write) || dio->bytes % 512)
		truth_die(TRUTH_USAGE, "usage: dio [-w] [-W [-f]] [-b BYTES] [-q DEPTH] [-z BYTES]"
				       " [-s SEED] PATH COUNT (BYTES in 512s)");
	dio->path = argv[optind];
	dio->count = truth_number(argv[optind + 1], "COUNT", 1, UINT32_MAX);
}

int main(int argc, char **argv)
{
	static struct worker workers[MAX_DEPTH];
	static struct dio dio = {
		.bytes = 4096,
		.depth = 1,
		.size = 16 << 20,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.start = PTHREAD_COND_INITIALIZER,
	};
	struct truth_window window = {};

	parse(&dio, &window, argc, argv);
	truth_begin();
	open_path(&dio);
	find_size_and_disk(&dio);
	start_workers(&dio, workers);
	printf("disk=%u:%u\n", major(dio.disk), minor(dio.disk));
	truth_open(&window);
	run(&dio, workers);
	truth_close(&window);
	return 0;
}
