// SPDX-License-Identifier: BSD-2-Clause
#include "question.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Copies the next element of a list with commas, and steps behind it. 0 or -EINVAL. */
static int next_element(const char **list, char *out, size_t size)
{
	size_t len = strcspn(*list, ",");

	if (!len || len >= size)
		return -EINVAL;
	memcpy(out, *list, len);
	out[len] = '\0';
	*list += len;
	if (**list == ',' && !*++*list)
		return -EINVAL;
	return 0;
}

static int add_quantile(struct fleet_question *question, const char *text)
{
	double percent;
	char *end;

	if (text[0] != 'p' || !isdigit((unsigned char)text[1]))
		return -EINVAL;
	percent = strtod(text + 1, &end);
	if (*end || !(percent > 0 && percent < 100) || strpbrk(text + 1, "xXeE"))
		return -EINVAL;
	if (question->nr_quantiles == FLEET_QUANTILES)
		return -E2BIG;
	question->quantiles[question->nr_quantiles++] = percent / 100;
	return 0;
}

int fleet_question__quantiles(struct fleet_question *question, const char *text)
{
	char element[16];
	int err;

	do {
		err = next_element(&text, element, sizeof(element));
		if (!err)
			err = add_quantile(question, element);
	} while (!err && *text);
	return err;
}

const char *fleet_question__name(double quantile, char text[RUN_NAME])
{
	snprintf(text, RUN_NAME, "p%.7g", quantile * 100);
	return text;
}

int fleet_question__metric(struct fleet_question *question, const char *text)
{
	const char *dot = strchr(text, '.');
	size_t len = dot ? (size_t)(dot - text) : strlen(text);

	if (!len || len >= RUN_NAME || (dot && (!dot[1] || strlen(dot + 1) >= RUN_NAME)))
		return -EINVAL;
	memcpy(question->probe, text, len);
	question->probe[len] = '\0';
	snprintf(question->metric, RUN_NAME, "%s", dot ? dot + 1 : "");
	return 0;
}

static bool is_name(const char *text)
{
	return text[0] && !strchr(text, '=');
}

int fleet_question__by(struct fleet_question *question, const char *text)
{
	char name[RUN_NAME];
	int err;

	question->nr_by = 0;
	do {
		err = next_element(&text, name, sizeof(name));
		if (!err && !is_name(name))
			err = -EINVAL;
		for (size_t i = 0; !err && i < question->nr_by; i++)
			if (!strcmp(question->by[i], name))
				err = -EEXIST;
		if (!err && question->nr_by == FLEET_BY)
			err = -E2BIG;
		if (!err)
			strcpy(question->by[question->nr_by++], name);
	} while (!err && *text);
	return err;
}

int fleet_question__condition(struct fleet_side *side, const char *text)
{
	const char *equals = strchr(text, '=');
	struct fleet_condition *condition = &side->conditions[side->nr];

	if (!equals || equals == text || !equals[1])
		return -EINVAL;
	if (side->nr == FLEET_CONDITIONS || equals - text >= RUN_NAME ||
	    strlen(equals + 1) >= FLEET_VALUE)
		return -E2BIG;
	snprintf(condition->name, RUN_NAME, "%.*s", (int)(equals - text), text);
	snprintf(condition->value, FLEET_VALUE, "%s", equals + 1);
	side->nr++;
	return 0;
}

bool fleet_condition__holds(const struct fleet_condition *condition, const char *value)
{
	size_t len = strlen(condition->value);

	if (strcmp(condition->name, "kernel") != 0)
		return !strcmp(condition->value, value);
	return !strncmp(condition->value, value, len) && !isdigit((unsigned char)value[len]);
}

bool fleet_question__needs_services(const struct fleet_question *question)
{
	for (size_t i = 0; i < question->nr_by; i++)
		if (!strcmp(question->by[i], "service"))
			return true;
	for (unsigned int i = 0; i < 2; i++)
		for (size_t j = 0; j < question->sides[i].nr; j++)
			if (!strcmp(question->sides[i].conditions[j].name, "service"))
				return true;
	return false;
}

unsigned int fleet_question__sides(const struct fleet_question *question)
{
	return question->kind == FLEET_COMPARE ? 2 : 1;
}
