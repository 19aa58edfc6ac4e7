#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# report beyond its modules: are two of them slow at the same time, and whose are the slow ones? Of
# waits for a CPU and of I/O that are known, as they are made here.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/cli/cli.sh

wrong 'a confidence of nothing' '--confidence 0: 50 to 99.999 percent' report --confidence 0 a
wrong 'nothing is slow' '--slow-us 0: a number from 1' report --slow-us 0 a
skip_unless_able
taskset -c 0 taskset -c 1 true 2>/dev/null ||
	skip_all 'it takes two CPUs'
chrt -f 1 true 2>/dev/null || skip_all 'no task may be made a real-time one'

# Jobs are process groups of their own, so that one signal goes to a load with all its tasks.
set -m
loads=()
trap 'end_loads; rm -rf "$dir"' EXIT

# load CPU PRIORITY PROGRAM ARG...: in the background, its group as $!
load() {
	chrt -f "$2" taskset -c "$1" "$3" load "${@:4}" -d 60s >/dev/null 2>&1 &
	loads+=($!)
}

end_loads() {
	local group

	for group in "${loads[@]}"; do
		kill -KILL -- "-$group"
	done
	wait
} 2>/dev/null

# switch GROUP PHASE: on if it is '#'
switch() {
	local signal=STOP

	[ "$2" != '#' ] || signal=CONT
	kill -s $signal -- "-$1"
}

# Only tasks of this name are measured. They always do the same, on a CPU each. What disturbs them is switched
# on and off: a task of higher priority that takes the CPU of the one for 10 ms at a time, and requests before
# which the disk of the other is to serve its own. All are real-time tasks, so that nothing else interferes.
quiet=rep$$
ln "$latscope" "$dir/$quiet" 2>/dev/null || cp "$latscope" "$dir/$quiet"
load 0 2 "$dir/$quiet" hog --tasks 1 --pause 2ms
waiting=$!
load 1 2 "$dir/$quiet" dio --tasks 1 --pause 5ms
load 0 3 "$latscope" hog --tasks 1 --pause 1ms
cpu=$!
load 1 1 "$latscope" dio --tasks 24
disk=$!
sleep 1 # until the files are written
switch "$cpu" . && switch "$disk" .

begun() { test -e "$(recording "$1")/run.db"; }

# measure NAME CPU DISK: a recording, with the two disturbed in the phases that are '#'
measure() {
	local i recorder

	chrt -f -p 5 $$ # also the phases are to keep their time
	chrt -f 4 "$latscope" record -q -i 50ms --comm "$quiet" --by process,disk -o "$dir/$1" >/dev/null &
	recorder=$!
	wait_for begun "$dir/$1"
	for ((i = 0; i < ${#2}; i++)); do
		switch "$cpu" "${2:i:1}"
		switch "$disk" "${3:i:1}"
		sleep .2
	done
	switch "$cpu" . && switch "$disk" .
	kill -INT $recorder
	wait $recorder
	chrt -o -p 0 $$
}

# The second pair has all four combinations about equally often.
measure together '..##.#..#...##.#.#..##.#' '..##.#..#...##.#.#..##.#'
measure apart '..##.#..#...##.#.#..##.#' '.#.#..##...#.#.###..#.#.'
together=$(recording "$dir/together") apart=$(recording "$dir/apart")

# pair MODULE MODULE: of the JSON printed last
pair() {
	jq -c --argjson modules "[\"$1\",\"$2\"]" '.together.pairs[] | select(.modules == $modules)' <<<"$out"
}

# In so short a time the slowest 1 % are few: slow is here what neither has if it is left alone.
check 'both at the same time: it says so' 0 '' \
	$'runqlat and iolat: rise together: \\+.*\n    in [0-9]+ of [0-9]+ intervals both' report --slow-us 200 "$together"
ok 'it fits a terminal' fits
like 'a line is several intervals' "$out" 'a line is [2-9] intervals of 50 ms \(--all-intervals'
like 'intervals are marked' "$out" $'\n\\* +[0-9]'
run report --slow-us 200 --json "$together"
ok '--json: so it does' jq -e '.verdict == "rise together" and .rho_low > 0' <<<"$(pair runqlat iolat)"
is '--json: whose the slow waits are' \
	"$(jq -r '.carriers[] | select(.module == "runqlat" and .by == "process") | .name' <<<"$out" | head -n 1)" \
	"$quiet ($(pgrep -P "$waiting"))"
ok '--json: it has most of them, also in the intervals marked' \
	jq -e '[.carriers[] | select(.module == "runqlat")][0] | .share_of_slow > 0.5 and .share_of_slow_together > 0.5' \
	<<<"$out"
check 'its intervals' 0 '' 'a line is 1 interval of 50 ms' report --all-intervals "$together"
ok 'they fit a terminal, too' fits
is 'each has a line' "$(grep -cE '^[* ] +[0-9]+\.[0-9]{3}  ' <<<"$out")" "$(intervals "$together")"

# At 95 % it would fail in one of twenty runs, as it should.
check 'at times of their own: it says nothing of the kind' 0 '' 'runqlat and iolat: not shown: ' \
	report --slow-us 200 --confidence 99.9 "$apart"
run report --slow-us 200 --json "$apart"
ok '--json: the correlation is small' jq -e '.rho < 0.4 and .rho > -0.4' <<<"$(pair runqlat iolat)"

run report --json "$together"
ok 'without a threshold it is the slowest 1 %' jq -e '[.timeline.modules[] | select(.module == "iolat")][0] |
	.slow_share > 0.005 and .slow_share < 0.02' <<<"$out"
check 'a threshold' 0 '' 'slow: from 5.12 ms .*slow: from 5.12 ms' report --slow-us 5200 "$together"
check 'one module has no time line' 0 '' 'runqlat run_queue' report -m runqlat "$together"
ok 'nor has it' test "${out#*time line}" = "$out"
done_testing
