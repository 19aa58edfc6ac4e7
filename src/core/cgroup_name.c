// SPDX-License-Identifier: BSD-2-Clause
#include "cgroup_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID 64 /* digits of a container's ID */
#define LEAST_UID 32 /* digits of a static pod's UID; others have 36 letters */

static const char hex[] = "0123456789abcdef";

/* A part of the path between two slashes. */
struct part {
	const char *at;
	size_t len;
};

static bool begins(const struct part *part, const char *prefix)
{
	size_t len = strlen(prefix);

	return part->len >= len && !memcmp(part->at, prefix, len);
}

static bool ends(const struct part *part, const char *suffix)
{
	size_t len = strlen(suffix);

	return part->len > len && !memcmp(part->at + part->len - len, suffix, len);
}

static bool is(const struct part *part, const char *text)
{
	return part->len == strlen(text) && begins(part, text);
}

/* Without so many bytes at each end. */
static struct part inner(const struct part *part, size_t before, size_t after)
{
	return (struct part){ part->at + before, part->len - before - after };
}

static void copy(char out[CGROUP_NAME], const struct part *part)
{
	snprintf(out, CGROUP_NAME, "%.*s", (int)part->len, part->at);
}

/* systemd writes '-' in a name as \x2d. */
static void unescape(char *text)
{
	char *to = text, digits[3] = "";

	for (; *text; to++) {
		if (!strncmp(text, "\\x", 2) && text[2] && text[3]) {
			memcpy(digits, text + 2, 2);
			*to = (char)strtol(digits, NULL, 16);
			text += 4;
		} else {
			*to = *text++;
		}
	}
	*to = '\0';
}

static bool is_id(const char *text, size_t len)
{
	return len == ID && strspn(text, hex) >= ID;
}

static void set_container(struct cgroup_name *name, const char *runtime, const struct part *id)
{
	snprintf(name->runtime, sizeof(name->runtime), "%s", runtime);
	copy(name->container, id);
}

static const struct {
	const char *prefix, *runtime;
} prefixes[] = {
	{ "docker-", "docker" }, { "cri-containerd-", "containerd" }, { "nerdctl-", "containerd" },
	{ "crio-", "cri-o" },	 { "libpod-payload-", "podman" },     { "libpod-", "podman" },
};

/* "docker-ID.scope" of the systemd driver; "crio-ID" and "libpod-ID" of cgroupfs. */
static bool take_prefixed(struct cgroup_name *name, const struct part *part)
{
	size_t after = ends(part, ".scope") ? strlen(".scope") : 0;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		struct part id;

		if (!begins(part, prefixes[i].prefix) ||
		    part->len < strlen(prefixes[i].prefix) + after)
			continue;
		id = inner(part, strlen(prefixes[i].prefix), after);
		if (!is_id(id.at, id.len))
			continue;
		set_container(name, prefixes[i].runtime, &id);
		return true;
	}
	return false;
}

/* "kubepods-podUID.slice:cri-containerd:ID": a systemd path that a cgroupfs driver was given. */
static bool take_colons(struct cgroup_name *name, const struct part *part)
{
	static const char mark[] = ":cri-containerd:";
	size_t most = strlen(mark) + ID;
	struct part id;

	if (part->len <= most || memcmp(part->at + part->len - most, mark, strlen(mark)))
		return false;
	id = inner(part, part->len - ID, 0);
	if (!is_id(id.at, id.len))
		return false;
	set_container(name, "containerd", &id);
	return true;
}

/* "ID" of the cgroupfs drivers: what is above says of whom. */
static bool take_bare(struct cgroup_name *name, const struct part *part, const struct part *above)
{
	if (!is_id(part->at, part->len))
		return false;
	set_container(name, is(above, "docker") ? "docker" : "containerd", part);
	return true;
}

static bool take_lxc(struct cgroup_name *name, const struct part *part, const struct part *above)
{
	struct part id = *part;

	if (begins(part, "lxc.payload."))
		id = inner(part, strlen("lxc.payload."), 0);
	else if (!is(above, "lxc") && !is(above, "lxc.payload"))
		return false;
	if (!id.len)
		return false;
	set_container(name, "lxc", &id);
	return true;
}

/* Machines of systemd-machined. */
static bool take_machine(struct cgroup_name *name, const struct part *part)
{
	struct part id;

	if (begins(part, "systemd-nspawn@") && ends(part, ".service"))
		id = inner(part, strlen("systemd-nspawn@"), strlen(".service"));
	else if (begins(part, "machine-") && ends(part, ".scope"))
		id = inner(part, strlen("machine-"), strlen(".scope"));
	else
		return false;
	set_container(name, begins(&id, "qemu") ? "qemu" : "nspawn", &id);
	unescape(name->container);
	return true;
}

/* The UID behind "pod", up to the end, ".slice" or ':'; a slice has '_' in place of '-'. */
static void take_uid(struct cgroup_name *name, const struct part *part, const char *pod)
{
	struct part uid = { .at = pod + strlen("pod") };
	size_t most = (size_t)(part->at + part->len - uid.at);

	while (uid.len < most && (strchr(hex, uid.at[uid.len]) || strchr("-_", uid.at[uid.len])))
		uid.len++;
	if (uid.len < LEAST_UID)
		return;
	copy(name->pod, &uid);
	for (char *at = name->pod; *at; at++)
		*at = *at == '_' ? '-' : *at;
}

static void take_pod(struct cgroup_name *name, const struct part *part)
{
	static const char podman[] = "libpod_pod_";
	const char *at = memmem(part->at, part->len, podman, strlen(podman));
	struct part id;

	if (at) {
		id = inner(part, (size_t)(at - part->at) + strlen(podman), 0);
		if (id.len >= ID && is_id(id.at, ID)) {
			id.len = ID;
			copy(name->pod, &id);
		}
		return;
	}
	if (begins(part, "pod"))
		take_uid(name, part, part->at);
	at = memmem(part->at, part->len, "-pod", strlen("-pod"));
	if (at && memmem(part->at, part->len, "kubepods", strlen("kubepods")))
		take_uid(name, part, at + 1);
}

static bool is_unit(const struct part *part)
{
	static const char *const types[] = { ".service", ".scope", ".socket", ".mount", ".swap" };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (ends(part, types[i]))
			return true;
	return false;
}

static void take_part(struct cgroup_name *name, const struct part *part, const struct part *above)
{
	take_pod(name, part);
	if (take_prefixed(name, part) || take_colons(name, part) || take_bare(name, part, above) ||
	    take_lxc(name, part, above))
		return;
	take_machine(name, part);
	if (is_unit(part))
		copy(name->unit, part);
}

void cgroup_name__parse(struct cgroup_name *name, const char *path)
{
	struct part part, above = { "", 0 };

	memset(name, 0, sizeof(*name));
	while (*path) {
		path += strspn(path, "/");
		part = (struct part){ path, strcspn(path, "/") };
		if (part.len)
			take_part(name, &part, &above);
		above = part;
		path += part.len;
	}
}
