// SPDX-License-Identifier: BSD-2-Clause
#include "complete.h"

#include <stdio.h>
#include <string.h>

#include <core/sanitize.h>

#include "complete_values.h"
#include "options.h"

#define MAX_ANSWER 4096

static struct {
	char **words;
	int nr;
} request;

void complete__start(char **words, int nr)
{
	request.words = words;
	request.nr = nr;
	options__answer_by(complete__answer);
}

/* A name with a line break would be two answers, and the shell would print escape sequences. */
void complete__offer(const char *text, const char *value, const char *about)
{
	char safe[MAX_ANSWER];

	if (strncmp(value, text, strlen(text)))
		return;
	sanitize__text(safe, sizeof(safe), value);
	if (strcmp(safe, value))
		return;
	printf("%s\t", safe);
	sanitize__text(safe, sizeof(safe), about ? about : "");
	printf("%s\n", safe);
}

/* The option of a letter; if that is 0, of the name's first len bytes. */
static const struct argp_option *find_option(const struct argp_child *children, const char *name,
					     size_t len, int letter)
{
	for (; children->argp; children++) {
		const struct argp_option *option = children->argp->options;

		for (; options__more(option); option++) {
			if (letter && option->key == letter)
				return option;
			if (!letter && option->name && strlen(option->name) == len &&
			    !memcmp(option->name, name, len))
				return option;
		}
	}
	return NULL;
}

/* The option whose value the next word is: --by, -d, -qd. NULL: the word needs none. */
static const struct argp_option *expects_value(const struct argp_child *children, const char *word)
{
	const struct argp_option *option = NULL;

	if (!strncmp(word, "--", 2)) {
		option = find_option(children, word + 2, strlen(word + 2), 0);
		return option && option->arg ? option : NULL;
	}
	if (word[0] != '-')
		return NULL;
	for (const char *letter = word + 1; *letter; letter++) {
		option = find_option(children, "", 0, *letter);
		if (option && option->arg)
			return letter[1] ? NULL : option;
	}
	return NULL;
}

static void offer_options(const struct argp_child *children, const char *text)
{
	char name[128];

	for (; children->argp; children++) {
		const struct argp_option *option = children->argp->options;

		for (; options__more(option); option++) {
			if (!option->name || option->flags & OPTION_HIDDEN)
				continue;
			snprintf(name, sizeof(name), "--%s%s", option->name,
				 option->arg ? "=" : "");
			complete__offer(text, name, option->doc);
		}
	}
}

void complete__answer(const char *command, const struct argp_child *children, bool takes_workload)
{
	const char *text = request.words[request.nr - 1];
	const struct argp_option *option = NULL;

	for (int i = 0; i < request.nr - 1; i++) {
		const char *word = request.words[i];

		if (option) {
			option = NULL;
			continue;
		}
		if (takes_workload && (!strcmp(word, "--") || word[0] != '-')) {
			puts(i == request.nr - 2 && word[0] == '-' ? ":command" : ":files");
			return;
		}
		option = expects_value(children, word);
	}
	if (!option && !strncmp(text, "--", 2) && strchr(text, '=')) {
		option = find_option(children, text + 2, strcspn(text + 2, "="), 0);
		if (!option || !option->arg)
			return;
	}
	if (option)
		complete__values(command, option, text);
	else if (text[0] == '-')
		offer_options(children, text);
	else if (takes_workload)
		puts(":command");
	else
		complete__arguments(command, text);
}
