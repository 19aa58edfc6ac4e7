#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# What a process did with its time: what it used of the CPU by its own clock, and where it slept. tests/unit/test_activity.c has
# the arithmetic.
. "$(dirname "$0")/host.sh"
skip_unless_able

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

# of JQ: prints a value of the process
of() { jq -r ".activity[] | select(.process == \"python3\") | $1" <<<"$out"; }

between() { jq -ne "($1) <= ($2) and ($2) <= ($3)" >/dev/null || { echo "not $1 <= $2 <= $3" && false; }; }

run runqlat --why --over 1s -q --comm python3 --json -- python3 "$dir/locked"
used=$(sed -n 's/^used_ns=//p' <<<"$out")
out=$(sed -n '/^{/,$p' <<<"$out")
is 'one process' "$(jq '.activity | length' <<<"$out")" 1
is 'three threads' "$(of .threads)" 3
# What it does after it has read its clock, and before it has its name.
ok 'it had the CPU as long as it says' between "$used / 1e9 - 0.1" "$(of .on_cpu_sec)" "$used / 1e9 + 0.1"
ok 'the rest, it slept or waited for a CPU' between -1e-6 "$(of '.lived_sec - .on_cpu_sec - .queued_sec - .asleep_sec')" 1e-6
ok 'they slept most of the time' between "$(of '.lived_sec * 0.5')" "$(of .asleep_sec)" "$(of .lived_sec)"
is 'two of them in futex' "$(of .asleep_in)" futex
ok 'it was looked at while it lived' between 3 "$(of .looks)" 30

run runqlat --why --over 1s -q --comm python3 -- python3 "$dir/locked"
ok 'text: what it did' grep -qE '^comm python3: 3 threads lived [0-9.]+ s: [0-9.]+ % on a CPU, [0-9.]+ % asleep' <<<"$out"
ok 'text: what latscope does not see' grep -q 'not see what else it slept for' <<<"$(tr '\n' ' ' <<<"$out" | tr -s ' ')"

run runqlat --why --over 1s -q -d 1s --comm no-such-task
is 'nobody is chosen: nothing is said' "$(grep -c 'threads lived' <<<"$out")" 0
done_testing
