#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# tierlat on emulated registers, in real time and with the other probes on this machine: the printed latencies are right. In virtual
# time tests/emu/test_*.c have them; cli/tierlat-registers.t has what becomes of the registers.
. "$(dirname "$0")/host.sh"
. tests/cli/registers.sh

# about GOT WANTED: within 5 %. Time is real here, and an interval in which the machine stands still between two readings is off
# by more.
about() { awk "BEGIN { exit !($1 > $2 * .95 && $1 < $2 * 1.05) }" || { echo "$1, not $2" && false; }; }

# Values in a table within 5 % of the reference.
near='(8[6-9]|9[0-4])\.[0-9] ns' far='1(7[1-9]|8[0-8])\.[0-9] ns'

found
measure run tierlat "${args[@]}" -d 300ms --csv
ok 'CSV of one interval' ended 0 "$forced\$" '^time_ns,socket,tier,'
ok 'the near tier is as slow as it is' about "$(csv_value latency_ns local-ddr)" 90
ok 'the far tier is as slow as it is' about "$(csv_value latency_ns remote-ddr)" 180
ok 'requests are counted' about "$(csv_value requests_per_s local-ddr)" 2e8
ok 'each moves 64 bytes' about "$(csv_value bandwidth_b_per_s local-ddr)" 12.8e9
ok 'the clock is measured' about "$(csv_value clock_mhz remote-ddr)" 2000
ok 'the share of the near tier is known' about "$(csv_value p local-ddr)" .6667
calm
is 'requests should move to the near tier' "$(csv_value move_to local-ddr)" local-ddr
ok 'all is put back' as_found

table="local-ddr .*$near.*remote-ddr .*$far.*Colloid at the end: p 0\.6[3-9].* to local-ddr.*"
table+="$emu/cpu/N/msr.*12 CHAs on 2[[:space:]]+sockets.*by[[:space:]]+--model" live='MHz.*Colloid: p 0\.6[3-9]'
measure run tierlat "${args[@]}" -d 300ms
ok 'a table' ended 0 "$forced\$" "$table"
calm
like 'it names the requests in flight' "$out" 'tier +in flight +reads/s'
unlike_gaps() { [[ $out != *'known in'* ]] || { echo "$out" && false; }; }
ok 'which says of no gaps' unlike_gaps
ok 'it fits' fits
measure run tierlat "${args[@]}" -d 300ms -i 100ms
ok 'live' ended 0 "$forced\$" "$live"
calm
like 'it names them live' "$out" 'tier +in flight +reads/s'
ok 'it fits live' fits
check 'one tier only' 0 "$forced\$" 'remote-ddr' tierlat "${args[@]}" -d 100ms --csv --tier remote-ddr
ok 'which is all there is' tap_same "$(csv_value latency_ns local-ddr)" ''
check 'four tiers are scaled' 0 "$forced\$" 'rates[[:space:]]+scaled' tierlat "${args[@]}" -d 100ms --tier all
check 'three are not' 0 "$forced\$" '12 CHAs' tierlat "${args[@]}" -d 100ms --tier local-ddr,remote-ddr,local-pmm
unlike_scaled() { [[ $out != *scaled* ]] || { echo "$out" && false; }; }
ok 'which are said to be whole' unlike_scaled

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
is 'two tiers of one latency: requests should move to neither' "$(csv_value move_to local-ddr)" none
check 'so they stay' 0 "$forced\$" 'Colloid at the end: p 0\.6[0-9]*, stay' tierlat "${args[@]}" --delta 0.5 -d 100ms

# A counter that always says the same passes for right only as long as nobody asks more of the memory.
found
tell 'stream name=near latency=40'
stands_still='pass  requests of a pointer chase.*FAIL  latency, all CPUs at once'
measure run validate tierlat --at "icx:6:$emu/cpu" --window 200ms
is 'validate finds a counter that does not react' "$status" 3
like 'and says which check failed' "$out" "$stands_still"
calm
ok 'its registers are put back, too' as_found
found
run validate tierlat --at "icx:6:$emu/cpu" --window 200ms --only reaction
of_reaction() { [[ $out = *'latency, all CPUs at once'* && $out != *'pointer chase'* ]] || { echo "$out" && false; }; }
ok 'validate --only reaction judges nothing else' of_reaction
run validate tierlat --at "icx:6:$emu/cpu" --window 200ms --only reference
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
measure run record -q --tiers-at "icx:6:$emu/cpu" -d 1s -i 200ms -o "$dir/runs"
if [ "$able" != 0 ]; then
	skip 'record has tiers with the other probes' "record does not run here: ${err%%$'\n'*}"
else
	ok 'record has tiers with the other probes, and their latencies are true' about "$(recorded_latency)" 180
	calm
	is 'record has tiers with the other probes: exit status' "$status" 0
	is 'record has tiers with the other probes' "$(probes)" where,memlat,runqlat,iolat,tierlat
	ok 'a row a tier and interval, at its end' tap_same "$(recorded 'SELECT count(*) FROM tierlat
		JOIN interval ON interval.id = tierlat.interval AND time_ns = end_ns')" \
		"$(recorded 'SELECT 2 * count(*) FROM interval')"
	ok 'they are put back' as_found
	measure run record -q --tiers-at "icx:6:$emu/cpu" -d 300ms -o "$dir/again"
	like 'record prints them as tierlat does' "$out" "tierlat: loaded latency .*remote-ddr .*$far"
	calm
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
	is 'record has tiers and processes: both are measured' "$(probes)" where,memlat,runqlat,iolat,rmid,tierlat
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
		'Not measured: tierlat: ' record -q --tiers-at "icx:6:$emu/cpu" -d 100ms -o "$dir/runs"
	is 'record goes on without tiers: the others are measured' "$(probes)" where,memlat,runqlat,iolat
	rm -rf "$dir/runs"
	found
	tell 'poke socket=0 reg=0xe01 value=0x400135'
	tell 'poke socket=0 reg=0xe00 value=0'
	check 'record says what to do about counters in use' 0 'tierlat cannot .* is in use.*; end the program that uses it' \
		'Not measured: tierlat: ' record -q --tiers-at "icx:6:$emu/cpu" -d 100ms -o "$dir/runs"
fi
done_testing
