// SPDX-License-Identifier: BSD-2-Clause
#include "tails.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <latscope/hist.h>

#include "units.h"

static uint64_t *find(struct tails *tails, const char *probe, size_t len)
{
	unsigned int i = 0;

	while (i < tails->nr &&
	       (strlen(tails->of[i].probe) != len || memcmp(tails->of[i].probe, probe, len)))
		i++;
	if (i == RUN_PROBES || len >= RUN_NAME)
		return NULL;
	if (i == tails->nr) {
		memcpy(tails->of[i].probe, probe, len);
		tails->of[i].probe[len] = '\0';
		tails->nr++;
	}
	return &tails->of[i].ns;
}

static int parse_one(struct tails *tails, const char *text)
{
	const char *equals = strchr(text, '=');
	uint64_t us, *ns = &tails->ns;
	int err = units__parse_count(equals ? equals + 1 : text, 1, TAILS_MOST_US, &us);

	if (equals == text)
		return -EINVAL;
	if (!err && equals)
		ns = find(tails, text, (size_t)(equals - text));
	if (!ns)
		return -E2BIG;
	if (!err)
		*ns = us * 1000;
	return err;
}

int tails__parse(struct tails *tails, const char *text, char wrong[RUN_TEXT])
{
	size_t len;
	int err;

	for (;; text += len + 1) {
		len = strcspn(text, ",");
		snprintf(wrong, RUN_TEXT, "%.*s", len < RUN_TEXT ? (int)len : RUN_TEXT - 1, text);
		err = len < RUN_TEXT ? parse_one(tails, wrong) : -EINVAL;
		if (err || !text[len])
			return err;
	}
}

uint64_t tails__of(const struct tails *tails, const char *probe)
{
	for (unsigned int i = 0; i < tails->nr; i++)
		if (!strcmp(tails->of[i].probe, probe))
			return tails->of[i].ns;
	return tails->ns;
}
