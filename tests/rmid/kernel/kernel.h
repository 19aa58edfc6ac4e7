/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As much of a kernel as kmod/rmid's files need that know one: a test includes this, then these
 * files themselves, for which the kernel's headers are empty. All is one thread. The test says
 * which CPU it is on, what time it is, what CPUID and the model-specific registers hold; and what
 * the CPUs do before an interrupt reaches them.
 */
#ifndef LATSCOPE_TESTS_RMID_KERNEL_H
#define LATSCOPE_TESTS_RMID_KERNEL_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

/* A kernel is compiled without these. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wsign-compare"

typedef __u32 u32;
typedef __u64 u64;

#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + (c))
#define LINUX_VERSION_CODE KERNEL_VERSION(7, 3, 0)
#define KERNEL_CPUS 2

struct hrtimer;
struct delayed_work;
struct file_system_type;

/* State that the test sets and checks. */
static struct {
	unsigned int cpu; /* that this is */
	bool offline[KERNEL_CPUS];
	u64 now_ns;
	u64 step_ns; /* that each look at the clock takes */
	u64 pqr_assoc[KERNEL_CPUS];
	u64 qm_evtsel; /* there is one L3 cache */
	u64 qm_ctr;
	bool qm_faults;
	u32 pqr_most; /* writing a higher RMID faults; 0: none does */
	bool pqr_swallows; /* what is written to it is not kept */
	u64 isolated; /* mask of CPUs */
	int interrupts[KERNEL_CPUS]; /* by others, until now */
	bool resctrl_known; /* the file system is there, mounted or not */
	bool resctrl_mounted;
	int modprobes;
	int warnings; /* of accesses that fault and may not */
	int allocations; /* in use */
	int fails_at; /* the how manieth allocation from now on; 0: none does */
	char log[256]; /* the last line */
	struct delayed_work *work; /* to be done some time */
	/* Something happens everywhere, between two steps of what this thread does. */
	void (*meanwhile)(void);
	int (*come_online)(unsigned int cpu);
	int (*go_offline)(unsigned int cpu);
} kernel;

/* Language */
#define KBUILD_MODNAME "rmid"
#define BIT(bit) (1UL << (bit))
#define likely(condition) (condition)
#define unlikely(condition) (condition)
#define READ_ONCE(place) (*(volatile __typeof__(place) *)&(place))
#define WRITE_ONCE(place, value) (*(volatile __typeof__(place) *)&(place) = (value))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define fls(value) ((value) ? 32 - __builtin_clz(value) : 0)
#define hweight32(value) ((u32)__builtin_popcount(value))
#define container_of(pointer, type, member)                \
	({                                                 \
		char *inside = (char *)(pointer);          \
		(type *)(inside - offsetof(type, member)); \
	})

__attribute__((format(printf, 1, 2))) static inline void kernel__log(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(kernel.log, sizeof(kernel.log), format, list);
	va_end(list);
}
#define pr_err(...) kernel__log(__VA_ARGS__)
#define pr_warn(...) kernel__log(__VA_ARGS__)

static inline void kernel__meanwhile(void)
{
	unsigned int here = kernel.cpu;

	if (kernel.meanwhile)
		kernel.meanwhile();
	kernel.cpu = here;
}

/* Memory */
#define GFP_KERNEL 0
#define array_size(count, size) ((count) * (size))

static inline void *kvcalloc(size_t count, size_t size, int flags)
{
	if (kernel.fails_at && !--kernel.fails_at)
		return NULL;
	kernel.allocations++;
	return calloc(count, size);
}

static inline void kvfree(void *memory)
{
	kernel.allocations -= memory != NULL;
	free(memory);
}
#define vzalloc(size) kvcalloc(1, size, GFP_KERNEL)
#define vfree(memory) kvfree(memory)

/* CPUs: a per-CPU variable is an array by CPU. */
#define DECLARE_PER_CPU(type, name) extern type name[KERNEL_CPUS]
#define DEFINE_PER_CPU(type, name) __typeof__(type) name[KERNEL_CPUS]
#define per_cpu(name, number) ((name)[number])
#define this_cpu_ptr(name) (&(*(name))[kernel.cpu])
#define this_cpu_read(name) ((name)[kernel.cpu])
#define this_cpu_write(name, value) ((name)[kernel.cpu] = (value))
#define smp_processor_id() (kernel.cpu)
#define nr_cpu_ids KERNEL_CPUS
#define cpu_to_node(number) ((void)(number), 0)
#define for_each_possible_cpu(number) for ((number) = 0; (number) < KERNEL_CPUS; (number)++)
#define for_each_online_cpu(number) for_each_possible_cpu(number) if (!kernel.offline[number])
#define local_irq_save(flags) ((flags) = 0)
#define local_irq_restore(flags) ((void)(flags))
#define cpus_read_lock() ((void)0)
#define cpus_read_unlock() kernel__meanwhile()

static inline void kernel__on(unsigned int cpu, void (*function)(void *), void *data)
{
	unsigned int here = kernel.cpu;

	kernel.cpu = cpu;
	kernel.interrupts[cpu]++;
	function(data);
	kernel.cpu = here;
}

static inline void on_each_cpu(void (*function)(void *), void *data, int wait)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
	{
		kernel__meanwhile();
		kernel__on(cpu, function, data);
	}
}

struct cpumask {
	u64 bits;
};
typedef struct cpumask cpumask_var_t[1];
#define cpumask_of(number) (&(struct cpumask){ 1ULL << (number) })
#define cpu_possible_mask (&(struct cpumask){ (1ULL << KERNEL_CPUS) - 1 })
#define cpumask_test_cpu(number, mask) ((mask)->bits >> (number)&1)
#define cpumask_set_cpu(number, mask) ((mask)->bits |= 1ULL << (number))
#define cpumask_clear_cpu(number, mask) ((mask)->bits &= ~(1ULL << (number)))
#define cpumask_copy(to, from) ((to)->bits = (from)->bits)
#define cpumask_and(to, a, b) ((to)->bits = (a)->bits & (b)->bits)
#define cpumask_andnot(to, a, b) ((to)->bits = (a)->bits & ~(b)->bits)
#define cpumask_first(mask) ((mask)->bits ? __builtin_ctzll((mask)->bits) : KERNEL_CPUS)
#define cpumask_first_and(a, b) cpumask_first((&(struct cpumask){ (a)->bits & (b)->bits }))
#define zalloc_cpumask_var(mask, flags) ((*(mask))->bits = 0, true)
#define free_cpumask_var(mask) ((void)(mask))
#define HK_TYPE_TICK 0
#define HK_TYPE_DOMAIN 1
#define housekeeping_cpumask(type) \
	(&(struct cpumask){ (type) == HK_TYPE_TICK ? ~kernel.isolated : ~0ULL })
#define rcu_read_lock() ((void)0)
#define rcu_read_unlock() ((void)0)

static inline void on_each_cpu_mask(const struct cpumask *mask, void (*function)(void *),
				    void *data, int wait)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
	{
		kernel__meanwhile();
		if (cpumask_test_cpu(cpu, mask))
			kernel__on(cpu, function, data);
	}
}

/* Hotplug: on the CPU itself, like the kernel. */
#define CPUHP_AP_ONLINE_DYN 1
enum cpuhp_state { CPUHP_INVALID };

static inline void kernel__offline(unsigned int cpu)
{
	kernel.cpu = cpu;
	kernel.go_offline(cpu);
	kernel.offline[cpu] = true;
	kernel.cpu = 0;
}

static inline void kernel__online(unsigned int cpu)
{
	kernel.cpu = cpu;
	kernel.offline[cpu] = false;
	kernel.come_online(cpu);
	kernel.cpu = 0;
}

static inline int cpuhp_setup_state(int state, const char *name, int (*online)(unsigned int),
				    int (*offline)(unsigned int))
{
	int err = 0;

	kernel.come_online = online;
	kernel.go_offline = offline;
	for (kernel.cpu = 0; kernel.cpu < KERNEL_CPUS && !err; kernel.cpu++)
		err = online(kernel.cpu);
	if (err) /* the CPU that refused is not asked again */
		for (kernel.cpu -= 2; kernel.cpu < KERNEL_CPUS; kernel.cpu--)
			offline(kernel.cpu);
	kernel.cpu = 0;
	return err ?: 1;
}

static inline void cpuhp_remove_state(int state)
{
	for_each_online_cpu(kernel.cpu) kernel.go_offline(kernel.cpu);
	kernel.cpu = 0;
}

/* Time */
#define NSEC_PER_SEC 1000000000ULL
enum hrtimer_restart { HRTIMER_NORESTART, HRTIMER_RESTART };
struct hrtimer {
	enum hrtimer_restart (*function)(struct hrtimer *timer);
	u64 expires_ns;
};
#define CLOCK_MONOTONIC 1
#define ns_to_ktime(ns) (ns)
#define ktime_to_ns(time) (time)
enum hrtimer_mode { HRTIMER_MODE_ABS_PINNED_HARD };
#define hrtimer_setup(timer, callback, clock, mode) \
	((timer)->expires_ns = 0, (timer)->function = (callback))
#define hrtimer_start(timer, time, mode) ((timer)->expires_ns = (time))
#define hrtimer_cancel(timer) ((timer)->expires_ns = 0)
#define hrtimer_get_expires(timer) ((timer)->expires_ns)
#define hrtimer_forward_now(timer, ns) ((timer)->expires_ns += (ns))

static inline void div64_u64_rem(u64 dividend, u64 divisor, u64 *remainder)
{
	*remainder = dividend % divisor;
}

static inline u64 ktime_get_mono_fast_ns(void)
{
	return kernel.now_ns += kernel.step_ns;
}

/* Tasks */
#define PF_KTHREAD 0x00200000
struct signal_struct {
	int live;
};
struct task_struct {
	u32 flags;
	u32 tgid;
	u64 start_boottime;
	struct signal_struct *signal;
	char comm[16];
};
static struct task_struct kernel_idle_task;
#define current (&kernel_idle_task)
#define is_idle_task(task) ((task) == &kernel_idle_task)
#define atomic_read(value) (*(value))
#define thread_group_leader(task) ((void)(task), true)
#define cond_resched() ((void)0)
#define DEFINE_RAW_SPINLOCK(name) int name
#define raw_spin_lock_irqsave(lock, flags) ((flags) = 0, (void)(lock))
#define raw_spin_unlock_irqrestore(lock, flags) ((void)(flags))

/* Work */
struct work_struct {
	int unused;
};
struct delayed_work {
	struct work_struct work;
	void (*function)(struct work_struct *work);
};
#define DECLARE_DELAYED_WORK(name, what) struct delayed_work name = { .function = (what) }
#define to_delayed_work(pointer) container_of(pointer, struct delayed_work, work)
#define msecs_to_jiffies(ms) (ms)
#define schedule_delayed_work(what, when) (kernel.work = (what))
#define cancel_delayed_work_sync(what) (kernel.work = NULL)

/* The time of what is scheduled has come. */
static inline void kernel__work(void)
{
	struct delayed_work *work = kernel.work;

	kernel.work = NULL;
	if (work)
		work->function(&work->work);
}

/* File systems */
struct super_block {
	u64 s_magic;
};
struct vfsmount {
	struct super_block *mnt_sb;
};
struct path {
	struct vfsmount *mnt;
};
struct file_system_type {
	int unused;
};
#define LOOKUP_FOLLOW 0
#define path_put(path) ((void)(path))

static inline int kern_path(const char *name, unsigned int flags, struct path *path)
{
	path->mnt = NULL;
	return -ENOENT;
}

/* As the kernel's: it has modprobe look for what it does not know. */
static inline struct file_system_type *get_fs_type(const char *name)
{
	static struct file_system_type type;

	kernel.modprobes += !kernel.resctrl_known;
	return kernel.resctrl_known ? &type : NULL;
}

static inline void iterate_supers_type(struct file_system_type *type,
				       void (*function)(struct super_block *sb, void *data),
				       void *data)
{
	if (kernel.resctrl_mounted)
		function(NULL, data);
}

/* The processor: one L3 cache with monitoring, counters of 24 bits by 64 KiB, RMIDs to 15. */
#define X86_VENDOR_INTEL 0
#define X86_VENDOR_AMD 2
#define X86_VENDOR_HYGON 9

static struct {
	int cpuid_level;
	u32 x86_vendor;
	u32 x86;
	u32 x86_model;
	u32 x86_stepping;
} boot_cpu_data = { .cpuid_level = 0x10, .x86 = 6, .x86_model = 0x8f, .x86_stepping = 8 };

static inline void cpuid_count(u32 leaf, u32 index, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx)
{
	*eax = *ebx = *ecx = *edx = 0;
	if (leaf == 4 && !index) /* of the third level, for two CPUs */
		*eax = 1 << 14 | 3 << 5 | 3;
	else if (leaf == 7)
		*ebx = BIT(12);
	else if (leaf == 0xb)
		*ebx = 2, *edx = kernel.cpu;
	else if (leaf == 0xf && !index)
		*ebx = 15, *edx = BIT(1);
	else if (leaf == 0xf && index == 1)
		*ebx = 65536, *ecx = 15, *edx = 7;
}

static inline u32 cpuid_ebx(u32 leaf)
{
	u32 eax, ebx, ecx, edx;

	cpuid_count(leaf, 0, &eax, &ebx, &ecx, &edx);
	return ebx;
}

static inline u32 cpuid_edx(u32 leaf)
{
	u32 eax, ebx, ecx, edx;

	cpuid_count(leaf, 0, &eax, &ebx, &ecx, &edx);
	return edx;
}

/* NULL: access faults. */
static inline u64 *kernel__msr(u32 msr)
{
	switch (msr) {
	case 0xc8d:
		return kernel.qm_faults ? NULL : &kernel.qm_evtsel;
	case 0xc8e:
		return kernel.qm_faults ? NULL : &kernel.qm_ctr;
	case 0xc8f:
		return &kernel.pqr_assoc[kernel.cpu];
	default:
		return NULL;
	}
}

static inline int rdmsrq_safe(u32 msr, u64 *value)
{
	u64 *place = kernel__msr(msr);

	*value = place ? *place : 0;
	return place ? 0 : -EIO;
}

static inline int wrmsrq_safe(u32 msr, u64 value)
{
	u64 *place = kernel__msr(msr);

	if (msr == 0xc8f && kernel.pqr_most && (u32)value > kernel.pqr_most)
		place = NULL;
	if (place && !(msr == 0xc8f && kernel.pqr_swallows))
		*place = value;
	return place ? 0 : -EIO;
}

/* Goes on after a fault, with a warning; what could not be read is 0. */
#define rdmsrq(msr, value) ((void)(kernel.warnings += rdmsrq_safe(msr, &(value)) != 0))

/* Tracepoints: the test has a function for each. */
#define TP_PROTO(...) __VA_ARGS__
#define DECLARE_EVENT_CLASS(...) struct kernel_no_class
#define DEFINE_EVENT(class, name, proto, ...) static void trace_##name(proto)
#define TRACE_EVENT_FN(name, proto, ...) static void trace_##name(proto)

#endif
