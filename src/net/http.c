// SPDX-License-Identifier: BSD-2-Clause
#include "http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <microhttpd.h>

#include <core/clock.h>

#include "gzip.h"

#define CONNECTIONS 32
#define REQUEST_BYTES 8192 /* memory of a connection, most of it for the headers */
#define PATIENCE_S 10
#define LATE_PATIENCE_S 60 /* for reading an answer that may be large */
#define RUNS 8 /* accepting and answering are different rounds */

#if MHD_VERSION < 0x00097002
typedef int mhd_result;
#else
typedef enum MHD_Result mhd_result;
#endif

struct connection {
	int fd; /* -1: free */
	uint64_t until_ns;
};

struct http {
	struct MHD_Daemon *daemon;
	struct http_config config;
	char *authorization; /* what the header must be; NULL: anything */
	struct connection connections[CONNECTIONS];
	struct {
		struct MHD_Response *response;
		uint64_t version;
		unsigned int status;
	} kept[HTTP_KEPT];
	uint64_t requests;
	struct MHD_Connection *waiting; /* for an answer that comes later; NULL: none does */
	struct http_answer late; /* of the connection that waited, while it is asked again */
	bool is_late;
};

/* One that is being sent is freed when it was sent. */
void http__forget(struct http *http)
{
	for (size_t i = 0; i < HTTP_KEPT; i++) {
		if (http->kept[i].response)
			MHD_destroy_response(http->kept[i].response);
		http->kept[i].response = NULL;
	}
}

bool http__has(const struct http *http, unsigned int slot, uint64_t version)
{
	return http->kept[slot].response && http->kept[slot].version == version;
}

/* Takes as long for every wrong text of the same length. */
static bool is_same(const char *given, const char *wanted)
{
	size_t len = strlen(wanted);
	unsigned char differs = 0;

	if (strlen(given) != len)
		return false;
	for (size_t i = 0; i < len; i++)
		differs |= (unsigned char)(given[i] ^ wanted[i]);
	return !differs;
}

static struct MHD_Response *make(const struct http_answer *answer)
{
	struct MHD_Response *response;

	if (answer->is_file)
		response = MHD_create_response_from_fd(answer->len, answer->file);
	else
		response = MHD_create_response_from_buffer(answer->len, answer->body,
							   MHD_RESPMEM_MUST_FREE);
	if (!response) {
		if (answer->is_file)
			close(answer->file);
		free(answer->body);
		return NULL;
	}
	if (answer->type)
		MHD_add_response_header(response, "Content-Type", answer->type);
	if (answer->is_gzip)
		MHD_add_response_header(response, "Content-Encoding", "gzip");
	if (answer->version)
		MHD_add_response_header(response, "Vary", "Accept, Accept-Encoding");
	MHD_add_response_header(response, "Connection", "close");
	return response;
}

static mhd_result send_now(struct MHD_Connection *connection, const struct http_answer *answer)
{
	struct MHD_Response *response = make(answer);
	mhd_result queued;

	if (!response)
		return MHD_NO;
	queued = MHD_queue_response(connection, answer->status, response);
	MHD_destroy_response(response);
	return queued;
}

static mhd_result send_text(struct MHD_Connection *connection, unsigned int status,
			    const char *text)
{
	struct http_answer answer = { .status = status, .type = "text/plain; charset=utf-8" };

	answer.body = strdup(text);
	answer.len = strlen(text);
	return answer.body ? send_now(connection, &answer) : MHD_NO;
}

static mhd_result send_kept(struct http *http, struct MHD_Connection *connection,
			    const struct http_answer *answer)
{
	unsigned int slot = answer->slot;

	if (!http__has(http, slot, answer->version)) {
		struct MHD_Response *response = make(answer);

		if (!response)
			return MHD_NO;
		http->kept[slot].response = response;
		http->kept[slot].version = answer->version;
		http->kept[slot].status = answer->status;
	} else {
		free(answer->body);
	}
	return MHD_queue_response(connection, http->kept[slot].status, http->kept[slot].response);
}

static bool may_ask(const struct http *http, struct MHD_Connection *connection, const char *path)
{
	const char *given;

	if (!http->authorization || !strcmp(path, "/healthz"))
		return true;
	given = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization");
	return given && is_same(given, http->authorization);
}

static struct connection *find(struct http *http, int fd)
{
	for (size_t i = 0; i < CONNECTIONS; i++)
		if (http->connections[i].fd == fd)
			return &http->connections[i];
	return NULL;
}

static struct connection *place_of(struct http *http, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? find(http, info->connect_fd) : NULL;
}

/* The connection waits, for as long as it takes. */
static mhd_result put_off(struct http *http, struct MHD_Connection *connection)
{
	struct connection *place = place_of(http, connection);

	if (place)
		place->until_ns = UINT64_MAX;
	http->waiting = connection;
	MHD_suspend_connection(connection);
	return MHD_YES;
}

void http__answer_later(struct http *http, const struct http_answer *answer)
{
	struct connection *place = place_of(http, http->waiting);

	if (place)
		place->until_ns = clock__now_ns() + LATE_PATIENCE_S * 1000000000ULL;
	http->late = *answer;
	http->is_late = true;
	MHD_resume_connection(http->waiting);
}

static mhd_result handle(void *arg, struct MHD_Connection *connection, const char *path,
			 const char *method, const char *version, const char *data, size_t *size,
			 void **state)
{
	struct http *http = arg;
	struct http_answer answer = { .status = MHD_HTTP_OK };
	struct http_request request = { .path = path };

	(void)version;
	(void)data;
	(void)size;
	(void)state;
	if (http->is_late && connection == http->waiting) {
		http->is_late = false;
		http->waiting = NULL;
		return send_now(connection, &http->late);
	}
	http->requests++;
	if (strcmp(method, "GET") && strcmp(method, "HEAD"))
		return send_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "use GET\n");
	if (!may_ask(http, connection, path))
		return send_text(connection, MHD_HTTP_UNAUTHORIZED,
				 "send the token: Authorization: Bearer TOKEN\n");
	request.accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Accept");
	request.takes_gzip = gzip__is_accepted(
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Accept-Encoding"));
	request.last = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "last");
	http->config.answer(http->config.arg, &request, &answer);
	if (answer.is_later)
		return put_off(http, connection);
	if (answer.version)
		return send_kept(http, connection, &answer);
	if (!answer.body)
		return send_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
	return send_now(connection, &answer);
}

static void notice(void *arg, struct MHD_Connection *connection, void **state,
		   enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct http *http = arg;
	struct connection *place;

	(void)state;
	if (!info)
		return;
	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		place = find(http, info->connect_fd);
		if (place)
			place->fd = -1;
		return;
	}
	place = find(http, -1);
	if (place)
		*place = (struct connection){ info->connect_fd,
					      clock__now_ns() + PATIENCE_S * 1000000000ULL };
}

/*
 * libmicrohttpd's own timeout begins again with each byte. Here a connection that is too old gets
 * the end of its input and an error at its output, which ends it.
 */
static void end_old(struct http *http)
{
	uint64_t now = clock__now_ns();

	for (size_t i = 0; i < CONNECTIONS; i++) {
		struct connection *place = &http->connections[i];

		if (place->fd >= 0 && now > place->until_ns)
			shutdown(place->fd, SHUT_RDWR);
	}
}

static int copy_token(struct http *http, const char *token)
{
	static const char scheme[] = "Bearer ";

	if (!token)
		return 0;
	http->authorization = malloc(sizeof(scheme) + strlen(token));
	if (!http->authorization)
		return -ENOMEM;
	strcpy(http->authorization, scheme);
	strcat(http->authorization, token);
	return 0;
}

int http__new(struct http **out, const struct http_config *config)
{
	struct http *http = calloc(1, sizeof(*http));

	if (!http)
		return -ENOMEM;
	http->config = *config;
	for (size_t i = 0; i < CONNECTIONS; i++)
		http->connections[i].fd = -1;
	if (copy_token(http, config->token))
		goto err_free;
	http->daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
					handle, http, MHD_OPTION_LISTEN_SOCKET, config->socket,
					MHD_OPTION_CONNECTION_LIMIT, (unsigned int)CONNECTIONS,
					MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES,
					MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)PATIENCE_S,
					MHD_OPTION_NOTIFY_CONNECTION, notice, http, MHD_OPTION_END);
	if (!http->daemon)
		goto err_free;
	*out = http;
	return 0;

err_free:
	free(http->authorization);
	free(http);
	return -ENOMEM;
}

/* libmicrohttpd cannot end while a connection waits. */
static void end_waiting(struct http *http)
{
	struct http_answer answer = { .status = MHD_HTTP_SERVICE_UNAVAILABLE };

	if (!http->waiting)
		return;
	if (!http->is_late)
		http__answer_later(http, &answer);
	http__run(http);
}

void http__free(struct http *http)
{
	if (!http)
		return;
	http__forget(http);
	end_waiting(http);
	MHD_stop_daemon(http->daemon);
	free(http->authorization);
	free(http);
}

int http__descriptor(const struct http *http)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);

	return info ? info->epoll_fd : -1;
}

void http__run(struct http *http)
{
	end_old(http);
	for (int i = 0; i < RUNS; i++)
		MHD_run(http->daemon);
}

uint64_t http__requests(const struct http *http)
{
	return http->requests;
}
