// SPDX-License-Identifier: BSD-2-Clause
/*
 * Crossings into the running kernel: the kernel module ringlat puts code of its own before the
 * entry points of this thread. include/uapi/latscope/ringlat.h is the protocol.
 */
#include "ring.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <uapi/latscope/ringlat.h>

#define PAGE 4096
#define WINDOW 256 /* 0.1 ms: most windows fit between two timer interrupts */
#define FRESH_WINDOW 16 /* the kernel handles a fault after each crossing, which takes long */

/*
 * module_code.S: the user half of crossings with the kernel module, and the same code without the
 * crossing. Each writes `nr` samples.
 */
typedef void module_loop(struct ring_sample *samples, uint64_t nr, const void *absent);

module_loop module__page_fault, module__page_fault_empty;
/* `absent`: pages that are not mapped yet, one for each sample, which it maps. */
module_loop module__fresh, module__fresh_empty;
module_loop module__syscall, module__syscall_empty;
module_loop module__syscall_fenced_empty; /* with the crossing of module__syscall() */

/* The faulting load: the address of a SIGSEGV if the module's code is not in place. */
extern const char module__load[];

enum { PAGE_FAULT, SYSCALL, SYSCALL_FENCED, FRESH };

static const struct ring_event events[] = {
	[PAGE_FAULT] = { "fault", "a read of an absent page: #PF, and IRETQ back", false },
	[SYSCALL] = { "syscall", "SYSCALL, and SYSRETQ back", false },
	[SYSCALL_FENCED] = { "fenced",
			     "SYSCALL and SYSRETQ, each stamp in the kernel behind an LFENCE",
			     false },
	[FRESH] = { RING_FRESH,
		    "a read of a fresh page each time: #PF, and IRETQ back; the kernel maps the "
		    "page after that, before the next crossing",
		    false },
};

static const struct {
	uint32_t event;
	module_loop *cross, *empty;
} loops[] = {
	[PAGE_FAULT] = { RINGLAT_PF, module__page_fault, module__page_fault_empty },
	[SYSCALL] = { RINGLAT_SYSCALL, module__syscall, module__syscall_empty },
	[SYSCALL_FENCED] = { RINGLAT_SYSCALL_FENCED, module__syscall,
			     module__syscall_fenced_empty },
	[FRESH] = { RINGLAT_PF, module__fresh, module__fresh_empty },
};

struct module {
	int device;
	uint32_t started; /* the event that is active; 0: none */
	char *absent; /* a page that is never mapped */
	char *fresh; /* a page for each crossing of a window, which the kernel maps */
	struct sigaction segv_before;
};

static void give_back(int number)
{
	struct sigaction action = { .sa_handler = SIG_DFL };

	sigaction(number, &action, NULL);
}

/* The module's code was not in place: r8 shows it, and the loop continues after the load. */
static void take_miss(int number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)info;
	if (registers[REG_RIP] != (greg_t)(uintptr_t)module__load) {
		give_back(number); /* a fault elsewhere in this program: let it crash */
		return;
	}
	registers[REG_R8] = 0;
	registers[REG_RIP] += RINGLAT_LOAD_LEN;
}

static int open_device(char why[RUN_TEXT])
{
	int device = open(RINGLAT_DEVICE, O_RDWR | O_CLOEXEC);
	int err = -errno;

	if (device >= 0)
		return device;
	if (err == -EACCES || err == -EPERM)
		return ring__fail(why, err,
				  "no permission to open " RINGLAT_DEVICE "; run it as root");
	return ring__fail(why, -EOPNOTSUPP,
			  "there is no " RINGLAT_DEVICE
			  "; the kernel module ringlat is not loaded ('modprobe ringlat' loads "
			  "it, the package latscope-dkms builds it)");
}

static int check_protocol(int device, char why[RUN_TEXT])
{
	struct ringlat_info info;

	if (ioctl(device, RINGLAT_INFO, &info))
		return ring__fail(why, -errno, "the kernel module does not answer: %s",
				  strerror(errno));
	if (info.version != RINGLAT_VERSION)
		return ring__fail(
			why, -EOPNOTSUPP,
			"the kernel module has version %u, this program needs %d; install "
			"the packages latscope and latscope-dkms of one version, or build "
			"both from one source tree",
			info.version, RINGLAT_VERSION);
	if (!info.events)
		return ring__fail(why, -EOPNOTSUPP, "%.*s", (int)sizeof(info.refusal),
				  info.refusal);
	return 0;
}

static int start(struct module *module, uint32_t event, char why[RUN_TEXT])
{
	struct ringlat_start start = { .events = event };

	if (module->started == event)
		return 0;
	if (module->started && ioctl(module->device, RINGLAT_STOP))
		return ring__fail(why, -errno, "the kernel module does not stop: %s",
				  strerror(errno));
	module->started = 0;
	if (!ioctl(module->device, RINGLAT_START, &start)) {
		module->started = event;
		return 0;
	}
	switch (errno) {
	case EPERM:
		return ring__fail(why, -EPERM,
				  "the kernel module needs CAP_SYS_RAWIO, a kernel that is not "
				  "locked down, and RDTSC allowed (PR_SET_TSC)");
	case EBUSY:
		return ring__fail(
			why, -EBUSY,
			"the entry points of CPU %d are not the kernel's own: another measurement "
			"or a guest uses them, or KVM restored old ones; try again, on another CPU "
			"(taskset), or after a reboot",
			sched_getcpu());
	default:
		return ring__fail(why, -errno, "the kernel module does not start: %s",
				  strerror(errno));
	}
}

/* One that is never mapped, and behind it those that are mapped again and again. */
static int map_pages(struct module *module, char why[RUN_TEXT])
{
	size_t fresh = (size_t)FRESH_WINDOW * PAGE;
	char *pages = mmap(NULL, PAGE + fresh, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (pages == MAP_FAILED)
		return ring__fail(why, -errno, "cannot map memory: %s", strerror(errno));
	module->absent = pages;
	module->fresh = pages + PAGE;
	/* A kernel without huge pages refuses the advice, which is fine. */
	madvise(module->fresh, fresh, MADV_NOHUGEPAGE);
	if (!mprotect(module->fresh, fresh, PROT_READ | PROT_WRITE))
		return 0;
	munmap(pages, PAGE + fresh);
	return ring__fail(why, -errno, "cannot map memory: %s", strerror(errno));
}

static int module_open(struct ring *ring, char why[RUN_TEXT])
{
	struct sigaction action = { .sa_sigaction = take_miss, .sa_flags = SA_SIGINFO };
	struct module *module;
	int err;

	module = calloc(1, sizeof(*module));
	if (!module)
		return ring__fail(why, -ENOMEM, "out of memory");
	module->device = open_device(why);
	if (module->device < 0) {
		err = module->device;
		goto free_module;
	}
	err = check_protocol(module->device, why);
	if (!err)
		err = start(module, RINGLAT_PF, why);
	if (err)
		goto close_device;
	err = map_pages(module, why);
	if (err)
		goto close_device;
	sigaction(SIGSEGV, &action, &module->segv_before);
	ring->state = module;
	return 0;

close_device: /* closing also stops it */
	close(module->device);
free_module:
	free(module);
	return err;
}

static void module_close(struct ring *ring)
{
	struct module *module = ring->state;

	close(module->device);
	sigaction(SIGSEGV, &module->segv_before, NULL);
	munmap(module->absent, PAGE + (size_t)FRESH_WINDOW * PAGE);
	free(module);
}

/* From the module's counters, read before and after the window. */
static enum ring_verdict judge(const struct ringlat_counts *before,
			       const struct ringlat_counts *after)
{
	if (before->arrivals != after->arrivals || before->busy != after->busy ||
	    before->lost != after->lost)
		return RING_SWITCHED;
	return before->interrupts == after->interrupts ? RING_KEPT : RING_INTERRUPTED;
}

static int module_window(struct ring *ring, unsigned int event, bool empty,
			 struct ring_sample *samples, unsigned int nr, char why[RUN_TEXT])
{
	struct module *module = ring->state;
	module_loop *loop = empty ? loops[event].empty : loops[event].cross;
	const char *pages = event == FRESH ? module->fresh : module->absent;
	struct ringlat_counts before, after;
	int err;

	err = start(module, loops[event].event, why);
	if (err)
		return err;
	if (event == FRESH && madvise(module->fresh, (size_t)FRESH_WINDOW * PAGE, MADV_DONTNEED))
		return ring__fail(why, -errno, "cannot release pages: %s", strerror(errno));
	if (ioctl(module->device, RINGLAT_READ, &before))
		goto cannot_read;
	loop(samples, nr, pages);
	if (ioctl(module->device, RINGLAT_READ, &after))
		goto cannot_read;
	return judge(&before, &after);

cannot_read:
	return ring__fail(why, -errno, "the kernel module cannot be read: %s", strerror(errno));
}

static int module_fresh_window(struct ring *ring, unsigned int event, bool empty,
			       struct ring_sample *samples, unsigned int nr, char why[RUN_TEXT])
{
	return module_window(ring, FRESH + event, empty, samples, nr, why);
}

static const struct ring_method like_xperf = {
	.name = "module",
	.mechanism =
		"crossings to and from the running kernel's entry points, by its ringlat module",
	.events = &events[FRESH],
	.nr_events = 1,
	.window = FRESH_WINDOW,
	.capability = CAP_SYS_RAWIO,
	.gross = true,
	.between = "user to kernel: SHL, OR and a store behind the stamp, then 11 instructions "
		   "that recognise the crossing; kernel to user: nothing, then two MOVs. xperf has "
		   "4 and 6 there, with stores",
	.open = module_open,
	.close = module_close,
	.window_of = module_fresh_window,
};

const struct ring_method ring_module = {
	.name = "module",
	.mechanism =
		"crossings to and from the running kernel's entry points, by its ringlat module",
	.events = events,
	.nr_events = FRESH,
	.window = WINDOW,
	.capability = CAP_SYS_RAWIO,
	.like_xperf = &like_xperf,
	.open = module_open,
	.close = module_close,
	.window_of = module_window,
};
