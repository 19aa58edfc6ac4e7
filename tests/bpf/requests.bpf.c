// SPDX-License-Identifier: GPL-2.0-only
/* The programs of tests/reference/requests.c. They share only types with iolat. */
#include <probes/kit/kernel.bpf.h>

#include "../reference/requests.h"

struct bio;

struct request___bio {
	struct bio *bio;
} __attribute__((preserve_access_index));

const volatile __u32 disk = 0; /* major << 20 | minor */
__u64 lost = 0;
__u64 completed[REQUEST_KINDS] = {}; /* each last part of a request */

/* When a bio got its request. At this tracepoint the request does not have it yet. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 16);
	__type(key, __u64);
	__type(value, __u64);
} bios SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 16);
	__type(key, __u64);
	__type(value, struct request_times);
} requests SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 25);
} done SEC(".maps");

SEC("tp_btf/block_getrq")
int BPF_PROG(getrq, struct bio *bio)
{
	__u64 key = (__u64)bio, now = bpf_ktime_get_ns();

	bpf_map_update_elem(&bios, &key, &now, BPF_ANY);
	return 0;
}

static __always_inline bool other_disk(struct request *rq)
{
	struct gendisk *of = request_disk(rq);

	return !of || ((__u32)of->major << 20 | (__u32)of->first_minor) != disk;
}

/* At the end of a flush sequence, a write completes once more without bytes. */
static __always_inline __u32 kind_of(struct request *rq)
{
	__u32 op = rq->cmd_flags & REQ_OP_MASK;

	if (op == REQ_OP_READ)
		return REQUEST_READ;
	if (op == REQ_OP_FLUSH)
		return REQUEST_FLUSH;
	if (op != REQ_OP_WRITE)
		return REQUEST_OTHER;
	if (rq->__data_len)
		return REQUEST_WRITE;
	return rq->nr_phys_segments ? REQUEST_END : REQUEST_SYNC;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(issue, struct request *rq)
{
	__u64 now = bpf_ktime_get_ns(), key = (__u64)rq;
	__u64 bio = (__u64)((struct request___bio *)rq)->bio;
	struct request_times times = { .issue_ns = now }, *known;
	__u64 *start;

	if (other_disk(rq))
		return 0;
	known = bpf_map_lookup_elem(&requests, &key);
	if (known) /* once more, after a requeue */
		return 0;
	start = bpf_map_lookup_elem(&bios, &bio);
	if (start)
		times.start_ns = *start;
	bpf_map_delete_elem(&bios, &bio);
	bpf_map_update_elem(&requests, &key, &times, BPF_ANY);
	return 0;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(complete, struct request *rq, int error, unsigned int nr_bytes)
{
	__u64 now = bpf_ktime_get_ns(), key = (__u64)rq;
	struct request_times *times = bpf_map_lookup_elem(&requests, &key);

	if (other_disk(rq) || nr_bytes < rq->__data_len)
		return 0;
	__sync_fetch_and_add(&completed[kind_of(rq)], 1);
	if (!times)
		return 0;
	times->done_ns = now;
	times->kernel_start_ns = rq->start_time_ns;
	times->kernel_issue_ns = rq->io_start_time_ns;
	if (bpf_ringbuf_output(&done, times, sizeof(*times), 0))
		__sync_fetch_and_add(&lost, 1);
	bpf_map_delete_elem(&requests, &key);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
