// SPDX-License-Identifier: BSD-2-Clause
#include "complete.h"

#include <stdio.h>
#include <string.h>

#include "complete_values.h"

static struct {
	char **words;
	int nr;
} request;

/* The option of exactly this name; NULL: there is none that takes a value. */
static const struct option_row *find(const struct option_table *tables, const char *name,
				     size_t len)
{
	struct option_match match = options__match(tables, name, len, 0);

	return match.exact && match.row->argument ? match.row : NULL;
}

/* The option whose value the next word is: --by, -d, -qd. NULL: the word needs none. */
static const struct option_row *expects_value(const struct option_table *tables, const char *word)
{
	if (!strncmp(word, "--", 2))
		return find(tables, word + 2, strlen(word + 2));
	if (word[0] != '-')
		return NULL;
	for (const char *letter = word + 1; *letter; letter++) {
		struct option_match match = options__match(tables, "", 0, *letter);

		if (match.nr && match.row->argument)
			return letter[1] ? NULL : match.row;
	}
	return NULL;
}

static void offer_options(const struct option_table *tables, const char *text)
{
	char name[128];

	for (; tables->rows; tables++) {
		for (const struct option_row *row = tables->rows; options__more(row); row++) {
			if (!row->name || !row->help)
				continue;
			snprintf(name, sizeof(name), "--%s%s", row->name, row->argument ? "=" : "");
			complete__offer(text, name, row->help);
		}
	}
}

/* The whole answer of a command with these options. */
static void answer(const char *command, const struct option_table *tables, bool takes_workload)
{
	const char *text = request.words[request.nr - 1];
	const struct option_row *option = NULL;

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
		option = expects_value(tables, word);
	}
	if (!option && !strncmp(text, "--", 2) && strchr(text, '=')) {
		option = find(tables, text + 2, strcspn(text + 2, "="));
		if (!option)
			return;
	}
	if (option)
		complete__values(command, option, text);
	else if (text[0] == '-')
		offer_options(tables, text);
	else if (takes_workload)
		puts(":command");
	else
		complete__arguments(command, text);
}

void complete__start(char **words, int nr)
{
	request.words = words;
	request.nr = nr;
	options__answer_by(answer);
}
