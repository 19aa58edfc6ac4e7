// SPDX-License-Identifier: BSD-2-Clause
/* What each key does. */
#include "view.h"

#include <curses.h>
#include <string.h>

#define ESCAPE 27
#define DELETE 127
#define BACKSPACE 8
#define CTRL_L 12

static enum view_action type_filter(struct view *view, int key)
{
	size_t length = strlen(view->filter);

	switch (key) {
	case ESCAPE:
		view->filter[0] = '\0';
		view->typing = false;
		return ACTION_NONE;
	case '\r':
	case '\n':
	case KEY_ENTER:
		view->typing = false;
		return ACTION_NONE;
	case KEY_BACKSPACE:
	case DELETE:
	case BACKSPACE:
		while (length && (view->filter[--length] & 0xc0) == 0x80)
			;
		view->filter[length] = '\0';
		return ACTION_NONE;
	}
	if (key >= ' ' && key <= 0xff && length + 1 < sizeof(view->filter)) {
		view->filter[length] = (char)key;
		view->filter[length + 1] = '\0';
	}
	return ACTION_NONE;
}

static void move_by(size_t *at, long by)
{
	if (by < 0 && *at < (size_t)-by)
		*at = 0;
	else
		*at = (size_t)((long)*at + by);
}

static bool move_cursor(struct view *view, int key)
{
	bool scrolls = view->page == PAGE_DETAIL || view->page == PAGE_BAR;
	size_t *at = scrolls ? &view->scroll : &view->cursor;
	long page = view->lines > 1 ? (long)view->lines - 1 : 1;

	switch (key) {
	case KEY_UP:
	case 'k':
		move_by(at, -1);
		return true;
	case KEY_DOWN:
	case 'j':
		move_by(at, 1);
		return true;
	case KEY_PPAGE:
		move_by(at, -page);
		return true;
	case KEY_NPAGE:
		move_by(at, page);
		return true;
	}
	return false;
}

uint64_t keys__step(const uint64_t *lengths, size_t nr, uint64_t now, bool longer)
{
	uint64_t shorter = now;

	for (size_t i = 0; i < nr; i++) {
		if (lengths[i] < now)
			shorter = lengths[i];
		else if (longer && lengths[i] > now)
			return lengths[i];
	}
	return longer ? now : shorter;
}

static void open_detail(struct view *view)
{
	const struct run_key *key;

	if (view->cursor >= view->nr_rows)
		return;
	key = view->rows[view->cursor].key;
	view->key = key->key;
	strcpy(view->name, key->name);
	view->scroll = 0;
	view->page = PAGE_DETAIL;
}

/* Views in the order of Tab: the bars, then probe N - 1 in place N. */
static bool is_view(const struct view *view, unsigned int place)
{
	const struct run_probe *probes = view->model.run->probes;

	if (!place)
		return bars_view__has(view);
	return probes[place - 1].nr_metrics && !probes[place - 1].refused[0];
}

static void choose_next(struct view *view, bool back)
{
	bool is_bars = view->page == PAGE_BARS || view->page == PAGE_BAR;
	unsigned int places = view->model.run->nr_probes + 1, at = is_bars ? 0 : view->probe + 1;

	for (unsigned int i = 0; i < places; i++) {
		at = (at + (back ? places - 1 : 1)) % places;
		if (is_view(view, at))
			break;
	}
	if (!is_view(view, at))
		return;
	if (at)
		view__choose_probe(view, at - 1);
	else
		view->page = PAGE_BARS;
	view->cursor = view->first = 0;
}

static enum view_action press_on_any_page(struct view *view, int key)
{
	static const struct {
		int key;
		enum view_action action;
	} actions[] = {
		{ 'q', ACTION_QUIT },	    { ' ', ACTION_PAUSE },
		{ '+', ACTION_LONGER },	    { '=', ACTION_LONGER },
		{ '-', ACTION_SHORTER },    { 'r', ACTION_RECORD },
		{ KEY_LEFT, ACTION_BACK },  { KEY_RIGHT, ACTION_FORWARD },
		{ '[', ACTION_FAR_BACK },   { ']', ACTION_FAR_FORWARD },
		{ KEY_HOME, ACTION_FIRST }, { KEY_END, ACTION_LAST },
	};

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (actions[i].key == key)
			return actions[i].action;
	switch (key) {
	case 'h':
	case '?':
		view->before = view->page;
		view->page = PAGE_HELP;
		return ACTION_NONE;
	case '\t':
	case KEY_BTAB:
		choose_next(view, key == KEY_BTAB);
		return ACTION_NONE;
	case CTRL_L:
		clearok(curscr, TRUE);
		return ACTION_NONE;
	}
	if (key >= '1' && key <= '0' + RUN_PROBES)
		view__choose_probe(view, (unsigned int)(key - '1'));
	return ACTION_NONE;
}

static void press_on_table(struct view *view, int key)
{
	bool is_bars = view->page == PAGE_BARS;

	switch (key) {
	case 's':
		if (is_bars)
			view->bars.sort = (view->bars.sort + 1) % BARS_SORTS;
		else
			view->sort = (view->sort + 1) % SORTS;
		view->cursor = view->first = 0;
		return;
	case 'b':
		if (is_bars)
			bars_view__choose_split(view);
		else
			view__choose_split(view, true);
		view->cursor = view->first = 0;
		return;
	case '/':
		view->typing = true;
		view->cursor = view->first = 0;
		return;
	case ESCAPE:
		view->filter[0] = '\0';
		return;
	case '\r':
	case '\n':
	case KEY_ENTER:
		if (is_bars)
			bars_view__open(view);
		else
			open_detail(view);
	}
}

enum view_action keys__press(struct view *view, int key)
{
	bool leaves = key == ESCAPE || key == '\r' || key == '\n' || key == KEY_ENTER;

	view->note[0] = '\0';
	if (view->typing)
		return type_filter(view, key);
	if (view->page == PAGE_HELP) {
		view->page = view->before;
		return ACTION_NONE;
	}
	if (move_cursor(view, key))
		return ACTION_NONE;
	if ((view->page == PAGE_DETAIL || view->page == PAGE_BAR) && (leaves || key == 'q')) {
		view->page = view->page == PAGE_BAR ? PAGE_BARS : PAGE_TABLE;
		return ACTION_NONE;
	}
	if (view->page == PAGE_TABLE || view->page == PAGE_BARS)
		press_on_table(view, key);
	return press_on_any_page(view, key);
}
