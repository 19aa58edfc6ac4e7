// SPDX-License-Identifier: BSD-2-Clause
#include "methods.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bpf/libbpf.h>

#include <host/host.h>

#include "kernel.h"
#include "refusal.h"

/* Adds "method: reason" to what was tried. */
static void blame(char why[RUN_TEXT], const char *method, const char *reason)
{
	size_t used = strlen(why);

	snprintf(why + used, RUN_TEXT - used, "%s%s: %s", used ? "; " : "", method, reason);
}

/* Checks that need no attempt. */
static int check(const struct probe_method *method, char reason[RUN_TEXT])
{
	if (method->x86 && host__not_x86())
		snprintf(reason, RUN_TEXT, "%s", host__not_x86());
	else if (kernel__lacks())
		snprintf(reason, RUN_TEXT, "not in this kernel; needs %s", kernel__lacks());
	else
		return 0;
	return -EOPNOTSUPP;
}

int methods__try(const struct probe_ops *ops, const char *wanted, method_attempt *attempt,
		 void *context, char why[RUN_TEXT])
{
	const struct probe_method *method;
	int err, result = -EINVAL;
	char reason[RUN_TEXT];

	for (unsigned int i = 0; i < ops->nr_methods; i++) {
		method = probe__nth_method(ops, i);
		if (wanted && strcmp(wanted, method->name))
			continue;
		reason[0] = '\0';
		refusal__capture();
		err = check(method, reason);
		if (!err)
			err = attempt(context, method, reason);
		if (!err)
			return 0;
		if (!reason[0])
			refusal__explain(err, method->needs, reason);
		blame(why, method->name, reason);
		result = err == -ENOMEM ? err : -EOPNOTSUPP;
	}
	if (result == -EINVAL)
		snprintf(why, RUN_TEXT, "unknown method '%.64s'", wanted);
	return result;
}

/* `names` end with NULL, or after `max`. */
static bool is_in(const char *const *names, int max, const char *name)
{
	for (int i = 0; i < max && names[i]; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

int methods__select(const struct probe_method *method, bool copied, struct bpf_object *obj)
{
	struct bpf_program *program;
	int err = 0;

	bpf_object__for_each_program(program, obj)
	{
		const char *name = bpf_program__name(program);
		bool wanted = is_in(method->programs, PROBE_PROGRAMS, name) ||
			      is_in(method->loaded, PROBE_PROGRAMS, name) ||
			      (copied && is_in(method->copies, PROBE_COPIES, name));

		err = bpf_program__set_autoload(program, wanted);
		if (err)
			break;
	}
	return err;
}
