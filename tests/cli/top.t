#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The screen of top in tmux: errors, each key, sizes, colours, signals; a recording shown equals what report prints. The screen
# waits for no kernel: a recording is replayed. tests/host/top.t has what only a live screen does.
. "$(dirname "$0")/cli.sh"
. tests/cli/screen.sh
stored memlat
stored hostile
replay=$dir/memlat

# ---- errors ----

refuses 'no terminal' 1 'standard (input|output) is not a terminal; .*record -i 1s' top </dev/null
wrong 'a recording and a filter' 'leave out the options of a measurement' top --replay "$dir" -p 1
wrong 'an argument' "unexpected argument 'x'" top x
screen 80x24 TERM=dumb top --replay "$replay"
shows 'TERM=dumb: a clear line' "^latscope: cannot show a screen: terminal 'dumb' cannot place the cursor; "
quits 'TERM=dumb' 1
screen 80x24 TERM=nonesuch top --replay "$replay"
shows 'an unknown terminal: a clear line' "unknown terminal 'nonesuch'; install the"
screen 80x24 '' top --replay "$dir/none"
shows 'no recording: a clear line' 'latscope: .*/none: .*; give the directory of a recording'
quits 'no recording' 1

# ---- keys ----

screen 80x24 '' top --replay "$dir/hostile"
shows 'the numbers of a probe' "$numbers"
shows 'the process that waits most' 'process +\*waited +events +p50 .*</script><b>x \([0-9]+\) +[0-9]'
shows 'the accounting' 'memlat: [0-9,]+ seen = [0-9,]+ recorded'
shows 'the method' 'method [a-z_-]+: '
shows 'a heat map of half blocks' '▀▀'
ok 'the footer is the last line' eventually footer_is_last 24
pressed b 'b: another split' '^cgroup +\*waited|[^a-z]cgroup +\*waited'
pressed Enter 'Enter: not by this split' 'slow samples are explained by process, not by cgroup'
pressed 'Enter b' 'b: the first split again' 'process +\*waited'
for sort in events p50 p99 p99.9 max; do
	pressed s "s: by $sort" "\\*${sort//./\\.}"
done
pressed s 's: by name' 'process \*'
pressed s 's: by time waited again' '\*waited'
press /
pressed nobody '/: the filter is typed' '/nobody_'
shows '/: no such name' 'no name contains the filter'
pressed Enter '/: Enter ends it' 'filter: nobody'
press Escape
loses 'Escape clears the filter' 'filter: nobody'
pressed '/ SCRIPT Enter' '/: in any case of letters' 'filter: SCRIPT'
shows '/: the name is there' '</script><b>x \([0-9]+\)'
pressed Enter 'Enter: percentiles' 'waited [0-9.]+ .* events +mean .*p50 .*p90 .*p99 .*p99\.9 .*p99\.99 '
shows 'Enter: parts of its slow time' 'where its slow time went +share +time|none of its samples was slow'
pressed Enter 'Enter: back' 'process +\*waited'
press Escape
pressed h 'h: help' 'Keys.*view of this probe'
pressed h 'a key ends the help' "$numbers"
pressed 3 '3: the third probe' '(disk|process|cgroup) +\*waited'
shows '3: its accounting' 'iolat: '
pressed 1 '1: the first probe' 'memlat: '
pressed 'Down Down Up NPage PPage' 'the cursor moves' 'process +\*waited'
q_quits q

# ---- sizes, colours ----

screen 59x19 '' top --replay "$replay"
shows 'too small: a line' '^too small: 59x19; latscope top needs 60x20'
for size in 200x50 120x40 80x24 60x20; do
	mux resize-window -x "${size%x*}" -y "${size#*x}"
	shows "$size: the numbers" "$numbers"
	ok "$size: the footer is the last line" eventually footer_is_last "${size#*x}"
done
q_quits resize
screen 80x24 LC_ALL=C top --replay "$replay"
shows 'without UTF-8: the numbers' "$numbers"
ok 'without UTF-8: only ASCII' ascii
screen 80x24 NO_COLOR=1 top --replay "$replay"
shows 'NO_COLOR: shades' '[░▒▓█]'
ok 'NO_COLOR: no colour' colorless
end_screen

ends_at_signals --replay "$replay"
stops_and_continues --replay "$replay"

# ---- a recording is what report prints ----

"$latscope" report --intervals --json "$replay" >"$dir/intervals"
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
	pressed Right "right: interval $i is that of report" " $i/4.*$(interval $i)"
done
pressed Left 'left: interval 3 again' " 3/4.*$(interval 3)"
pressed Home 'Home: the first' " 1/4.*$(interval 1)"
pressed End 'End: the last' " 4/4.*$(interval 4)"
pressed 'Space Home Space' 'space plays to the end' ' 4/4'
pressed 'Home + + -' '+ and -: two intervals at once' ' 1/2'
pressed '+ + r' 'r: not in a recording' 'this is a recording already'
seen_all=$("$latscope" report --json "$replay" | jq '.probes[0].accounting.seen' | sed -E ':a; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; ta')
shows 'all intervals at once: the totals of report' " 1/1.*memlat: $seen_all seen"
worst=$("$latscope" report --json "$replay" | jq -r '[.probes[0].keys[] | select(.by == "process")][0].name')
# A long name is cut in the middle: its number says which it is.
shows 'the process that waited most is that of report' "waited[^(]*\(${worst##*(}"
q_quits 'replay: q'

# ---- where the time went: a recording of four processes with known parts ----

cp -r "$replay" "$dir/parts"
sqlite3 "$dir/parts/run.db" <tests/cli/bars.sql
waited=$("$latscope" report --intervals --json "$replay" | sed -n 1p | jq -r '
	.probes[0].metrics[0] as $m | $m.mean_us * $m.total_events / (.end_sec - .start_sec) / 1e3 | floor')'\.[0-9]'
screen 80x24 NO_COLOR=1 top --replay "$dir/parts"
shows 'bars: a process has its parts' 'worker \(100\) +C{8}D{8}F{16} +75\.0 % futex < holder \(101\)'
shows 'bars: another one' 'hog \(200\) +C{24}W{8} +25\.0 % wait CPU'
shows 'bars: sleeps that nobody ended are no waits' '2 more were idle'
ok 'bars: nor are they rows' lacks 'shell|pool'
shows 'bars: the machine' 'CPU +0\.25 waiting, 1\.25 run +pressure .*memory +0\.00 waiting.*disk +0\.50 waiting.*locks +1\.00 waiting'
shows 'bars: a probe, with its time waited' "1 memlat +$waited ms/s p99 [0-9.]+ .s"
shows 'bars: the legend' 'C CPU  W wait CPU  D disk  M memory  L lock  F futex  S socket  O other  \. idle'
shows 'bars: the chosen row in words' 'worker \(100\) waited 75\.0 % of its time, 50\.0 % for a futex, ended by holder'
ok 'bars: the footer is the last line' eventually footer_is_last 24
pressed Down 'bars: the next row in words' 'hog \(200\) waited 25\.0 % of its time, 25\.0 % for a CPU'
pressed 'Up Right Right' 'bars: another interval' ' 3/4.*worker \(100\) +F{32} +100 % futex'
pressed 'Home + +' 'bars: all intervals' ' 1/1.*worker \(100\) +C{6}D{6}F{20} +81\.2 % futex'
pressed '- -' 'bars: one again' ' 1/4.*worker \(100\) +C{8}D{8}F{16}'
pressed b 'b: cgroups are the sums of their processes' '/a +C{5}D{6}F{10}S{11} +50\.0 % futex.*/b +C{12}W{4}F{16} +12\.5 % wait CPU'
pressed b 'b: processes again' 'worker \(100\) +C{8}'
pressed s 's: by time on a CPU' 'sorted by CPU.*hog.*worker'
pressed 's s' 's: by time for a disk' 'sorted by disk.*worker.*hog'
pressed 's s s s s s s' 's: by name' 'process \*.*hog.*worker'
pressed s 's: by waits again' '\*waited.*worker.*hog'
pressed '/ shel Enter' '/: also what is idle' 'shell \(300\) +S{32} +0 %'
press Escape
pressed '/ WORK Enter Enter' 'Enter: the parts of the process, as its command prints them' \
	'process: worker \(100\).* 504 ms +50\.0 %.*20\.0 ms +worker \(102\).*holder \(101\): disk 19\.0 ms <[[:space:]]+softirq block'
ok 'Enter: nothing of others' lacks 'hog|shell|pool'
pressed Enter 'Enter: back' 'filter: WORK'
pressed Escape 'Escape: all rows' 'hog \(200\)'
pressed Tab 'Tab: a probe' "$numbers"
pressed Tab 'Tab: from the last probe to the bars' 'worker \(100\) +C{8}'
pressed BTab 'Shift-Tab: back to the probe' "$numbers"
pressed BTab 'Shift-Tab: back to the bars' 'worker \(100\) +C{8}'
pressed 1 '1: the first probe' "$numbers"
pressed 2 '2: the bars, by the number of their probe' 'worker \(100\) +C{8}'
pressed h 'h: help' 'Keys.*next view'
pressed h 'a key ends the help of the bars' 'worker \(100\) +C{8}'
q_quits 'bars'
has_colors() { [[ $(mux capture-pane -e -p) =~ 48\;5\;36m.*48\;5\;166m.*48\;5\;74m ]] || { mux capture-pane -e -p && false; }; }
screen 200x50 '' top --replay "$dir/parts"
shows 'bars: wide, the cause in words' 'worker \(100\) +75\.0 % .*50\.0 % for a futex, ended by holder \(101\): disk'
ok 'bars: colours in place of letters' has_colors
q_quits 'wide bars'
screen 80x24 'LC_ALL=C TERM=xterm' top --replay "$dir/parts"
shows 'bars: few colours: also letters' 'worker \(100\) +C{8}D{8}F{16}'
ok 'bars: only ASCII' ascii
q_quits 'bars in ASCII'

# top_of W: the header, legend and first row of the bars are as wide as the screen at most, and nothing of them is overwritten
top_of() {
	has "CPU +0\.25 waiting(, 1\.25 run)? +pressure +[0-9.]+ % +1 memlat +$waited ms/s"
	has "worker ?\.*\(?100\) +C+D+F+ +75\.0 % "
	[ "$(seen | wc -L)" -le "$1" ]
}
for size in 60x20 80x24 120x40 200x50; do
	screen "$size" NO_COLOR=1 top --replay "$dir/parts"
	ok "bars: $size" eventually top_of "${size%x*}"
	ok "bars: $size: the footer has the keys" eventually footer_is_last "${size#*x}"
done
shows 'bars: 200 columns: the p99 of each probe next to the name' 'waited +memlat p99 .*worker \(100\) +C+D+F+ +75\.0 % '

# ---- slow events are in their interval ----

stored where
screen 200x50 '' top --replay "$dir/where"
eventually has runqlat >/dev/null
press 3
# slow_of I: the screen has interval I, and lists the times of its slow waits for a CPU, and no others
slow_of() {
	has " $1/10"
	is_same <(seen | grep -oE '^[0-9]+\.[0-9]{6} s' | sort) \
		<(sqlite3 "$dir/where/run.db" "SELECT printf('%.6f s', time_ns / 1e9) FROM runqlat_slow WHERE interval = $1" | sort)
}
is_same() { diff "$1" "$2"; }
for i in 1 2 3 4 5 6 7 8 9 10; do
	ok "slow events of interval $i" eventually slow_of "$i"
	press Right
done
q_quits 'slow events'

# ---- a recording that goes on: its recorder holds a lock, and writes another interval ----

cp -r "$replay" "$dir/growing"
sqlite3 "$dir/growing/run.db" "UPDATE meta SET value = 0 WHERE name = 'complete'"
coproc LOCK { exec flock "$dir/growing" sh -c 'echo locked && cat'; }
read -r _ <&"${LOCK[0]}"
screen 80x24 '' top --replay "$dir/growing"
shows 'a recording that is being written' '4/4 recording'
sqlite3 "$dir/growing/run.db" 'INSERT INTO interval SELECT id + 1, end_ns, end_ns + 500000000 FROM interval ORDER BY id DESC LIMIT 1'
shows 'it is followed' '5/5 recording'
lock=${LOCK[1]}
exec {lock}>&-
loses 'its end is noticed' 'recording'
q_quits 'a recording that was written'

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
