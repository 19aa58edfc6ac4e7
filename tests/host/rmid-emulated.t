#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# rmid by resctrl, on an emulated tree, of the processes of this machine and in its time: the rows have what the tree counted, and no
# group is left behind. tests/emu/test_*.c have the tree.
. "$(dirname "$0")/host.sh"
own_mounts
skip_unless rmid --method switches
emulate resctrlfs 'rmids 1000'
method=(--method resctrl --resctrl-root "$emu" --counters none)

refuses 'a root that is not emulated' 77 '--resctrl-root is for tests: it must be a FUSE file system' \
	rmid --method resctrl --resctrl-root "$dir" -d 10ms
mkdir "$emu/sys/fs/resctrl/mon_groups/theirs"
groups() { cut -d: -f1 "$emu/state" | paste -sd' '; }

# values: of the one process of which all is known: $rmid is its group, and $bytes what the rows have
values() {
	rm -rf "$dir/runs"
	before=$(wc -l <"$emu/reads")
	run rmid -q -o "$dir/runs" -d 500ms --rmids 700 "${method[@]}"
	tail -n +$((before + 1)) "$emu/reads" >"$dir/reads"
	recording=$(recording "$dir/runs")
	rmid=$(sqlite3 -readonly "$recording/run.db" "SELECT DISTINCT rmid FROM rmid WHERE pid = $target AND rmid > 0")
}
column() { sqlite3 -readonly "$recording/run.db" "SELECT $1 FROM rmid WHERE pid = $target"; }

# counted EVENT: what the tree counted for the group of $rmid in the window, which begins with its second reading
counted() {
	awk -v group="-$rmid\$" -v event="$1" '
		$1 ~ group && $3 == event {
			if (++n[$2] == 2)
				first[$2] = $4
			last[$2] = $4
		}
		END { for (d in last) sum += last[d] - first[d]; print sum + 0 }' "$dir/reads"
}

sleep 600 &
target=$!
on_exit kill "$target"
measure values
ok 'a process has a group' ended 0 '' 'rmid: .*method: resctrl: .*groups[[:space:]]+stand[[:space:]]+for[[:space:]]+RMIDs.*1[[:space:]]+groups[[:space:]]+of[[:space:]]+other[[:space:]]+programs[[:space:]]+are[[:space:]]+left[[:space:]]+alone'
for event in mbm_total_bytes mbm_local_bytes; do
	ok "$event: there is traffic" test "$(column "sum($event)")" -gt 0
	is "$event: is what the tree counted, over both caches" "$(column "sum($event)")" "$(counted $event)"
done
is 'llc_bytes: is that of both caches' "$(column 'DISTINCT llc_bytes' | grep .)" 3000
duration=$(meta "$recording" duration_ns)
ok 'mbm_total_ns: is time of the window' test "$(column 'sum(mbm_total_ns)')" -gt 0 -a "$(column 'sum(mbm_total_ns)')" -le "$duration"
calm
is 'no group is left, that of others is' "$(groups)" '/ theirs'
as_printed=$out
run report "$recording"
is 'report prints the same' "$(sed -n '/^rmid:/,$p' <<<"$out")" "$(sed -n '/^rmid:/,$p' <<<"$as_printed")"

[ -e /proc/latscope_rmid ] || check 'it is preferred to switches' 0 '^latscope: rmid: using resctrl instead of the kernel module: module: [^[:cntrl:]]*$' \
	'method: resctrl' rmid -d 50ms --resctrl-root "$emu" --counters none
check 'few groups: others wait, and have no values' 0 '' \
	'2[[:space:]]+groups[[:space:]]+stand.*no[[:space:]]+group[[:space:]]+was[[:space:]]+free.*processes[[:space:]]+wait' \
	rmid -q -d 100ms --rmids 2 "${method[@]}"
run rmid -q -d 100ms --rmids 2 --csv "${method[@]}"
like 'the columns are those of the kernel module' "${out%%$'\n'*}" \
	'switches,incomplete,rmid,llc_bytes,mbm_total_bytes,mbm_total_ns,mbm_local_bytes,mbm_local_ns$'
# The last value of a process that loses its group comes when it has lost it.
is 'who waits all the time has no value' "$(awk -F, 'NR > 1 && $8 > 0 { had[$2] = 1 }
	NR > 1 && $8 == 0 && $8 != "" && $9 $10 $12 != "" { row[$2] = $0 }
	END { for (process in row) if (!(process in had)) print row[process] }' <<<"$out")" ''
ok 'and has rows' test "$(awk -F, 'NR > 1 && $8 == "0"' <<<"$out" | grep -c .)" -gt 0

# The busiest process, which begins after more idle ones than there are groups; and one that is selected, although it is idle.
idle=()
for _ in {1..30}; do
	sleep 600 &
	idle+=($!)
done
bash -c 'while :; do :; done' &
busy=$!
on_exit kill "${idle[@]}" "$busy"
uses_time() { [ "$(cut -d ' ' -f 14 "/proc/$busy/stat")" -ge 20 ]; }
wait_for uses_time
# valued PID ARG...: rows of the process that have values; all such rows
valued() {
	local pid=$1

	shift
	run rmid -q -d 1s --csv "$@" "${method[@]}"
	awk -F, -v pid="$pid" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["mbm_total_bytes"] > 0 { all++; own += $at["pid"] == pid }
		END { print own + 0, all + 0 }' <<<"$out"
}
read -r own all < <(valued "$busy" --rmids 20)
ok 'a process that uses CPU time has a group, and idle ones wait' test "$own" -gt 0 -a "$all" -gt "$own"
for select in "--pid $target" "-p $target"; do
	read -ra words <<<"$select"
	read -r own all < <(valued "$target" --rmids 2 "${words[@]}")
	ok "$select: it has a group" test "$own" -gt 0
	is '... and no other process' "$all" "$own"
done
read -r own all < <(valued "$target" --rmids 200 --comm sleep)
ok '--comm: it has a group, and so have others of that name' test "$own" -gt 0 -a "$all" -gt "$own"
read -r own all < <(valued "$busy" --rmids 200 --comm sleep)
is '... and not one of another name' "$own" 0
refuses 'a process that does not exist' 1 'no such process' rmid --pid 4194303 "${method[@]}"

# ended_by SIGNAL: latscope gets it in the window
ended_by() {
	"$latscope" rmid -q --rmids 3 "${method[@]}" >/dev/null 2>&1 &
	pid=$!
	wait_for grep -q "^latscope-$pid-.*: ." "$emu/state"
	kill "-$1" "$pid"
	wait "$pid" 2>/dev/null
	wait_for is_restored
}
is_restored() { [ "$(groups)" = '/ theirs' ]; }
ok 'Ctrl-C: no group is left' ended_by INT
ok 'kill -9: no group is left' ended_by KILL

printf 'rmids 2' >"$emu/ctl"
refuses 'no RMID is left' 77 'rmid cannot be measured by method resctrl on this machine: groups of other programs have all 2 RMIDs' \
	rmid -d 10ms "${method[@]}"
printf 'rmids 1000' >"$emu/ctl"
run doctor
if [ -e /sys/fs/resctrl/info ]; then
	skip 'doctor: why not resctrl' 'it is mounted'
else
	like 'doctor: why not resctrl' "$out" $'resctrl +no\n +(this kernel or CPU has no resctrl|not mounted; needs)'
fi
done_testing
