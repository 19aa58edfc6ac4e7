/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's types, as far as latscope's programs use them. No type information of the build
 * machine is read, so the objects are the same on every machine.
 *
 * CO-RE looks up each structure and each member by name in the running kernel and corrects offsets
 * and sizes when the program is loaded. So a structure lists only the members in use, in any order.
 * If a member or a value is not in every kernel from 5.10 to 7.x, a comment gives the versions.
 * kernel.bpf.h has what differs by name or shape between kernels.
 */
#ifndef LATSCOPE_PROBES_KIT_KERNEL_TYPES_BPF_H
#define LATSCOPE_PROBES_KIT_KERNEL_TYPES_BPF_H

/* libbpf's headers then take the registers of struct pt_regs by the kernel's names. */
#define __VMLINUX_H__

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u32 __wsum;
typedef _Bool bool;
#define true 1
#define false 0
#define NULL ((void *)0)

/* ---- interface to user space: fixed values and layouts, not looked up ---- */

/* include/uapi/linux/bpf.h */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERF_EVENT_ARRAY = 4,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_RINGBUF = 27, /* 5.8 */
	BPF_MAP_TYPE_TASK_STORAGE = 29, /* 5.11 */
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_F_NO_PREALLOC = 1 << 0,
	BPF_F_MMAPABLE = 1 << 10,
	BPF_RB_NO_WAKEUP = 1 << 0,
	BPF_F_USER_STACK = 1 << 8,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1 << 0,
};

#define BPF_F_CURRENT_CPU 0xffffffffULL

/* Looked up: since 5.15, since 5.17. */
enum bpf_func_id { BPF_FUNC_task_pt_regs = 175, BPF_FUNC_find_vma = 180 };

#if defined(__TARGET_ARCH_x86)
struct pt_regs { /* arch/x86/include/uapi/asm/ptrace.h */
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8;
	unsigned long ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};
typedef struct pt_regs bpf_user_pt_regs_t;
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs { /* arch/arm64/include/uapi/asm/ptrace.h */
	__u64 regs[31];
	__u64 sp, pc, pstate;
};
struct pt_regs { /* arch/arm64/include/asm/ptrace.h */
	__u64 pstate;
	__s32 syscallno;
} __attribute__((preserve_access_index));
typedef struct user_pt_regs bpf_user_pt_regs_t;
#else
#error "the registers of this architecture are not declared"
#endif

struct bpf_perf_event_data { /* include/uapi/linux/bpf_perf_event.h */
	bpf_user_pt_regs_t regs;
	__u64 sample_period;
	__u64 addr;
};

struct bpf_perf_event_value {
	__u64 counter;
	__u64 enabled;
	__u64 running;
};

struct bpf_raw_tracepoint_args {
	__u64 args[0];
};

/* ---- what iterators get; the layout is part of their interface ---- */

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	__u64 session_id;
	__u64 seq_num;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	__u32 fd;
	struct file *file;
};

/* ---- looked up in the running kernel ---- */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* include/linux/sched.h and what a task leads to */

struct kernfs_node {
	__u64 id;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
	struct cgroup_root *root;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct rt_rq {
	int rt_throttled; /* until 6.11; later with CONFIG_RT_GROUP_SCHED */
};

struct rq {
	__u64 clock;
	__u64 clock_pelt;
	unsigned long lost_idle_time;
	__u64 nr_switches;
	unsigned int nr_running;
	int cpu;
	struct rt_rq rt;
	__u64 prev_steal_time_rq; /* with CONFIG_PARAVIRT_TIME_ACCOUNTING */
	unsigned int core_enabled; /* 5.14, with CONFIG_SCHED_CORE */
};

struct cfs_bandwidth {
	__u64 period; /* ns; a ktime_t */
	__u64 quota; /* ns; ~0: none */
};

struct task_group {
	struct cgroup_subsys_state css;
	struct task_group *parent;
	unsigned long shares; /* with CONFIG_FAIR_GROUP_SCHED */
	struct cfs_bandwidth cfs_bandwidth; /* with CONFIG_CFS_BANDWIDTH */
};

struct cfs_rq {
	struct rq *rq; /* with CONFIG_FAIR_GROUP_SCHED, as the next one */
	struct task_group *tg;
	/* With CONFIG_CFS_BANDWIDTH; see kernel.bpf.h. */
	__u64 throttled_clock_self; /* 6.6 */
	__u64 throttled_clock_self_time; /* 6.6 */
	__u64 throttled_clock_pelt; /* 5.19 */
	__u64 throttled_clock_pelt_time; /* 5.19 */
	int throttle_count;
};

struct sched_entity {
	struct cfs_rq *cfs_rq; /* with CONFIG_FAIR_GROUP_SCHED */
	__u64 sum_exec_runtime;
};

struct sched_dl_entity {
	__u64 dl_deadline;
	__u64 deadline;
};

struct sched_ext_entity { /* 6.12, with CONFIG_SCHED_CLASS_EXT */
	__u32 flags;
};

struct sched_info { /* empty without CONFIG_SCHED_INFO */
	unsigned long pcount;
	unsigned long long run_delay;
	unsigned long long last_arrival;
	unsigned long long last_queued;
};

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live;
	int nr_threads;
};

struct blk_plug {
	__u64 cur_ktime; /* 6.9 */
};

struct atomic_long {
	long counter;
};

struct rw_semaphore {
	struct atomic_long owner; /* not with CONFIG_PREEMPT_RT */
};

struct mm_struct {
	struct file *exe_file;
	struct rw_semaphore mmap_lock;
};

struct thread_info {
	__u32 status; /* x86 */
	__u64 preempt_count; /* arm64: the lower half is the count */
};

struct pcpu_hot { /* x86, 6.2 to 6.14 */
	int preempt_count;
};

/* include/linux/delayacct.h */
struct task_delay_info {
	__u64 blkio_delay;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state; /* 5.14; see kernel.bpf.h */
	/* Signed until 6.x, a byte since 7.0: unsigned, so that CO-RE can correct the size. */
	unsigned int on_cpu;
	unsigned int on_rq;
	unsigned int flags;
	unsigned int in_iowait : 1;
	unsigned int in_memstall : 1; /* with CONFIG_PSI */
	unsigned int frozen : 1; /* with CONFIG_CGROUPS */
	int prio;
	int static_prio;
	unsigned int rt_priority;
	unsigned int policy;
	int exit_state;
	int pid;
	int tgid;
	int softirq_disable_cnt; /* with CONFIG_PREEMPT_RT */
	struct sched_entity se;
	struct sched_dl_entity dl;
	struct sched_dl_entity *dl_server; /* 6.8 */
	struct sched_ext_entity scx; /* 6.12, with CONFIG_SCHED_CLASS_EXT */
	struct sched_info sched_info;
	struct task_delay_info *delays; /* with CONFIG_TASK_DELAY_ACCT */
	struct task_struct *real_parent;
	struct mm_struct *mm;
	struct task_struct *group_leader;
	struct signal_struct *signal;
	struct css_set *cgroups;
	struct blk_plug *plug;
	unsigned long jobctl;
	unsigned long nvcsw;
	unsigned long nivcsw;
	__u64 utime;
	__u64 stime;
	__u64 start_time;
	__u64 start_boottime;
	unsigned long min_flt;
	unsigned long maj_flt;
	void *worker_private; /* 5.17; see kernel.bpf.h */
	char comm[16];
};

/* kernel/kthread.c, kernel/workqueue_internal.h, kernel/workqueue.c */

struct kthread {
	void *data;
};

struct worker {
	struct pool_workqueue *current_pwq;
};

struct pool_workqueue {
	struct workqueue_struct *wq;
};

struct workqueue_struct {
	char name[32]; /* 24 before 6.9 */
};

/* include/linux/fs.h, include/linux/perf_event.h */

struct gendisk {
	int major;
	int first_minor;
	char disk_name[32];
	struct request_queue *queue;
};

struct block_device {
	struct gendisk *bd_disk;
	__u64 bd_start_sect; /* of a partition: 5.11 */
	unsigned int bd_dev;
};

struct swap_info_struct {
	struct block_device *bdev;
};

struct wait_queue_entry {
	void *private;
};

struct super_block {
	struct block_device *s_bdev;
	unsigned long s_magic;
};

struct inode {
	struct super_block *i_sb;
};

struct file {
	struct inode *f_inode;
	void *private_data;
};

typedef struct { /* asm/local64.h: nested in other ways elsewhere, always 8 bytes */
	__u64 value;
} local64_t;

struct hw_perf_event {
	local64_t prev_count;
};

struct perf_event {
	struct hw_perf_event hw;
	local64_t count;
	int cpu;
};

/* include/linux/mm_types.h, include/linux/mm.h */

struct vm_area_struct {
	unsigned long vm_flags;
	const struct vm_operations_struct *vm_ops;
	struct file *vm_file;
};

struct vm_fault {
	struct vm_area_struct *vma;
};

/* include/linux/blk_types.h, block/blk-cgroup.h */

struct blkcg {
	struct cgroup_subsys_state css;
};

struct blkcg_gq {
	struct blkcg *blkcg;
};

struct bvec_iter {
	__u64 bi_sector;
	unsigned int bi_size;
};

struct bio {
	struct block_device *bi_bdev; /* 5.12 */
	unsigned int bi_opf;
	unsigned short bi_flags;
	struct bvec_iter bi_iter;
	void *bi_private;
	struct blkcg_gq *bi_blkg; /* with CONFIG_BLK_CGROUP */
};

/* include/linux/blk-mq.h, include/linux/blkdev.h */

struct request_queue {
	int id;
	const void *mq_ops; /* NULL: its driver works on bios */
	struct gendisk *disk; /* 5.15; see kernel.bpf.h */
};

struct blk_mq_hw_ctx {
	unsigned int queue_num;
};

enum mq_rq_state { MQ_RQ_IDLE };

struct request {
	struct request_queue *q;
	struct blk_mq_hw_ctx *mq_hctx;
	unsigned int cmd_flags;
	unsigned int rq_flags;
	int tag;
	int internal_tag;
	unsigned int __data_len;
	unsigned short nr_phys_segments;
	__u64 __sector;
	struct bio *bio;
	__u64 start_time_ns;
	__u64 io_start_time_ns;
	enum mq_rq_state state;
};

#pragma clang attribute pop

/* Looked up by name, as the values change; see FAULT_FLAG() and FAULT_RESULT(). */
enum fault_flag { /* an enum since 5.13 (da2f5eb3d344) */
		  FAULT_FLAG_WRITE = 1 << 0,
		  FAULT_FLAG_TRIED = 1 << 5,
		  FAULT_FLAG_USER = 1 << 6,
		  FAULT_FLAG_INSTRUCTION = 1 << 8,
		  FAULT_FLAG_VMA_LOCK = 1 << 12, /* 6.4, CONFIG_PER_VMA_LOCK (0b6cc04f3db3) */
};

enum vm_fault_reason { /* include/linux/mm_types.h */
		       VM_FAULT_OOM = 0x000001,
		       VM_FAULT_SIGBUS = 0x000002,
		       VM_FAULT_MAJOR = 0x000004,
		       VM_FAULT_HWPOISON = 0x000010,
		       VM_FAULT_HWPOISON_LARGE = 0x000020,
		       VM_FAULT_SIGSEGV = 0x000040,
		       VM_FAULT_RETRY = 0x000400,
		       VM_FAULT_FALLBACK = 0x000800,
		       VM_FAULT_COMPLETED = 0x004000, /* 6.0 (d92725256b4f) */
};
typedef unsigned int vm_fault_t;

enum req_flag_bits { /* include/linux/blk_types.h */
		     __REQ_SYNC = 11,
		     __REQ_FUA = 17,
		     __REQ_PREFLUSH = 18,
};

/* ---- numbers without a name in the kernel's type information, the same from 5.10 to 7.x ---- */

#define VM_SHARED 0x00000008 /* include/linux/mm.h, as the next one */
#define VM_HUGETLB 0x00400000
#define PF_EXITING 0x00000004 /* include/linux/sched.h, as the next one */
#define PF_IO_WORKER 0x00000010 /* a thread of io_uring */
#define PF_USER_WORKER 0x00004000 /* 6.4: any such thread of a process */
#define PF_WQ_WORKER 0x00000020 /* the task is a worker of workqueues */
#define PF_MEMALLOC 0x00000800 /* the task reclaims or compacts memory */
#define TASK_INTERRUPTIBLE 0x1 /* include/linux/sched.h, as the next ones */
#define TASK_UNINTERRUPTIBLE 0x2
#define TASK_STOPPED 0x4
#define TASK_TRACED 0x8
#define TASK_FROZEN 0x8000 /* 6.1 */
#define TASK_NOLOAD 0x400
#define PF_KTHREAD 0x00200000 /* include/linux/sched.h */
#define SCHED_DEADLINE 6 /* include/uapi/linux/sched.h */
#define MAX_RT_PRIO 100 /* include/linux/sched/prio.h */
#define JOBCTL_TRAP_FREEZE (1UL << 23) /* include/linux/sched/jobctl.h */
#define TS_COMPAT 0x2 /* arch/x86/include/asm/thread_info.h */
#define PSR_MODE32_BIT 0x10 /* arch/arm64/include/uapi/asm/ptrace.h */
#define LCB_F_SPIN (1U << 0) /* include/trace/events/lock.h */
#define HARDIRQ_MASK 0x000f0000 /* in preempt_count: include/linux/preempt.h, as the next ones */
#define NMI_MASK 0x00f00000
#define HARDIRQ_MASK_BESIDE_DISABLE 0x0f000000 /* 7.x, where it counts disabled interrupts, too */
#define NMI_MASK_BESIDE_DISABLE 0x70000000 /* the highest bit may be that of need_resched */
#define SOFTIRQ_OFFSET 0x00000100
#define SCX_TASK_QUEUED 0x00000001 /* include/linux/sched/ext.h */
#define TASK_DEAD 0x00000080 /* include/linux/sched.h */
#define TASK_WAKING 0x00000200 /* instead of what it slept in: another CPU wakes it up */
#define TMPFS_MAGIC 0x01021994 /* include/uapi/linux/magic.h */

#define REQ_OP_MASK 0xff /* REQ_OP_BITS is 8; include/linux/blk_types.h, as the operations */
#define REQ_OP_READ 0
#define REQ_OP_WRITE 1
#define REQ_OP_FLUSH 2
#define REQ_OP_DISCARD 3
#define REQ_OP_SECURE_ERASE 5
#define REQ_OP_DRV_IN 34
#define REQ_OP_DRV_OUT 35

#endif
