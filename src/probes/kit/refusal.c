// SPDX-License-Identifier: BSD-2-Clause
#include "refusal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cap-ng.h>

#include <host/host.h>

#define ENOTSUPP_OF_KERNEL 524 /* include/linux/errno.h: internal to the kernel, but returned */
#define LOG_BEGIN "-- BEGIN PROG LOAD LOG --\n"
#define LOG_END "-- END PROG LOAD LOG --"
#define STATISTICS "processed " /* 12 insns (limit 1000000) max_states_per_insn 0 ... */

static FILE *log_to; /* output for logs; NULL: none */

/* Of the last attempt of this thread. */
static _Thread_local struct {
	char complaint[RUN_TEXT]; /* the first line of libbpf; later lines are consequences */
	char program[RUN_NAME]; /* the first one with a log; empty: none */
	char verdict[RUN_TEXT]; /* why the verifier refused it; empty: it did not */
} last;

void refusal__show_log(FILE *to)
{
	log_to = to;
}

/*
 * An instruction that the verifier looked at: "12: (b7) r0 = 0". libbpf writes "12: <invalid CO-RE
 * relocation>" instead where the program needs what this kernel does not have.
 */
static bool is_instruction(const char *line)
{
	const char *after = line + strspn(line, "0123456789");

	return after > line && (!strncmp(after, ": (", 3) || !strncmp(after, ": <", 3));
}

/*
 * The first line after the last instruction is the reason; an explanation may follow it. Statistics
 * end every log. If there is nothing else, the verifier did not refuse the program.
 */
static void find_verdict(const char *log)
{
	const char *said = log, *line = log;

	while (*line) {
		bool instruction = is_instruction(line);

		line += strcspn(line, "\n");
		line += strspn(line, "\n");
		if (instruction)
			said = line;
	}
	if (strncmp(said, STATISTICS, strlen(STATISTICS)))
		snprintf(last.verdict, sizeof(last.verdict), "%.*s", (int)strcspn(said, "\n"),
			 said);
}

/* "libbpf: prog 'NAME': -- BEGIN PROG LOAD LOG --" and the log. */
static void take_log(const char *text, char *begin)
{
	char *log = begin + strlen(LOG_BEGIN), *end = strstr(log, LOG_END);
	size_t len = end ? (size_t)(end - log) : strlen(log);

	while (len && log[len - 1] == '\n')
		len--;
	log[len] = '\0';
	if (sscanf(text, "libbpf: prog '%63[^']'", last.program) != 1)
		snprintf(last.program, sizeof(last.program), "?");
	find_verdict(log);
	if (log_to)
		fprintf(log_to, "verifier's log of program %s:\n%s\n", last.program, log);
}

static int keep(enum libbpf_print_level level, const char *format, va_list args)
{
	char *text, *begin;

	if (level != LIBBPF_WARN)
		return 0;
	if (vasprintf(&text, format, args) < 0)
		return 0;
	begin = strstr(text, LOG_BEGIN);
	if (begin && !last.program[0])
		take_log(text, begin);
	else if (!begin && !last.complaint[0])
		snprintf(last.complaint, sizeof(last.complaint), "%s",
			 !strncmp(text, "libbpf: ", 8) ? text + 8 : text);
	last.complaint[strcspn(last.complaint, "\n")] = '\0';
	free(text);
	return 0;
}

void refusal__capture(void)
{
	last.complaint[0] = last.program[0] = last.verdict[0] = '\0';
	libbpf_set_print(keep);
}

void refusal__explain(int err, const char *needs, char reason[RUN_TEXT])
{
	if (last.verdict[0])
		snprintf(reason, RUN_TEXT,
			 "the kernel's verifier refused program %.40s: %.120s (-v shows its log)",
			 last.program, last.verdict);
	else if (err == -EPERM || err == -EACCES)
		snprintf(reason, RUN_TEXT, "not permitted by this kernel; needs %s", needs);
	else if (err == -ESRCH || err == -ENOENT || err == -ENOTSUPP_OF_KERNEL)
		snprintf(reason, RUN_TEXT, "not in this kernel; needs %s", needs);
	else
		snprintf(reason, RUN_TEXT, "%s (%.120s); needs %s", strerror(-err),
			 last.complaint[0] ? last.complaint : "no details", needs);
}

void refusal__note(const char *complaint)
{
	snprintf(last.complaint, sizeof(last.complaint), "%s", complaint);
}

bool refusal__by_verifier(void)
{
	return last.verdict[0];
}

/* Outside all user namespaces the map has all IDs: "0 0 4294967295". */
static bool in_user_namespace(void)
{
	unsigned long inside = 0, outside = 0, count = 4294967295UL;
	FILE *file = fopen("/proc/self/uid_map", "re");

	if (!file)
		return false;
	if (fscanf(file, "%lu %lu %lu", &inside, &outside, &count) != 3)
		count = 4294967295UL;
	fclose(file);
	return inside || outside || count != 4294967295UL;
}

/* Are our clocks not the kernel's? Times of both are compared, and a time namespace moves ours. */
static bool in_another_time(void)
{
	FILE *file = fopen("/proc/self/timens_offsets", "re");
	long long sec = 0, nsec = 0;
	bool is_other = false;

	if (!file)
		return false;
	while (!is_other && fscanf(file, "%*s %lld %lld", &sec, &nsec) == 2)
		is_other = sec || nsec;
	fclose(file);
	return is_other;
}

static bool has_privilege(void)
{
	capng_get_caps_process();
	return capng_have_capability(CAPNG_EFFECTIVE, CAP_SYS_ADMIN) ||
	       (capng_have_capability(CAPNG_EFFECTIVE, CAP_BPF) &&
		capng_have_capability(CAPNG_EFFECTIVE, CAP_PERFMON));
}

/* The minimum that any probe needs. 0 or -errno. */
static int try_bpf(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "latscope", 4, 4, 1, NULL);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int refusal__check(char why[RUN_TEXT])
{
	int err;

	if (in_user_namespace()) {
		snprintf(why, RUN_TEXT,
			 "this is a user namespace (a container without privileges), "
			 "where the kernel permits no BPF; run it on the host");
		return -EOPNOTSUPP;
	}
	if (in_another_time()) {
		snprintf(why, RUN_TEXT,
			 "this is a time namespace with other clocks than the kernel's; run it on "
			 "the host");
		return -EOPNOTSUPP;
	}
	if (!has_privilege() && !geteuid()) {
		snprintf(why, RUN_TEXT,
			 "root lacks CAP_BPF or CAP_PERFMON here; give the container both "
			 "(--cap-add), or run it on the host");
		return -EPERM;
	}
	if (!has_privilege()) {
		snprintf(why, RUN_TEXT, "needs root, or CAP_BPF and CAP_PERFMON; run it with sudo");
		return -EPERM;
	}
	err = try_bpf();
	if (err == -EPERM || err == -EACCES) {
		snprintf(why, RUN_TEXT,
			 "the system call bpf() is forbidden here, by a seccomp filter or another "
			 "security policy; run it outside the container, or relax the policy");
		return -EOPNOTSUPP;
	}
	if (err == -ENOSYS) {
		snprintf(why, RUN_TEXT, "this kernel has no BPF (CONFIG_BPF_SYSCALL)");
		return -ENOENT;
	}
	if (access("/sys/kernel", F_OK)) {
		snprintf(why, RUN_TEXT,
			 "/sys is not mounted here, as in a chroot; mount -t sysfs sysfs /sys");
		return -ENOENT;
	}
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		snprintf(
			why, RUN_TEXT,
			"this kernel has no BTF (CONFIG_DEBUG_INFO_BTF); run one that has it, such "
			"as that of Debian's package linux-image-%s",
			host__not_x86() ? "arm64" : "amd64");
		return -ENOENT;
	}
	return 0;
}
