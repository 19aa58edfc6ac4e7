#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# Where the time of threads went, as record has it: by the clock of the process itself. And a longer wait for a futex, which compare
# must name; and equal groups, of which it must name none. tests/unit/test_shares.c has the arithmetic.
. "$(dirname "$0")/host.sh"
skip_unless_able

# A name of its own: others may run python3, too.
program=held$$
ln -s "$(python3 -c 'import sys; print(sys.executable)')" "$dir/$program"

# held HELD_MS SECONDS: one thread holds a lock for so long of each 20 ms, in which the other one waits for it
cat >"$dir/held.py" <<'PYTHON'
import os, select, sys, threading, time
held, until = float(sys.argv[1]) / 1e3, time.monotonic() + float(sys.argv[2])
lock, (turn, give) = threading.Lock(), os.pipe()
def wait():
    while time.monotonic() < until:
        select.select([turn], [], [])
        os.read(turn, 1)
        with lock:
            pass
thread = threading.Thread(target=wait)
thread.start()
while thread.is_alive():
    begin = time.monotonic()
    with lock:
        os.write(give, b'x')
        time.sleep(held)
    time.sleep(max(0, begin + 0.02 - time.monotonic()))
PYTHON
# group NAME HELD_MS: four recordings
group() {
	for _ in 1 2 3 4; do
		run record -q --comm "$program" -o "$dir/$1" -- "$dir/$program" "$dir/held.py" "$2" 0.6
	done
}
# verdict PART: prints that of this process
verdict() { jq -r ".shares[] | select(.key == \"$program\" and .part == \"$1\") | .verdict" <<<"$out"; }

# Two threads wait for a lock that the third one holds, which works for a while and then waits for nothing.
cat >"$dir/locked" <<'PYTHON'
import select, sys, threading, time
lock = threading.Lock()
lock.acquire()
def wait():
    with lock:
        pass
threads = [threading.Thread(target=wait) for _ in range(2)]
for thread in threads:
    thread.start()
began = time.monotonic()
while time.thread_time() < 0.3:
    pass
while time.monotonic() < began + 3:
    select.select([], [], [], 3)
lock.release()
for thread in threads:
    thread.join()
print(f'used_ns={time.process_time_ns()}')
PYTHON

# of COLUMN: prints the sum of the table
of() { jq -r "[.probes[] | select(.module == \"where\") | .top_k[].$1.sum] | add" <<<"$out"; }
between() { jq -ne "($1) <= ($2) and ($2) <= ($3)" >/dev/null || { echo "not $1 <= $2 <= $3" && false; }; }

for command in record why; do
	run "$command" -q -o "$dir/$command" --comm "$program" --json -- "$dir/$program" "$dir/locked"
	used=$(sed -n 's/^used_ns=//p' <<<"$out")
	out=$(sed -n '/^{/,$p' <<<"$out")
	# What it does after it has read its clock, and before it has its name.
	ok "$command: it had the CPU as long as it says" between "$used - 1e8" "$(of cpu_ns)" "$used + 1e8"
	is "$command: the parts are all of its life" "$(jq '[.probes[0].top_k[] |
		.life_ns.sum - .cpu_ns.sum - .ready_ns.sum - .disk_ns.sum - .memory_ns.sum - .fault_ns.sum - .lock_ns.sum - .futex_ns.sum
		- .socket_ns.sum - .work_ns.sum - .timer_ns.sum - .child_ns.sum - .stopped_ns.sum - .other_ns.sum - .unknown_ns.sum] | add' \
		<<<"$out")" 0
	ok "$command: two of them waited for the futex for three seconds" between 5.9e9 "$(of futex_ns)" "2e9 * $(jq .duration_sec <<<"$out")"
	ok "$command: the third one for work" between 2.9e9 "$(of work_ns)" 3.2e9
done

run record -q -d 1s --comm no-such-task -o "$dir/none"
is 'nobody is chosen: no process is listed' "$(grep -c '% of life' <<<"$out")" 0

measure group off 1
measure group on 12
run compare "$dir/off" "$dir/on"
like 'compare names the longer wait' "$(tr -s ' \n' ' ' <<<"$out")" "more \\(.*$program: futex [0-9.]+ % -> [0-9.]+ %.*\\)"
run compare --json "$dir/off" "$dir/on"
is 'instead of which it waited for its turn' "$(verdict futex) $(verdict work)" 'more less'
ok 'it waited 1 and 12 of 20 ms, in one of two threads' jq -e ".shares[] | select(.key == \"$program\" and .part == \"futex\")
	| .off > 0.01 and .off < 0.06 and .on > 0.25 and .on < 0.35 and .ratio_low > 4" <<<"$out"
run compare --csv "$dir/off" "$dir/on"
like 'CSV has it' "$out" "where,futex,process,$program,share,0[.0-9]+,0[.0-9]+,.*,more,"
run compare --run-spread 25 "$(recording "$dir/off" | head -n 1)" "$(recording "$dir/on" | head -n 1)"
like 'two recordings show it, too, if such runs are known to differ little' "$(tr -s ' \n' ' ' <<<"$out")" "$program: futex"
measure group same 1
run compare --json "$dir/off" "$dir/same"
is 'of equal groups it names none' "$(verdict futex), $(verdict work)" 'no difference shown, no difference shown'
done_testing
