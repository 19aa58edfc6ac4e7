// SPDX-License-Identifier: BSD-2-Clause
/* The spool: what is put is read once, in order, whatever ends; what is lost is counted. */
#include "unit.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include <serve/spool.h>

#define MOST (64U << 10)
#define LEN 7000 /* of a batch; a few fill the spool */
#define EMPTY 2048 /* bytes of a file without a batch */

static char path[128];
static struct spool *spool;

/* Again, if it is open, as the next process does. */
static void open_spool(void)
{
	spool__free(spool);
	assert_int_equal(spool__new(&spool, path, MOST), 0);
}

static void close_spool(void)
{
	spool__free(spool);
	spool = NULL;
}

static void begin_without(void)
{
	snprintf(path, sizeof(path), "%s/spool", dir);
}

static void begin(void)
{
	begin_without();
	open_spool();
}

/* Batch number `at` has its number as text, `len` bytes long. */
static int put(unsigned int at, size_t len)
{
	char *text = calloc(1, len + 16);
	int err;

	snprintf(text, 16, "%u;", at);
	err = spool__put(spool, text, len, 10 + at);
	free(text);
	return err;
}

/* Reads one batch, and returns its number; -1: there is none. */
static int take(void)
{
	struct spool_body body;
	int at;

	if (spool__read(spool, 0, &body))
		return -1;
	assert_int_equal(body.batches, 1);
	at = atoi(body.at);
	assert_int_equal(body.rows, 10 + at);
	free(body.at);
	spool__done(spool);
	return at;
}

static off_t size_of(const char *file)
{
	struct stat st;

	assert_int_equal(stat(file, &st), 0);
	return st.st_size;
}

/* With the journal. */
static off_t size(void)
{
	char journal[160];

	snprintf(journal, sizeof(journal), "%s-journal", path);
	return size_of(path) + size_of(journal);
}

/* How many batches of LEN bytes are in a spool that is full. */
static unsigned int capacity(void)
{
	unsigned int nr;

	for (unsigned int i = 0; !spool__counts(spool).lost_rows; i++)
		assert_int_equal(put(i, LEN), 0);
	nr = (unsigned int)spool__counts(spool).batches;
	close_spool();
	unlink(path);
	open_spool();
	return nr;
}

TEST(test_batches_are_read_in_order)
{
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(put(i, 100 + i * 3000), 0);
	assert_int_equal(spool__counts(spool).rows, 10 + 11 + 12 + 13 + 14);
	for (int i = 0; i < 5; i++)
		assert_int_equal(take(), i);
	assert_int_equal(take(), -1);
	assert_true(size_of(path) <= EMPTY);
}

TEST(test_what_was_not_done_is_found_again)
{
	uint64_t before_s = (uint64_t)time(NULL);

	assert_int_equal(spool__counts(spool).oldest_s, 0);
	for (unsigned int i = 0; i < 4; i++)
		put(i, 5000);
	assert_int_equal(take(), 0);
	open_spool();
	put(4, 10);
	assert_in_range(spool__counts(spool).oldest_s, before_s, (uint64_t)time(NULL));
	for (int i = 1; i < 5; i++)
		assert_int_equal(take(), i);
	assert_int_equal(take(), -1);
	assert_int_equal(spool__counts(spool).oldest_s, 0);
}

TEST(test_several_are_read_together)
{
	struct spool_body body;

	for (unsigned int i = 0; i < 4; i++)
		put(i, 100);
	assert_int_equal(spool__read(spool, 300, &body), 0);
	assert_int_equal(body.batches, 3);
	assert_int_equal(body.len, 300);
	assert_int_equal(body.rows, 10 + 11 + 12);
	assert_string_equal((char *)body.at + 200, "2;");
	free(body.at);
	spool__done(spool);
	assert_int_equal(take(), 3);
}

/* The oldest are dropped, and their rows counted; the files do not grow. */
TEST(test_a_full_spool_loses_the_oldest)
{
	unsigned int fit = capacity();
	uint64_t lost = 0;

	assert_in_range(fit, 4, 8);
	for (unsigned int i = 0; i < 100; i++) {
		assert_int_equal(put(i, LEN), 0);
		assert_true(size() <= (off_t)MOST);
	}
	for (unsigned int i = 0; i < 100 - fit; i++)
		lost += 10 + i;
	assert_int_equal(spool__counts(spool).batches, fit);
	assert_int_equal(spool__counts(spool).lost_rows, lost);
	open_spool();
	for (unsigned int i = 100 - fit; i < 100; i++)
		assert_int_equal(take(), i);
	assert_int_equal(take(), -1);
	assert_true(size_of(path) <= EMPTY);
}

TEST(test_batches_of_any_size_are_found_again)
{
	for (unsigned int at = 0; at < 300;) {
		unsigned int nr = 1 + (unsigned int)(unit_random() % 9);
		int last = (int)at - 1, got;
		uint64_t rows;

		for (unsigned int i = 0; i < nr; i++, at++)
			assert_int_equal(put(at, 1 + unit_random() % 20000), 0);
		rows = spool__counts(spool).rows;
		open_spool();
		assert_int_equal(spool__counts(spool).rows, rows);
		while ((got = take()) >= 0) {
			assert_true(got > last);
			last = got;
			rows -= 10 + (unsigned int)got;
		}
		assert_int_equal(last, at - 1);
		assert_int_equal(rows, 0);
		open_spool();
	}
}

/* Batch 0 is read, and then dropped for the last of the others. Returns the number of that. */
static unsigned int overwrite_what_is_read(void)
{
	unsigned int fit = capacity();
	struct spool_body body;

	put(0, LEN);
	assert_int_equal(spool__read(spool, 0, &body), 0);
	for (unsigned int i = 1; i <= fit; i++)
		put(i, LEN);
	assert_int_equal(spool__counts(spool).batches, fit);
	free(body.at);
	return fit;
}

/* What is being sent is in memory: it is not lost when it is dropped. */
TEST(test_a_batch_that_is_being_sent_is_not_lost)
{
	unsigned int last = overwrite_what_is_read();

	assert_int_equal(spool__counts(spool).lost_rows, 0);
	spool__done(spool);
	assert_int_equal(take(), 1);
	put(last + 1, LEN);
	put(last + 2, LEN);
	assert_int_equal(spool__counts(spool).lost_rows, 10 + 2);
}

TEST(test_a_batch_that_does_not_fit_is_lost)
{
	put(0, 10);
	assert_int_equal(put(1, MOST), -EFBIG);
	assert_int_equal(spool__counts(spool).lost_rows, 11);
	assert_int_equal(spool__counts(spool).err, -EFBIG);
	assert_int_equal(take(), 0);
}

/* Reads one batch and puts it off; returns its strikes. */
static unsigned int put_off(int expected, uint64_t progress)
{
	struct spool_body body;

	assert_int_equal(spool__read(spool, 1000, &body), 0);
	assert_int_equal(body.batches, 1);
	assert_int_equal(atoi(body.at), expected);
	free(body.at);
	return spool__put_off(spool, progress);
}

TEST(test_a_batch_that_is_put_off_comes_after_the_others)
{
	struct spool_body body;

	put(0, 1000);
	put(1, 1000);
	put_off(0, 0);
	put(2, 100);
	put(3, 100);
	assert_int_equal(spool__counts(spool).batches, 4);
	put_off(1, 0);
	assert_int_equal(spool__read(spool, 5000, &body), 0);
	assert_int_equal(body.batches, 2);
	assert_string_equal(body.at, "2;");
	free(body.at);
	spool__done(spool);
	put_off(0, 0);
	assert_int_equal(take(), 1);
	assert_int_equal(take(), 0);
	assert_int_equal(take(), -1);
	assert_true(size_of(path) <= EMPTY);
	assert_int_equal(spool__counts(spool).lost_rows, 0);
}

TEST(test_a_body_of_many_batches_is_in_order_without_what_was_put_off)
{
	struct spool_body body;

	for (unsigned int i = 0; i < 100; i++)
		put(i, i < 3 ? 1000 : 100);
	for (int i = 0; i < 3; i++)
		put_off(i, 0);
	assert_int_equal(spool__read(spool, SIZE_MAX, &body), 0);
	assert_int_equal(body.batches, 97);
	assert_int_equal(body.len, 9700);
	for (int i = 0; i < 97; i++)
		assert_int_equal(atoi((char *)body.at + i * 100), 3 + i);
	free(body.at);
	spool__done(spool);
	for (int i = 0; i < 3; i++)
		assert_int_equal(take(), i);
	assert_int_equal(take(), -1);
}

/* Only a batch that fails while others are stored is the reason. */
TEST(test_strikes_count_while_others_are_stored)
{
	put(0, 1000);
	put(1, 1000);
	for (int i = 0; i < 6; i++)
		assert_int_equal(put_off(i % 2, 0), 0);
	assert_int_equal(put_off(0, 10), 1);
	assert_int_equal(put_off(1, 10), 1);
	assert_int_equal(put_off(0, 10), 1);
	assert_int_equal(put_off(1, 20), 2);
	assert_int_equal(put_off(0, 20), 2);
	spool__done(spool);
	assert_int_equal(take(), 1);
	assert_int_equal(take(), -1);
}

/* In the next process it is the first again. */
TEST(test_a_batch_that_was_put_off_survives)
{
	put(0, 100);
	put(1, 1000);
	put_off(0, 5);
	assert_int_equal(take(), 1);
	open_spool();
	assert_int_equal(put_off(0, 0), 0);
	assert_int_equal(take(), 0);
	assert_int_equal(take(), -1);
}

TEST(test_a_batch_that_was_put_off_can_be_overwritten)
{
	unsigned int last = overwrite_what_is_read();

	assert_int_equal(spool__put_off(spool, 1), 0);
	put_off(1, 1);
	put(last + 1, LEN);
	assert_int_equal(take(), 2);
	assert_int_equal(spool__counts(spool).lost_rows, 10 + 11);
}

static void write_bytes(const void *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
}

static void read_bytes(void *bytes, size_t len)
{
	int fd = open(path, O_RDONLY);

	assert_int_equal(read(fd, bytes, len), len);
	close(fd);
}

static bool is_whole(const struct spool_body *body)
{
	const char *text = body->at;
	size_t len = strlen(text);

	if (body->len != 300 || len != 2 || text[1] != ';')
		return false;
	while (++len < 300)
		if (text[len])
			return false;
	return (text[0] == '0' && body->rows == 10) || (text[0] == '1' && body->rows == 11);
}

/* Whatever is changed in the file or cut from it: no batch is read that was not put. */
static void read_what_is_left(void)
{
	struct spool_body body;

	close_spool();
	if (spool__new(&spool, path, MOST))
		return;
	for (int i = 0; i < 3 && !spool__read(spool, 0, &body); i++) {
		assert_true(i < 2);
		assert_true(is_whole(&body));
		free(body.at);
		spool__done(spool);
	}
	close_spool();
}

TEST(test_a_damaged_batch_is_not_read)
{
	static char bytes[16 << 10];
	size_t len;

	put(0, 300);
	put(1, 300);
	close_spool();
	len = (size_t)size_of(path);
	assert_in_range(len, 600, sizeof(bytes));
	read_bytes(bytes, len);
	for (size_t at = 0; at < len; at += at < 100 ? 1 : 67) {
		bytes[at] ^= 0x20;
		write_bytes(bytes, len);
		read_what_is_left();
		bytes[at] ^= 0x20;
	}
	for (size_t cut = 0; cut < len; cut += 191) {
		write_bytes(bytes, cut);
		read_what_is_left();
	}
	write_bytes(bytes, len);
	open_spool();
	assert_int_equal(take(), 0);
	assert_int_equal(take(), 1);
	assert_int_equal(take(), -1);
}

/* Puts and takes until it is killed. */
static int work(void)
{
	open_spool();
	for (unsigned int i = 1;; i++) {
		put(i, 1 + unit_random() % 6000);
		if (i % 5 == 0)
			take();
	}
	return 0;
}

TEST(test_a_process_that_is_killed_leaves_whole_batches, begin_without, close_spool)
{
	for (int round = 0; round < 30; round++) {
		const struct timespec moment = { .tv_nsec = (long)(unit_random() % 10000000) };
		int last = 0, at;
		pid_t pid = fork();

		if (!pid)
			_exit(work());
		nanosleep(&moment, NULL);
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		open_spool();
		while ((at = take()) >= 0) {
			assert_true(at > last);
			last = at;
		}
		assert_false(spool__counts(spool).lost_rows);
		assert_false(spool__counts(spool).was_set_aside);
		close_spool();
	}
}

static int hold(void)
{
	struct spool *other;

	return spool__new(&other, path, MOST) == -EBUSY ? 0 : 1;
}

TEST(test_one_process_at_a_time)
{
	assert_int_equal(unit_in_child(hold), 0);
}

TEST(test_links_are_not_followed, begin_without, close_spool)
{
	char other[160], journal[160];

	snprintf(other, sizeof(other), "%s/other", dir);
	assert_int_equal(symlink(other, path), 0);
	assert_int_equal(spool__new(&spool, path, MOST), -ELOOP);
	unlink(path);
	close(open(other, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(link(other, path), 0);
	assert_int_equal(spool__new(&spool, path, MOST), -EREMCHG);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(spool__new(&spool, path, MOST), -EREMCHG);
	unlink(path);
	snprintf(journal, sizeof(journal), "%s-journal", path);
	assert_int_equal(symlink(other, journal), 0);
	assert_int_equal(spool__new(&spool, path, MOST), -ELOOP);
}

TEST(test_the_file_of_something_else_stays, begin_without, close_spool)
{
	static const char *const texts[] = { "root:x:0:0:root:/root:/bin/bash\n", "7" };

	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		unit_write(dir, "spool", texts[i]);
		assert_int_equal(spool__new(&spool, path, MOST), -EEXIST);
		assert_string_equal(unit_read(dir, "spool"), texts[i]);
	}
}

/* The file of an earlier version, or one that is damaged, is kept under another name. */
TEST(test_a_file_that_cannot_be_read_is_set_aside, begin_without, close_spool)
{
	static const char old[] = "LSspool2 and a batch";

	unit_write(dir, "spool", old);
	open_spool();
	assert_true(spool__counts(spool).was_set_aside);
	assert_string_equal(unit_read(dir, "spool.old"), old);
	put(1, 300);
	assert_int_equal(take(), 1);
	open_spool();
	assert_false(spool__counts(spool).was_set_aside);
}

TEST(test_only_the_owner_may_read_it)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

UNIT_FIXTURES(.each = { begin, close_spool })
