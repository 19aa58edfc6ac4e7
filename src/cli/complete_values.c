// SPDX-License-Identifier: BSD-2-Clause
#include "complete_values.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <core/sanitize.h>
#include <core/split.h>
#include <host/first_line.h>
#include <host/host.h>
#include <loadgen/load.h>
#include <probes/kit/probe.h>
#include <selftest/validate.h>
#include <stats/judge.h>

#include "fleet_commands.h"
#include "probe_command.h"

#define CGROUPS "/sys/fs/cgroup"
#define MAX_ANSWER 4096

/* A name with a line break would be two answers, and the shell would print escape sequences. */
void complete__offer(const char *text, const char *value, const char *about)
{
	char safe[MAX_ANSWER];

	if (strncmp(value, text, strlen(text)))
		return;
	sanitize__text(safe, sizeof(safe), value);
	if (strcmp(safe, value))
		return;
	printf("%s\t", safe);
	sanitize__text(safe, sizeof(safe), about ? about : "");
	printf("%s\n", safe);
}

/* What is completed: text is "--by=process,di", or without --by= the next word. */
struct value {
	const char *command;
	const char *text;
	size_t kept; /* length of what comes before the value: "--by=process," */
};

/* Has the list this name before its last comma? */
static bool is_given(const struct value *value, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = value->text; (at = strstr(at, name)); at++)
		if ((at == value->text || at[-1] == ',' || at[-1] == '=') && at[len] == ',')
			return true;
	return false;
}

static void offer(const struct value *value, const char *name, const char *about)
{
	char whole[PATH_MAX];

	if (value->kept + strlen(name) >= sizeof(whole) || is_given(value, name))
		return;
	memcpy(whole, value->text, value->kept);
	strcpy(whole + value->kept, name);
	complete__offer(value->text, whole, about);
}

static void read_comm(const char *pid, char comm[LAT_COMM_LEN])
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
	first_line__read("", path, comm, LAT_COMM_LEN);
}

static void offer_processes(const struct value *value, bool by_name)
{
	char comm[LAT_COMM_LEN];
	struct dirent *entry;
	DIR *proc = opendir("/proc");

	if (!proc)
		return;
	while ((entry = readdir(proc))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		read_comm(entry->d_name, comm);
		if (!by_name)
			offer(value, entry->d_name, comm);
		else if (comm[0])
			offer(value, comm, NULL);
	}
	closedir(proc);
}

/* The cgroups in the directory that the text names so far, each with a slash to go on. */
static void offer_cgroups(const struct value *value)
{
	const char *typed = value->text + value->kept;
	const char *slash = strrchr(typed, '/');
	char dir[PATH_MAX / 2], path[PATH_MAX];
	struct dirent *entry;
	struct stat status;
	DIR *cgroups;

	if (slash)
		snprintf(dir, sizeof(dir), "%.*s", (int)(slash - typed), typed);
	else
		snprintf(dir, sizeof(dir), CGROUPS);
	cgroups = opendir(dir);
	if (!cgroups)
		return;
	if (!slash)
		offer(value, CGROUPS "/", NULL);
	while (slash && (entry = readdir(cgroups))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		if (stat(path, &status) || !S_ISDIR(status.st_mode))
			continue;
		offer(value, path, NULL);
	}
	closedir(cgroups);
}

/* Loop devices without a file have none. */
static bool has_size(const char *disk)
{
	char path[PATH_MAX], size[32];

	snprintf(path, sizeof(path), "/sys/block/%s/size", disk);
	return !first_line__read("", path, size, sizeof(size)) && strcmp(size, "0") != 0;
}

static void offer_disks(const struct value *value)
{
	struct dirent *entry;
	DIR *disks = opendir("/sys/block");

	if (!disks)
		return;
	while ((entry = readdir(disks)))
		if (entry->d_name[0] != '.' && has_size(entry->d_name))
			offer(value, entry->d_name, NULL);
	closedir(disks);
}

/* What fleet groups by; labels are not known here. */
static void offer_names(const struct value *value)
{
	offer(value, "service", "systemd unit or container");
	offer(value, "kernel", NULL);
	offer(value, "host", NULL);
}

static void offer_condition(const struct value *value)
{
	offer(value, "kernel=", "a version, such as 6.1");
	offer(value, "service=", "systemd unit or container");
	offer(value, "host=", NULL);
}

static void offer_time(const struct value *value)
{
	offer(value, "1h", NULL);
	offer(value, "1d", NULL);
	offer(value, "7d", NULL);
	if (!strcmp(value->command, "fleet"))
		offer(value, "all", NULL);
}

static void offer_percentiles(const struct value *value)
{
	for (unsigned int i = 0; i < SUMMARY_QUANTILES; i++)
		offer(value, summary__labels[i], NULL);
}

/* Those of the command's probe; all, if it has several. */
static void offer_splits(const struct value *value)
{
	const struct probe_ops *own = probe__find(value->command);

	if (!strcmp(value->command, "fleet")) {
		offer_names(value);
		return;
	}
	for (unsigned int by = 0; by < LAT_BY_COUNT; by++)
		if (split__name(by) && (!own || own->splits & 1U << by))
			offer(value, split__name(by), NULL);
	for (size_t i = 0; own && own->more_splits && own->more_splits[i]; i++)
		offer(value, own->more_splits[i], NULL);
}

static void offer_tails(const struct value *value)
{
	char name[RUN_NAME];

	for (size_t i = 0; probe_list[i]; i++) {
		snprintf(name, sizeof(name), "%s=", probe_list[i]->name);
		if (probe_list[i]->tail_ns)
			offer(value, name, "us");
	}
}

static void offer_probes(const struct value *value)
{
	for (size_t i = 0; probe_list[i]; i++)
		offer(value, probe_list[i]->name, probe_list[i]->what);
}

static void offer_methods_of(const struct value *value, const struct probe_ops *ops)
{
	const struct probe_command *command = probe_command__of(ops);
	const char *name, *about;

	for (unsigned int nth = 0; nth < ops->nr_methods; nth++)
		offer(value, probe__nth_method(ops, nth)->name, ops->name);
	if (ops->nr_methods || !command->method)
		return;
	for (unsigned int nth = 0; (name = command->method(nth, &about)); nth++)
		offer(value, name, about);
}

/* Those of the command's probe, or of all probes that `record` can choose a method for. */
static void offer_methods(const struct value *value)
{
	const struct probe_ops *own = probe__find(value->command);

	for (size_t i = 0; probe_list[i]; i++)
		if (own == probe_list[i] || (!own && probe_list[i]->nr_methods))
			offer_methods_of(value, probe_list[i]);
}

static void offer_users(const struct value *value)
{
	const struct passwd *user;

	setpwent();
	while ((user = getpwent()))
		offer(value, user->pw_name, user->pw_gecos);
	endpwent();
}

static void offer_pids(const struct value *value)
{
	offer_processes(value, false);
}

static void offer_comms(const struct value *value)
{
	offer_processes(value, true);
}

static void offer_metric(const struct value *value)
{
	if (!strcmp(value->command, "fleet")) {
		offer_percentiles(value);
		return;
	}
	if (!strcmp(value->command, "compare") || !strcmp(value->command, "ab")) {
		for (unsigned int i = 0; i <= JUDGE_SHARE; i++)
			offer(value, judge__name(i), NULL);
		return;
	}
	for (size_t i = 0; probe_list[i]; i++)
		for (unsigned int j = 0; j < probe_list[i]->nr_metrics; j++)
			if (probe_list[i]->optional & 1U << j)
				offer(value, probe_list[i]->metrics[j].name, probe_list[i]->name);
}

static void offer_parts(const struct value *value)
{
	offer(value, "reference", NULL);
	offer(value, "reaction", NULL);
	offer(value, "overhead", NULL);
	for (unsigned int i = 0; validate__situation(i); i++)
		offer(value, validate__situation(i), "of why");
}

static const struct {
	const char *option;
	void (*offer)(const struct value *value);
} kinds[] = {
	{ "pid", offer_pids },	     { "tid", offer_pids },	   { "comm", offer_comms },
	{ "cgroup", offer_cgroups }, { "disk", offer_disks },	   { "by", offer_splits },
	{ "probe", offer_probes },   { "method", offer_methods },  { "user", offer_users },
	{ "metric", offer_metric },  { "where", offer_condition }, { "against", offer_condition },
	{ "last", offer_time },	     { "only", offer_parts },	   { "tail-us", offer_tails },
};

/* Does it take several values with commas? */
static bool is_list(const struct option_row *option)
{
	return !strcmp(option->argument, "LIST") || !strcmp(option->name, "tail-us");
}

void complete__values(const char *command, const struct option_row *option, const char *text)
{
	const char *equals = !strncmp(text, "--", 2) ? strchr(text, '=') : NULL;
	struct value value = { command, text, equals ? (size_t)(equals + 1 - text) : 0 };
	const char *comma = strrchr(text, ',');

	if (!strcmp(option->argument, "DIR")) {
		puts(":dirs");
		return;
	}
	if (is_list(option) && comma)
		value.kept = (size_t)(comma + 1 - text);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].option, option->name))
			continue;
		kinds[i].offer(&value);
		return;
	}
	for (size_t i = 0; option->choices && option->choices[i]; i++)
		offer(&value, option->choices[i], NULL);
}

/* The commands of fleet, and the metrics and states that follow a question. */
static void offer_questions(const char *text)
{
	const struct value value = { "fleet", text, 0 };

	offer_percentiles(&value);
	for (size_t i = 0; fleet_commands[i].name; i++)
		if (strcmp(fleet_commands[i].name, FLEET_PERCENTILE) != 0)
			offer(&value, fleet_commands[i].name, fleet_commands[i].help);
	offer_probes(&value);
	for (size_t i = 0; probe_list[i]; i++)
		for (size_t j = 0; probe_list[i]->accounts && probe_list[i]->accounts[j]; j++)
			offer(&value, probe_list[i]->accounts[j], "state of threads");
}

void complete__arguments(const char *command, const char *text)
{
	if (!strcmp(command, "load")) {
		for (size_t i = 0; load_kinds[i]; i++)
			complete__offer(text, load_kinds[i]->name, load_kinds[i]->help);
	} else if (!strcmp(command, "fleet")) {
		offer_questions(text);
	} else if (!strcmp(command, "report") || !strcmp(command, "compare")) {
		puts(":dirs");
	}
}
