// SPDX-License-Identifier: BSD-2-Clause
#include "post.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include <core/sanitize.h>

#define CONNECT_S 10L
#define LINE 160 /* of the server's text */

/*
 * libcurl is loaded when something is to be sent: it brings two dozen libraries, which would cost
 * every other use of latscope time and memory.
 */
/* clang-format off */
#define CALLS(X) \
	X(url) X(url_get) X(url_set) X(url_cleanup) X(url_strerror) X(free) \
	X(slist_append) X(slist_free_all) X(global_init) \
	X(easy_init) X(easy_setopt) X(easy_perform) X(easy_getinfo) X(easy_strerror) X(easy_cleanup)
/* clang-format on */
#define DECLARE(name) __typeof__(curl_##name) *name;

static struct {
	CALLS(DECLARE)
} curl;

static int load_curl(char why[POST_TEXT])
{
	static const char *const files[] = { "libcurl-gnutls.so.4", "libcurl.so.4" };
	void *library = NULL;

	if (curl.global_init) /* the last one: all are there */
		return 0;
	for (unsigned int i = 0; !library && i < sizeof(files) / sizeof(files[0]); i++)
		library = dlopen(files[i], RTLD_NOW);
	if (!library) {
		snprintf(why, POST_TEXT, "libcurl is missing; install the package libcurl3-gnutls");
		return -ENOPKG;
	}
#define FIND(name)                                                            \
	curl.name = (__typeof__(curl_##name) *)dlsym(library, "curl_" #name); \
	if (!curl.name) {                                                     \
		snprintf(why, POST_TEXT, "libcurl has no curl_" #name);       \
		return -ENOPKG;                                               \
	}
	CALLS(FIND)
	return 0;
}

struct post {
	CURL *handle;
	struct curl_slist *headers;
	bool (*stops)(void *arg);
	void *arg;
	size_t most;
	struct bytes *body; /* of the answer that is being read */
	char error[CURL_ERROR_SIZE];
};

/* A part of a URL, to be freed with curl.free(); NULL: it has none. */
static char *part(CURLU *url, CURLUPart which)
{
	char *text = NULL;

	return curl.url_get(url, which, &text, 0) ? NULL : text;
}

static bool is_http(CURLU *url)
{
	char *scheme = part(url, CURLUPART_SCHEME), *host = part(url, CURLUPART_HOST);
	bool is =
		scheme && host && host[0] && (!strcmp(scheme, "http") || !strcmp(scheme, "https"));

	curl.free(scheme);
	curl.free(host);
	return is;
}

int post__check(const char *text, char why[POST_TEXT])
{
	CURLUcode code = CURLUE_OUT_OF_MEMORY;
	int err = load_curl(why);
	CURLU *url;

	if (err)
		return err;
	url = curl.url();
	if (url)
		code = curl.url_set(url, CURLUPART_URL, text, 0);
	if (code || !is_http(url)) {
		snprintf(why, POST_TEXT, "%s",
			 code ? curl.url_strerror(code) : "not http or https");
		err = -EINVAL;
	}
	curl.url_cleanup(url);
	return err;
}

void post__describe(const char *url, char shown[POST_TEXT])
{
	CURLU *parts = load_curl(shown) ? NULL : curl.url();
	char *text = NULL;

	if (parts && !curl.url_set(parts, CURLUPART_URL, url, 0)) {
		curl.url_set(parts, CURLUPART_USER, NULL, 0);
		curl.url_set(parts, CURLUPART_PASSWORD, NULL, 0);
		curl.url_set(parts, CURLUPART_QUERY, NULL, 0);
		text = part(parts, CURLUPART_URL);
	}
	sanitize__text(shown, POST_TEXT, text ? text : "a URL");
	if (!parts)
		return;
	curl.free(text);
	curl.url_cleanup(parts);
}

static bool is_local(const char *text)
{
	CURLU *url = curl.url();
	char *host = NULL;
	bool is;

	if (url && !curl.url_set(url, CURLUPART_URL, text, 0))
		host = part(url, CURLUPART_HOST);
	is = host &&
	     (!strcmp(host, "localhost") || !strncmp(host, "127.", 4) || !strcmp(host, "[::1]"));
	curl.free(host);
	curl.url_cleanup(url);
	return is;
}

/* ---- callbacks ---- */

static size_t take(char *data, size_t size, size_t count, void *arg)
{
	struct post *post = arg;
	size_t len = size * count, room = post->most - post->body->len;

	bytes__add(post->body, data, len < room ? len : room);
	return len;
}

static int go_on(void *arg, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	const struct post *post = arg;

	(void)a;
	(void)b;
	(void)c;
	(void)d;
	return post->stops && post->stops(post->arg);
}

/* ---- */

static int add_header(struct post *post, const char *text)
{
	struct curl_slist *longer = curl.slist_append(post->headers, text);

	if (!longer)
		return -ENOMEM;
	post->headers = longer;
	return 0;
}

static int add_headers(struct post *post, const struct post_config *config)
{
	char type[POST_TEXT];
	int err;

	snprintf(type, sizeof(type), "Content-Type: %s", config->content_type);
	err = add_header(post, type);
	if (!err)
		err = add_header(post, "Expect:"); /* do not wait for "100 Continue" */
	if (!err && config->is_gzip)
		err = add_header(post, "Content-Encoding: gzip");
	for (size_t i = 0; !err && config->headers && config->headers[i]; i++)
		err = add_header(post, config->headers[i]);
	return err;
}

static int set_options(struct post *post, const struct post_config *config)
{
	CURL *handle = post->handle;
	CURLcode code = 0;

	code |= curl.easy_setopt(handle, CURLOPT_URL, config->url);
	code |= curl.easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
	code |= curl.easy_setopt(handle, CURLOPT_POST, 1L);
	code |= curl.easy_setopt(handle, CURLOPT_HTTPHEADER, post->headers);
	code |= curl.easy_setopt(handle, CURLOPT_USERAGENT, "latscope/" LATSCOPE_VERSION);
	code |= curl.easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
	code |= curl.easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
	code |= curl.easy_setopt(handle, CURLOPT_TIMEOUT, (long)config->timeout_s);
	code |= curl.easy_setopt(handle, CURLOPT_ERRORBUFFER, post->error);
	code |= curl.easy_setopt(handle, CURLOPT_WRITEFUNCTION, take);
	code |= curl.easy_setopt(handle, CURLOPT_WRITEDATA, post);
	code |= curl.easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, go_on);
	code |= curl.easy_setopt(handle, CURLOPT_XFERINFODATA, post);
	code |= curl.easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
	if (is_local(config->url))
		code |= curl.easy_setopt(handle, CURLOPT_PROXY, "");
	return code ? -EINVAL : 0;
}

int post__new(struct post **out, const struct post_config *config)
{
	char why[POST_TEXT];
	struct post *post;
	int err = load_curl(why);

	if (err)
		return err;
	if (curl.global_init(CURL_GLOBAL_DEFAULT))
		return -ENOMEM;
	post = calloc(1, sizeof(*post));
	if (!post)
		return -ENOMEM;
	post->stops = config->stops;
	post->arg = config->arg;
	post->most = config->most;
	post->handle = curl.easy_init();
	err = post->handle ? add_headers(post, config) : -ENOMEM;
	if (!err)
		err = set_options(post, config);
	if (err) {
		post__free(post);
		return err;
	}
	*out = post;
	return 0;
}

void post__free(struct post *post)
{
	if (!post)
		return;
	curl.easy_cleanup(post->handle);
	curl.slist_free_all(post->headers);
	free(post);
}

/* The status and the first line of the answer, without what could harm a terminal. */
static void explain_status(struct post_answer *answer)
{
	char line[LINE];
	size_t len = 0;

	while (len < answer->body.len && len < sizeof(line) - 1 &&
	       !strchr("\r\n", answer->body.at[len])) /* also ends at '\0' */
		len++;
	if (len)
		memcpy(line, answer->body.at, len);
	line[len] = '\0';
	sanitize__in_place(line);
	snprintf(answer->why, sizeof(answer->why), len ? "HTTP status %ld, %s" : "HTTP status %ld",
		 answer->status, line);
}

static int explain_failure(const struct post *post, CURLcode code, struct post_answer *answer)
{
	answer->status = 0;
	sanitize__text(answer->why, sizeof(answer->why),
		       post->error[0] ? post->error : curl.easy_strerror(code));
	switch (code) {
	case CURLE_ABORTED_BY_CALLBACK:
		return -ECANCELED;
	case CURLE_OPERATION_TIMEDOUT:
		return -ETIMEDOUT;
	case CURLE_OUT_OF_MEMORY:
		return -ENOMEM;
	default:
		return -ECONNREFUSED;
	}
}

int post__send(struct post *post, const void *body, size_t len, struct post_answer *answer)
{
	curl_off_t wait = 0;
	CURLcode code;

	*answer = (struct post_answer){ 0 };
	post->body = &answer->body;
	post->error[0] = '\0';
	code = curl.easy_setopt(post->handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len);
	if (!code)
		code = curl.easy_setopt(post->handle, CURLOPT_POSTFIELDS, body);
	if (!code)
		code = curl.easy_perform(post->handle);
	if (code)
		return explain_failure(post, code, answer);
	curl.easy_getinfo(post->handle, CURLINFO_RESPONSE_CODE, &answer->status);
	if (!curl.easy_getinfo(post->handle, CURLINFO_RETRY_AFTER, &wait) && wait > 0)
		answer->wait_s = wait < 86400 ? (unsigned int)wait : 86400;
	if (answer->status / 100 != 2)
		explain_status(answer);
	return 0;
}
