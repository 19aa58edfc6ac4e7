// SPDX-License-Identifier: BSD-2-Clause
#include "stacks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include <cap-ng.h>

#include "seccomp.h"

/* What the collector needs: see symbols.h. */
static const unsigned int needed[] = { CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE, CAP_DAC_READ_SEARCH,
				       CAP_SETUID, CAP_SETGID };

static void settle(int socket)
{
	(void)socket;
	capng_get_caps_process();
	capng_clear(CAPNG_SELECT_BOTH);
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, needed[i]);
	capng_apply(CAPNG_SELECT_BOTH);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static void confine(void)
{
	seccomp__install(&(struct seccomp_needs){ 0 });
}

void stacks__begin(struct symbols **symbols, struct run *run)
{
	const struct symbols_config config = { .settle = settle, .confine = confine };
	int err = symbols__begin(symbols, &config);

	if (!err)
		return;
	*symbols = NULL;
	snprintf(run->frames_why, RUN_TEXT, "cannot start the process that finds names: %s",
		 strerror(-err));
}

static int take(void *frames, uint32_t tgid, const struct symbol *symbol)
{
	char name[SYMBOL_TEXT], place[SYMBOL_TEXT];
	const struct frame frame = { .pid = tgid,
				     .address = symbol->address,
				     .name = symbol__name(symbol, name),
				     .place = symbol__place(symbol, place) };

	return *name || *place ? frames__add(frames, &frame) : 0;
}

/* No frame is known if the process had exited. */
static bool is_any_known(const struct symbols *symbols, int stack)
{
	for (size_t i = 0; i < symbols__depth(symbols, stack); i++)
		if (symbols__frame(symbols, stack, i)->kind != SYMBOL_UNKNOWN)
			return true;
	return false;
}

/* Marks where user stacks end too early. */
static int mark_truncated(const struct symbols *symbols, struct frames *frames)
{
	struct frame end = { .truncated = true, .name = "", .place = "" };
	int err = 0;

	for (size_t i = 0; !err && i < symbols__stacks(symbols); i++) {
		if (symbols__end_of(symbols, (int)i, 0) != SYMBOLS_TRUNCATED ||
		    !is_any_known(symbols, (int)i))
			continue;
		end.pid = symbols__tgid(symbols, (int)i);
		end.address = symbols__frame(symbols, (int)i, symbols__depth(symbols, (int)i) - 1)
				      ->address;
		err = frames__add(frames, &end);
	}
	return err;
}

int stacks__describe(struct symbols *symbols, struct run *run)
{
	int err;

	if (!symbols)
		return 0;
	symbols__resolve(symbols, run->frames_why);
	err = symbols__each(symbols, take, &run->frames);
	if (!err)
		err = mark_truncated(symbols, &run->frames);
	frames__sort(&run->frames);
	return err;
}
