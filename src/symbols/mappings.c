// SPDX-License-Identifier: BSD-2-Clause
/*
 * This runs with privileges, and those who are measured choose what it reads: paths, files, file
 * systems. So it takes a file by the mapping itself, or below the process's root without leaving
 * it; it opens regular files only, and never reads them.
 */
#include "mappings.h"

#include <core/vec.h>

#include <link.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILES 768 /* open at a time, at most */
#define NOTES 4096
#define MAPPINGS 4096 /* of one reading */

struct maps_line {
	uint64_t start, end, offset, inode;
	unsigned int major, minor;
	char mode[5];
	const char *path; /* "": anonymous */
};

static int proc_path(char out[64], uint32_t tgid, const char *name)
{
	return snprintf(out, 64, "/proc/%" PRIu32 "/%s", tgid, name);
}

static FILE *open_proc(uint32_t tgid, const char *name)
{
	char path[64];

	proc_path(path, tgid, name);
	return fopen(path, "re");
}

/* From O_PATH, which has no effect on a device or FIFO, to reading. Closes `path_fd`. */
static int open_regular(int path_fd, struct stat *st)
{
	char self[64];
	int fd = -1;

	if (path_fd < 0)
		return -1;
	if (!fstat(path_fd, st) && S_ISREG(st->st_mode)) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", path_fd);
		fd = open(self, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	}
	close(path_fd);
	return fd;
}

/* A path as that process sees it; links are followed only below its root, if at all. */
static int open_below(uint32_t tgid, const char *path, uint64_t resolve)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = resolve | RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	char root[64];
	int dir, fd;

	proc_path(root, tgid, "root");
	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	close(dir);
	return fd;
}

/* A server in user space could block whoever opens its files. */
static bool is_fuse(uint32_t tgid, const struct maps_line *mapped)
{
	FILE *file = open_proc(tgid, "mountinfo");
	unsigned int major, minor;
	char line[PATH_MAX];
	const char *type;
	bool fuse = false;

	while (file && !fuse && fgets(line, sizeof(line), file)) {
		type = strstr(line, " - fuse");
		fuse = type && sscanf(line, "%*u %*u %u:%u", &major, &minor) == 2 &&
		       major == mapped->major && minor == mapped->minor;
	}
	if (file)
		fclose(file);
	return fuse;
}

/* Without the privilege for map_files, by its path, if that still leads to the same file. */
static int open_mapped(uint32_t tgid, const struct maps_line *mapped, struct stat *st)
{
	char link[96];
	int fd;

	if (is_fuse(tgid, mapped))
		return -1;
	snprintf(link, sizeof(link), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, tgid,
		 mapped->start, mapped->end);
	fd = open_regular(open(link, O_PATH | O_CLOEXEC), st);
	if (fd >= 0)
		return fd;
	fd = open_regular(open_below(tgid, mapped->path, 0), st);
	if (fd >= 0 && st->st_ino != mapped->inode) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static struct mapped_file *add_file(struct mappings *mappings)
{
	struct mapped_file *files;

	if (mappings->nr_files == FILES)
		return NULL;
	files = vec__grow(mappings->files, mappings->nr_files, sizeof(*files));
	if (!files)
		return NULL;
	mappings->files = files;
	files[mappings->nr_files] = (struct mapped_file){ .fd = -1 };
	return &files[mappings->nr_files++];
}

static void set_state(struct mapped_file *file, int fd, const struct stat *st)
{
	file->fd = fd;
	if (fd < 0)
		return;
	file->size = st->st_size;
	file->modified = st->st_mtim;
}

/* Of "/usr/lib/libc.so.6 (deleted)" the base name. */
static void set_name(struct mapped_file *file, const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	const char *deleted = strstr(base, " (deleted)");
	size_t len = deleted ? (size_t)(deleted - base) : strlen(base);

	snprintf(file->name, sizeof(file->name), "%.*s", (int)len, base);
}

static int find_file(struct mappings *mappings, uint32_t tgid, const struct maps_line *line)
{
	uint64_t dev = (uint64_t)line->major << 32 | line->minor;
	struct mapped_file *file;
	struct stat st;

	for (size_t i = 0; i < mappings->nr_files; i++) {
		file = &mappings->files[i];
		if (!file->perf_map && file->inode == line->inode && file->dev == dev)
			return (int)i;
	}
	file = add_file(mappings);
	if (!file)
		return -1;
	file->dev = dev;
	file->inode = line->inode;
	set_name(file, line->path);
	set_state(file, open_mapped(tgid, line, &st), &st);
	return (int)(file - mappings->files);
}

/* Its own number in its innermost PID namespace, and its user; false: it has exited. */
static bool read_status(uint32_t tgid, uint32_t *inner, uid_t *user)
{
	FILE *file = open_proc(tgid, "status");
	char line[256];
	int found = 0;

	while (file && found < 2 && fgets(line, sizeof(line), file)) {
		const char *last = strrchr(line, '\t');

		if (!strncmp(line, "NSpid:", 6) && last)
			found += sscanf(last, "%" SCNu32, inner) == 1;
		else
			found += sscanf(line, "Uid: %*u %u", user) == 1;
	}
	if (file)
		fclose(file);
	return found == 2;
}

/* /tmp/perf-PID.map: of the process's own user, else anyone could name its functions. */
static int find_perf_map(struct mappings *mappings, uint32_t tgid)
{
	struct mapped_file *file;
	uint32_t inner;
	char path[64];
	struct stat st;
	uid_t user;
	int fd;

	for (size_t i = 0; i < mappings->nr_files; i++)
		if (mappings->files[i].perf_map && mappings->files[i].inode == tgid)
			return (int)i;
	if (!read_status(tgid, &inner, &user))
		return -1;
	snprintf(path, sizeof(path), "tmp/perf-%" PRIu32 ".map", inner);
	fd = open_regular(open_below(tgid, path, RESOLVE_NO_SYMLINKS), &st);
	if (fd < 0)
		return -1;
	file = st.st_uid == user ? add_file(mappings) : NULL;
	if (!file) {
		close(fd);
		return -1;
	}
	file->perf_map = true;
	file->inode = tgid;
	set_state(file, fd, &st);
	strcpy(file->name, "[jit]");
	return (int)(file - mappings->files);
}

/* "55d0c1a2b000-55d0c1a2c000 r-xp 00001000 fd:01 123 /usr/bin/true". */
static bool parse_maps_line(char *text, struct maps_line *line)
{
	int path = 0;

	if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &line->start, &line->end, line->mode, &line->offset, &line->major, &line->minor,
		   &line->inode, &path) != 7)
		return false;
	text[strcspn(text, "\n")] = '\0';
	line->path = text + path;
	return line->mode[2] == 'x' && line->start < line->end;
}

/* 32-bit processes have another vDSO than ours. */
static struct mapping place(struct mappings *mappings, uint32_t tgid, const struct maps_line *line)
{
	struct mapping mapping = { line->start, line->end, line->offset, SYMBOL_JIT, -1 };

	if (!strcmp(line->path, "[vdso]")) {
		mapping.kind = SYMBOL_VDSO;
		mapping.file = line->start >> 32 ? 0 : -1;
	} else if (line->inode && line->path[0] == '/') {
		mapping.kind = SYMBOL_ELF;
		mapping.file = find_file(mappings, tgid, line);
	} else {
		mapping.file = find_perf_map(mappings, tgid);
	}
	return mapping;
}

static int read_maps(struct mappings *mappings, struct mapping_note *note)
{
	FILE *file = open_proc(note->tgid, "maps");
	char text[PATH_MAX + 256];
	struct mapping *grown;
	struct maps_line line;

	if (!file)
		return errno == ENOENT ? -ESRCH : -errno;
	while (note->nr < MAPPINGS && fgets(text, sizeof(text), file)) {
		if (!parse_maps_line(text, &line))
			continue;
		grown = vec__grow(note->mappings, note->nr, sizeof(*grown));
		if (!grown)
			break;
		note->mappings = grown;
		grown[note->nr++] = place(mappings, note->tgid, &line);
	}
	fclose(file);
	return note->nr ? 0 : -ESRCH; /* a process that exits has no mappings any more */
}

static struct mapping_note *last_of(const struct mappings *mappings, uint32_t tgid)
{
	for (size_t i = mappings->nr_notes; i-- > 0;)
		if (mappings->notes[i].tgid == tgid)
			return &mappings->notes[i];
	return NULL;
}

static bool is_same(const struct mapping_note *a, const struct mapping_note *b)
{
	if (!a || a->nr != b->nr)
		return false;
	for (size_t i = 0; i < a->nr; i++) {
		const struct mapping *x = &a->mappings[i], *y = &b->mappings[i];

		if (x->start != y->start || x->end != y->end || x->offset != y->offset ||
		    x->kind != y->kind || x->file != y->file)
			return false;
	}
	return true;
}

int mappings__note(struct mappings *mappings, uint32_t tgid, uint32_t number)
{
	struct mapping_note note = { .tgid = tgid, .first = number, .last = number };
	struct mapping_note *notes, *before;
	int err = mappings->nr_notes < NOTES ? read_maps(mappings, &note) : -ENOSPC;

	before = err ? NULL : last_of(mappings, tgid);
	if (!err && is_same(before, &note)) {
		before->last = number;
		free(note.mappings);
		return 0;
	}
	notes = err ? NULL : vec__grow(mappings->notes, mappings->nr_notes, sizeof(*notes));
	if (!notes) {
		free(note.mappings);
		mappings->missed++;
		return err ? err : -ENOMEM;
	}
	mappings->notes = notes;
	notes[mappings->nr_notes++] = note;
	return 0;
}

static const struct mapping *find_in(const struct mapping_note *note, uint64_t address)
{
	for (size_t i = 0; i < note->nr; i++)
		if (address - note->mappings[i].start <
		    note->mappings[i].end - note->mappings[i].start)
			return &note->mappings[i];
	return NULL;
}

/* Notes are in the order of their numbers. Earlier ones count if there is no other. */
const struct mapping *mappings__find(const struct mappings *mappings, uint32_t tgid,
				     uint32_t number, uint64_t address)
{
	const struct mapping *found = NULL;
	const struct mapping_note *note;

	for (size_t i = 0; i < mappings->nr_notes; i++) {
		note = &mappings->notes[i];
		if (note->tgid != tgid)
			continue;
		found = find_in(note, address);
		if (found && note->last >= number)
			return found;
	}
	return found;
}

bool mappings__is_changed(const struct mapped_file *file)
{
	struct stat st;

	return fstat(file->fd, &st) || st.st_size != file->size ||
	       st.st_mtim.tv_sec != file->modified.tv_sec ||
	       st.st_mtim.tv_nsec != file->modified.tv_nsec;
}

/* The section headers are at the end of the image. */
static size_t vdso_size(const ElfW(Ehdr) * header)
{
	return header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
}

int mappings__new(struct mappings *mappings)
{
	const void *image = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct mapped_file *file;
	struct stat st;
	int fd;

	*mappings = (struct mappings){ 0 };
	file = add_file(mappings);
	if (!file)
		return -ENOMEM;
	strcpy(file->name, "[vdso]");
	fd = image ? memfd_create("vdso", MFD_CLOEXEC) : -1;
	if (fd < 0)
		return 0;
	if (write(fd, image, vdso_size(image)) > 0 && !fstat(fd, &st))
		set_state(file, fd, &st);
	else
		close(fd);
	return 0;
}
