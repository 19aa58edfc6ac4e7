/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The account of each thread: what its programs and user space share. Times in ns, CLOCK_MONOTONIC.
 */
#ifndef LATSCOPE_PROBES_KIT_ACCOUNT_TYPES_H
#define LATSCOPE_PROBES_KIT_ACCOUNT_TYPES_H

#include <latscope/event.h>

/* What a thread does. It is in one state at a time, from its start to its end. */
enum where_state {
	WHERE_CPU, /* has a CPU */
	WHERE_READY, /* runnable, waits for a CPU */
	WHERE_DISK, /* the kernel says that it waits for I/O (in_iowait) */
	WHERE_MEMORY, /* the kernel says that it waits for memory (in_memstall) */
	WHERE_FAULT, /* asleep in a page fault, for none of these */
	WHERE_LOCK, /* a lock of the kernel */
	WHERE_FUTEX,
	WHERE_SOCKET, /* asleep in a read or write of a socket, a pipe or the like */
	WHERE_WORK, /* poll, accept, signals; a kernel thread without work */
	WHERE_TIMER, /* asleep in nanosleep */
	WHERE_CHILD, /* asleep in wait4 or vfork */
	WHERE_STOPPED, /* by a signal, a debugger or a freezer */
	WHERE_OTHER, /* asleep in another system call, or in the kernel */
	WHERE_UNKNOWN, /* a program did not see a switch of it */
	WHERE_STATES,
};

/* Of a system call in the tables: asleep in it means... */
enum where_call_kind {
	/* ...what enum where_state says, or... */
	WHERE_STREAM = WHERE_STATES, /* ...a stream if the sleep can be interrupted, else OTHER */
};

#define WHERE_CALLS 512 /* system calls have smaller numbers */
#define WHERE_CALL_32 (1 << 12) /* added to a number of the 32-bit table */
#define WHERE_NO_CALL (1 << 13) /* not in a system call, or unknown */
#define WHERE_IN_FAULT (1 << 14) /* an exception: a page fault */

/* Why and for how long a thread slept. */
struct where_sleep {
	__u32 what; /* WHERE_WHAT(); 0: free */
	__u32 times;
	__u64 ns;
};
#define WHERE_WHAT(state, call) ((__u32)(state) << 16 | (call))
#define WHERE_STATE(what) ((what) >> 16)
#define WHERE_CALL(what) ((what)&0xffff)
#define WHERE_IS_SLEEP(what) ((what) >= WHERE_WHAT(WHERE_DISK, 0)) /* or unknown */
#define WHERE_ON_CPU WHERE_WHAT(WHERE_CPU, WHERE_NO_CALL)
#define WHERE_IS_READY WHERE_WHAT(WHERE_READY, WHERE_NO_CALL)
#define WHERE_SLEEPS 5

/*
 * The account of a thread: an entry of `lines`, that of its TID modulo their number, or, if another
 * thread has that, in task storage.
 */
struct where_thread {
	__u64 task; /* the task_struct that has this entry; 0: it is free */
	__u32 tid; /* of that task; 0: the entry is being made */
	__u32 what; /* WHERE_WHAT(): its state, and the system call that it sleeps in, since... */
	__u64 since_ns;
	__u64 woken_ns; /* its sleep ended then, and it waits for a CPU; 0: not known here */
	__u64 begin_ns; /* start of the account */
	__u64 lock; /* address of the kernel lock that it waits for; 0: none */
	/* Within the window, by state; not the part since since_ns, and not what `sleeps` has. */
	__u64 ns[WHERE_STATES];
	struct where_sleep sleeps[WHERE_SLEEPS];
	__u32 pass; /* where_control.pass when it was read last, or when it began */
	__u16 inherits; /* by an exec it has the ID and start of another thread */
	__u16 workload; /* it descends from where_control.workload */
	__u64 cgroup; /* of sums by cgroup: in which the next reading finds this account */
};
_Static_assert(sizeof(struct where_thread) == 256, "where_thread: four cache lines");

/* The kernel's own account of a thread, since its start. */
struct where_witness {
	__u64 run_ns; /* sum_exec_runtime */
	__u64 queue_ns; /* run_delay; the kernel adds a wait when it ends */
	__u64 user_ns, system_ns; /* by ticks, unless the kernel counts them exactly */
	__u64 io_ns; /* waits for I/O, by its delay accounting; it adds a wait when it ends */
	__u64 no_io; /* threads for which it does not keep that */
};

/* Whose times are summed: enum lat_by process, thread or cgroup. */
struct where_key {
	__u64 start; /* of a process or thread: when it began; else the ID of the cgroup */
	__u32 id; /* of the process or thread */
	/*
	 * In keys of maps: what left the accounts of threads before this reading was over. A thread
	 * that ends during a reading is in the key of that reading if it was read before, else in
	 * that of the reading before. So it counts once, and entries of earlier readings no longer
	 * change.
	 */
	__u32 pass;
};

#define WHERE_ENDED 12288 /* entries of `ended` */

/* Value of `ended`: the threads of a key that have ended in the window. */
struct where_ended {
	__u64 ns[WHERE_STATES];
	__u64 life_ns; /* from the kernel's stamp of the start to the last switch */
	__u64 threads;
	__u64 cgroup; /* of the last one, as all that follows */
	__u64 tgid;
	struct where_witness kernel;
	char comm[LAT_COMM_LEN]; /* as in struct where_report */
};

/* Key of `sleeps`: what the entries of threads have no room for, and those of ended threads. */
struct where_sleep_key {
	struct where_key of;
	__u32 what;
	__u32 pad;
};

/* A part that was long, sent when it ends: element of the ring buffer `long_parts`. */
#define WHERE_FRAMES 24

struct where_part {
	__u64 begin_ns, end_ns;
	__u32 what; /* WHERE_WHAT() */
	__u32 wanted; /* the filters accept the thread; others are for chains */
	__u32 tid, tgid;
	/* Of a sleep only, as all that follows but comm; 0: no task, or unknown. */
	__u32 waker_tid, waker_tgid;
	__u32 waker_source; /* enum why_source */
	__s32 stack_size; /* bytes of `stack`; negative: it could not be taken */
	char comm[LAT_COMM_LEN], waker_comm[LAT_COMM_LEN];
	__u64 stack[WHERE_FRAMES]; /* kernel, innermost first */
};
_Static_assert(sizeof(struct where_part) == 272, "where_part has no padding");

/* What its programs have in common. */
struct where_control {
	__u64 opened_ns; /* ~0: the window is not open yet */
	__u64 closed_ns; /* ~0: it is open */
	__u64 inside_ns; /* parts that began before are cut by the window; ~0: all may be */
	__u64 over_ns; /* how long a part must be to be sent; ~0: none is */
	__u32 pass; /* readings of all threads so far */
	__u32 by; /* enum lat_by: what sums are of */
	__u32 ended; /* entries that were added to `ended` since user space reset this */
	__u32 workload; /* process ID: only its threads and descendants are read; 0: all */
	__u32 begins; /* accounts may begin: programs see what ends them */
	__u32 reason_bits; /* of task_bits(): all flags of reasons; 0: they are not all there */
	/*
	 * CLOCK_MONOTONIC minus the scheduler's clock, within 10 us, if its stamps say when a sleep
	 * ended; else 0, and woken_ns says so.
	 */
	__u64 offset_ns;
	__u64 hidden; /* switches that no program saw: at least */
	__u64 dropped; /* long parts that found no room in `long_parts` */
	__u64 lost_sleeps; /* sleeps that found no room in `sleeps` */
	__u64 lost_ends; /* ends of threads for which `ended` had no room */
	__u64 lost_ns; /* their life */
	/* By number of the call, then those of 32-bit programs: enum where_state or _call_kind. */
	__u8 call_states[2 * WHERE_CALLS];
};

#endif
