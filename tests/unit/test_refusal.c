// SPDX-License-Identifier: BSD-2-Clause
/* Is the cause found in what libbpf prints? Nothing is loaded. */
#include "unit.h"

#include <pthread.h>

#include <probes/kit/refusal.c>

#define BEGIN "libbpf: prog '%s': -- BEGIN PROG LOAD LOG --\n%s"
#define END "-- END PROG LOAD LOG --\n"
#define PROCESSED                                                                             \
	"processed 3 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states " \
	"0 mark_read 0\n"
#define NEEDS "BPF tracepoints with BTF"

/* Linux 6.18 of a pointer that is added to by 32 bits. */
#define LOG                                                                             \
	"0: R1=ctx() R10=fp0\n"                                                         \
	"; int BPF_PROG(stamps_switch, bool preempt, struct task_struct *prev, struct " \
	"task_struct *next) @ runqlat.bpf.c:94\n"                                       \
	"0: (04) w1 += 8\n"                                                             \
	"R1 32-bit pointer arithmetic prohibited\n"
static const char log_of_6_18[] = LOG PROCESSED;

/* Linux 7.3 of the same. */
static const char log_of_7_3[] = LOG
	"\n"
	"Verification failed: Register Type Safety: 32-bit pointer arithmetic\n"
	"\n"
	"Reason:\n"
	"  R1 holds a context pointer. 32-bit ALU operations on pointers discard pointer tracking, "
	"so the\n"
	"  verifier cannot keep the result as a safe pointer.\n"
	"\n"
	"At:\n"
	"  stamps_switch @ runqlat.bpf.c:94:5\n"
	"  Source context:\n"
	"      92 | ...\n"
	"      93 | ...\n"
	"  >>> 94 | int BPF_PROG(stamps_switch, bool preempt, struct task_struct *prev, struct "
	"t...\n"
	"         | ^-- error: 32-bit pointer arithmetic\n"
	"      95 | ...\n"
	"      96 | ...\n"
	"  Instruction context:\n"
	"  >>>    0 | (04) w1 += 8\n"
	"         1 | (79) r2 = *(u64 *)(r1 +0)\n"
	"         2 | (15) if r2 == 0x0 goto pc+21\n"
	"\n"
	"Causal path:\n"
	"  no retained diagnostic events on this path\n"
	"\n"
	"Suggestion:\n"
	"  Use a 64-bit ALU instruction with an allowed, bounded scalar offset.\n"
	"\n" PROCESSED;

static const char log_of_core[] =
	"0: R1=ctx() R10=fp0\n"
	"0: (b7) r6 = 0                        ; R6=0\n"
	"1: <invalid CO-RE relocation>\n"
	"failed to resolve CO-RE relocation <byte_off> [12] struct task_struct.gone (0:1 @ offset "
	"8)\n" PROCESSED;

static libbpf_print_fn_t callback;
static char reason[RUN_TEXT];

/* The callback of libbpf. */
__attribute__((format(printf, 2, 3))) static void say(enum libbpf_print_level level,
						      const char *format, ...)
{
	va_list args;

	va_start(args, format);
	assert_int_equal(callback(level, format, args), 0);
	va_end(args);
}

/* As libbpf prints a program that the kernel did not take. */
static void refuse(const char *program, const char *text)
{
	say(LIBBPF_WARN, "libbpf: prog '%s': BPF program load failed: %s\n", program,
	    strerror(EACCES));
	say(LIBBPF_WARN, BEGIN END, program, text);
	say(LIBBPF_WARN, "libbpf: prog '%s': failed to load: %d\n", program, -EACCES);
}

static const char *explain(int err)
{
	memset(reason, 'x', sizeof(reason));
	refusal__explain(err, NEEDS, reason);
	assert_non_null(memchr(reason, '\0', sizeof(reason)));
	assert_null(strchr(reason, '\n'));
	return reason;
}

static void begin_attempt(void)
{
	refusal__show_log(NULL);
	refusal__capture();
	callback = libbpf_set_print(NULL);
	assert_non_null(callback);
}

static void assert_verdict(int err, const char *program, const char *verdict)
{
	assert_true(refusal__by_verifier());
	assert_string_equal(
		explain(err),
		unit_text("the kernel's verifier refused program %s: %s (-v shows its log)",
			  program, verdict));
}

#define PROHIBITED "R1 32-bit pointer arithmetic prohibited"
#define UNRESOLVED                                                   \
	"failed to resolve CO-RE relocation <byte_off> [12] struct " \
	"task_struct.gone (0:1 @ offset 8)"

TEST(verdict_is_the_line_that_says_why)
{
	static const struct {
		const char *name, *log;
		int err;
		const char *verdict;
	} logs[] = {
		{ "after the last instruction", log_of_6_18, -EACCES, PROHIBITED },
		{ "an explanation follows it", log_of_7_3, -EACCES, PROHIBITED },
		{ "a member is missing", log_of_core, -EINVAL, UNRESOLVED },
		{ "before the first instruction",
		  "attach_btf_id 0 is not a function\nprocessed 0 insns (limit 1000000)\n", -EINVAL,
		  "attach_btf_id 0 is not a function" },
	};

	for (size_t i = 0; i < COUNT_OF(logs); i++) {
		print_message("%s\n", logs[i].name);
		begin_attempt();
		refuse("wakeup", logs[i].log);
		assert_verdict(logs[i].err, "wakeup", logs[i].verdict);
	}
}

/* A security policy refuses with no word in the log: that is a missing permission. */
TEST(log_without_a_verdict_is_no_refusal_by_the_verifier)
{
	static const char *const logs[] = {
		"",
		"\n",
		"\n\n\n",
		"processed 0 insns (limit 1000000) max_states_per_insn 0\n",
		"0: (b7) r0 = 0\n",
		"0: (b7) r0 = 0",
		"0: (b7) r0 = 0\n" PROCESSED,
	};

	for (size_t i = 0; i < COUNT_OF(logs); i++) {
		begin_attempt();
		refuse("wakeup", logs[i]);
		assert_false(refusal__by_verifier());
		assert_string_equal(explain(-EPERM), "not permitted by this kernel; needs " NEEDS);
		assert_string_equal(explain(-EINVAL),
				    "Invalid argument (prog 'wakeup': BPF program load failed: "
				    "Permission denied); needs " NEEDS);
	}
}

/* The parser must not read beyond the text; the sanitizer checks that. */
TEST(odd_logs_are_read_to_their_end_only)
{
	static const char *const logs[] = {
		"R",	  "7",	     "77777777777777777777777", "7:", "7: ", "7: (", "7: <",
		"\n7: (", "7: (\nR",
	};

	for (size_t i = 0; i < COUNT_OF(logs); i++) {
		begin_attempt();
		say(LIBBPF_WARN, BEGIN, "wakeup", logs[i]);
		explain(-EACCES);
		begin_attempt();
		say(LIBBPF_WARN, "%s%s", LOG_BEGIN, logs[i]);
		explain(-EACCES);
	}
}

TEST(log_without_end_marker)
{
	say(LIBBPF_WARN, BEGIN, "wakeup", log_of_6_18);
	assert_verdict(-EACCES, "wakeup", PROHIBITED);
}

TEST(log_without_program_name)
{
	say(LIBBPF_WARN, "%sR1 invalid\n" END, LOG_BEGIN);
	assert_verdict(-EACCES, "?", "R1 invalid");
}

/* 20 MB, as of a program whose every path is looked at. */
TEST(long_log)
{
	const char *line = "123456: (07) r1 += 1                  ; R1=scalar()\n";
	size_t len = strlen(line), lines = 20 * 1000 * 1000 / len;
	const char *verdict = "BPF program is too large. Processed 1000001 insn\n";
	char *log = malloc(lines * len + strlen(verdict) + 1);

	assert_non_null(log);
	for (size_t i = 0; i < lines; i++)
		memcpy(log + i * len, line, len);
	strcpy(log + lines * len, verdict);
	refuse("wakeup", log);
	free(log);
	assert_verdict(-E2BIG, "wakeup", "BPF program is too large. Processed 1000001 insn");
}

TEST(long_names_and_verdicts_are_cut)
{
	char program[101], verdict[1002], *expected, *text;

	memset(program, 'p', 100);
	program[100] = '\0';
	memset(verdict, 'v', 1000);
	verdict[1000] = '\0';
	refusal__show_log(unit_print());
	refuse(program, verdict);
	refusal__show_log(NULL);
	text = unit_printed();
	assert_string_equal(
		explain(-EACCES),
		unit_text("the kernel's verifier refused program %.40s: %.120s (-v shows its log)",
			  program, verdict));
	expected = unit_text("verifier's log of program %.63s:\nvvv", program);
	assert_memory_equal(text, expected, strlen(expected));
	assert_string_equal(strchr(text, '\n') + 1, strcat(verdict, "\n"));
}

TEST(first_refusal_is_the_cause)
{
	refuse("wakeup", log_of_6_18);
	refuse("switched", log_of_core);
	assert_verdict(-EACCES, "wakeup", PROHIBITED);
}

TEST(next_attempt_forgets_the_last)
{
	refuse("wakeup", log_of_6_18);
	begin_attempt();
	assert_false(refusal__by_verifier());
	assert_string_equal(explain(-ENOMEM), "Cannot allocate memory (no details); needs " NEEDS);
}

TEST(errors_without_a_log)
{
	assert_string_equal(explain(-EPERM), "not permitted by this kernel; needs " NEEDS);
	assert_string_equal(explain(-EACCES), "not permitted by this kernel; needs " NEEDS);
	assert_string_equal(explain(-ESRCH), "not in this kernel; needs " NEEDS);
	assert_string_equal(explain(-ENOENT), "not in this kernel; needs " NEEDS);
	assert_string_equal(explain(-524), "not in this kernel; needs " NEEDS);
	say(LIBBPF_INFO, "libbpf: loading object 'runqlat_bpf' from buffer\n");
	say(LIBBPF_WARN, "libbpf: map 'rows': failed to create: %s(%d)\n", "No space", -28);
	say(LIBBPF_WARN, "libbpf: failed to load object 'runqlat_bpf'\n");
	assert_string_equal(explain(-ENOSPC),
			    "No space left on device (map 'rows': failed to create: No "
			    "space(-28)); needs " NEEDS);
}

TEST(log_is_shown_where_asked_for)
{
	refusal__show_log(unit_print());
	refuse("wakeup", log_of_7_3);
	refusal__show_log(NULL);
	assert_string_equal(unit_printed(),
			    unit_text("verifier's log of program wakeup:\n%s", log_of_7_3));
}

/* A refusal in another thread, from its beginning. */
static void *refuse_elsewhere(void *state)
{
	refusal__capture();
	refuse("switch", log_of_core);
	return state;
}

TEST(each_thread_explains_its_own_attempt)
{
	pthread_t thread;

	refuse("wakeup", log_of_6_18);
	assert_int_equal(pthread_create(&thread, NULL, refuse_elsewhere, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_verdict(-EACCES, "wakeup", PROHIBITED);
}

UNIT_FIXTURES(.each = { begin_attempt })
