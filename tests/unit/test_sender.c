// SPDX-License-Identifier: BSD-2-Clause
/* The sender, with a server that answers what a test tells it, or not at all. */
#include "unit.h"

#include <poll.h>
#include <pthread.h>

#include <microhttpd.h>
#include <zlib.h>

#include <core/clock.h>
#include <net/listen.h>
#include <net/sender.h>

#define REQUESTS 64
#define PAUSE_NS 1000000ULL
#define PATIENCE_NS 20000000000ULL

static struct {
	struct MHD_Daemon *daemon;
	pthread_mutex_t lock;
	/* What it answers to the first requests; to later ones the last. -1: it hangs up */
	int statuses[REQUESTS];
	int nr_statuses;
	const char *retry_after;
	int requests;
	struct bytes bodies[REQUESTS];
	char type[REQUESTS][64], encoding[REQUESTS][64], extra[REQUESTS][64];
	struct listen_address address;
} server = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void keep_header(struct MHD_Connection *connection, const char *name, char to[64])
{
	const char *value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);

	snprintf(to, 64, "%s", value ? value : "");
}

static enum MHD_Result finish(struct MHD_Connection *connection, int at)
{
	static char text[] = "no \033[31mcolour\nsecond line";
	int status = server.statuses[at < server.nr_statuses ? at : server.nr_statuses - 1];
	struct MHD_Response *response;
	enum MHD_Result queued;

	keep_header(connection, "Content-Type", server.type[at]);
	keep_header(connection, "Content-Encoding", server.encoding[at]);
	keep_header(connection, "X-Extra", server.extra[at]);
	if (status < 0)
		return MHD_NO;
	response = MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_PERSISTENT);
	if (server.retry_after)
		MHD_add_response_header(response, "Retry-After", server.retry_after);
	queued = MHD_queue_response(connection, (unsigned int)status, response);
	MHD_destroy_response(response);
	return queued;
}

static enum MHD_Result handle(void *arg, struct MHD_Connection *connection, const char *path,
			      const char *method, const char *version, const char *data,
			      size_t *size, void **state)
{
	enum MHD_Result done = MHD_YES;
	int at;

	pthread_mutex_lock(&server.lock);
	if (!*state) {
		assert_true(server.requests < REQUESTS);
		*state = (void *)(intptr_t)(++server.requests);
	} else {
		at = (int)(intptr_t)*state - 1;
		if (*size)
			bytes__add(&server.bodies[at], data, *size);
		else
			done = finish(connection, at);
		*size = 0;
	}
	pthread_mutex_unlock(&server.lock);
	return done;
}

static struct sender_config config; /* what a test does not set has its default */
static struct sender *sender; /* freed at the end of a test */

static void server_start(const int *statuses, size_t nr)
{
	int fd = listen__open(&server.address);

	memcpy(server.statuses, statuses, nr * sizeof(*statuses));
	server.nr_statuses = (int)nr;
	assert_true(fd >= 0);
	server.daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, handle,
					 NULL, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_END);
	assert_non_null(server.daemon);
}

#define COUNT_ARGS(...) COUNT_OF(((int[]){ __VA_ARGS__ }))

/* Starts the server; its first answers have these statuses. */
#define server_answers(...) server_start((int[]){ __VA_ARGS__ }, COUNT_ARGS(__VA_ARGS__))

/* An address on which nobody listens until server_start(). */
static void prepare(void)
{
	int fd;

	config = (struct sender_config){ SENDER_DEFAULTS };
	assert_int_equal(listen__parse(&server.address, "127.0.0.1:0"), 0);
	fd = listen__open(&server.address);
	assert_true(fd >= 0);
	close(fd);
}

static void clean(void)
{
	sender__free(sender);
	sender = NULL;
	if (server.daemon)
		MHD_stop_daemon(server.daemon);
	for (int i = 0; i < REQUESTS; i++)
		bytes__free(&server.bodies[i]);
	server.daemon = NULL;
	server.retry_after = NULL;
	server.requests = 0;
}

static void new_sender(void)
{
	static const char *const headers[] = { "X-Extra: yes", NULL };

	config.url = unit_text("http://%s/in", server.address.text);
	config.content_type = "text/x-test";
	config.headers = headers;
	config.pause_ns = PAUSE_NS;
	config.longest_pause_ns = 4 * PAUSE_NS;
	config.keeps_results = true;
	assert_int_equal(sender__new(&sender, &config), 0);
}

static void push(const char *text, uint64_t id)
{
	assert_int_equal(sender__push(sender, strdup(text), strlen(text), id), 0);
}

/* Pushes bodies, the first with ID 1, and waits until all are sent or given up. */
#define send_all(...) send_bodies((const char *[]){ __VA_ARGS__, NULL })

static void send_bodies(const char *const *bodies)
{
	for (uint64_t id = 1; *bodies; id++)
		push(*bodies++, id);
	sender__end(sender, PATIENCE_NS);
}

static struct sender_counts counts(void)
{
	struct sender_counts got;

	sender__counts(sender, &got);
	assert_int_equal(got.pushed,
			 got.sent + got.refused + got.dropped + got.put_off + got.queued);
	return got;
}

static void expect_result(uint64_t id, enum sender_outcome outcome)
{
	enum sender_outcome got;
	uint64_t got_id;

	assert_true(sender__result(sender, &got_id, &got));
	assert_int_equal(got_id, id);
	assert_int_equal(got, outcome);
}

static void expect_no_result(void)
{
	enum sender_outcome got;
	uint64_t id;

	assert_false(sender__result(sender, &id, &got));
}

/* These, from ID 1 on, and no others. */
#define expect_results(...) \
	expect_all((const enum sender_outcome[]){ __VA_ARGS__ }, COUNT_ARGS(__VA_ARGS__))

static void expect_all(const enum sender_outcome *outcomes, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		expect_result(i + 1, outcomes[i]);
	expect_no_result();
}

static void expect_body(int at, const char *text)
{
	assert_true(at < server.requests);
	assert_int_equal(server.bodies[at].len, strlen(text));
	assert_memory_equal(server.bodies[at].at, text, strlen(text));
}

TEST(test_bodies_arrive_in_order_with_their_headers)
{
	server_answers(200);
	new_sender();
	send_all("one", "two");
	assert_int_equal(server.requests, 2);
	expect_body(0, "one");
	expect_body(1, "two");
	assert_string_equal(server.type[0], "text/x-test");
	assert_string_equal(server.extra[1], "yes");
	assert_string_equal(server.encoding[0], "");
	expect_results(SENDER_SENT, SENDER_SENT);
	assert_int_equal(counts().sent, 2);
	assert_int_equal(counts().bytes, 6);
	assert_false(counts().fails);
}

TEST(test_a_compressed_body_is_the_same)
{
	char text[4096], back[sizeof(text)];
	z_stream stream = { 0 };

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	config.gzip = true;
	server_answers(503, 200);
	new_sender();
	send_all(text);
	assert_string_equal(server.encoding[1], "gzip");
	assert_true(server.bodies[1].len < 200);
	stream.next_in = (Bytef *)server.bodies[1].at;
	stream.avail_in = (uInt)server.bodies[1].len;
	stream.next_out = (Bytef *)back;
	stream.avail_out = sizeof(back);
	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.total_out, strlen(text));
	assert_memory_equal(back, text, strlen(text));
	inflateEnd(&stream);
	assert_int_equal(counts().bytes, server.bodies[1].len);
	assert_int_equal(counts().queued_bytes, 0);
}

TEST(test_a_body_is_sent_again_after_a_temporary_failure)
{
	server_answers(503, 429, -1, 504, 502, 408, 200);
	new_sender();
	send_all("one", "two");
	/* libcurl itself sends a request again if an idle connection was closed. */
	for (int i = 0; i < server.requests - 1; i++)
		expect_body(i, "one");
	expect_body(server.requests - 1, "two");
	assert_int_equal(counts().sent, 2);
	assert_in_range(counts().retries, 5, 6);
	assert_int_equal(server.requests, 8);
	assert_has(counts().why, "HTTP status 408, no ?[31mcolour");
}

TEST(test_a_refused_body_is_not_sent_again)
{
	server_answers(400, 500, 200);
	new_sender();
	send_all("bad", "worse", "good");
	assert_int_equal(server.requests, 3);
	expect_results(SENDER_REFUSED, SENDER_REFUSED, SENDER_SENT);
	assert_int_equal(counts().refused, 2);
}

TEST(test_a_failure_of_the_server_can_be_temporary)
{
	config.retries_500 = true;
	server_answers(500, 200);
	new_sender();
	send_all("one");
	expect_results(SENDER_SENT);
	assert_int_equal(counts().retries, 1);
}

/* Then others are sent, and it can be pushed again. */
TEST(test_a_body_that_always_fails_is_put_off)
{
	config.retries_500 = true;
	config.tries = 3;
	server_answers(503, 500, 500, 200);
	new_sender();
	send_all("bad", "good");
	assert_int_equal(server.requests, 4);
	expect_body(2, "bad");
	expect_body(3, "good");
	expect_results(SENDER_PUT_OFF, SENDER_SENT);
	assert_int_equal(counts().put_off, 1);
	assert_int_equal(counts().queued_bytes, 0);
}

/* Waits until the sender had an answer that it does not like. */
static void wait_for_failure(void)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	uint64_t end = clock__now_ns() + PATIENCE_NS;

	while (!counts().fails && clock__now_ns() < end)
		nanosleep(&moment, NULL);
	assert_true(counts().fails);
}

TEST(test_the_server_says_how_long_to_wait)
{
	server.retry_after = "3600";
	server_answers(503);
	new_sender();
	push("one", 1);
	wait_for_failure();
	sender__end(sender, 50 * PAUSE_NS);
	assert_int_equal(server.requests, 1);
	expect_results(SENDER_DROPPED);
}

TEST(test_a_server_that_comes_later_gets_everything)
{
	new_sender();
	push("one", 1);
	push("two", 2);
	wait_for_failure();
	assert_int_equal(counts().queued, 2);
	assert_has(counts().why, "onnect");
	server_answers(200);
	sender__end(sender, PATIENCE_NS);
	expect_body(0, "one");
	expect_body(1, "two");
	assert_int_equal(counts().sent, 2);
}

TEST(test_a_full_queue_drops_the_oldest)
{
	config.most = 10;
	new_sender();
	push("12345", 1);
	wait_for_failure();
	push("1234", 2);
	push("1234", 3);
	push("1234", 4);
	push("more than the queue", 5);
	assert_true(counts().queued_bytes <= 10);
	server_answers(200);
	sender__end(sender, PATIENCE_NS);
	/* The first may have been in flight, and keeps its place; then there is no room for two. */
	assert_true(counts().sent == 2 || counts().sent == 1);
	assert_true(counts().dropped >= 3);
	expect_body(server.requests - 1, "1234");
}

/* The kernel accepts the connection, and nobody answers: what was sent must stay. */
TEST(test_a_full_queue_keeps_what_is_being_sent)
{
	struct pollfd listening = { .fd = listen__open(&server.address), .events = POLLIN };

	config.most = 10;
	new_sender();
	push("12345", 1);
	assert_int_equal(poll(&listening, 1, 20000), 1);
	push("12345", 2);
	push("12345", 3);
	push("more than the queue", 4);
	expect_result(2, SENDER_DROPPED);
	expect_result(4, SENDER_DROPPED);
	expect_no_result();
	close(listening.fd);
}

/* The kernel accepts the connection, and nobody answers. */
TEST(test_the_end_does_not_wait_for_a_server_that_hangs)
{
	int fd = listen__open(&server.address);

	new_sender();
	push("one", 1);
	push("two", 2);
	sender__end(sender, PAUSE_NS);
	expect_results(SENDER_DROPPED, SENDER_DROPPED);
	close(fd);
}

TEST(test_urls)
{
	static const char *const good[] = { "http://localhost", "https://a.example:4318/v1/metrics",
					    "http://[::1]:8123/?database=x", "HTTP://u:p@a/" };
	static const char *const bad[] = { "",		"localhost:4318",  "ftp://a/",
					   "http://",	"http://a:99999/", "/v1/metrics",
					   "http:// a/" };
	char why[POST_TEXT];

	for (size_t i = 0; i < COUNT_OF(good); i++)
		assert_int_equal(post__check(good[i], why), 0);
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		why[0] = '\0';
		assert_int_equal(post__check(bad[i], why), -EINVAL);
		assert_true(why[0]);
	}
	post__describe("http://user:secret@a.example:1/x?password=y", why);
	assert_string_equal(why, "http://a.example:1/x");
}

UNIT_FIXTURES(.each = { prepare, clean })
