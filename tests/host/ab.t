#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# ab, of two sides and of a matrix, with real runs on this machine: their order, the verdict on a known difference, what it leaves, and
# going on after each way to stop it. tests/unit/test_experiment.c has the statistics, in simulated runs.
. "$(dirname "$0")/host.sh"
skip_unless_able

# The sides write their name into a file, so that the order is known. The workload is short.
order=$dir/order
sides=(--off "echo off >>$order" --on "echo on >>$order")
workload=(-P runqlat --metric p50 -- sleep .05)
experiment() { printf '%s\n' "$dir/$1"/2*Z-ab*; }

# whole DIR COUNT: both sides have so many complete recordings, and nothing else is left
whole() {
	local side recordings recording

	for side in off on; do
		recordings=("$1/$side"/*)
		[ "${#recordings[@]}" = "$2" ] || { echo "$side has ${#recordings[@]} recordings" && return 1; }
		for recording in "${recordings[@]}"; do
			complete "$recording" || return
		done
	done
	tap_match "$(cd "$1" && echo *)" '^off on output.log plan.json$'
}

run ab -n 3 --seed 7 -o "$dir/a" "${sides[@]}" "${workload[@]}"
like 'the first line is the verdict' "$out" '^(SAME|UNCLEAR|WORSE|BETTER|MORE|FEWER|CANNOT TELL): [^
]*'
like 'an experiment says what it did' "$out" 'experiment: 3 runs on each side of 3 planned, in random order'
like 'it says where it is' "$err" "experiment in $dir/a/2"
first=$(<"$order")
run ab -n 1 --seed 7 -o "$dir/b" "${sides[@]}" "${workload[@]}"
is 'one seed gives one order' "$(tail -n 2 "$order")" "$(head -n 2 <<<"$first")"
ok 'each pair has both sides' test "$(paste - - <<<"$first" | grep -cE '^(off.on|on.off)$')" = 3
like 'one run says what it assumes' "$out" '3 runs on each side measure how runs differ.*so far a spread is assumed: use -n 3 or more'

run ab -n 3 --json -o "$dir/c" "${sides[@]}" -- sleep .05
ok 'all planned runs are made, and only these' whole "$(experiment c)" 3
ok 'JSON has the looks and what the runs can find' jq -e '.experiment | .runs == 3 and .planned_runs == 3 and
	(.ended_early | not) and (.looks | length == 1 and .[0].runs == 3) and ([.looks[].error_probability] | add) <= 0.0500001 and
	(.powers | length > 0 and all(.needed_runs >= 3 and .spread >= 0 and .finds > 0))' <<<"$out"
run compare --json --metric tail --metric p50 --metric p99 "$(experiment c)/off" "$(experiment c)/on"
compared=$(jq -c '[.comparisons[].statistics[] | [.verdict, .p]]' <<<"$out")
run ab --json --resume "$(experiment c)"
is 'a finished experiment is only judged again, as compare does' "$(jq -c '[.comparisons[].statistics[] | [.verdict, .p]]' <<<"$out")" "$compared"
run ab --csv --resume "$(experiment c)"
like 'CSV is that of compare' "$out" '^probe,metric,by,key,statistic,off,on,'
ok 'and stays as it is' whole "$(experiment c)" 3

# A difference that is known: two tasks that wake each other, against more endless loops than CPUs. The load has a name of its
# own, so that the recordings have nothing else of the machine.
load=ab$$
ln "$latscope" "$dir/$load" 2>/dev/null || cp "$latscope" "$dir/$load"
known=(-P runqlat --metric mean --record "--comm $load" --off "$dir/$load load pingpong -d 300ms" --on "$dir/$load load hog -d 300ms")
measure run ab -n 8 -q -o "$dir/known" "${known[@]}" # what else runs here can make its runs unlike each other
is 'something is worse: the exit status' "$status" 3
like 'the verdict' "$out" '1 worse \(runqlat mean\)'
like 'half of the runs were enough' "$out" 'experiment: 4 runs on each side of 8 planned.*ended early: this look has the answer'
ok 'only these were made' whole "$(experiment known)" 4
run ab --resume "$(experiment known)"
is 'judged again, it is still worse' "$status" 3
measure run ab -n 8 -q -o "$dir/reverse" "${known[@]:0:6}" --on "${known[7]}" --off "${known[9]}"
is 'the other way round it is better: the exit status' "$status" 0
like 'the verdict, also early' "$out" '1 better \(runqlat mean\).*ended early'
calm
run ab --effect 900% -q -o "$dir/effect" "${known[@]}"
like 'a large effect needs few runs' "$out" 'experiment: [3-9] runs on each side of [3-9] planned'
run ab --effect 0.1% -n 4 -q --json --metric rate -o "$dir/small" "${sides[@]}" -- sleep .05
ok 'a small one needs more than there may be' jq -e '.experiment | .planned_runs == 4 and .powers[0].needed_runs > 4' <<<"$out"
measure run ab --off 'sleep .3' --on "$dir/$load load touch -d 300ms" -n 3 -P memlat --metric rate --record "--comm $load" -o "$dir/seed"
like 'nothing against page faults' "$out" '1 more \(memlat rate\)'
calm

# What fails.
check 'a side that cannot be prepared' 1 '^latscope: [^
]*: run 1 of ON: the command of ON exited with status 7; see .*/output.log
  no such file$' '' \
	ab -n 3 --seed 6 -q -o "$dir/f1" --off 'echo no such file; exit 7' --on 'echo no such file; exit 7' -- true
run ab -n 3 --seed 1 -q -o "$dir/f2" --off 'seq 9 >&2; exit 3' --on 'seq 9 >&2; exit 3'
like 'a workload that fails' "$err" 'run 1 of O[NF]*: the workload exited with status 3; see .*/output.log'
like 'what it said last' "$err" '/output.log
  5
  6
  7
  8
  9$'
is 'its exit status' "$status" 1
ok 'its recording does not count' test -z "$(find "$(experiment f2)/off" "$(experiment f2)/on" -mindepth 1)"
run ab -n 3 -q -o "$dir/f3" --record '--no-such-option' --off true --on true
is 'an option that record does not know' "$status" 2
like 'what record said' "$err" "the recorder exited with status 2; see .*/output.log.*  latscope record: .*no-such-option"
run ab -n 3 -q -o "$dir/f4" --record '--method tp_btf --max-size 10K' --off true --on true
is 'a limit that record refuses' "$status" 2
unprivileged run ab -n 3 -q -o "$dir/f5" --off true --on true
is 'without privileges it writes nothing where it may not' "$status" 1
mkdir -m 777 "$dir/open"
unprivileged run ab -n 3 -q -o "$dir/open" --off true --on true
like 'or says why it cannot measure' "$err" 'the experiment stopped: run 1 of O[NF]*: the recorder exited with status'

# Stopped and resumed.
: >"$order"
"$latscope" ab -n 4 --seed 7 -o "$dir/stop" "${sides[@]}" -P runqlat --metric p50 -- sleep .3 >"$dir/stdout" 2>"$dir/stderr" &
pid=$!
has_order() { [ "$(wc -l <"$order")" -ge "$1" ]; }
wait_for has_order 4
end_by INT
is 'stopped by a signal: the exit status' "$status" 1
like 'it says what is kept and how to go on' "$err" "stopped by a signal: [0-9] runs of OFF and [0-9] of ON are kept; latscope ab --resume $dir/stop/"
stopped=$(experiment stop)
"$latscope" ab --resume "$stopped" >/dev/null 2>&1 &
pid=$!
wait_for has_order 6
kill -KILL "$pid"
wait "$pid" 2>/dev/null
has_ended() { ! pgrep -f -- "[-]o $stopped"; } # its recorder
wait_for has_ended
run ab --resume "$stopped"
like 'killed and resumed, it ends' "$out" 'experiment: [24] runs on each side of 4 planned'
is 'with as many of both' "$(ls "$stopped/off")" "$(ls "$stopped/on")"
ok 'and what was cut off is kept next to them' test -n "$(ls -d "$stopped"/o*-0* 2>/dev/null)"

# A plan of somebody else: its commands would run as root.
cp -r "$(experiment c)" "$dir/theirs"
chown 65533 "$dir/theirs/plan.json"
refuses 'a plan of another user' 1 'its plan.json belongs to another user, or others may write it' ab --resume "$dir/theirs"
chown 0 "$dir/theirs/plan.json"
chmod 666 "$dir/theirs/plan.json"
refuses 'a plan that others can write' 1 'its plan.json belongs to another user, or others may write it' ab --resume "$dir/theirs"
chmod 600 "$dir/theirs/plan.json"
sed -i 's/"format": *1/"format":9/' "$dir/theirs/plan.json"
refuses 'a plan of a later version' 1 'its plan.json is of a later version' ab --resume "$dir/theirs"
echo '{"format":1,"off":"true"}' >"$dir/theirs/plan.json"
refuses 'half a plan' 1 'its plan.json is not a plan' ab --resume "$dir/theirs"
ln -sf /etc/passwd "$dir/theirs/plan.json"
refuses 'a link in its place' 1 'cannot resume' ab --resume "$dir/theirs"
rm "$dir/theirs/plan.json"
mkfifo "$dir/theirs/plan.json"
refuses 'a pipe in its place' 1 'its plan.json is not a plan' ab --resume "$dir/theirs"
ln -s "$(experiment c)" "$dir/link"
chown -h 65533 "$dir/link"
refuses 'a link of another user to it' 1 'cannot resume' ab --resume "$dir/link"

# For the user who called sudo.
mkdir "$dir/user"
chown 65534 "$dir/user"
SUDO_UID=65534 SUDO_GID=65534 run ab -n 1 -o "$dir/user" --off true --on true
is 'what it makes belongs to the user who called sudo' "$(find "$dir/user" ! -user 65534)" ''

# ---- ab --matrix ----

# matrix LINE...: writes the file
file=$dir/cells.matrix
matrix() { printf '%s\n' "$@" >"$file"; }

# Each round has all cells. The order depends on the seed only.
: >"$order"
matrix 'cell: x y z' "run: echo {cell} >>$order"
short=(ab --matrix "$file" --seed 5 -q -P runqlat --metric mean)
run "${short[@]}" -n 2 -o "$dir/m-a"
is 'each cell runs once in a round' "$(sort <(head -n 3 "$order") | paste -sd' '),$(sort <(tail -n 3 "$order") | paste -sd' ')" 'x y z,x y z'
first=$(<"$order")
run "${short[@]}" -n 1 --only cell=x,cell=y,cell=z -o "$dir/m-b"
is 'one seed gives one order' "$(tail -n 3 "$order")" "$(head -n 3 <<<"$first")"

# The difference that is known, and a cell that is as the reference.
matrix 'kind: hog pingpong' 'try: 1 2' 'reference: kind=pingpong' "run: $dir/$load load {kind} -d 300ms; : {try}"
measure run ab --matrix "$file" --only try=1 -n 4 -P runqlat --metric mean --record "--comm $load" -o "$dir/m-known" --html "$dir/page.html"
is 'a cell is worse than the reference: the exit status' "$status" 3
like 'the table' "$out" 'kind=hog +mean .*\] worse.*kind=pingpong +mean [^]]* reference.*matrix: 2 cells, 4 runs of each, in random order'
like 'its sum' "$out" 'verdicts: 1 worse, 0 better'
like 'and on the page' "$(sed -n '/<pre>/,$p' "$dir/page.html")" 'kind=hog +mean .* worse'
run ab --csv --resume "$(experiment m-known)"
like 'CSV' "$out" '^cell,probe,metric,statistic,reference,value,ratio,.*kind=hog,runqlat,run_queue,mean,.*,worse,'
run ab --resume "$(experiment m-known)"
calm
ok 'at most 80 columns' fits
cells=$(experiment m-known)
is 'a directory for each cell' "$(cd "$cells" && echo *)" '001-kind=hog 002-kind=pingpong output.log plan.json'
ok 'with complete recordings' complete "$cells/001-kind=hog/004"
run ab --json --resume "$cells"
mean='.statistics[] | select(.statistic == "mean") | [.off, .on, .ratio, .ratio_low, .p, .verdict]'
cell=$(jq -c ".rows[] | select(.cell == \"kind=hog\" and .metric == \"run_queue\") | $mean" <<<"$out")
ok 'JSON has the cells and the reference' jq -e '.reference == "kind=pingpong" and (.cells | length == 2) and .runs == 4 and
	([.rows[] | select(.cell == .reference) | .statistics[].verdict | select(.)] == [])' <<<"$out"
run compare --json -P runqlat --metric mean "$cells/002-kind=pingpong" "$cells/001-kind=hog"
is 'the figures are those of compare' "$cell" "$(jq -c ".comparisons[] | select(.metric == \"run_queue\") | $mean" <<<"$out")"
ok 'the page has a picture of each cell' test "$(grep -c '<svg' "$dir/page.html")" = 2
ok 'and no script' test "$(grep -c '<script' "$dir/page.html")" = 0
run ab --resume "$cells" --html - -q
is 'a page on standard output is alone there' "$out" "$(<"$dir/page.html")"
run ab --resume "$cells" --html "$dir/none/page.html" -q
is 'a page that cannot be written' "$status" 1

# The matrix of fio: the disk of its file alone, and fio's own values, too.
device=$(findmnt -nvo SOURCE -T "$dir")
disk=$(lsblk -nlso NAME,TYPE "$device" 2>/dev/null | awk '$2 == "disk" { print $1 }')
if [ -n "$disk" ] && [ "${disk//[[:space:]]/}" = "$disk" ]; then
	FIO_DIR=$dir run ab --matrix fio --only rw=read,rw=write,depth=1,block=64k -n 1 -P iolat --csv -o "$dir/m-fio"
	cells=$(experiment m-fio)
	its_own=$(for rw in read write; do jq ".jobs[0].$rw.clat_ns | .percentile[\"50.000000\"] / 1e3, .mean / 1e3" "$cells"/*-rw=$rw/001/fio.json; done)
	own=$(paste <(awk -F, '$2 == "fio" && $4 ~ /^(p50|mean)$/ { print $6 }' <<<"$out") - <<<"$its_own")
	ok "fio's own values are in the table, but for rounding" awk -v own="$own" 'BEGIN { n = split(own, v)
		for (i = 1; i < n; i += 2) wrong += v[i] <= 0 || (v[i] / v[i + 1] - 1) ^ 2 > 1e-9; exit wrong || n != 8 }'
	is 'only the disk of the file is measured' "$("$latscope" report --json "$cells"/*-rw=read/001 | jq -r '.filter')" "disk $disk (iolat)"
	run ab --resume "$cells"
	like 'in the table they have no verdict' "$out" 'fio write: completion latency by its own clock; not judged.*rw=write +p50 +[0-9.]+ [num]?s +[^ ]* *[^a-z]*p99'
else
	skip 'ab --matrix fio' "$dir is on no disk, or on several: $device"
fi

# What fails, and names that are no names of files.
matrix "text: ../../x a;exit\${IFS}3 \"'" "run: printf '%s\\n' {text} >>$dir/words"
run ab --matrix "$file" -n 1 -q -P runqlat -o "$dir/m-names"
is 'values are words' "$(LC_ALL=C sort "$dir/words" | paste -sd' ')" "\"' ../../x a;exit\${IFS}3"
is 'names stay in the directory' "$(cd "$(experiment m-names)" && echo 0*)" '001-text=.._.._x 002-text=a_exit__IFS_3 003-text=__'
matrix 'status: 0 3' 'run: echo broken; exit {status}'
run ab --matrix "$file" -n 1 -q -P runqlat -o "$dir/m-fails"
is 'a cell that fails: the exit status' "$status" 1
like 'which one' "$err" 'the experiment stopped: run 1 of status=3: the workload exited with status 3; .*
  broken'

# Stopped and resumed.
: >"$order"
matrix 'cell: x y z' "run: echo {cell} >>$order; sleep .3"
"$latscope" "${short[@]}" -n 2 -o "$dir/m-stop" >"$dir/stdout" 2>"$dir/stderr" &
pid=$!
wait_for has_order 3
end_by INT
is 'stopped by a signal: the exit status' "$status" 1
like 'it says what is kept' "$err" 'stopped by a signal: [1-5] of 6 runs are kept; latscope ab --resume'
script -qec "$(printf '%q ' "$latscope" ab --resume "$(experiment m-stop)")" /dev/null >"$dir/terminal" </dev/null
like 'resumed, it says what remains' "$(<"$dir/terminal")" 'run [2-6] of 6: cell=[xyz].*run 6 of 6: cell=[xyz]; remaining: about'
is 'and ends with all runs of each cell' "$(cd "$(experiment m-stop)" && echo 00?-cell=?/*)" \
	'001-cell=x/001 001-cell=x/002 002-cell=y/001 002-cell=y/002 003-cell=z/001 003-cell=z/002'
done_testing
