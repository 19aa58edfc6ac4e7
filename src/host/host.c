// SPDX-License-Identifier: BSD-2-Clause
#include "host.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include <json-c/json.h>

#include <core/sanitize.h>

#define LINE 8192 /* the flags of a CPU alone have 2500 characters */

/* First line without its newline; false if there is none or the path is too long. */
static bool read_line(const char *root, const char *path, char line[LINE])
{
	char full[PATH_MAX];
	FILE *stream;
	bool got;

	if (snprintf(full, sizeof(full), "%s%s", root, path) >= PATH_MAX)
		return false;
	stream = fopen(full, "re");
	if (!stream)
		return false;
	got = fgets(line, LINE, stream);
	fclose(stream);
	if (!got)
		return false;
	line[strcspn(line, "\n")] = '\0';
	return line[0];
}

static void put_text(struct json_object *to, const char *name, const char *value)
{
	char clean[LINE];

	json_object_object_add(to, name,
			       json_object_new_string(sanitize__text(clean, sizeof(clean), value)));
}

static void put_line(struct json_object *to, const char *name, const char *root, const char *path)
{
	char line[LINE];

	if (read_line(root, path, line))
		put_text(to, name, line);
}

/* The selected one of a list of choices: in brackets or parentheses. */
static void put_chosen(struct json_object *to, const char *name, const char *root, const char *path,
		       const char brackets[2])
{
	char line[LINE], *begin;

	if (!read_line(root, path, line))
		return;
	begin = strchr(line, brackets[0]);
	if (!begin)
		return;
	begin++;
	begin[strcspn(begin, brackets + 1)] = '\0';
	put_text(to, name, begin);
}

/* "0-3,8" has five. */
static void put_cpus(struct json_object *to, const char *root)
{
	char line[LINE], *at = line;
	long low, high, cpus = 0;

	if (!read_line(root, "/sys/devices/system/cpu/online", line))
		return;
	while (isdigit((unsigned char)*at)) {
		low = high = strtol(at, &at, 10);
		if (*at == '-')
			high = strtol(at + 1, &at, 10);
		cpus += high - low + 1;
		at += *at == ',';
	}
	json_object_object_add(to, "cpus_online", json_object_new_int64(cpus));
}

/* The value of a "name : value" line; NULL if it is another line. */
static const char *value_of(const char *line, const char *name)
{
	size_t len = strlen(name);

	if (strncmp(line, name, len))
		return NULL;
	line += len;
	line += strspn(line, " \t");
	if (*line != ':')
		return NULL;
	return line + 1 + strspn(line + 1, " \t");
}

static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += len) {
		if ((at == list || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
			return true;
	}
	return false;
}

static void put_flag(struct json_object *to, const char *name, const char *flags)
{
	json_object_object_add(to, name, json_object_new_boolean(has_word(flags, name)));
}

/* Only the first CPU's lines, which end with an empty one. */
static void put_cpu(struct json_object *to, const char *root)
{
	char path[PATH_MAX], line[LINE];
	const char *value;
	FILE *stream;

	snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	stream = fopen(path, "re");
	if (!stream)
		return;
	while (fgets(line, sizeof(line), stream) && line[0] != '\n') {
		line[strcspn(line, "\n")] = '\0';
		value = value_of(line, "model name");
		if (value)
			put_text(to, "cpu_model", value);
		value = value_of(line, "microcode");
		if (value)
			put_text(to, "microcode", value);
		value = value_of(line, "flags");
		if (value) {
			put_flag(to, "hypervisor", value);
			put_flag(to, "fred", value); /* only where the kernel uses it */
		}
	}
	fclose(stream);
}

static void put_memory(struct json_object *to, const char *root)
{
	char line[LINE];
	const char *value;

	if (!read_line(root, "/proc/meminfo", line))
		return;
	value = value_of(line, "MemTotal");
	if (value && isdigit((unsigned char)*value))
		json_object_object_add(to, "memory_kb",
				       json_object_new_int64(strtoll(value, NULL, 10)));
}

typedef void put_entry(struct json_object *to, const char *root, const char *dir,
		       const char *entry);

/* An object with a field for each entry of a directory, sorted by name. */
static void put_dir(struct json_object *to, const char *name, const char *root, const char *dir,
		    put_entry *put)
{
	struct json_object *object;
	struct dirent **entries;
	char path[PATH_MAX];
	int nr;

	snprintf(path, sizeof(path), "%s%s", root, dir);
	nr = scandir(path, &entries, NULL, alphasort);
	if (nr < 0)
		return;
	object = json_object_new_object();
	for (int i = 0; i < nr; i++) {
		if (entries[i]->d_name[0] != '.')
			put(object, root, dir, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	if (json_object_object_length(object))
		json_object_object_add(to, name, object);
	else
		json_object_put(object);
}

static void put_mitigation(struct json_object *to, const char *root, const char *dir,
			   const char *entry)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, entry);
	put_line(to, entry, root, path);
}

/* Leaves out unused loop and RAM devices. */
static void put_scheduler(struct json_object *to, const char *root, const char *dir,
			  const char *entry)
{
	char path[PATH_MAX], line[LINE];

	snprintf(path, sizeof(path), "%s/%s/size", dir, entry);
	if (!read_line(root, path, line) || !strcmp(line, "0"))
		return;
	snprintf(path, sizeof(path), "%s/%s/queue/scheduler", dir, entry);
	put_chosen(to, entry, root, path, "[]");
}

char *host__describe(const char *root)
{
	struct json_object *host = json_object_new_object();
	const char *string;
	struct utsname uts;
	char *copy;

	put_text(host, "latscope", LATSCOPE_VERSION);
	put_line(host, "hostname", root, "/proc/sys/kernel/hostname");
	put_line(host, "kernel", root, "/proc/sys/kernel/osrelease");
	put_line(host, "kernel_version", root, "/proc/sys/kernel/version");
	if (!uname(&uts))
		put_text(host, "arch", uts.machine);
	put_cpu(host, root);
	put_cpus(host, root);
	put_memory(host, root);
	put_line(host, "clocksource", root,
		 "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	put_line(host, "governor", root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
	put_chosen(host, "thp", root, "/sys/kernel/mm/transparent_hugepage/enabled", "[]");
	put_chosen(host, "preempt", root, "/sys/kernel/debug/sched/preempt", "()");
	put_line(host, "sched_ext", root, "/sys/kernel/sched_ext/root/ops");
	put_dir(host, "io_schedulers", root, "/sys/block", put_scheduler);
	put_dir(host, "mitigations", root, "/sys/devices/system/cpu/vulnerabilities",
		put_mitigation);
	string = json_object_to_json_string_ext(host, JSON_C_TO_STRING_NOSLASHESCAPE);
	copy = string ? strdup(string) : NULL;
	json_object_put(host);
	return copy;
}

#if defined(__x86_64__)
#define NOT_X86 NULL
#elif defined(__aarch64__)
#define NOT_X86 "it works on x86-64 only, and this machine is arm64"
#else
#define NOT_X86 "it works on x86-64 only"
#endif

const char *host__not_x86(void)
{
	return NOT_X86;
}
