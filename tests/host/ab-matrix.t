#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# ab --matrix with real runs on this machine: the order of the cells, the verdict on a known difference, the table against compare,
# and going on after a signal. tests/unit/test_experiment.c has the statistics, in simulated runs.
cd "$(dirname "$0")/../.." || exit
. tests/cli/cli.sh
. tests/measure.sh

skip_unless_able
# matrix LINE...: writes the file
file=$dir/cells.matrix
matrix() { printf '%s\n' "$@" >"$file"; }
experiment() { printf '%s\n' "$dir/$1"/2*Z-ab*; }

# Each round has all cells. The order depends on the seed only.
order=$dir/order
matrix 'cell: x y z' "run: echo {cell} >>$order"
short=(ab --matrix "$file" --seed 5 -q -P runqlat --metric mean)
run "${short[@]}" -n 2 -o "$dir/a"
is 'each cell runs once in a round' "$(sort <(head -n 3 "$order") | paste -sd' '),$(sort <(tail -n 3 "$order") | paste -sd' ')" 'x y z,x y z'
first=$(<"$order")
run "${short[@]}" -n 1 --only cell=x,cell=y,cell=z -o "$dir/b"
is 'one seed gives one order' "$(tail -n 3 "$order")" "$(head -n 3 <<<"$first")"

# A difference that is known, as in ab.t, and a cell that is as the reference. The load has a name of its own, so that the
# recordings have nothing else of the machine.
load=mx$$
ln "$latscope" "$dir/$load" 2>/dev/null || cp "$latscope" "$dir/$load"
matrix 'kind: hog pingpong' 'try: 1 2' 'reference: kind=pingpong' "run: $dir/$load load {kind} -d 300ms; : {try}"
measure run ab --matrix "$file" --only try=1 -n 4 -P runqlat --metric mean --record "--comm $load" -o "$dir/known" --html "$dir/page.html"
is 'a cell is worse than the reference: the exit status' "$status" 3
like 'the table' "$out" 'kind=hog +mean .*\] worse.*kind=pingpong +mean [^]]* reference.*matrix: 2 cells, 4 runs of each, in random order'
like 'its sum' "$out" 'verdicts: 1 worse, 0 better'
like 'and on the page' "$(sed -n '/<pre>/,$p' "$dir/page.html")" 'kind=hog +mean .* worse'
run ab --csv --resume "$(experiment known)"
like 'CSV' "$out" '^cell,probe,metric,statistic,reference,value,ratio,.*kind=hog,runqlat,run_queue,mean,.*,worse,'
run ab --resume "$(experiment known)"
calm
ok 'at most 80 columns' fits
known=$(experiment known)
is 'a directory for each cell' "$(cd "$known" && echo *)" '001-kind=hog 002-kind=pingpong output.log plan.json'
ok 'with complete recordings' complete "$known/001-kind=hog/004"
run ab --json --resume "$known"
mean='.statistics[] | select(.statistic == "mean") | [.off, .on, .ratio, .ratio_low, .p, .verdict]'
cell=$(jq -c ".rows[] | select(.cell == \"kind=hog\" and .metric == \"run_queue\") | $mean" <<<"$out")
ok 'JSON has the cells and the reference' jq -e '.reference == "kind=pingpong" and (.cells | length == 2) and .runs == 4 and
	([.rows[] | select(.cell == .reference) | .statistics[].verdict | select(.)] == [])' <<<"$out"
run compare --json -P runqlat --metric mean "$known/002-kind=pingpong" "$known/001-kind=hog"
is 'the figures are those of compare' "$cell" "$(jq -c ".comparisons[] | select(.metric == \"run_queue\") | $mean" <<<"$out")"
ok 'the page has a picture of each cell' test "$(grep -c '<svg' "$dir/page.html")" = 2
ok 'and no script' test "$(grep -c '<script' "$dir/page.html")" = 0
run ab --resume "$known" --html "$dir/none/page.html" -q
is 'a page that cannot be written' "$status" 1

# What fails, and names that are no names of files.
matrix "text: ../../x a;exit\${IFS}3 \"'" "run: printf '%s\\n' {text} >>$dir/words"
run ab --matrix "$file" -n 1 -q -P runqlat -o "$dir/names"
is 'values are words' "$(LC_ALL=C sort "$dir/words" | paste -sd' ')" "\"' ../../x a;exit\${IFS}3"
is 'names stay in the directory' "$(cd "$(experiment names)" && echo 0*)" '001-text=.._.._x 002-text=a_exit__IFS_3 003-text=__'
matrix 'status: 0 3' 'run: echo broken; exit {status}'
run ab --matrix "$file" -n 1 -q -P runqlat -o "$dir/fails"
is 'a cell that fails: the exit status' "$status" 1
like 'which one' "$err" 'the experiment stopped: run 1 of status=3: the workload exited with status 3: '

# Stopped and resumed.
: >"$order"
matrix 'cell: x y z' "run: echo {cell} >>$order; sleep .3"
"$latscope" "${short[@]}" -n 2 -o "$dir/stop" >"$dir/stdout" 2>"$dir/stderr" &
pid=$!
has_order() { [ "$(wc -l <"$order")" -ge "$1" ]; }
wait_for has_order 3
end_by INT
is 'stopped by a signal: the exit status' "$status" 1
like 'it says what is kept' "$err" 'stopped by a signal: [1-5] of 6 runs are kept; latscope ab --resume'
script -qec "$(printf '%q ' "$latscope" ab --resume "$(experiment stop)")" /dev/null >"$dir/terminal" </dev/null
like 'resumed, it says what remains' "$(<"$dir/terminal")" 'run [2-6] of 6: cell=[xyz].*run 6 of 6: cell=[xyz]; remaining: about'
is 'and ends with all runs of each cell' "$(cd "$(experiment stop)" && echo 00?-cell=?/*)" \
	'001-cell=x/001 001-cell=x/002 002-cell=y/001 002-cell=y/002 003-cell=z/001 003-cell=z/002'
done_testing
