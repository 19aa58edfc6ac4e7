#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# tierlat on emulated registers, in real time: the printed latencies are right, each problem is reported in
# one line, and the registers are restored.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/cli/cli.sh
. tests/measure.sh

emu=$dir/emu
mkdir "$emu"
.output/tests/emu/msrfs/msrfs "$emu" 'machine gen=icx sockets=2 cpus=4 boxes=6' &
server=$!
leave() {
	kill "$server" 2>/dev/null
	wait "$server"
}
on_exit leave

# ended_or_served: the emulator is there, or it gave up.
ended_or_served() { [ -e "$emu/ctl" ] || gone "$server"; }
wait_for ended_or_served
if gone "$server"; then
	wait "$server"
	[ $? != 4 ] || skip_all 'a FUSE file system, as the emulator is, cannot be mounted here' # libfuse's status
	exit 1
fi
args=(--model icx --msr-root "$emu/cpu" --cpu "0,2" --boxes 6)
forced='^latscope: tierlat: by the events of Ice Lake-SP, chosen by --model' # on stderr, but for -q

tell() { printf '%s\n' "$1" >"$emu/ctl"; }

# found: a machine with registers in disorder, and no faults
found() {
	tell heal
	tell 'machine gen=icx sockets=2 cpus=4 boxes=6'
	tell 'stream name=near rate=2e8 latency=90'
	tell 'stream name=far rate=1e8 latency=180 remote=1'
	tell 'litter seed=5'
	tell mark
}

# as_found [COUNT]: no register, or so many, differ from what was found.
as_found() {
	jq -e "([.box, .control, .filter] | add | length) == ${1-0}" "$emu/changed" >/dev/null || {
		jq -c '.box, .control, .filter' "$emu/changed" && false
	}
}

# column NAME TIER: of the last row of CSV of that tier
column() {
	# shellcheck disable=SC2016 # awk's
	awk -F, -v name="$1" -v tier="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		$at["tier"] == tier { value = $at[name] }
		END { print value }' <<<"$out"
}

# median NAME TIER: of the last five rows of CSV of that tier and the last socket, but for the very last row, which
# covers no whole interval
median() {
	# shellcheck disable=SC2016 # awk's
	awk -F, -v name="$1" -v tier="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		$at["tier"] == tier { value[$at["socket"], n[$at["socket"]]++] = $at[name]; last = $at["socket"] }
		END { for (i = n[last] - 6; i < n[last] - 1; i++) print value[last, i] }' <<<"$out" | sort -g | sed -n 3p
}

# about GOT WANTED: within 5 %. Time is real here, and an interval in which the machine stands still between two
# readings is off by more: it is measured again. Unit tests of virtual time know better.
about() { awk "BEGIN { exit !($1 > $2 * .95 && $1 < $2 * 1.05) }" || { echo "$1, not $2" && false; }; }

# Values in a table within 5 % of the reference.
near='(8[6-9]|9[0-4])\.[0-9] ns' far='1(7[1-9]|8[0-8])\.[0-9] ns'

csv_is_right() {
	run tierlat "${args[@]}" -d 300ms --csv
	about "$(column latency_ns local-ddr)" 90 && about "$(column latency_ns remote-ddr)" 180 &&
		about "$(column requests_per_s local-ddr)" 2e8 && about "$(column clock_mhz remote-ddr)" 2000 &&
		about "$(column p local-ddr)" .6667
}

# prints REGEX ARG...: tierlat ARG...
prints() {
	run tierlat "${args[@]}" "${@:2}"
	ended 0 "$forced\$" "$1"
}

found
measure csv_is_right
ok 'CSV of one interval' ended 0 "$forced\$" '^time_ns,socket,tier,'
ok 'the near tier is as slow as it is' about "$(column latency_ns local-ddr)" 90
ok 'the far tier is as slow as it is' about "$(column latency_ns remote-ddr)" 180
ok 'requests are counted' about "$(column requests_per_s local-ddr)" 2e8
ok 'each moves 64 bytes' about "$(column bandwidth_b_per_s local-ddr)" 12.8e9
ok 'the clock is measured' about "$(column clock_mhz remote-ddr)" 2000
ok 'the share of the near tier is known' about "$(column p local-ddr)" .6667
is 'requests should move to the near tier' "$(column move_to local-ddr)" local-ddr
ok 'all is put back' as_found

table="local-ddr .*$near.*remote-ddr .*$far.*Colloid at the end: p 0\.6[3-9].* to local-ddr.*"
table+="$emu/cpu/N/msr.*12 CHAs on 2[[:space:]]+sockets.*by[[:space:]]+--model" live='MHz.*Colloid: p 0\.6[3-9]'
measure prints "$table" -d 300ms
ok 'a table' ended 0 "$forced\$" "$table"
like 'it names the requests in flight' "$out" 'tier +in flight +reads/s'
unlike_gaps() { [[ $out != *'known in'* ]] || { echo "$out" && false; }; }
ok 'which says of no gaps' unlike_gaps
ok 'it fits' fits
measure prints "$live" -d 300ms -i 100ms
ok 'live' ended 0 "$forced\$" "$live"
like 'it names them live' "$out" 'tier +in flight +reads/s'
ok 'it fits live' fits
check 'one tier only' 0 "$forced\$" 'remote-ddr' tierlat "${args[@]}" -d 100ms --csv --tier remote-ddr
ok 'which is all there is' tap_same "$(column latency_ns local-ddr)" ''
check 'four tiers are scaled' 0 "$forced\$" 'rates[[:space:]]+scaled' tierlat "${args[@]}" -d 100ms --tier all
run tierlat "${args[@]}" -d 100ms --tier local-ddr,remote-ddr,local-pmm
ok 'three are not' ended 0 "$forced\$" '12 CHAs'
unlike_scaled() { [[ $out != *scaled* ]] || { echo "$out" && false; }; }
ok 'which are said to be whole' unlike_scaled

# in_background ARG...: as $pid, once it has set its counters going; with finish.
in_background() {
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

found
in_background -q -d 1m --csv -o "$dir/ended"
kill -INT "$pid"
finish
is 'Ctrl-C ends it well' "$status" 0
is 'the recording is complete' "$(jq .complete "$(recording "$dir/ended")/tierlat.summary.json")" true
like 'and what was measured is printed' "$out" ',remote-ddr,'
ok 'all is put back then' as_found

found
in_background -d 1m -i 50ms --csv
tell 'poke socket=1 reg=0xe1d value=0x400135'
wait_for warned reprogrammed
wait_for has_rows $(($(rows) + 4 * 7)) # of two sockets and tiers
kill -TERM "$pid"
finish
is 'another program takes a counter: it continues' "$status" 0
ok 'and tells so in one line' one_line 'CHA 2 .CPU 2.: reprogrammed by another program'
ok 'the rest is right' about "$(median latency_ns local-ddr)" 90
ok 'the register of another tool is left alone' as_found 1

# All boxes of a socket: those after the first are told, and that nothing is known of it from then on.
steal_controls() { for box in e01 e0f e1d e2b e39 e47; do tell "poke socket=1 reg=0x$box value=0x400135"; done; }
lost_all() { recorded_lost=$(awk -F, '$2 == 1 && $5 == 6' "$dir/stdout" | wc -l) && [ "$recorded_lost" -ge 2 ]; }

found
in_background -d 1m -i 50ms --csv
wait_for has_rows 5
steal_controls
wait_for lost_all
kill -TERM "$pid"
finish
is 'another program takes a socket: the rows show it' "$(head -1 <<<"$out" | cut -d, -f2,5)" socket,boxes_lost
found
in_background -d 1m -i 50ms
wait_for has_rows 5
steal_controls
wait_for warned 'and [1-5] more: reprogrammed\|CHA 5'
kill -TERM "$pid"
finish
like 'and the table at the end, too' "$out" \
	'socket 1, remote-ddr: latency known in [0-9]+ of [0-9]+ intervals; up to 6 boxes'

found
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

found
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

found
in_background -d 60s
kill -KILL "$pid"
wait "$pid" 2>/dev/null
ok 'all is put back after a kill -9' wait_for as_found

found
in_background -d 60s
held="counters are used by latscope, PID $pid; end it first"
refuses 'a second latscope on the same registers' 1 "$held" tierlat "${args[@]}" -d 100ms
refuses 'a second one that takes what others use' 1 "$held" tierlat "${args[@]}" --take -d 100ms
refuses 'a reset of registers in use by latscope' 1 "$held" tierlat "${args[@]}" --reset
kill -TERM "$pid"
finish
is 'the first one is not disturbed' "$status" 0
like 'and measured' "$out" 'local-ddr +[0-9.]+ '
ok 'and puts all back' as_found

# Other device files of the same registers, as a container may have, have a lock of their own.
mkdir -p "$dir/alt/1" "$dir/alt/3"
ln -s "$emu/cpu/1/msr" "$dir/alt/1"
ln -s "$emu/cpu/3/msr" "$dir/alt/3"
# off: rows of local DDR whose latency is not 90 ns
off() { awk -F, '$3 == "local-ddr" && $10 != "" && ($10 < 80 || $10 > 100)' <<<"$out"; }
found
in_background -q -d 1m -i 50ms --csv
wait_for has_rows 9
"$latscope" tierlat -q --model icx --msr-root "$dir/alt" --cpu "1,3" --boxes 6 --take -d 1s >/dev/null 2>&1
finish
is 'one that gets past the lock is noticed' "$status" 1
like 'which is told' "$err" 'another program reprogrammed or reset every CHA; what came before is kept$'
is 'and nothing wrong is published' "$(off)" ''

# The restore process is its only child. If both are killed, the registers stay as they are.
found
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

# one_socket MODEL TIERS ARG...: of a machine of that generation
one_socket() { run tierlat --model "$1" --msr-root "$emu/cpu" --boxes 6 --tier "$2" -d 300ms "${@:3}"; }
tell 'machine gen=emr sockets=1 boxes=6'
tell 'stream name=near rate=2e8 latency=90'
tell 'stream name=cxl memory=cxl rate=1e8 latency=250'
one_socket emr local-ddr,remote-ddr,local-cxl
like 'with CXL memory, Colloid is about it' "$out" 'Colloid at the end: p 0\.6[3-9].*Colloid[[:space:]]+between[[:space:]]+local-ddr[[:space:]]+and[[:space:]]+local-cxl'
tell 'machine gen=srf sockets=1 boxes=6'
tell 'stream name=near opcode=drd_opt rate=2e8 latency=90'
one_socket srf local,remote
like 'derived events are said to be so' "$(tr -s '\n ' ' ' <<<"$out")" 'occupancy events are derived: only the inserts'

# recomputed TIER: the latency of its last row, from the rows of the CHAs of that interval and socket
recomputed() {
	# shellcheck disable=SC2016 # awk's
	awk -F, -v tier="$1" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["tier"] != tier { next }
		$at["box"] == "" { occupancy = inserts = 0; time = $1; socket = $at["socket"]; next }
		$1 == time && $at["socket"] == socket && $at["occupancy"] != "" {
			occupancy += $at["occupancy"] * $at["clock_ns"]
			inserts += $at["inserts"]
		}
		END { printf "%.6f\n", occupancy / inserts }' <<<"$out"
}
# printed TIER: what the row of the tier says
printed() { grep -E ",$1,[0-9]+,[0-9]+," <<<"$out" | tail -1 | cut -d, -f10 | xargs printf '%.6f\n'; }

found
run tierlat "${args[@]}" --raw --csv -d 200ms
# follows TIER: but for the digits that clock_ns has in CSV
follows() {
	awk -v got="$(recomputed "$1")" -v wanted="$(printed "$1")" \
		'BEGIN { print got, wanted; off = got / wanted - 1; exit !(wanted > 0 && off < 1e-7 && off > -1e-7) }'
}
ok 'the latency follows from the rows of the CHAs' follows local-ddr
ok 'and that of the other tier' follows remote-ddr
is 'a row a CHA and tier' "$(tail -n +6 <<<"$out" | wc -l)" 24
check 'a limit of what Colloid moves' 0 "$forced\$" ',0\.01,' tierlat "${args[@]}" --max-shift 0.01 -d 100ms --csv
check 'which is 2 %' 0 "$forced\$" ',0\.02,0\.02,local-ddr' tierlat "${args[@]}" -d 100ms --csv

tell 'stream name=near rate=2e8 latency=180'
run tierlat "${args[@]}" --delta 0.5 -d 100ms --csv
is 'two tiers of one latency: requests should move to neither' "$(column move_to local-ddr)" none
check 'so they stay' 0 "$forced\$" 'Colloid at the end: p 0\.6[0-9]*, stay' tierlat "${args[@]}" --delta 0.5 -d 100ms
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

# A counter that always says the same passes for right only as long as nobody asks more of the memory.
found
tell 'stream name=near latency=40'
stands_still='pass  requests of a pointer chase.*FAIL  latency, all CPUs at once'
finds_it() {
	run validate tierlat --tiers-at "icx:6:$emu/cpu" --window 200ms
	tap_match "$out" "$stands_still"
}
measure finds_it
is 'validate finds a counter that does not react' "$status" 3
like 'and says which check failed' "$out" "$stands_still"
ok 'its registers are put back, too' as_found
found
run validate tierlat --tiers-at "icx:6:$emu/cpu" --window 200ms --only reaction
of_reaction() { [[ $out = *'latency, all CPUs at once'* && $out != *'pointer chase'* ]] || { echo "$out" && false; }; }
ok 'validate --only reaction judges nothing else' of_reaction
run validate tierlat --tiers-at "icx:6:$emu/cpu" --window 200ms --only reference
of_reference() { [[ $out = *'pointer chase'* && $out != *'all CPUs at once'* ]] || { echo "$out" && false; }; }
ok 'validate --only reference judges nothing else' of_reference

# recorded SQL: what run.db of the recording has
recorded() { sqlite3 -readonly "$(recording "$dir/runs")/run.db" "$1"; }

# probes: those of the recording that were measured
probes() { recorded 'SELECT group_concat(name) FROM probe WHERE refused IS NULL OR refused = ""'; }

found
run runqlat -d 10ms
able=$status
recorded_latency() { recorded 'SELECT avg(latency_ns) FROM tierlat WHERE tier = "remote-ddr"'; }
record_tiers() {
	rm -rf "$dir/runs"
	run record -q --tiers-at "icx:6:$emu/cpu" -d 1s -i 200ms -o "$dir/runs"
	[ "$able" != 0 ] || about "$(recorded_latency)" 180
}
measure record_tiers
if [ "$able" != 0 ]; then
	skip 'record has tiers with the other probes' "record does not run here: ${err%%$'\n'*}"
else
	is 'record has tiers with the other probes: exit status' "$status" 0
	is 'record has tiers with the other probes' "$(probes)" memlat,runqlat,iolat,tierlat
	ok 'a row a tier and interval, at its end' tap_same "$(recorded 'SELECT count(*) FROM tierlat
		JOIN interval ON interval.id = tierlat.interval AND time_ns = end_ns')" \
		"$(recorded 'SELECT 2 * count(*) FROM interval')"
	ok 'which is true' about "$(recorded_latency)" 180
	ok 'they are put back' as_found
	recorded_table="tierlat: loaded latency .*remote-ddr .*$far"
	record_prints() {
		run record -q --tiers-at "icx:6:$emu/cpu" -d 300ms -o "$dir/again"
		tap_match "$out" "$recorded_table"
	}
	measure record_prints
	like 'record prints them as tierlat does' "$out" "$recorded_table"
	run report -P tierlat "$(recording "$dir/runs")"
	like 'report has them' "$out" 'socket 0, tier local-ddr.*latency_ns +[0-9.]+ .*by[[:space:]]+--model'
	ok 'and fits' fits
	run report "$(recording "$dir/runs")"
	like 'report has their correlation with slow events' "$out" 'Covariates of the slow events.*socket 0, tier remote-ddr of'
	run report -P tierlat --csv "$(recording "$dir/runs")"
	is 'report --csv gives the rows' "$out" "$(<"$(recording "$dir/runs")/tierlat.csv")"

	rm -rf "$dir/runs"
	check 'record has tiers and processes' 0 '' 'rmid: .*tierlat: ' \
		record -q --rmid --tiers-at "icx:6:$emu/cpu" -o "$dir/runs" -- "$latscope" load hog -q -d 500ms
	is 'record has tiers and processes: both are measured' "$(probes)" memlat,runqlat,iolat,rmid,tierlat
	ok 'record has tiers and processes: a row a tier, at the end' tap_same 2 \
		"$(recorded 'SELECT count(*) FROM tierlat, meta WHERE name = "duration_ns" AND time_ns = value')"
	ok 'record has tiers and processes: a row a process and ms, in between' \
		test "$(recorded 'SELECT count(DISTINCT time_ns) FROM rmid')" -ge 500
	ok 'they are put back again' as_found

	rm -rf "$dir/runs"
	found
	tell 'fault access=open err=1'
	check 'record goes on without tiers that are refused' 0 \
		'^latscope: tierlat cannot run on this machine: .*does not let this user open' \
		'tierlat: not measured: ' record -q --tiers-at "icx:6:$emu/cpu" -d 100ms -o "$dir/runs"
	is 'record goes on without tiers: the others are measured' "$(probes)" memlat,runqlat,iolat
	rm -rf "$dir/runs"
	found
	tell 'poke socket=0 reg=0xe01 value=0x400135'
	tell 'poke socket=0 reg=0xe00 value=0'
	check 'record says what to do about counters in use' 0 'tierlat cannot .* is in use.*; end the program that uses it' \
		'tierlat: not measured: ' record -q --tiers-at "icx:6:$emu/cpu" -d 100ms -o "$dir/runs"
fi
if [ ! -e /sys/devices/system/node/node1 ]; then
	found
	refuses 'pages cannot move on one node' 77 'there is one NUMA node; --act needs two with memory' \
		tierlat -q "${args[@]}" --socket 0 --act move_pages --pid $$ -d 100ms
	refuses 'nor can new ones go elsewhere' 77 'there is one NUMA node; --act needs two with memory' \
		tierlat -q "${args[@]}" --socket 0 --act weighted-interleave --pid $$ -d 100ms
	ok 'pages cannot move on one node: registers are put back' as_found
fi
done_testing
