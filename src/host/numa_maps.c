// SPDX-License-Identifier: BSD-2-Clause
#include "numa_maps.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A decimal number at `text` that ends with `end`. */
static bool take_number(const char *text, char end, uint64_t *value, const char **after)
{
	char *stop;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*value = strtoull(text, &stop, 10);
	*after = stop;
	return !errno && *stop == end;
}

/* "N1=42". Names of files cannot look like this: the kernel prints "file=" before them. */
static bool take_node(const char *word, struct numa_mapping *mapping)
{
	uint64_t node, pages;
	const char *at;

	if (!take_number(word + 1, '=', &node, &at) || !take_number(at + 1, '\0', &pages, &at) ||
	    node >= NUMA_NODES)
		return false;
	mapping->pages[node] = pages;
	return true;
}

static bool take_word(const char *word, struct numa_mapping *mapping)
{
	static const char size[] = "kernelpagesize_kB=";
	const char *after;
	uint64_t kb;

	if (word[0] == 'N' && isdigit((unsigned char)word[1]))
		return take_node(word, mapping);
	if (!strncmp(word, "file=", 5))
		mapping->file = true;
	else if (!strcmp(word, "huge"))
		mapping->hugetlb = true;
	else if (!strncmp(word, size, sizeof(size) - 1)) {
		if (!take_number(word + sizeof(size) - 1, '\0', &kb, &after) || !kb ||
		    kb > UINT32_MAX)
			return false;
		mapping->page_bytes = kb * 1024;
	}
	return true;
}

bool numa_maps__parse(const char *line, struct numa_mapping *mapping)
{
	char *copy, *word, *rest, *end;
	bool good = true;

	*mapping = (struct numa_mapping){ .page_bytes = (uint64_t)sysconf(_SC_PAGESIZE) };
	if (!isxdigit((unsigned char)*line))
		return false;
	errno = 0;
	mapping->start = strtoull(line, &end, 16);
	if (errno || *end != ' ')
		return false;
	copy = strdup(end + 1);
	if (!copy)
		return false;
	word = strtok_r(copy, " \n", &rest);
	mapping->bound = word && !strncmp(word, "bind", 4);
	mapping->weighted = word && !strcmp(word, "weighted");
	for (; good && word; word = strtok_r(NULL, " \n", &rest))
		good = take_word(word, mapping);
	free(copy);
	return good;
}

int numa_maps__open(FILE **stream, const char *root, pid_t pid, const char *name)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/proc/%d/%s", root, pid, name) >= PATH_MAX)
		return -ENAMETOOLONG;
	*stream = fopen(path, "re");
	if (*stream)
		return 0;
	if (errno != ENOENT)
		return errno == EPERM ? -EACCES : -errno;
	snprintf(path, sizeof(path), "%s/proc/%d", root, pid);
	return access(path, F_OK) ? -ESRCH : -ENOENT;
}

int numa_maps__add(struct numa_pages *pages, const char *root, pid_t pid)
{
	struct numa_mapping mapping;
	char *line = NULL;
	size_t size = 0;
	FILE *stream;
	int err;

	err = numa_maps__open(&stream, root, pid, "numa_maps");
	if (err)
		return err;
	errno = 0;
	while (!err && getline(&line, &size, stream) > 0) {
		if (!numa_maps__parse(line, &mapping)) {
			err = -EUCLEAN;
			break;
		}
		pages->mappings++;
		for (unsigned int i = 0; i < NUMA_NODES; i++) {
			uint64_t bytes = mapping.pages[i] * mapping.page_bytes;

			pages->bytes[i] += bytes;
			pages->weighted[i] += mapping.weighted ? bytes : 0;
		}
		errno = 0;
	}
	if (!err && ferror(stream))
		err = errno == EPERM ? -EACCES : errno ? -errno : -EIO;
	free(line);
	fclose(stream);
	return err;
}
