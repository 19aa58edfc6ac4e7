#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# The screen of top in tmux: each key, sizes, colours, signals that must restore the terminal; a recording shown equals
# what report prints.
# shellcheck disable=SC2016 # what other shells and jq shall see
set -u
cd "$(dirname "$0")/../.." || exit
. tests/cli/cli.sh
. tests/measure.sh
[ "$(id -u)" = 0 ] || skip_all 'only root can measure'
command -v tmux >/dev/null || skip_all 'tmux is not installed'
run memlat -d 10ms
[ "$status" != 77 ] || skip_all "memlat does not run here: $err"

# A server of its own for each screen: one that ends refuses the next.
server=0
mux() { tmux -S "$dir/tmux$server" -f /dev/null "$@"; }
clean_up() {
	mux kill-server 2>/dev/null
	[ -z "${load-}" ] || kill "$load" 2>/dev/null
}
on_exit clean_up

# The pane runs this: latscope, between two looks at the terminal's modes.
cat >"$dir/pane" <<-'END'
	cd "$1" || exit
	shift
	stty -g >before
	"$@" 2>error
	echo $? >status
	stty -g >after
	cat error
	exec sleep 1000
END

# screen WxH VARIABLES ARG...: runs latscope in a pane of its own; VARIABLES are words for env
screen() {
	local size=$1 words

	read -ra words <<<"$2"
	mux kill-server 2>/dev/null
	server=$((server + 1))
	rm -f "$dir"/{before,after,status,error}
	mux new-session -d -x "${size%x*}" -y "${size#*x}" env -u NO_COLOR TERM=tmux-256color LC_ALL=C.UTF-8 "${words[@]}" \
		bash "$dir/pane" "$dir" "$latscope" "${@:3}"
}
seen() { mux capture-pane -J -p; }
press() { mux send-keys "$@"; }
has() { [[ $(seen) =~ $1 ]] || { printf 'no %s in:\n%s\n' "$1" "$(seen)" && false; }; }
lacks() { [[ ! $(seen) =~ $1 ]] || { printf '%s in:\n%s\n' "$1" "$(seen)" && false; }; }
# shows TITLE REGEX: a test that the screen has a match, now or soon
shows() { ok "$1" eventually has "$2"; }
loses() { ok "$1" eventually lacks "$2"; }
ended_with() { [ -s "$dir/after" ] && [ "$(<"$dir/status")" = "$1" ]; }
restored() {
	cmp "$dir/before" "$dir/after" && [ "$(mux display -p '#{alternate_on}')" = 0 ]
}
# quits TITLE CODE: a test that it ends and the terminal is as before
quits() {
	ok "$1: ends" eventually ended_with "$2"
	ok "$1: the terminal is restored" restored
}
pid_of_top() { pgrep -o -P "$(mux display -p '#{pane_pid}')"; }

footer_is_last() { [[ $(mux capture-pane -p | sed -n "$1p") = 'h help'* ]] || { seen && false; }; }
ascii() { ! mux capture-pane -p | LC_ALL=C grep -q '[^ -~]'; }
colorless() { ! mux capture-pane -e -p | grep -qE $'\e''\\[[0-9;]*(3[0-7]|38;5|4[0-7]|48;5)'; }
made_intervals() { has_intervals "$(recording "$dir/made")" 3; }
complete_alone() { "$latscope" report --json "$1" | jq -e '.complete and (.running | not)'; }

frames() { [[ $(seen) =~ ([0-9]+)/[0-9]+\ recording ]] && echo "${BASH_REMATCH[1]}"; }
follows() {
	local first

	first=$(frames) || return
	eventually has_more "$first"
}
has_more() { [ "$(frames)" -gt "$1" ]; }

"$latscope" load touch -q -d 30min &
load=$!

# ---- errors ----

refuses 'no terminal' 1 'standard (input|output) is not a terminal; .*record -i 1s' top </dev/null
wrong 'a recording and a filter' 'leave out the options of a measurement' top --replay "$dir" -p 1
wrong 'an argument' "unexpected argument 'x'" top x
screen 80x24 TERM=dumb top
shows 'TERM=dumb: a clear line' "^latscope: cannot show a screen: terminal 'dumb' cannot place the cursor; "
quits 'TERM=dumb' 1
screen 80x24 TERM=nonesuch top
shows 'an unknown terminal: a clear line' "unknown terminal 'nonesuch'; install the"
screen 80x24 '' top --replay "$dir/none"
shows 'no recording: a clear line' 'latscope: .*/none: .*; give the directory of a recording'
quits 'no recording' 1

# ---- live: keys ----

numbers='memlat +[0-9,.]+/s +max [0-9.]+ .*p50 [0-9.]+ .s +p99 [0-9.]+ .s +p99.9 [0-9.]+ .s'
screen 80x24 '' top -i 200ms
shows 'the numbers of a probe' "$numbers"
shows 'the process that waits most' 'process +\*waited +events +p50 .*latscope \([0-9]+\) +[0-9]'
shows 'the accounting' 'memlat: [0-9,]+ seen = [0-9,]+ recorded'
shows 'the method' 'method [a-z_-]+: '
shows 'its cost' 'top [0-9.<]+ % of a CPU'
shows 'a heat map of half blocks' '▀▀'
ok 'the footer is the last line' eventually footer_is_last 24
press b
shows 'b: another split' '^cgroup +\*waited|[^a-z]cgroup +\*waited'
press Enter
shows 'Enter: not by this split' 'slow samples are explained by process, not by cgroup'
press Enter b
shows 'b: the first split again' 'process +\*waited'
for sort in events p50 p99 p99.9 max; do
	press s
	shows "s: by $sort" "\\*${sort//./\\.}"
done
press s
shows 's: by name' 'process \*'
press s
shows 's: by time waited again' '\*waited'
press /
press nobody
shows '/: the filter is typed' '/nobody_'
shows '/: no such name' 'no name contains the filter'
press Enter
shows '/: Enter ends it' 'filter: nobody'
press Escape
loses 'Escape clears the filter' 'filter: nobody'
press / LATSCOPE Enter
shows '/: in any case of letters' 'filter: LATSCOPE'
shows '/: the name is there' 'latscope \([0-9]+\)'
press Enter
shows 'Enter: percentiles' 'waited [0-9.]+ .* events +mean .*p50 .*p90 .*p99 .*p99\.9 .*p99\.99 '
shows 'Enter: parts of its slow time' 'where its slow time went +share +time|none of its samples was slow'
press Enter
shows 'Enter: back' 'process +\*waited'
press Escape
press Space
shows 'space pauses' 'paused'
# stands_still: sets $frozen to the line of the accounting, once it does not change any more. It can be drawn after "paused".
stands_still() { frozen=$(seen | grep 'memlat: ') && sleep 0.5 && tap_same "$(seen | grep 'memlat: ')" "$frozen"; }
is_frozen() { [[ $(seen) = *"$frozen"* ]] || { printf 'no %s in:\n%s\n' "$frozen" "$(seen)" && false; }; }
measure stands_still
press h
shows 'h: help' 'Keys.*choose the probe whose table is shown'
press h
ok 'a key ends the help, and the pause holds' eventually is_frozen
press Space
loses 'space goes on' 'paused'
press +
shows '+: a longer interval' 'interval 500 ms'
press -
shows '-: a shorter one' 'interval 200 ms'
press Left
shows 'left: only in a recording' 'top --replay DIR'
press 3
shows '3: the third probe' '(disk|process|cgroup) +\*waited'
shows '3: its accounting' 'iolat: '
press 1
shows '1: the first probe' 'memlat: '
press Down Down Up NPage PPage
shows 'the cursor moves' 'process +\*waited'
press q
quits q 0

# ---- hostile names ----

screen 80x24 '' top -i 200ms --by process
bash -c 'printf "\033[2J\033[9;9HX" >/proc/$$/comm; while [ -e "$0" ]; do :; : "$(echo)"; done' "$dir/pane" &
hostile=$!
shows 'a name with escape sequences is sanitized' '\?\[2J\?\[9'
shows 'and the screen is whole' "latscope top .*$numbers"
kill "$hostile"
press q
quits 'hostile names' 0

# ---- sizes, colours ----

screen 60x20 '' top -i 200ms
shows 'too small: a line' '^too small: 60x20; latscope top needs 80x24'
for size in 160x50 100x30 80x24; do
	mux resize-window -x "${size%x*}" -y "${size#*x}"
	shows "$size: the numbers" "$numbers"
	ok "$size: the footer is the last line" eventually footer_is_last "${size#*x}"
done
press q
quits resize 0
screen 80x24 LC_ALL=C top -i 200ms
shows 'without UTF-8: the numbers' "$numbers"
ok 'without UTF-8: only ASCII' ascii
screen 80x24 NO_COLOR=1 top -i 200ms
shows 'NO_COLOR: shades' '[░▒▓█]'
ok 'NO_COLOR: no colour' colorless
mux kill-server

# ---- signals ----

for signal in INT TERM QUIT HUP; do
	screen 80x24 '' top -i 200ms
	eventually has "$numbers" >/dev/null
	kill -"$signal" "$(pid_of_top)"
	quits "SIG$signal" 0
done
screen 80x24 '' top -i 200ms
eventually has "$numbers" >/dev/null
pid=$(pid_of_top)
mux kill-server
ok 'the terminal is gone: it ends' eventually gone "$pid"

# A shell with job control.
server=$((server + 1))
mux new-session -d -x 80 -y 24 env TERM=tmux-256color LC_ALL=C.UTF-8 PS1='shell> ' bash --norc -i
eventually has 'shell>' >/dev/null
press "stty -g >$dir/before; $latscope top -i 200ms" Enter
shows 'job control: the screen' "$numbers"
press C-z
shows 'SIGTSTP: stopped' 'Stopped'
press "stty -g >$dir/after" Enter
ok 'SIGTSTP: the terminal is restored' eventually restored
press fg Enter
shows 'SIGCONT: the screen again' "latscope top .*$numbers"
press q
shows 'then q: the shell' 'shell>'
mux kill-server

# ---- r ----

screen 80x24 '' top -i 200ms -o "$dir/made"
shows 'before r' "$numbers"
press r
shows 'r: a recording begins' "recording into $dir/made|recording into"
ok 'r: it has intervals' eventually made_intervals
press r
shows 'r: it ends' 'recording in '
ok 'r: it is complete' complete_alone "$(recording "$dir/made")"
press q
quits 'r and q' 0

# ---- a recording ----

# four_intervals: records $replay. If the machine stands still meanwhile, one interval takes the place of two.
four_intervals() {
	rm -rf "$dir/replay"
	"$latscope" memlat -q -o "$dir/replay" -d 2s -i 500ms --by process,cgroup >/dev/null
	replay=$(recording "$dir/replay")
	"$latscope" report --intervals --json "$replay" >"$dir/intervals"
	tap_same "$(wc -l <"$dir/intervals")" 4
}
measure four_intervals
is 'the recording has intervals' "$(wc -l <"$dir/intervals")" 4

# interval N: a regex of the screen for interval N, from what report prints
interval() {
	local line seen

	line=$("$latscope" report --intervals "$replay" | grep memlat | sed -n "$1p" | sed -E 's/ (ns|us|ms|s)( |$)/_\1\2/g')
	seen=$(sed -n "$1p" "$dir/intervals" | jq '.probes[0].metrics[0].accounting.seen' | sed -E ':a; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; ta')
	# shellcheck disable=SC2086 # words: time, "memlat", rate, p50, p99, max, tail
	set -- $line
	echo "memlat +$3 +max ${6/_/ } .*p50 ${4/_/ }  p99 ${5/_/ }  .*memlat: $seen seen"
}
screen 80x24 '' top --replay "$replay"
shows 'replay: the first interval is that of report' " 1/4.*$(interval 1)"
for i in 2 3 4; do
	press Right
	shows "right: interval $i is that of report" " $i/4.*$(interval $i)"
done
press Left
shows 'left: interval 3 again' " 3/4.*$(interval 3)"
press Home
shows 'Home: the first' " 1/4.*$(interval 1)"
press End
shows 'End: the last' " 4/4.*$(interval 4)"
press Space Home Space
shows 'space plays to the end' ' 4/4'
press Home + + -
shows '+ and -: two intervals at once' ' 1/2'
press + + r
shows 'r: not in a recording' 'this is a recording already'
seen_all=$("$latscope" report --json "$replay" | jq '.probes[0].accounting.seen' | sed -E ':a; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; ta')
shows 'all intervals at once: the totals of report' " 1/1.*memlat: $seen_all seen"
worst=$("$latscope" report --json "$replay" | jq -r '[.probes[0].keys[] | select(.by == "process")][0].name')
# A long name is cut in the middle: its number says which it is.
shows 'the process that waited most is that of report' "waited[^(]*\(${worst##*(}"
kill -TERM "$(pid_of_top)"
quits 'replay: SIGTERM' 0

start -i 200ms
eventually has_intervals "$(recording "$dir/runs")" 2
screen 80x24 '' top --replay "$(recording "$dir/runs")"
shows 'a recording that is being written' '[0-9]+/[0-9]+ recording'
ok 'it is followed' eventually follows
kill -INT "$pid"
finish
loses 'its end is noticed' 'recording'
press q
quits 'a recording that was written' 0

cp -r "$replay" "$dir/empty"
sqlite3 "$dir/empty/run.db" 'DELETE FROM interval; DELETE FROM slots; DELETE FROM sums; DELETE FROM acct'
screen 80x24 '' top --replay "$dir/empty"
shows 'a recording without intervals' ' 0/0.*memlat'
press Right Enter q
quits 'a recording without intervals' 0
cp -r "$replay" "$dir/newer"
sqlite3 "$dir/newer/run.db" "UPDATE meta SET value = value + 1 WHERE name = 'schema'; PRAGMA user_version = 99"
screen 80x24 '' top --replay "$dir/newer"
shows 'a recording of a newer version' 'latscope: .*newer: '
quits 'a recording of a newer version' 1

done_testing
