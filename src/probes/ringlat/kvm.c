// SPDX-License-Identifier: BSD-2-Clause
/*
 * Crossings in a private guest. With EPT or NPT the CPU does them without a VM exit, so they
 * include no code of the host or of a kernel. KVM counts the exits: a window with any exit besides
 * its last one is dropped.
 */
#include "ring.h"

#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "guest.h"

#define WINDOW 256 /* 0.1 ms: most windows fit between two interrupts of the host */
#define CONTROL_WINDOW 100 /* CPUIDs, each of which must be an exit */
#define CONTROL_SLACK 16 /* further exits: interrupts, and the end of the loop */
#define WATCHDOG_SECS 20 /* a window takes 1 ms; emulated, less than 1 s */

/* Three pages that KVM needs on Intel, outside every slot. */
#define KVM_TSS_ADDRESS 0xfffbd000

_Static_assert(GUEST_SAMPLES_END - GUEST_SAMPLES == RING_WINDOW * sizeof(struct ring_sample),
	       "a window has room");

enum { PAGE_FAULT, SYSCALL, INT80, FRESH };

_Static_assert(GUEST_ABSENT + GUEST_ABSENT_PAGES * GUEST_PAGE <= GUEST_SAMPLES,
	       "a window has a page for each crossing");

static const struct ring_event events[] = {
	[PAGE_FAULT] = { "fault", "a read of an absent page: #PF, and IRETQ back", false },
	[SYSCALL] = { "syscall", "SYSCALL, and SYSRETQ back", false },
	[INT80] = { "int80", "INT 0x80 through an interrupt gate, and IRETQ back", false },
	[FRESH] = { RING_FRESH, "a read of another absent page each time: #PF, and IRETQ back",
		    false },
};

static const char *const loops[] = {
	[PAGE_FAULT] = guest_user_page_fault,
	[SYSCALL] = guest_user_syscall,
	[INT80] = guest_user_int,
	[FRESH] = guest_user_fresh,
};

struct kvm {
	int vm, vcpu, stats;
	off_t exits_at; /* offset of the exit count in stats */
	struct kvm_run *run;
	size_t run_size;
	char *memory;
	struct sigaction alarm_before;
};

/* For the watchdog's handler; there is one guest at a time. */
static struct kvm_run *volatile watched;
static volatile sig_atomic_t expired;

static void bark(int signal)
{
	(void)signal;
	expired = 1;
	if (watched)
		watched->immediate_exit = 1;
}

static bool has_vmx_or_svm(void)
{
	unsigned int a, b, c, d;
	bool vmx, svm;

	vmx = __get_cpuid(1, &a, &b, &c, &d) && (c >> 5 & 1);
	svm = __get_cpuid(0x80000001, &a, &b, &c, &d) && (c >> 2 & 1);
	return vmx || svm;
}

/* Without EPT or NPT the host handles every page fault of the guest. */
static bool is_off(const char *parameter)
{
	int fd = open(parameter, O_RDONLY | O_CLOEXEC);
	char value = 'Y';

	if (fd < 0)
		return false;
	if (read(fd, &value, 1) != 1)
		value = 'Y';
	close(fd);
	return value == 'N' || value == '0';
}

static int open_device(char why[RUN_TEXT])
{
	int device = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	int err = -errno;

	if (device < 0 && err == -EACCES)
		return ring__fail(why, err,
				  "no permission to open /dev/kvm; run it as root or in its group");
	if (device < 0)
		return ring__fail(why, -EOPNOTSUPP,
				  "there is no /dev/kvm (%s); load kvm_intel or kvm_amd, if the "
				  "firmware allows virtualisation",
				  strerror(-err));
	if (!has_vmx_or_svm())
		err = ring__fail(why, -EOPNOTSUPP,
				 "/dev/kvm is software KVM: this CPU shows neither VMX nor SVM, so "
				 "the guest's crossings would be emulated");
	else if (is_off("/sys/module/kvm_intel/parameters/ept"))
		err = ring__fail(
			why, -EOPNOTSUPP,
			"EPT is off: the host takes each fault; load kvm_intel with ept=1");
	else if (is_off("/sys/module/kvm_amd/parameters/npt"))
		err = ring__fail(why, -EOPNOTSUPP,
				 "NPT is off: the host takes each fault; load kvm_amd with npt=1");
	else
		return device;
	close(device);
	return err;
}

/* Finds the offset of the vCPU's exit count in KVM's binary statistics. */
static int find_exits(struct kvm *kvm)
{
	struct kvm_stats_header header;
	struct kvm_stats_desc *desc;
	size_t size;
	int err = -ENOENT;

	if (pread(kvm->stats, &header, sizeof(header), 0) != sizeof(header))
		return -EIO;
	size = sizeof(*desc) + header.name_size;
	desc = malloc(size);
	if (!desc)
		return -ENOMEM;
	for (uint32_t i = 0; err && i < header.num_desc; i++) {
		off_t at = (off_t)(header.desc_offset + i * size);

		if (pread(kvm->stats, desc, size, at) != (ssize_t)size)
			break;
		if (strcmp(desc->name, "exits"))
			continue;
		kvm->exits_at = (off_t)header.data_offset + desc->offset;
		err = 0;
	}
	free(desc);
	return err;
}

static int read_exits(const struct kvm *kvm, uint64_t *count, char why[RUN_TEXT])
{
	ssize_t got = pread(kvm->stats, count, sizeof(*count), kvm->exits_at);

	if (got == sizeof(*count))
		return 0;
	return ring__fail(why, -EIO, "KVM's count of VM exits cannot be read: %s",
			  got < 0 ? strerror(errno) : "its file is too short");
}

/* The guest runs RDTSCP, which is invalid on Intel unless the guest's CPUID has it. */
static int set_cpuid(const struct kvm *kvm, int device)
{
	enum { ENTRIES = 256 };
	struct kvm_cpuid2 *cpuid;
	int err = 0;

	cpuid = calloc(1, sizeof(*cpuid) + ENTRIES * sizeof(cpuid->entries[0]));
	if (!cpuid)
		return -ENOMEM;
	cpuid->nent = ENTRIES;
	if (ioctl(device, KVM_GET_SUPPORTED_CPUID, cpuid) ||
	    ioctl(kvm->vcpu, KVM_SET_CPUID2, cpuid))
		err = -errno;
	free(cpuid);
	return err;
}

static int set_msrs(const struct kvm *kvm)
{
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry entries[3];
	} msrs = { 0 };

	msrs.head.nmsrs = guest__msrs(msrs.entries);
	return ioctl(kvm->vcpu, KVM_SET_MSRS, &msrs) == (int)msrs.head.nmsrs ? 0 : -EIO;
}

static int set_sregs(const struct kvm *kvm)
{
	struct kvm_sregs sregs;

	if (ioctl(kvm->vcpu, KVM_GET_SREGS, &sregs))
		return -errno;
	guest__set_sregs(&sregs);
	return ioctl(kvm->vcpu, KVM_SET_SREGS, &sregs) ? -errno : 0;
}

static void release(struct kvm *kvm)
{
	if (kvm->run)
		munmap(kvm->run, kvm->run_size);
	if (kvm->stats >= 0)
		close(kvm->stats);
	if (kvm->vcpu >= 0)
		close(kvm->vcpu);
	if (kvm->vm >= 0)
		close(kvm->vm);
	if (kvm->memory)
		munmap(kvm->memory, GUEST_SIZE);
	free(kvm);
}

static int map_memory(struct kvm *kvm)
{
	struct kvm_userspace_memory_region region = { .memory_size = GUEST_SIZE };
	void *memory;

	memory = mmap(NULL, GUEST_SIZE, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED)
		return -errno;
	kvm->memory = memory;
	guest__build(memory);
	region.userspace_addr = (uintptr_t)memory;
	return ioctl(kvm->vm, KVM_SET_USER_MEMORY_REGION, &region) ? -errno : 0;
}

/*
 * AMD needs no such pages, and KVM may refuse them there. Must be set before the vCPU is created.
 */
static int make_vm(struct kvm *kvm, int device)
{
	kvm->vm = ioctl(device, KVM_CREATE_VM, 0);
	if (kvm->vm < 0)
		return -errno;
	ioctl(kvm->vm, KVM_SET_TSS_ADDR, KVM_TSS_ADDRESS);
	return map_memory(kvm);
}

static int make_vcpu(struct kvm *kvm, int device)
{
	int size = ioctl(device, KVM_GET_VCPU_MMAP_SIZE, 0);
	void *run;
	int err;

	kvm->vcpu = ioctl(kvm->vm, KVM_CREATE_VCPU, 0);
	if (kvm->vcpu < 0)
		return -errno;
	if (size <= 0)
		return -EIO;
	run = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, kvm->vcpu, 0);
	if (run == MAP_FAILED)
		return -errno;
	kvm->run = run;
	kvm->run_size = (size_t)size;
	err = set_cpuid(kvm, device);
	if (!err)
		err = set_msrs(kvm);
	return err ? err : set_sregs(kvm);
}

static int count_exits(struct kvm *kvm)
{
	kvm->stats = ioctl(kvm->vcpu, KVM_GET_STATS_FD, NULL);
	return kvm->stats < 0 ? -errno : find_exits(kvm);
}

static int make_guest(struct kvm *kvm, int device, char why[RUN_TEXT])
{
	int err;

	err = make_vm(kvm, device);
	if (!err)
		err = make_vcpu(kvm, device);
	if (err)
		return ring__fail(why, err, "KVM makes no guest: %s", strerror(-err));
	err = count_exits(kvm);
	if (err)
		return ring__fail(why, -EOPNOTSUPP,
				  "this KVM does not count VM exits (%s), which needs Linux 5.14",
				  strerror(-err));
	return 0;
}

/* Runs the vCPU until it stops by itself; signals to this process only interrupt KVM_RUN. */
static int run_vcpu(const struct kvm *kvm)
{
	struct itimerval watchdog = { .it_value.tv_sec = WATCHDOG_SECS };
	int err;

	expired = 0;
	kvm->run->immediate_exit = 0;
	watched = kvm->run;
	setitimer(ITIMER_REAL, &watchdog, NULL);
	do
		err = ioctl(kvm->vcpu, KVM_RUN, 0) ? -errno : 0;
	while ((err == -EINTR || err == -EAGAIN) && !expired);
	watchdog.it_value.tv_sec = 0;
	setitimer(ITIMER_REAL, &watchdog, NULL);
	watched = NULL;
	return expired && err ? -ETIMEDOUT : err;
}

static int explain(const struct kvm *kvm, char why[RUN_TEXT])
{
	const struct guest_report *report = (const void *)(kvm->memory + GUEST_REPORT);

	if (kvm->run->exit_reason == KVM_EXIT_HLT && report->state == GUEST_LOST)
		return ring__fail(why, -EIO,
				  "the guest got exception %llu (error code %#llx) at %#llx, "
				  "CR2 %#llx",
				  (unsigned long long)report->vector,
				  (unsigned long long)report->error,
				  (unsigned long long)report->rip, (unsigned long long)report->cr2);
	return ring__fail(why, -EIO, "the guest stopped with KVM exit reason %u",
			  kvm->run->exit_reason);
}

/* Runs one loop in the guest up to its HLT: `exits` is at least 1. */
static int run_loop(const struct kvm *kvm, const char *loop, unsigned int nr, uint64_t *exits,
		    char why[RUN_TEXT])
{
	struct kvm_regs regs = {
		.rip = guest__user_address(loop),
		.rsp = GUEST_USER_STACK,
		.rflags = 2, /* the bit that is always set; interrupts off */
		.rdi = GUEST_SAMPLES,
		.rsi = nr,
		.r15 = GUEST_ABSENT,
	};
	struct guest_report *report = (void *)(kvm->memory + GUEST_REPORT);
	uint64_t before, after;
	int err;

	memset(report, 0, sizeof(*report));
	if (set_sregs(kvm) || ioctl(kvm->vcpu, KVM_SET_REGS, &regs))
		return ring__fail(why, -EIO, "the guest's registers cannot be set");
	err = read_exits(kvm, &before, why);
	if (err)
		return err;
	err = run_vcpu(kvm);
	if (err == -ETIMEDOUT)
		return ring__fail(why, err, "the guest did not end within %d s", WATCHDOG_SECS);
	if (err)
		return ring__fail(why, err, "KVM does not run the guest: %s", strerror(-err));
	if (kvm->run->exit_reason != KVM_EXIT_HLT || report->state != GUEST_DONE)
		return explain(kvm, why);
	err = read_exits(kvm, &after, why);
	if (err)
		return err;
	if (after <= before)
		return ring__fail(
			why, -EOPNOTSUPP,
			"the guest halted, and KVM counts no VM exit: its count cannot be "
			"relied on");
	*exits = after - before;
	return 0;
}

/* The method depends on counted exits: every CPUID must be counted as one. */
static int control(struct ring *ring, char why[RUN_TEXT])
{
	const struct kvm *kvm = ring->state;
	const struct ring_sample *samples = (const void *)(kvm->memory + GUEST_SAMPLES);
	uint64_t taken[CONTROL_WINDOW];
	uint64_t count = 0;
	int err;

	err = run_loop(kvm, guest_user_cpuid, CONTROL_WINDOW, &count, why); /* first touches */
	if (!err)
		err = run_loop(kvm, guest_user_cpuid, CONTROL_WINDOW, &count, why);
	if (err)
		return err;
	if (count < CONTROL_WINDOW || count > CONTROL_WINDOW + CONTROL_SLACK)
		return ring__fail(why, -EOPNOTSUPP,
				  "KVM counts %llu VM exits for %d CPUIDs: its count cannot be "
				  "relied on",
				  (unsigned long long)count, CONTROL_WINDOW);
	for (unsigned int i = 0; i < CONTROL_WINDOW; i++)
		taken[i] = samples[i].kernel_in - samples[i].user_out;
	ring->control = (struct ring_control){
		.cpuids = CONTROL_WINDOW,
		.exits = count,
		.cycles = ring__median(taken, CONTROL_WINDOW),
	};
	return 0;
}

/* 0: KVM does not know it; the driver measures it. */
static uint64_t read_tsc_khz(const struct kvm *kvm)
{
	int khz = ioctl(kvm->vcpu, KVM_GET_TSC_KHZ, 0);

	return khz > 0 ? (uint64_t)khz : 0;
}

static void kvm_close(struct ring *ring)
{
	struct kvm *kvm = ring->state;

	sigaction(SIGALRM, &kvm->alarm_before, NULL);
	release(kvm);
}

static int kvm_open(struct ring *ring, char why[RUN_TEXT])
{
	struct sigaction action = { .sa_handler = bark };
	struct kvm *kvm;
	int device, err;

	device = open_device(why);
	if (device < 0)
		return device;
	kvm = calloc(1, sizeof(*kvm));
	if (!kvm) {
		err = ring__fail(why, -ENOMEM, "out of memory");
		goto close_device;
	}
	kvm->vm = kvm->vcpu = kvm->stats = -1;
	err = make_guest(kvm, device, why);
	if (err) {
		release(kvm);
		goto close_device;
	}
	sigaction(SIGALRM, &action, &kvm->alarm_before);
	ring->state = kvm;
	err = control(ring, why);
	if (err)
		kvm_close(ring);
	else
		ring->tsc_khz = read_tsc_khz(kvm);
close_device:
	close(device);
	return err;
}

static int kvm_window(struct ring *ring, unsigned int event, bool empty,
		      struct ring_sample *samples, unsigned int nr, char why[RUN_TEXT])
{
	const struct kvm *kvm = ring->state;
	int err;

	err = run_loop(kvm, empty ? guest_user_empty : loops[event], nr, &ring->vm_exits, why);
	if (err)
		return err;
	memcpy(samples, kvm->memory + GUEST_SAMPLES, nr * sizeof(*samples));
	return ring->vm_exits == 1 ? RING_KEPT : RING_VM_EXITS;
}

static int kvm_fresh_window(struct ring *ring, unsigned int event, bool empty,
			    struct ring_sample *samples, unsigned int nr, char why[RUN_TEXT])
{
	return kvm_window(ring, FRESH + event, empty, samples, nr, why);
}

static const struct ring_method like_xperf = {
	.name = "kvm",
	.mechanism = "the CPU's own part of a crossing, in a private guest (no kernel entry code)",
	.events = &events[FRESH],
	.nr_events = 1,
	.window = GUEST_ABSENT_PAGES,
	.guest = true,
	.gross = true,
	.between = "user to kernel: SHL, OR and a store behind the stamp, no code of a kernel; "
		   "kernel to user: SHL, OR, MOV and LFENCE. xperf's kernel has no LFENCE there",
	.open = kvm_open,
	.close = kvm_close,
	.window_of = kvm_fresh_window,
};

const struct ring_method ring_kvm = {
	.name = "kvm",
	.mechanism = "the CPU's own part of a crossing, in a private guest (no kernel entry code)",
	.events = events,
	.nr_events = FRESH,
	.window = WINDOW,
	.guest = true,
	.like_xperf = &like_xperf,
	.open = kvm_open,
	.close = kvm_close,
	.window_of = kvm_window,
};
