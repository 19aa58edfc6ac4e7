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

#include "module_code.h"

#define PAGE 4096
#define WINDOW 256 /* 0.1 ms: most windows fit between two timer interrupts */

enum { PAGE_FAULT, SYSCALL, SYSCALL_FENCED };

static const struct ring_event events[] = {
	[PAGE_FAULT] = { "fault", "a read of an absent page: #PF, and IRETQ back", false },
	[SYSCALL] = { "syscall", "SYSCALL, and SYSRETQ back", false },
	[SYSCALL_FENCED] = { "fenced",
			     "SYSCALL and SYSRETQ, each stamp in the kernel behind an LFENCE",
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
};

struct module {
	int device;
	uint32_t started; /* the event that is active; 0: none */
	char *absent; /* a page that is never mapped */
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

static int module_open(struct ring *ring, char why[RUN_TEXT])
{
	struct sigaction action = { .sa_sigaction = take_miss, .sa_flags = SA_SIGINFO };
	struct module *module;
	void *absent;
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
	absent = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (absent == MAP_FAILED) {
		err = ring__fail(why, -errno, "cannot map memory: %s", strerror(errno));
		goto close_device;
	}
	module->absent = absent;
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
	munmap(module->absent, PAGE);
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
	struct ringlat_counts before, after;
	int err;

	err = start(module, loops[event].event, why);
	if (err)
		return err;
	if (ioctl(module->device, RINGLAT_READ, &before))
		goto cannot_read;
	loop(samples, nr, module->absent);
	if (ioctl(module->device, RINGLAT_READ, &after))
		goto cannot_read;
	return judge(&before, &after);

cannot_read:
	return ring__fail(why, -errno, "the kernel module cannot be read: %s", strerror(errno));
}

const struct ring_method ring_module = {
	.name = "module",
	.mechanism =
		"crossings to and from the running kernel's entry points, by its ringlat module",
	.events = events,
	.nr_events = sizeof(events) / sizeof(events[0]),
	.window = WINDOW,
	.capability = CAP_SYS_RAWIO,
	.open = module_open,
	.close = module_close,
	.window_of = module_window,
};
