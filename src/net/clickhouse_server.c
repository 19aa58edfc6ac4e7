// SPDX-License-Identifier: BSD-2-Clause
#include "clickhouse_server.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <core/sanitize.h>

#define LOGIN 512
#define CODE_UNKNOWN_TABLE 60
#define CODE_UNKNOWN_DATABASE 81

static int refuse(char why[POST_TEXT], int err, const char *text)
{
	snprintf(why, POST_TEXT, "%s", text);
	return err;
}

static bool is_name(const char *text)
{
	size_t len =
		strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	return len && !text[len] && len < CLICKHOUSE_NAME && !isdigit((unsigned char)text[0]);
}

/* A user in a URL would be seen by everybody who lists processes. */
static int split_url(struct clickhouse_address *address, const char *given, char why[POST_TEXT])
{
	const char *host = strstr(given, "://"), *query = strchr(given, '?');
	size_t len = query ? (size_t)(query - given) : strlen(given);
	int err = post__check(given, why);

	if (err)
		return err;
	host = host ? host + 3 : given;
	if (memchr(host, '@', strcspn(host, "/?#")))
		return refuse(why, -EINVAL, "it has a user or a password, which others can see");
	if (strchr(given, '#') || (query && strncmp(query, "?database=", 10) != 0) ||
	    (query && !is_name(query + 10)))
		return refuse(why, -EINVAL, "only ?database=NAME may follow");
	if (len + 2 > sizeof(address->url))
		return refuse(why, -EINVAL, "it is too long");
	snprintf(address->database, sizeof(address->database), "%s",
		 query ? query + 10 : CLICKHOUSE_DATABASE);
	snprintf(address->url, sizeof(address->url), "%.*s%s", (int)len, given,
		 memchr(host, '/', strcspn(host, "?")) ? "" : "/");
	return 0;
}

static int read_login(const char *file, char login[LOGIN], char why[POST_TEXT])
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), err = 0;
	struct stat st;
	ssize_t len = -1;

	if (fd >= 0 && !fstat(fd, &st))
		len = read(fd, login, LOGIN - 1);
	if (len < 0)
		err = refuse(why, -errno, strerror(errno));
	else if (!S_ISREG(st.st_mode) || st.st_mode & S_IROTH)
		err = refuse(why, -EACCES, "everybody may read it");
	if (fd >= 0)
		close(fd);
	if (err)
		return err;
	login[len] = '\0';
	login[strcspn(login, "\r\n")] = '\0';
	return strchr(login, ':') ? 0 : refuse(why, -EBADMSG, "it does not have USER:PASSWORD");
}

static bool is_header(const char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			return false;
	return true;
}

static int set_login(struct clickhouse_address *address, const char *file, char why[POST_TEXT])
{
	const char *user = getenv(CLICKHOUSE_USER), *password = getenv(CLICKHOUSE_PASSWORD);
	size_t nr = 0;
	char login[LOGIN];
	int err;

	if (file) {
		err = read_login(file, login, why);
		if (err)
			return err;
		user = login;
		password = strchr(login, ':') + 1;
		login[strcspn(login, ":")] = '\0';
	}
	if ((user && !is_header(user)) || (password && !is_header(password)))
		return refuse(why, -EBADMSG, "the user or the password has a control character");
	if (user &&
	    snprintf(address->user, sizeof(address->user), "X-ClickHouse-User: %s", user) > 0)
		address->headers[nr++] = address->user;
	if (password && snprintf(address->password, sizeof(address->password),
				 "X-ClickHouse-Key: %s", password) > 0)
		address->headers[nr++] = address->password;
	return 0;
}

int clickhouse__address(struct clickhouse_address *address, const char *url, const char *login_file,
			char why[POST_TEXT])
{
	int err;

	memset(address, 0, sizeof(*address));
	err = split_url(address, url, why);
	if (err == -EINVAL)
		strncat(why, "; use a URL such as http://127.0.0.1:8123",
			POST_TEXT - strlen(why) - 1);
	return err ? err : set_login(address, login_file, why);
}

void clickhouse__url(const struct clickhouse_address *address, const char *query,
		     char url[CLICKHOUSE_URL])
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,()";
	size_t used = (size_t)snprintf(url, CLICKHOUSE_URL, "%s?database=%s", address->url,
				       address->database);

	if (!query) {
		/* Else the server says 200 and may fail in the middle of the answer. */
		snprintf(url + used, CLICKHOUSE_URL - used, "&wait_end_of_query=1");
		return;
	}
	/* On a cluster, an insert waits until the shards have the rows. */
	used += (size_t)snprintf(url + used, CLICKHOUSE_URL - used,
				 "&insert_distributed_sync=1&query=");
	for (; *query && used + 4 < CLICKHOUSE_URL; query++)
		used += (size_t)snprintf(url + used, CLICKHOUSE_URL - used,
					 strchr(plain, *query) ? "%c" : "%%%02X",
					 (unsigned char)*query);
}

int clickhouse_server__new(struct post **server, const struct clickhouse_address *address,
			   unsigned int timeout_s, size_t most, bool (*stops)(void *arg), void *arg)
{
	char url[CLICKHOUSE_URL];
	const struct post_config config = {
		.url = url,
		.content_type = "text/plain; charset=utf-8",
		.headers = address->headers,
		.timeout_s = timeout_s,
		.most = most,
		.stops = stops,
		.arg = arg,
	};

	clickhouse__url(address, NULL, url);
	return post__new(server, &config);
}

/* "Code: 60, e.displayText() = DB::Exception: Table ...": what matters is the code. */
static int error_of(const struct post_answer *answer)
{
	int code = 0;

	if (answer->status == 401 || answer->status == 403)
		return -EPERM;
	if (answer->body.at && sscanf(answer->body.at, "Code: %d", &code) != 1)
		return -EREMOTEIO;
	switch (code) {
	case CODE_UNKNOWN_TABLE:
	case CODE_UNKNOWN_DATABASE:
		return -ENOENT;
	case 192: /* UNKNOWN_USER */
	case 193: /* WRONG_PASSWORD */
	case 194: /* REQUIRED_PASSWORD */
	case 195: /* IP_ADDRESS_NOT_ALLOWED */
	case 497: /* ACCESS_DENIED */
	case 516: /* AUTHENTICATION_FAILED */
		return -EPERM;
	default:
		return -EREMOTEIO;
	}
}

int clickhouse_server__ask(struct post *server, const char *sql, struct post_answer *answer)
{
	int err = post__send(server, sql, strlen(sql), answer);

	bytes__add(&answer->body, "", 1);
	if (!err && answer->body.failed) {
		snprintf(answer->why, sizeof(answer->why), "out of memory");
		err = -ENOMEM;
	}
	if (!err && answer->status / 100 != 2)
		err = error_of(answer);
	if (err)
		bytes__free(&answer->body);
	return err;
}

int clickhouse_server__check(struct post *server, uint64_t *now_s, char why[POST_TEXT])
{
	struct post_answer answer;
	unsigned long long now = 0;
	unsigned int version;
	int err;

	err = clickhouse_server__ask(
		server,
		"SELECT version, toUnixTimestamp(now()) FROM schema_version FORMAT TabSeparated",
		&answer);
	if (err == -ENOENT)
		return refuse(why, err, "it has no schema of latscope");
	if (err)
		return refuse(why, err, answer.why);
	if (sscanf(answer.body.at, "%u %llu", &version, &now) != 2)
		err = refuse(why, -EREMOTEIO, "it is no server of ClickHouse");
	else if (version != CLICKHOUSE_SCHEMA)
		err = -ESTALE;
	if (err == -ESTALE)
		snprintf(why, POST_TEXT, "it has version %u of the schema, this latscope uses %d",
			 version, CLICKHOUSE_SCHEMA);
	bytes__free(&answer.body);
	if (now_s)
		*now_s = now;
	return err;
}
