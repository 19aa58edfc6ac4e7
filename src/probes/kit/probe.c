// SPDX-License-Identifier: BSD-2-Clause
#include "probe.h"

#include <stdio.h>
#include <string.h>

#include <core/split.h>

const struct probe_method *probe__find_method(const struct probe_ops *ops, const char *name)
{
	for (unsigned int i = 0; i < ops->nr_methods; i++)
		if (!strcmp(ops->methods[i].name, name))
			return &ops->methods[i];
	return NULL;
}

const struct probe_method *probe__nth_method(const struct probe_ops *ops, unsigned int nth)
{
	for (int second_best = 0; second_best < 2; second_best++) {
		for (unsigned int i = 0; i < ops->nr_methods; i++) {
			const struct probe_method *method = &ops->methods[i];

			if ((ops->second_best && ops->second_best(method)) == second_best && !nth--)
				return method;
		}
	}
	return NULL;
}

bool probe__filters_tasks(const struct lat_config *config)
{
	return config->tgid || config->tid || config->cgroup || config->comm[0];
}

const char *probe__beyond(const struct probe_method *method, const struct lat_config *config,
			  char option[RUN_TEXT])
{
	char names[SPLIT_TEXT];

	if (config->by & method->lacks)
		snprintf(option, RUN_TEXT, "--by %s",
			 split__list(config->by & method->lacks, names));
	else if (config->why && !method->explains)
		snprintf(option, RUN_TEXT, "--why");
	else if (method->lacks_tasks && probe__filters_tasks(config))
		snprintf(option, RUN_TEXT, "%s",
			 config->tgid	  ? "--pid"
			 : config->tid	  ? "--tid"
			 : config->cgroup ? "--cgroup"
					  : "--comm");
	else
		return NULL;
	return option;
}

const char *probe__reason(const char *why, const char *method)
{
	size_t len = method ? strlen(method) : 0;

	return len && !strncmp(why, method, len) && why[len] == ':' ? why + len + 2 : why;
}

uint32_t probe__find_metric(const struct probe_ops *ops, const char *name)
{
	for (unsigned int i = 0; i < ops->nr_metrics; i++)
		if (ops->optional & 1U << i && !strcmp(ops->metrics[i].name, name))
			return 1U << i;
	return 0;
}

int probe__close(struct probe *probe, char why[RUN_TEXT])
{
	why[0] = '\0';
	return probe ? probe->ops->close(probe, why) : 0;
}

int probe__step(struct probe *probe, enum probe_step step, uint64_t at_ns)
{
	const struct probe_ops *ops = probe->ops;

	probe->why[0] = '\0';
	return ops->steps[step] ? ops->steps[step](probe, at_ns) : 0;
}
