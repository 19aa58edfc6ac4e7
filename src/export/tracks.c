// SPDX-License-Identifier: BSD-2-Clause
#include "tracks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PLACES (2 * TRACKS_MOST) /* of the hash */
#define LANES 256 /* that are searched for room */

enum { OF_PROCESS, OF_THREAD, OF_LANE };

/* Compared as bytes: it has no padding. */
struct track_key {
	uint64_t of; /* PID or parent */
	uint64_t tid;
	uint32_t what, kind;
	uint64_t lane;
};

struct known {
	struct track_key key;
	uint64_t uuid; /* 0: the place is free */
	int64_t end_ns; /* of its last slice */
};

struct tracks {
	struct packets *packets;
	size_t nr;
	struct known known[PLACES];
};

int tracks__new(struct tracks **tracks, struct packets *packets)
{
	*tracks = calloc(1, sizeof(**tracks));
	if (!*tracks)
		return -ENOMEM;
	(*tracks)->packets = packets;
	return 0;
}

void tracks__free(struct tracks *tracks)
{
	free(tracks);
}

static size_t hash(const struct track_key *key)
{
	uint64_t hash = key->of * 0x9e3779b97f4a7c15;

	hash = (hash ^ hash >> 29 ^ key->tid) * 0xbf58476d1ce4e5b9;
	hash = (hash ^ hash >> 32 ^ key->lane << 8 ^ key->what << 4 ^ key->kind) *
	       0x94d049bb133111eb;
	return (hash >> 32) % PLACES;
}

/* One whose UUID is 0 is new, and to be made. */
static struct known *find(struct tracks *tracks, const struct track_key *key)
{
	size_t place = hash(key);

	while (tracks->known[place].uuid) {
		if (!memcmp(&tracks->known[place].key, key, sizeof(*key)))
			return &tracks->known[place];
		place = (place + 1) % PLACES;
	}
	tracks->known[place].key = *key;
	return &tracks->known[place];
}

/* Before tracks are looked up, of which one is the parent of the other. */
static void make_room(struct tracks *tracks)
{
	if (tracks->nr < TRACKS_MOST)
		return;
	memset(tracks->known, 0, sizeof(tracks->known));
	tracks->nr = 0;
}

static uint64_t make(struct tracks *tracks, struct known *known, const struct packet_track *track)
{
	tracks->nr++;
	known->uuid = packets__track(tracks->packets, track);
	known->end_ns = INT64_MIN;
	return known->uuid;
}

static const char *or_null(const char *name)
{
	return name && *name ? name : NULL;
}

uint64_t tracks__process(struct tracks *tracks, int64_t pid, const char *name)
{
	const struct track_key key = { .of = (uint64_t)pid, .what = OF_PROCESS };
	const struct packet_track track = { .pid = pid, .name = or_null(name) };
	struct known *known;

	make_room(tracks);
	known = find(tracks, &key);
	return known->uuid ? known->uuid : make(tracks, known, &track);
}

uint64_t tracks__thread(struct tracks *tracks, int64_t pid, int64_t tid, const char *name)
{
	const struct track_key key = { .of = (uint64_t)pid,
				       .tid = (uint64_t)tid,
				       .what = OF_THREAD };
	struct packet_track track = { .pid = pid, .tid = tid, .name = or_null(name) };
	struct known *known;

	track.parent = tracks__process(tracks, pid, tid == pid ? name : NULL);
	known = find(tracks, &key);
	return known->uuid ? known->uuid : make(tracks, known, &track);
}

uint64_t tracks__lane(struct tracks *tracks, uint64_t parent, unsigned int kind, const char *name,
		      int64_t start_ns, int64_t end_ns)
{
	struct track_key key = { .of = parent, .what = OF_LANE, .kind = kind };
	const struct packet_track track = { .parent = parent, .name = name };
	struct known *known;

	make_room(tracks);
	for (; key.lane < LANES; key.lane++) {
		known = find(tracks, &key);
		if (!known->uuid)
			make(tracks, known, &track);
		if (known->end_ns > start_ns)
			continue;
		known->end_ns = end_ns;
		return known->uuid;
	}
	return packets__track(tracks->packets, &track); /* for this slice alone */
}
