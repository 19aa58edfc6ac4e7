// SPDX-License-Identifier: BSD-2-Clause
#include "matrix.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wordexp.h>

#define MOST_BYTES 65536
#define BLANK " \t\r"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define NAME LETTERS "0123456789"
#define PLAIN NAME "%+,-./:=@" /* words of the shell without quotes */

__attribute__((format(printf, 2, 3))) static int fail(struct matrix *matrix, const char *format,
						      ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(matrix->error, sizeof(matrix->error), format, arguments);
	va_end(arguments);
	return -EINVAL;
}

void matrix__clear(struct matrix *matrix)
{
	free(matrix->text);
	memset(matrix, 0, sizeof(*matrix));
}

/* ---- values by name ---- */

static struct matrix_axis *find_axis(struct matrix *matrix, const char *name, size_t len)
{
	for (size_t i = 0; i < matrix->nr; i++)
		if (strlen(matrix->axes[i].name) == len && !memcmp(matrix->axes[i].name, name, len))
			return &matrix->axes[i];
	return NULL;
}

/* A pair "depth=1": its bit in the mask of its axis. */
static int choose_pair(struct matrix *matrix, const char *pair, bool reference)
{
	size_t len = strcspn(pair, "=");
	struct matrix_axis *axis = find_axis(matrix, pair, len);

	if (!axis || !pair[len])
		return fail(matrix, "'%.60s' is not NAME=VALUE with the name of an axis", pair);
	for (size_t i = 0; i < axis->nr; i++) {
		if (strcmp(axis->values[i], pair + len + 1) != 0)
			continue;
		*(reference ? &axis->reference : &axis->only) |= 1ULL << i;
		return 0;
	}
	return fail(matrix, "'%.60s': the axis %.40s has no such value", pair, axis->name);
}

static int choose(struct matrix *matrix, const char *pairs, bool reference)
{
	char *copy = strdup(pairs), *rest = copy, *pair;
	int err = copy ? 0 : -ENOMEM;

	while (!err && (pair = strsep(&rest, ",")))
		err = choose_pair(matrix, pair, reference);
	free(copy);
	return err;
}

int matrix__choose(struct matrix *matrix, const char *only)
{
	return choose(matrix, only, false);
}

/* ---- the file ---- */

static int add_axis(struct matrix *matrix, const char *name, char *values)
{
	struct matrix_axis *axis = &matrix->axes[matrix->nr];
	char *value;

	if (find_axis(matrix, name, strlen(name)))
		return fail(matrix, "the axis %.40s is there twice", name);
	if (matrix->nr == MATRIX_AXES)
		return fail(matrix, "more than %d axes", MATRIX_AXES);
	axis->name = name;
	while ((value = strsep(&values, BLANK))) {
		if (!*value)
			continue;
		if (axis->nr == MATRIX_VALUES)
			return fail(matrix, "the axis %.40s has more than %d values", name,
				    MATRIX_VALUES);
		axis->values[axis->nr++] = value;
	}
	if (!axis->nr)
		return fail(matrix, "the axis %.40s has no values", name);
	matrix->nr++;
	return 0;
}

/* A line "name: text", of which `line` is the number. */
static int parse_line(struct matrix *matrix, char *text, const char **reference, size_t line)
{
	size_t len;

	text += strspn(text, BLANK);
	if (!*text || *text == '#')
		return 0;
	len = strspn(text, NAME);
	if (!strspn(text, LETTERS) || text[len] != ':')
		return fail(matrix, "line %zu is not 'NAME: VALUE...' or 'run: COMMAND'", line);
	text[len++] = '\0';
	len += strspn(text + len, BLANK);
	if (!strcmp(text, "run") || !strcmp(text, "reference") || !strcmp(text, "record")) {
		const char **to = !strcmp(text, "run")	    ? &matrix->command
				  : !strcmp(text, "record") ? &matrix->record
							    : reference;

		if (*to || !text[len])
			return fail(matrix, "line %zu: %s: %s", line, text,
				    *to ? "it is there twice" : "nothing follows");
		*to = text + len;
		return 0;
	}
	return add_axis(matrix, text, text + len);
}

int matrix__parse(struct matrix *matrix, const char *text)
{
	const char *reference = NULL;
	char *rest, *line;
	int err = 0;

	memset(matrix, 0, sizeof(*matrix));
	rest = matrix->text = strdup(text);
	if (!rest)
		return -ENOMEM;
	for (size_t i = 1; !err && (line = strsep(&rest, "\n")); i++)
		err = parse_line(matrix, line, &reference, i);
	if (!err && !matrix->command)
		err = fail(matrix, "no line 'run: COMMAND'");
	if (!err && reference)
		err = choose(matrix, reference, true);
	return err;
}

/* The file is as trusted as a command that the user types: no owner is asked for. */
int matrix__read(struct matrix *matrix, const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), err = -errno;
	char *text = fd < 0 ? NULL : calloc(1, MOST_BYTES + 1);
	ssize_t got = -1;
	struct stat st;

	memset(matrix, 0, sizeof(*matrix));
	if (fd >= 0) {
		err = fstat(fd, &st) ? -errno : 0;
		if (!err && !S_ISREG(st.st_mode))
			err = fail(matrix, "it is not a regular file");
		got = err || !text ? -1 : read(fd, text, MOST_BYTES + 1);
		close(fd);
	}
	if (got > MOST_BYTES || (got > 0 && memchr(text, '\0', (size_t)got)))
		err = fail(matrix, "it is not a text of at most %d KB", MOST_BYTES / 1024);
	else if (got >= 0)
		err = matrix__parse(matrix, text);
	else if (!err)
		err = -EIO;
	free(text);
	if (err && !matrix->error[0])
		fail(matrix, "%s", strerror(-err));
	return err;
}

/* ---- cells ---- */

static void quote(FILE *out, const char *value)
{
	if (value[strspn(value, PLAIN)] == '\0') {
		fputs(value, out);
		return;
	}
	fputc('\'', out);
	for (; *value; value++)
		if (*value == '\'')
			fputs("'\\''", out);
		else
			fputc(*value, out);
	fputc('\'', out);
}

/* The command up to the next brace that means something is copied; then that is replaced. */
static int substitute(struct matrix *matrix, const size_t *at, FILE *out)
{
	const struct matrix_axis *axis;
	size_t len;

	for (const char *text = matrix->command; *text; text++) {
		len = text[0] == '{' && strspn(text + 1, LETTERS) ? strspn(text + 1, NAME) : 0;
		if (text[0] == '{' && text[1] == '{') {
			fputc('{', out);
			text++;
		} else if (!len || text[len + 1] != '}' ||
			   (text > matrix->command && text[-1] == '$')) {
			fputc(*text, out);
		} else {
			axis = find_axis(matrix, text + 1, len);
			if (!axis)
				return fail(matrix,
					    "the command has {%.*s}, but no axis has this name",
					    len < 40 ? (int)len : 40, text + 1);
			quote(out, axis->values[at[axis - matrix->axes]]);
			text += len + 1;
		}
	}
	return 0;
}

static size_t chosen(const struct matrix_axis *axis)
{
	return axis->only ? (size_t)__builtin_popcountll(axis->only) : axis->nr;
}

/* Axes with one value say nothing. */
static void print_name(const struct matrix *matrix, const size_t *at, FILE *out)
{
	const char *comma = "";

	for (size_t i = 0; i < matrix->nr; i++) {
		const struct matrix_axis *axis = &matrix->axes[i];

		if (chosen(axis) < 2)
			continue;
		fprintf(out, "%s%s=%s", comma, axis->name, axis->values[at[i]]);
		comma = ",";
	}
}

static int add_cell(struct matrix *matrix, const size_t *at, struct plan *plan)
{
	char *texts[2] = { NULL, NULL };
	size_t sizes[2];
	FILE *name = open_memstream(&texts[0], &sizes[0]);
	FILE *command = open_memstream(&texts[1], &sizes[1]);
	int err = name && command ? 0 : -ENOMEM;

	if (!err) {
		print_name(matrix, at, name);
		err = substitute(matrix, at, command);
	}
	if (name && fclose(name))
		err = -ENOMEM;
	if (command && fclose(command))
		err = -ENOMEM;
	if (!err && (sizes[0] > MATRIX_COMMAND || sizes[1] > MATRIX_COMMAND))
		err = fail(matrix, "a command is longer than %d bytes", MATRIX_COMMAND);
	if (!err)
		err = plan__add_side(plan, texts[0], texts[1]);
	free(texts[0]);
	free(texts[1]);
	return err;
}

static bool is_in(const struct matrix *matrix, const size_t *at, bool reference)
{
	for (size_t i = 0; i < matrix->nr; i++) {
		uint64_t mask = reference ? matrix->axes[i].reference : matrix->axes[i].only;

		if (mask && !(mask & 1ULL << at[i]))
			return false;
	}
	return true;
}

/* The next combination, the last axis first; false: there is none. */
static bool advance(const struct matrix *matrix, size_t *at)
{
	for (size_t i = matrix->nr; i--;) {
		if (++at[i] < matrix->axes[i].nr)
			return true;
		at[i] = 0;
	}
	return false;
}

static int check_size(struct matrix *matrix)
{
	size_t cells = 1, all = 1;

	for (size_t i = 0; i < matrix->nr && all <= 1 << 20; i++) {
		cells *= chosen(&matrix->axes[i]);
		all *= matrix->axes[i].nr;
	}
	if (all > 1 << 20)
		return fail(matrix, "more than a million combinations; the limit is %d cells",
			    PLAN_MOST_SIDES);
	if (cells > PLAN_MOST_SIDES)
		return fail(matrix, "%zu cells; the limit is %d: choose some by --only", cells,
			    PLAN_MOST_SIDES);
	return cells < 2 ? fail(matrix, "one cell has nothing to be compared with") : 0;
}

/* Runs no command: that would be as root. */
static int plan_record(struct matrix *matrix, struct plan *plan)
{
	wordexp_t words;
	int err;

	if (!matrix->record)
		return 0;
	err = wordexp(matrix->record, &words, WRDE_NOCMD);
	if (err == WRDE_NOSPACE)
		return -ENOMEM;
	if (err)
		return fail(matrix, "record: %s",
			    err == WRDE_CMDSUB ? "it may not run a command"
					       : "these are no words of the shell");
	if (words.we_wordc > MATRIX_RECORD)
		err = fail(matrix, "record: more than %d words", MATRIX_RECORD);
	else
		plan->record = plan__copy_list(words.we_wordv);
	wordfree(&words);
	return plan->record || err ? err : -ENOMEM;
}

int matrix__plan(struct matrix *matrix, struct plan *plan)
{
	size_t at[MATRIX_AXES] = { 0 };
	bool marked = false;
	int err = check_size(matrix);

	plan->matrix = true;
	if (err)
		return err;
	do {
		if (!is_in(matrix, at, false))
			continue;
		if (!marked && is_in(matrix, at, true)) {
			plan->reference = plan->nr_sides;
			marked = true;
		}
		err = add_cell(matrix, at, plan);
	} while (!err && advance(matrix, at));
	return err ? err : plan_record(matrix, plan);
}
