#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# The screen of top while it measures: numbers that change, keys that change the measurement, its recording, signals. That a
# kernel's events reach a screen, and that a recorder with privileges restores it, is in no recording; the VM's clock stands still
# while a terminal waits.
. "$(dirname "$0")/host.sh"
skip_unless_able
. tests/cli/screen.sh

"$latscope" load touch -q -d 30min &
load=$!
on_exit kill "$load"
begins='CPU +[0-9.]+ waiting, [0-9.]+ run .*\*waited'
screen 80x24 '' top -i 200ms
shows 'where the time went comes first' "$begins"
shows 'the pressure' 'run +pressure [0-9.]+ %'
shows 'the time waited of each probe' 'memlat +[0-9.]+ ms/s p99 .*runqlat +[0-9.]+ ms/s p99 .*iolat +[0-9.]+ ms/s p99 '
shows 'its cost' 'top [0-9.<]+ % of a CPU'
pressed Tab 'Tab: the numbers of a probe' "$numbers"
shows 'the process that waits most' 'process +\*waited +events +p50 .*latscope \([0-9]+\) +[0-9]'
shows 'the accounting' 'memlat: [0-9,]+ seen = [0-9,]+ recorded'
shows 'the method' 'method [a-z_-]+: '
pressed Enter 'Enter: parts of its slow time' 'where its slow time went +share +time|none of its samples was slow'
press Enter
pressed Space 'space pauses' 'paused'
# stands_still: sets $frozen to the line of the accounting, once it does not change any more. It can be drawn after "paused".
stands_still() { frozen=$(seen | grep 'memlat: ') && sleep 0.5 && tap_same "$(seen | grep 'memlat: ')" "$frozen"; }
is_frozen() { [[ $(seen) = *"$frozen"* ]] || { printf 'no %s in:\n%s\n' "$frozen" "$(seen)" && false; }; }
measure stands_still
pressed h 'h: help' 'Keys.*view of this probe'
press h
ok 'a key ends the help, and the pause holds' eventually is_frozen
press Space
loses 'space goes on' 'paused'
pressed + '+: a longer interval' 'interval 500 ms'
pressed - '-: a shorter one' 'interval 200 ms'
pressed Left 'left: only in a recording' 'top --replay DIR'
q_quits q

# ---- the first frame is there before the probes are ----

# Bytes on the way to the terminal: the first one is kept apart, so the time of that file is when it came.
mkfifo "$dir/go"
start_watched() {
	end_screen
	server=$((server + 1))
	rm -f "$dir"/{before,after,status,error}
	# shellcheck disable=SC2016 # expanded by that bash
	mux new-session -d -x 80 -y 24 env TERM=tmux-256color LC_ALL=C.UTF-8 bash -c 'read -r _ <"$1/go"; exec bash "$1/pane" "$@"' - \
		"$dir" "$latscope" top -i 200ms
	mux pipe-pane "head -c1 >'$dir/first' && cat >'$dir/rest'"
	begun=$(date +%s.%N)
	echo >"$dir/go"
	eventually has "$begins"
	shown=$(date +%s.%N)
}
at() { LC_ALL=C grep -obaE "$1" "$dir/rest" | sed -n '1s/:.*//p'; }
says_loading() { [ "$(at 'loading why')" -lt "$(at 'wait(ing for the first|ing,)')" ]; }
# The screen with data takes at least an interval of 200 ms, the probes, and the time until tmux is asked again.
comes_first() {
	awk -v begun="$begun" -v first="$(stat -c %.9Y "$dir/first")" -v shown="$shown" 'BEGIN {
		printf "the first byte after %.3f s, data after %.3f s\n", first - begun, shown - begun
		exit !(2 * (first - begun) < shown - begun)
	}'
}
begin_evidence
start_watched
end_evidence
ok 'it says that it loads, and then shows data' says_loading
ok 'the first frame takes less than half as long' comes_first
calm
q_quits 'the first frame'
screen 80x24 '' top --cgroup /no/such/cgroup
shows 'an error while it loads is printed below the screen' "^latscope: .*no/such/cgroup"
quits 'an error while it loads' 1

# ---- threads that wait for one known thing each ----

screen 80x24 NO_COLOR=1 top -i 200ms --by thread
eventually has "$begins" >/dev/null
# Now, because a thread that has had all its waits only waits for a futex.
.output/tests/reference/states "$dir" 100000 >/dev/null &
states=$!
on_exit kill "$states"
# bar_of THREAD LETTER: its bar has this part, and else only a CPU, waits for one, and the reads of a pipe before each wait
bar_of() {
	press / "$1 (" Enter
	shows "a thread that waits for a $1: its bar" "$1 \\([0-9]+\\) +C*W*$2+S* +[0-9.>]+ %"
	press Escape
}
bar_of pipe S
bar_of socket S
bar_of futex F
q_quits 'bars of threads'
kill "$states"

# ---- hostile names ----

screen 80x24 '' top -i 200ms --by process
eventually has "$begins" >/dev/null
press Tab
bash -c 'printf "\033[2J\033[9;9HX" >/proc/$$/comm; while [ -e "$0" ]; do :; : "$(echo)"; done' "$dir/pane" &
hostile=$!
shows 'a name with escape sequences is sanitized' '\?\[2J\?\[9'
shows 'and the screen is whole' "latscope top .*$numbers"
kill "$hostile"
q_quits 'hostile names'

ends_at_signals -i 200ms
stops_and_continues -i 200ms

# ---- r ----

made_intervals() { has_intervals "$(recording "$dir/made")" 3; }
complete_alone() { "$latscope" report --json "$1" | jq -e '.complete and (.running | not)'; }
screen 80x24 '' top -i 200ms -o "$dir/made"
shows 'before r' "$begins"
pressed r 'r: a recording begins' "recording into $dir/made|recording into"
ok 'r: it has intervals' eventually made_intervals
pressed r 'r: it ends' 'recording in '
ok 'r: it is complete' complete_alone "$(recording "$dir/made")"
q_quits 'r and q'

# ---- a recording that goes on ----

frames() { [[ $(seen) =~ ([0-9]+)/[0-9]+\ recording ]] && echo "${BASH_REMATCH[1]}"; }
follows() {
	local first

	first=$(frames) || return
	eventually has_more "$first"
}
has_more() { [ "$(frames)" -gt "$1" ]; }
start -i 200ms
eventually has_intervals "$(recording "$dir/runs")" 2
screen 80x24 '' top --replay "$(recording "$dir/runs")"
shows 'a recording that is being written' '[0-9]+/[0-9]+ recording'
ok 'it is followed' eventually follows
end_by INT
loses 'its end is noticed' 'recording'
q_quits 'a recording that was written'
done_testing
