// SPDX-License-Identifier: BSD-2-Clause
#include "plan.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <core/run.h>
#include <core/vec.h>
#include <store/atomic_file.h>

#define FILE_NAME "plan.json"
#define MOST_BYTES (1 << 24)
#define MOST_WORDS 4096

/* splitmix64 (G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014), by the run's number. */
static uint64_t random_of(const struct plan *plan, size_t run)
{
	uint64_t z = plan->seed + (run + 1) * 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* The order by a random number of each run. */
size_t plan__next(const struct plan *plan, const size_t *done)
{
	size_t least = done[0], next = 0;
	uint64_t random, lowest = UINT64_MAX;

	for (size_t i = 0; i < plan->nr_sides; i++)
		least = done[i] < least ? done[i] : least;
	for (size_t i = 0; i < plan->nr_sides; i++) {
		random = random_of(plan, least * plan->nr_sides + i);
		if (done[i] > least || random > lowest)
			continue;
		lowest = random;
		next = i;
	}
	return next;
}

int plan__add_side(struct plan *plan, const char *name, const char *command)
{
	struct plan_side *grown = vec__grow(plan->sides, plan->nr_sides, sizeof(*grown));
	struct plan_side *side;

	if (!grown)
		return -ENOMEM;
	plan->sides = grown;
	side = &grown[plan->nr_sides++];
	*side = (struct plan_side){ strdup(name), strdup(command) };
	return side->name && side->command ? 0 : -ENOMEM;
}

double plan__spent(const struct plan *plan)
{
	double sum = 0;

	for (size_t i = 0; i < plan->nr_looks; i++)
		sum += plan->looks[i].level;
	return sum;
}

void plan__free_list(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

char **plan__copy_list(char *const *list)
{
	size_t nr = 0;
	char **copy;

	while (list[nr])
		nr++;
	copy = calloc(nr + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < nr; i++) {
		copy[i] = strdup(list[i]);
		if (copy[i])
			continue;
		plan__free_list(copy);
		return NULL;
	}
	return copy;
}

void plan__clear(struct plan *plan)
{
	for (size_t i = 0; i < plan->nr_sides; i++) {
		free(plan->sides[i].name);
		free(plan->sides[i].command);
	}
	free(plan->sides);
	plan__free_list(plan->workload);
	plan__free_list(plan->record);
	free(plan->probe);
	memset(plan, 0, sizeof(*plan));
}

/* ---- writing ---- */

static struct json_object *list_of(char *const *list)
{
	struct json_object *array;

	if (!list)
		return NULL;
	array = json_object_new_array();
	for (size_t i = 0; list[i]; i++)
		json_object_array_add(array, json_object_new_string(list[i]));
	return array;
}

static struct json_object *text_of(const char *text)
{
	return text ? json_object_new_string(text) : NULL;
}

static struct json_object *looks_of(const struct plan *plan)
{
	struct json_object *array = json_object_new_array(), *look;

	for (size_t i = 0; i < plan->nr_looks; i++) {
		look = json_object_new_object();
		json_object_object_add(look, "runs", json_object_new_uint64(plan->looks[i].runs));
		json_object_object_add(look, "level", json_object_new_double(plan->looks[i].level));
		json_object_array_add(array, look);
	}
	return array;
}

static struct json_object *sides_of(const struct plan *plan)
{
	struct json_object *array = json_object_new_array(), *side;

	for (size_t i = 0; i < plan->nr_sides; i++) {
		side = json_object_new_object();
		json_object_object_add(side, "name", text_of(plan->sides[i].name));
		json_object_object_add(side, "command", text_of(plan->sides[i].command));
		json_object_array_add(array, side);
	}
	return array;
}

static struct json_object *object_of(const struct plan *plan)
{
	struct json_object *to = json_object_new_object();
	const struct judge_rules *rules = &plan->rules;

	json_object_object_add(to, "format", json_object_new_int(PLAN_FORMAT));
	json_object_object_add(to, "matrix", json_object_new_boolean(plan->matrix));
	json_object_object_add(to, "sides", sides_of(plan));
	json_object_object_add(to, "reference", json_object_new_uint64(plan->reference));
	json_object_object_add(to, "workload", list_of(plan->workload));
	json_object_object_add(to, "record", list_of(plan->record));
	json_object_object_add(to, "probe", text_of(plan->probe));
	json_object_object_add(to, "confidence", json_object_new_double(rules->confidence));
	json_object_object_add(to, "min_effect", json_object_new_double(rules->min_effect));
	json_object_object_add(to, "run_spread", json_object_new_double(rules->run_spread));
	json_object_object_add(to, "statistics", json_object_new_uint64(rules->statistics));
	json_object_object_add(to, "seed", json_object_new_uint64(plan->seed));
	json_object_object_add(to, "most", json_object_new_uint64(plan->most));
	json_object_object_add(to, "effect", json_object_new_double(plan->effect));
	json_object_object_add(to, "planned", json_object_new_uint64(plan->planned));
	json_object_object_add(to, "looks", looks_of(plan));
	json_object_object_add(to, "concluded", json_object_new_boolean(plan->concluded));
	return to;
}

int plan__write(const struct plan *plan, const char *dir)
{
	struct json_object *object = object_of(plan);
	struct outfile file = { 0 };
	const char *text;
	int err;

	text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY |
							      JSON_C_TO_STRING_NOSLASHESCAPE);
	err = text ? outfile__open(&file, dir, FILE_NAME) : -ENOMEM;
	if (!err) {
		fprintf(file.stream, "%s\n", text);
		err = outfile__commit(&file);
	}
	json_object_put(object);
	return err;
}

/* ---- reading ---- */

static bool get(const struct json_object *from, const char *name, enum json_type type,
		struct json_object **value)
{
	return json_object_object_get_ex(from, name, value) && json_object_is_type(*value, type);
}

static bool get_text(const struct json_object *from, const char *name, char **text)
{
	struct json_object *value;

	if (get(from, name, json_type_null, &value))
		return true;
	if (!get(from, name, json_type_string, &value))
		return false;
	*text = strdup(json_object_get_string(value));
	return *text;
}

static bool get_list(const struct json_object *from, const char *name, char ***list)
{
	struct json_object *value, *word;
	size_t nr;

	if (get(from, name, json_type_null, &value))
		return true;
	if (!get(from, name, json_type_array, &value))
		return false;
	nr = json_object_array_length(value);
	*list = nr > MOST_WORDS ? NULL : calloc(nr + 1, sizeof(**list));
	for (size_t i = 0; *list && i < nr; i++) {
		word = json_object_array_get_idx(value, i);
		if (!json_object_is_type(word, json_type_string))
			return false;
		(*list)[i] = strdup(json_object_get_string(word));
		if (!(*list)[i])
			return false;
	}
	return *list;
}

static bool get_share(const struct json_object *from, const char *name, double high, double *share)
{
	struct json_object *value;

	if (!get(from, name, json_type_double, &value))
		return false;
	*share = json_object_get_double(value);
	return *share >= 0 && *share <= high;
}

static bool get_count(const struct json_object *from, const char *name, size_t low, size_t high,
		      size_t *count)
{
	struct json_object *value;
	int64_t got;

	if (!get(from, name, json_type_int, &value))
		return false;
	got = json_object_get_int64(value);
	*count = (size_t)got;
	return got >= (int64_t)low && got <= (int64_t)high;
}

static bool get_looks(const struct json_object *from, struct plan *plan)
{
	struct json_object *value, *look;
	size_t nr;

	if (!get(from, "looks", json_type_array, &value))
		return false;
	nr = json_object_array_length(value);
	if (nr > PLAN_LOOKS)
		return false;
	for (size_t i = 0; i < nr; i++) {
		look = json_object_array_get_idx(value, i);
		if (!get_count(look, "runs", 1, PLAN_MOST_RUNS, &plan->looks[i].runs) ||
		    !get_share(look, "level", 1, &plan->looks[i].level))
			return false;
	}
	plan->nr_looks = nr;
	return plan__spent(plan) <= 1 - plan->rules.confidence + 1e-9;
}

static bool get_side(const struct json_object *from, struct plan *plan)
{
	char *name = NULL, *command = NULL;
	bool good = get_text(from, "name", &name) && get_text(from, "command", &command) && name &&
		    command && !plan__add_side(plan, name, command);

	free(name);
	free(command);
	return good;
}

static bool get_sides(const struct json_object *from, struct plan *plan)
{
	struct json_object *value;
	size_t nr;

	if (!get(from, "matrix", json_type_boolean, &value))
		return false;
	plan->matrix = json_object_get_boolean(value);
	if (!get(from, "sides", json_type_array, &value))
		return false;
	nr = json_object_array_length(value);
	if (nr < 2 || nr > (plan->matrix ? PLAN_MOST_SIDES : 2))
		return false;
	for (size_t i = 0; i < nr; i++)
		if (!get_side(json_object_array_get_idx(value, i), plan))
			return false;
	return get_count(from, "reference", 0, plan->matrix ? nr - 1 : 0, &plan->reference);
}

static bool fill(struct plan *plan, const struct json_object *from)
{
	struct judge_rules *rules = &plan->rules;
	struct json_object *value;
	size_t statistics = 0;
	bool good;

	good = get_sides(from, plan) && get_list(from, "workload", &plan->workload) &&
	       get_list(from, "record", &plan->record) && plan->record &&
	       (!plan->workload || plan->workload[0]) && get_text(from, "probe", &plan->probe) &&
	       get_share(from, "confidence", 0.99999, &rules->confidence) &&
	       rules->confidence >= 0.5 && get_share(from, "min_effect", 1e5, &rules->min_effect) &&
	       get_share(from, "run_spread", 10, &rules->run_spread) &&
	       get_count(from, "statistics", 1, JUDGE_ALL, &statistics) &&
	       get(from, "seed", json_type_int, &value);
	if (!good)
		return false;
	plan->seed = json_object_get_uint64(value);
	rules->statistics = (uint32_t)statistics;
	good = get_count(from, "most", 1, PLAN_MOST_RUNS, &plan->most) &&
	       get_share(from, "effect", 1e5, &plan->effect) &&
	       get_count(from, "planned", 1, PLAN_MOST_RUNS, &plan->planned) &&
	       get_looks(from, plan) && get(from, "concluded", json_type_boolean, &value);
	if (good)
		plan->concluded = json_object_get_boolean(value);
	return good;
}

/* Its commands may run as root. */
static int check_owner(int fd, unsigned int uid)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	if (st.st_size > MOST_BYTES)
		return -EBADMSG;
	return (st.st_uid && st.st_uid != uid) || st.st_mode & 022 ? -EPERM : 0;
}

int plan__read(struct plan *plan, int dir, unsigned int uid)
{
	struct json_object *object = NULL, *format;
	int fd, err;

	memset(plan, 0, sizeof(*plan));
	fd = openat(dir, FILE_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = check_owner(fd, uid);
	if (!err)
		object = json_object_from_fd(fd);
	close(fd);
	if (err)
		return err;
	if (!object || !get(object, "format", json_type_int, &format))
		err = -EBADMSG;
	else if (json_object_get_int(format) > PLAN_FORMAT)
		err = -EPROTONOSUPPORT;
	else if (!fill(plan, object))
		err = -EBADMSG;
	json_object_put(object);
	return err;
}
