#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# More keys than rows, while tasks on several CPUs get rows and latscope reads them at the same time: the heaviest keys are shown,
# with an upper bound for any other key. tests/unit/test_table.c has the arithmetic.
cd "$(dirname "$0")/../.." || exit
. tests/probes/window.sh

threads=3000 pages=20000

# crowd_window ARG...
crowd_window() {
	begin
	start crowd crowd "$threads" "$pages" || return
	watch all memlat '' --by thread -p "$pid" "$@"
	work
}

# of_keys EXPRESSION: queries the sums of threads
of_keys() {
	sqlite3 -readonly "$w"/all/*/run.db "SELECT $1 FROM sums JOIN series ON series.id = sums.series
		WHERE split = 'thread'"
}

# shows_heavy WHAT LEAST
shows_heavy() {
	local faults events most

	faults=$(printed crowd last_faults) events=$(fact all "memlat.thread.$(printed crowd last_tid).events")
	most=$(fact all memlat.other_most_ns)
	within "$1: the heavy thread, which came last, is shown" $((faults * $2 / 100)) "$events" $((faults + 50))
	within "$1: at most 1024 threads are" 1 "$(of_keys "count(DISTINCT key) - 1")" 1024
	is "$1: the sums of threads and of all others are the whole" "$(of_keys 'sum(sum_ns)')" "$(fact all memlat.sum_ns)"
	is "$1: so are the events" "$(of_keys 'sum(count)')" "$(fact all memlat.events)"
	is "$1: no key has less than nothing" "$(of_keys 'min(count) >= 0 AND min(sum_ns) >= 0')" 1
	within "$1: no other thread is said to have more than the heavy one" 1 "$most" \
		"$(fact all "memlat.thread.$(printed crowd last_tid).sum_ns")"
	balance "$1" all
}

# When latscope reads the maps, the heavy thread gets a row. On a busy machine that can be too late.
heavy_events() { fact all "memlat.thread.$(printed crowd last_tid).events"; }
window crowd_window -i 60s && shows_heavy 'one reading' 100
window crowd_window -i 50ms && shows_heavy 'many readings' 90

# It has a row not from its first fault on, but since it had a fifth of the time.
window crowd_window -i 50ms --max-keys 40 && {
	within '40 keys: the heavy thread is shown' $((pages / 4)) "$(heavy_events)" $((pages + 50))
	within '40 keys: and no more than these' 1 "$(of_keys 'count(DISTINCT key) - 1')" 40
}
done_testing
