#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# What tierlat does to emulated registers: each problem is reported in one line, and they are restored, however it ends.
. "$(dirname "$0")/cli.sh"
. tests/cli/registers.sh

# in_background ARG...: on registers that are found, as $pid, once it has set its counters going; with finish.
in_background() {
	found
	"$latscope" tierlat "${args[@]}" "$@" >"$dir/stdout" 2>"$dir/stderr" &
	pid=$!
	wait_for has_begun
}
has_begun() { [ "$(jq .writes.control "$emu/state")" -ge 48 ]; }

rows() { wc -l <"$dir/stdout"; } # of CSV, and its head
has_rows() { [ "$(rows)" -ge "$1" ]; }

# one_line REGEX: that is all there is on stderr, besides that the model was forced
one_line() {
	tap_match "$err" "$forced.latscope: .*$1" && tap_same "$(wc -l <"$dir/stderr")" 2
}
warned() { grep -q "$1" "$dir/stderr"; }

in_background -q -d 1m --csv -o "$dir/ended"
end_by INT
is 'Ctrl-C ends it well' "$status" 0
is 'the recording is complete' "$(jq .complete "$(recording "$dir/ended")/tierlat.summary.json")" true
like 'and what was measured is printed' "$out" ',remote-ddr,'
ok 'all is put back then' as_found

in_background -d 1m -i 50ms --csv
tell 'poke socket=1 reg=0xe1d value=0x400135'
wait_for warned reprogrammed
wait_for has_rows $(($(rows) + 4 * 7)) # of two sockets and tiers
end_by TERM
is 'another program takes a counter: it continues' "$status" 0
ok 'and tells so in one line' one_line 'CHA 2 .CPU 2.: reprogrammed by another program'
ok 'the register of another tool is left alone' as_found 1

# All boxes of a socket: those after the first are told, and that nothing is known of it from then on.
steal_controls() { for box in e01 e0f e1d e2b e39 e47; do tell "poke socket=1 reg=0x$box value=0x400135"; done; }
lost_all() { recorded_lost=$(awk -F, '$2 == 1 && $5 == 6' "$dir/stdout" | wc -l) && [ "$recorded_lost" -ge 2 ]; }

in_background -d 1m -i 50ms --csv
wait_for has_rows 5
steal_controls
wait_for lost_all
end_by TERM
is 'another program takes a socket: the rows show it' "$(head -1 <<<"$out" | cut -d, -f2,5)" socket,boxes_lost
in_background -d 1m -i 50ms
wait_for has_rows 5
steal_controls
wait_for warned 'and [1-5] more: reprogrammed\|CHA 5'
end_by TERM
like 'and the table at the end, too' "$out" \
	'socket 1, remote-ddr: latency known in [0-9]+ of [0-9]+ intervals; up to 6 boxes'

in_background -q -d 1m -i 50ms --csv -o "$dir/cut"
wait_for has_rows 2
tell 'fault access=read err=5'
finish
is 'nothing can be read any more: exit status' "$status" 1
like 'why it ended' "$err" 'cannot be read: Input/output error; what came before is kept$'
ok 'what cannot be read is put back all the same' as_found
is 'what was measured before is printed, and recorded' "$out" "$(<"$(recording "$dir/cut")/tierlat.csv")"
is 'but not as if it were all' "$(jq .complete "$(recording "$dir/cut")/tierlat.summary.json")" false
check 'report says so' 0 '' 'incomplete: the recording was cut off; ' report "$(recording "$dir/cut")"

in_background -d 1m -i 50ms --csv
tell 'offline cpu=0'
tell 'offline cpu=2'
finish
is 'all CPUs go offline: exit status' "$status" 1
like 'why, and that registers remain set' "$err" 'offline.*could not be restored'

found
tell 'fault access=open err=1'
refuses 'no right to open' 1 'does not let this user open .*; run it as root' tierlat "${args[@]}" -d 1s
found
tell 'fault access=write err=1'
refuses 'no right to write' 1 'does not let this user write MSRs; ' tierlat "${args[@]}" -d 1s
ok 'and nothing was written' as_found
found
tell 'fault access=read err=0'
refuses 'half a register' 1 'short read' tierlat "${args[@]}" -d 1s
found
tell 'poke socket=1 reg=0xe01 value=0x400135'
tell 'poke socket=1 reg=0xe00 value=0'
tell mark
refuses 'a counter that another program uses' 1 'counter 0 of CHA 0 is in use.*--take' tierlat "${args[@]}" -d 1s
ok 'which is left alone' as_found
check 'unless it is taken' 0 "$forced\$" ',local-ddr,' tierlat "${args[@]}" --take -d 100ms --csv
ok 'and given back' as_found

in_background -d 60s
end_by KILL 2>/dev/null
ok 'all is put back after a kill -9' wait_for as_found

in_background -d 60s
held="counters are used by latscope, PID $pid; end it first"
refuses 'a second latscope on the same registers' 1 "$held" tierlat "${args[@]}" -d 100ms
refuses 'a second one that takes what others use' 1 "$held" tierlat "${args[@]}" --take -d 100ms
refuses 'a reset of registers in use by latscope' 1 "$held" tierlat "${args[@]}" --reset
end_by TERM
is 'the first one is not disturbed' "$status" 0
like 'and measured' "$out" 'local-ddr +[0-9.]+ '
ok 'and puts all back' as_found

# Other device files of the same registers, as a container may have, have a lock of their own.
mkdir -p "$dir/alt/1" "$dir/alt/3"
ln -s "$emu/cpu/1/msr" "$dir/alt/1"
ln -s "$emu/cpu/3/msr" "$dir/alt/3"
# off: rows of local DDR whose latency is not 90 ns
off() { awk -F, '$3 == "local-ddr" && $10 != "" && ($10 < 80 || $10 > 100)' <<<"$out"; }
in_background -q -d 1m -i 50ms --csv
wait_for has_rows 9
"$latscope" tierlat -q --model icx --msr-root "$dir/alt" --cpu "1,3" --boxes 6 --take -d 1s >/dev/null 2>&1
finish
is 'one that gets past the lock is noticed' "$status" 1
like 'which is told' "$err" 'another program reprogrammed or reset every CHA; what came before is kept$'
is 'and nothing wrong is published' "$(off)" ''

# The restore process is its only child. If both are killed, the registers stay as they are.
in_background -d 60s
read -r undoer <"/proc/$pid/task/$pid/children"
kill -KILL "$undoer" "$pid"
wait "$pid" 2>/dev/null
wait_for gone "$undoer" # which holds the lock, too, and is no child of ours
refuses 'what a killed latscope and restore process left' 1 'a killed latscope left the CHAs programmed; .*--reset' \
	tierlat "${args[@]}" -d 100ms
check 'a reset clears it' 0 '' '^reset 12 CHAs on 2 sockets: .*1[0-2] counted, as a latscope that was killed left them$' \
	tierlat "${args[@]}" --reset
tell mark
check 'then it measures again' 0 "$forced\$" ',local-ddr,' tierlat "${args[@]}" -d 100ms --csv
ok 'and puts back what the reset made' as_found

found
mkdir "$dir/none"
refuses 'a tree without a CPU' 77 'there is no CPU in' tierlat --model icx --msr-root "$dir/none" -d 1s
refuses 'no tree' 1 'cannot open .*No such file' tierlat --model icx --msr-root "$dir/nowhere" -d 1s
refuses 'a CPU that is not there' 77 'there is no .*/7/msr' \
	tierlat --model icx --msr-root "$emu/cpu" --cpu 7 --boxes 6 -d 1s
refuses 'more CHAs than there are' 1 'Input/output error' \
	tierlat --model icx --msr-root "$emu/cpu" --cpu 0 --boxes 7 -d 1s
found
refuses "another generation's registers" 1 'MSR 0x2000|CHA 0 ' \
	tierlat --model spr --msr-root "$emu/cpu" --cpu 0 --boxes 6 -d 1s
ok 'which are not touched' as_found

if [ ! -e /sys/devices/system/node/node1 ]; then
	found
	refuses 'pages cannot move on one node' 77 'there is one NUMA node; --act needs two with memory' \
		tierlat -q "${args[@]}" --socket 0 --act move_pages --pid $$ -d 100ms
	refuses 'nor can new ones go elsewhere' 77 'there is one NUMA node; --act needs two with memory' \
		tierlat -q "${args[@]}" --socket 0 --act weighted-interleave --pid $$ -d 100ms
	ok 'pages cannot move on one node: registers are put back' as_found
fi
done_testing
