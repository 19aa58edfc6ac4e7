// SPDX-License-Identifier: BSD-2-Clause
#include "module.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/types.h>

#include <uapi/latscope/rmid.h>

#define HEAD 4096 /* contains everything before the list of processes */

int module__open(const char *path)
{
	struct module_state state;
	int fd, err;

	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = module__read(fd, &state);
	if (!err && state.version != LATSCOPE_RMID_VERSION)
		err = -EPROTONOSUPPORT;
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

static void take_line(struct module_state *state, const char *name, const char *value)
{
	const struct {
		const char *name;
		uint64_t *value;
	} numbers[] = {
		{ "version", &state->version },	    { "rmids", &state->rmids },
		{ "limbo_ns", &state->limbo_ns },   { "l3_scale", &state->l3_scale },
		{ "assigned", &state->assigned },   { "waiting", &state->waiting },
		{ "refused", &state->refused },	    { "ticks", &state->ticks },
		{ "reads", &state->reads },	    { "ticks_late", &state->ticks_late },
		{ "reads_due", &state->reads_due },
	};

	if (!strcmp(name, "rdt"))
		snprintf(state->rdt, sizeof(state->rdt), "%s", value);
	if (!strcmp(name, "unsampled"))
		snprintf(state->unsampled, sizeof(state->unsampled), "%s", value);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!strcmp(name, numbers[i].name))
			*numbers[i].value = strtoull(value, NULL, 10);
}

int module__read(int fd, struct module_state *state)
{
	char text[HEAD + 1], *line, *rest = text, *value;
	ssize_t length;

	memset(state, 0, sizeof(*state));
	length = pread(fd, text, HEAD, 0);
	if (length < 0)
		return -errno;
	text[length] = '\0';
	while ((line = strsep(&rest, "\n")) && *line) {
		value = strchr(line, ' ');
		if (!value)
			return -EUCLEAN;
		*value++ = '\0';
		take_line(state, line, value);
	}
	return state->version ? 0 : -EUCLEAN;
}

int module__dump(int fd)
{
	static const char word[] = "dump\n";

	return write(fd, word, sizeof(word) - 1) < 0 ? -errno : 0;
}

int module__copy(int fd, FILE *out)
{
	char text[HEAD];
	ssize_t length;
	off_t at = 0;

	while ((length = pread(fd, text, sizeof(text), at)) > 0) {
		fwrite(text, 1, (size_t)length, out);
		at += length;
	}
	return length < 0 ? -errno : 0;
}

static bool reads_caches(const struct module_state *before, const struct module_state *now)
{
	return now->l3_scale && now->reads_due > before->reads_due;
}

static void tell_rdt(const struct module_state *now, FILE *out)
{
	if (!strcmp(now->rdt, "on"))
		fputs("RDT is on", out);
	else if (!strcmp(now->rdt, "conflict"))
		fputs("RDT is in conflict: another tool uses it; caches were not read", out);
	else if (!strcmp(now->rdt, "fault"))
		fputs("RDT is off: the CPU refused an RMID (PQR_ASSOC), see the kernel's log", out);
	else
		fputs("RDT is off: the machine has none, or rdt=off", out);
}

void module__tell(const struct module_state *before, const struct module_state *now,
		  uint64_t no_value, FILE *out)
{
	uint64_t due = now->reads_due - before->reads_due, refused = now->refused - before->refused;

	tell_rdt(now, out);
	if (reads_caches(before, now))
		fprintf(out, "; %.1f %% of the due cache readings were done, %llu without a value",
			100.0 * (double)(now->reads - before->reads) / (double)due,
			(unsigned long long)no_value);
	else
		fputs("; no cache was read", out);
	if (refused || now->waiting)
		fprintf(out, "; no RMID was free %llu times, %llu processes wait for one",
			(unsigned long long)refused, (unsigned long long)now->waiting);
}

bool module__uses_rdt(int fd)
{
	struct module_state state;

	return !module__read(fd, &state) && !strcmp(state.rdt, "on");
}
