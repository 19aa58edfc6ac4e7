/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A kernel for BPF programs that a test compiles for this machine: a clock that the test sets, a
 * current task and CPU, maps. Included after unit.h and the programs, by one
 * file only.
 */
#ifndef LATSCOPE_TESTS_HOST_KERNEL_H
#define LATSCOPE_TESTS_HOST_KERNEL_H

static __u64 now_ns;
static struct task_struct *current;
static __u32 current_cpu;

/* Random numbers that can be repeated: those of unit.h, from here on. */
static void random_begin(__u64 seed)
{
	unit_random_state = (seed + 1) * 0x9e3779b97f4a7c15ULL;
	for (int i = 0; i < 20; i++) /* near seeds begin alike */
		unit_random();
}

/* A number below `limit`. */
static __u32 below(__u32 limit)
{
	return (__u32)((unit_random() >> 20) % limit);
}

static bool one_in(__u32 limit)
{
	return !below(limit);
}

/* ---- maps ---- */

#define HOST_KEY 16 /* maximum size of a key */
#define ENTRIES 256 /* of a hash */

/* A map of the programs. Without keys it is an array. */
struct host_map {
	void *map;
	size_t key_size, value_size, max, used;
	unsigned char *keys;
	unsigned char *values;
};

#ifndef HOST_MEMORY
#define HOST_MEMORY (1 << 21)
#endif

static struct host_map host_maps[16];
static unsigned char host_memory[HOST_MEMORY] __attribute__((aligned(64))); /* of all maps */
static size_t host_used;
static bool no_storage; /* the map of tasks gives no entry */

static struct host_map *host_map_of(const void *map)
{
	for (size_t i = 0; i < sizeof(host_maps) / sizeof(host_maps[0]); i++)
		if (host_maps[i].map == map)
			return &host_maps[i];
	abort();
}

static void *host_alloc(size_t size)
{
	unsigned char *at = host_memory + host_used;

	host_used += (size + 63) / 64 * 64;
	if (host_used > sizeof(host_memory))
		abort();
	return memset(at, 0, size);
}

/* Returns the values. */
static void *add_array(void *map, size_t value_size, size_t max)
{
	struct host_map *added = host_map_of(NULL);

	*added = (struct host_map){ .map = map, .value_size = value_size, .max = max };
	added->values = host_alloc(max * value_size);
	return added->values;
}

static void add_hash(void *map, size_t key_size, size_t value_size)
{
	struct host_map *added = host_map_of(NULL);

	add_array(map, value_size, ENTRIES);
	added->key_size = key_size;
	added->keys = host_alloc(ENTRIES * HOST_KEY);
}

/* With the maps that all probes have. */
static void begin_kernel(const struct lat_config *chosen)
{
	now_ns = 1ULL << 40;
	memcpy((void *)&config, chosen, sizeof(*chosen));
	memset(&control, 0, sizeof(control));
	memset(host_maps, 0, sizeof(host_maps));
	host_used = 0;
	no_storage = false;
	add_hash(&keys, sizeof(struct lat_key), sizeof(__u32));
	add_hash(&light, sizeof(struct lat_key), sizeof(struct lat_light));
	add_array(&owners, sizeof(struct lat_owner), chosen->rows);
	add_array(&rows, sizeof(struct lat_hist), LAT_ROWS_TOTAL(chosen->rows));
}

/* The place of a key of a hash; `used` if it has none. */
static size_t host_place(const struct host_map *map, const void *key)
{
	size_t place = 0;

	while (place < map->used && memcmp(map->keys + place * HOST_KEY, key, map->key_size))
		place++;
	return place;
}

void *bpf_map_lookup_elem(void *at, void *key)
{
	struct host_map *map = host_map_of(at);
	size_t place = map->keys ? host_place(map, key) : *(const __u32 *)key;

	return place < (map->keys ? map->used : map->max) ? map->values + place * map->value_size
							  : NULL;
}

long bpf_map_update_elem(void *at, void *key, void *value, __u64 flags)
{
	struct host_map *map = host_map_of(at);
	size_t place = host_place(map, key);

	if (place < map->used && flags == BPF_NOEXIST)
		return -17; /* EEXIST */
	if (place == map->max)
		return -7; /* E2BIG */
	if (place == map->used)
		memcpy(map->keys + map->used++ * HOST_KEY, key, map->key_size);
	memcpy(map->values + place * map->value_size, value, map->value_size);
	return 0;
}

long bpf_map_delete_elem(void *at, void *key)
{
	struct host_map *map = host_map_of(at);
	size_t place = host_place(map, key), last = map->used - 1;

	if (place == map->used)
		return -2; /* ENOENT */
	memcpy(map->keys + place * HOST_KEY, map->keys + last * HOST_KEY, HOST_KEY);
	memcpy(map->values + place * map->value_size, map->values + last * map->value_size,
	       map->value_size);
	memset(map->keys + last * HOST_KEY, 0, HOST_KEY);
	memset(map->values + last * map->value_size, 0, map->value_size);
	map->used--;
	return 0;
}

/* A hash by the address of the task. */
void *bpf_task_storage_get(void *map, void *task, void *value, __u64 flags)
{
	static unsigned char zeroes[256];
	void *found = bpf_map_lookup_elem(map, &task);

	if (found || !flags || no_storage || !((struct task_struct *)task)->pid)
		return found;
	bpf_map_update_elem(map, &task, value ? value : zeroes, BPF_NOEXIST);
	return bpf_map_lookup_elem(map, &task);
}

/* ---- helpers ---- */

__u64 bpf_ktime_get_ns(void)
{
	return now_ns;
}

__u32 bpf_get_smp_processor_id(void)
{
	return current_cpu;
}

__u64 bpf_get_current_pid_tgid(void)
{
	return (__u64)current->tgid << 32 | (__u32)current->pid;
}

struct task_struct *bpf_get_current_task_btf(void)
{
	return current;
}

long bpf_get_current_task(void)
{
	return (long)current;
}

long bpf_get_current_comm(void *to, __u32 size)
{
	memcpy(to, current->comm, size);
	return 0;
}

long bpf_probe_read_kernel(void *to, __u32 size, void *from)
{
	memcpy(to, from, size);
	return 0;
}

long bpf_probe_read_kernel_str(void *to, __u32 size, void *from)
{
	snprintf(to, size, "%s", (const char *)from);
	return 0;
}

#endif
