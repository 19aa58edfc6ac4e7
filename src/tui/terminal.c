// SPDX-License-Identifier: BSD-2-Clause
#include "terminal.h"

#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <term.h>
#include <unistd.h>

#include <core/sanitize.h>

#define ESCAPE_MS 25 /* a key's sequence arrives in one piece; otherwise it is the key Escape */
#define MANY_COLORS 256

int terminal__check(char why[RUN_TEXT], const char **todo)
{
	const char *name = getenv("TERM");
	char text[RUN_NAME];
	int got = 0;

	*todo = "use a terminal, or record -i 1s for lines of text";
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		snprintf(why, RUN_TEXT, "standard %s is not a terminal",
			 isatty(STDIN_FILENO) ? "output" : "input");
		return -ENOTTY;
	}
	if (!name || !*name) {
		snprintf(why, RUN_TEXT, "TERM is not set");
		return -ENOTTY;
	}
	sanitize__text(text, sizeof(text), name);
	if (setupterm(NULL, STDOUT_FILENO, &got) != OK) {
		snprintf(why, RUN_TEXT, "unknown terminal '%s'", text);
		*todo = "install the package ncurses-term, set TERM to a known type such as xterm, "
			"or record -i 1s for lines of text";
		return -ENOTTY;
	}
	if (!cursor_address || !clear_screen) {
		snprintf(why, RUN_TEXT, "terminal '%s' cannot place the cursor", text);
		return -ENOTTY;
	}
	return 0;
}

static int watch(const struct terminal *terminal, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(terminal->ready, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/* Descriptors first: the filter of system calls allows no new ones. */
static int watch_all(struct terminal *terminal)
{
	sigset_t set;
	int err;

	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	sigaddset(&set, SIGTSTP);
	sigaddset(&set, SIGCONT);
	if (sigprocmask(SIG_BLOCK, &set, &terminal->before))
		return -errno;
	terminal->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (terminal->signals < 0)
		return -errno;
	terminal->ready = epoll_create1(EPOLL_CLOEXEC);
	if (terminal->ready < 0)
		return -errno;
	err = watch(terminal, terminal->signals);
	return err ? err : watch(terminal, STDIN_FILENO);
}

static void choose_heat(struct terminal *terminal)
{
	terminal->utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	terminal->color = has_colors() && !getenv("NO_COLOR");
	if (terminal->color) {
		start_color();
		use_default_colors();
	}
	terminal->heat = TERMINAL_ASCII;
	if (terminal->utf8)
		terminal->heat =
			terminal->color && COLORS >= MANY_COLORS ? TERMINAL_HALF : TERMINAL_SHADES;
}

int terminal__open(struct terminal *terminal)
{
	int err;

	memset(terminal, 0, sizeof(*terminal));
	terminal->ready = terminal->signals = -1;
	err = watch_all(terminal);
	if (err)
		return err;
	setlocale(LC_CTYPE, "");
	terminal->screen = newterm(NULL, stdout, stdin);
	if (!terminal->screen)
		return -ENOTTY;
	terminal->is_open = true;
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	intrflush(stdscr, FALSE);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	choose_heat(terminal);
	return 0;
}

void terminal__close(struct terminal *terminal)
{
	if (terminal->is_open) {
		endwin();
		delscreen(terminal->screen);
		terminal->is_open = false;
	}
	if (terminal->signals >= 0) {
		close(terminal->signals);
		sigprocmask(SIG_SETMASK, &terminal->before, NULL);
	}
	if (terminal->ready >= 0)
		close(terminal->ready);
	terminal->ready = terminal->signals = -1;
}

/* The terminal may have been changed meanwhile, by the shell or by its window. */
static void restart(void)
{
	struct winsize size;

	endwin();
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
	clearok(curscr, TRUE);
	refresh();
}

static bool take_signal(const struct terminal *terminal)
{
	struct signalfd_siginfo info;

	if (read(terminal->signals, &info, sizeof(info)) != sizeof(info))
		return false;
	if (info.ssi_signo == SIGTSTP) {
		endwin();
		raise(SIGSTOP); /* returns after SIGCONT */
	}
	restart();
	return true;
}

int terminal__next(struct terminal *terminal)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	int key;

	if (take_signal(terminal))
		return TERMINAL_RESIZED;
	key = getch();
	if (key != ERR)
		return key == KEY_RESIZE ? TERMINAL_RESIZED : key;
	/* It was read until nothing was left: what is still readable is its end. */
	if (poll(&input, 1, 0) > 0 && (input.revents & (POLLHUP | POLLERR | POLLNVAL)))
		return TERMINAL_GONE;
	return TERMINAL_NONE;
}

bool terminal__is_large_enough(void)
{
	return LINES >= TERMINAL_LINES && COLS >= TERMINAL_COLUMNS;
}
